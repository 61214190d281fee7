// SPDX-License-Identifier: Apache-2.0
// Connecting, and the first look: what most commands begin with.
#include "app/lockscopectl/command.h"
#include "app/lockscopectl/output.h"
#include "core/base/text.h"
#include "core/inspect/json.h"

namespace lockscope::ctl {

using namespace Qt::StringLiterals;

namespace {

constexpr std::chrono::seconds connectWithin(10);
constexpr std::chrono::seconds askWithin(30);
// Millions of keys take their time; this only ends a wait for a server that went away.
constexpr std::chrono::minutes lookWithin(10);

QString withRemedy(const Error &error)
{
    if (error.code == ErrorCode::NotConnected)
        return error.message + u"; is the server up, and are host and port right?"_s;
    if (error.code == ErrorCode::AuthFailed)
        return error.message + u"; give user and password in the URI or in LOCKSCOPE_PASSWORD_<NAME>"_s;
    return error.message;
}

} // namespace

Exit fail(const Error &error)
{
    complain(withRemedy(error));
    return app::exitFor(error.code);
}

Deadline requestDeadline(CommandContext &context)
{
    return Deadline::after(context.loop(), askWithin);
}

Task<Exit> connectAll(CommandContext &context)
{
    auto worst = Exit::Done;
    const auto deadline = Deadline::after(context.loop(), connectWithin);
    for (auto *link : context.workspace.links()) {
        const auto name = link->spec().name;
        const auto connected = co_await context.workspace.whenConnected(name, deadline);
        if (!connected) {
            complain(u"%1: %2"_s.arg(escaped(name.bytes()), withRemedy(connected.error())));
            worst = Exit::NoConnection;
        }
    }
    co_return worst;
}

Task<Exit> lookAround(CommandContext &context)
{
    const auto connected = co_await connectAll(context);
    context.sink.showProgress(!context.json);
    for (auto *link : context.workspace.links()) {
        if (!link->isConnected())
            continue;
        const auto complete = link->observer().firstSnapshot();
        complete.completeAt(Deadline::after(context.loop(), lookWithin), false);
        const bool seen = co_await complete;
        if (!seen)
            complain(u"%1: the first look did not end in time; what follows is not everything"_s.arg(
                escaped(link->spec().name.bytes())));
    }
    context.sink.showProgress(false);
    co_return connected;
}

QJsonArray coverageJson(CommandContext &context)
{
    std::vector<inspect::Coverage> all;
    for (auto *link : context.workspace.links()) {
        if (!link->isConnected()) {
            const auto problem = link->problem();
            all.push_back({link->spec().name, false, problem ? problem->message : u"not connected"_s});
            continue;
        }
        for (auto &part : link->observer().coverage())
            all.push_back(std::move(part));
    }
    return inspect::toJson(all);
}

Result<inspect::LockName> lockOf(CommandContext &context)
{
    return context.workspace.parseLock(context.word(0));
}

} // namespace lockscope::ctl
