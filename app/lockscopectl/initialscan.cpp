// SPDX-License-Identifier: Apache-2.0
// Connecting, and the first look: what most commands begin with.
#include "app/lockscopectl/output.h"
#include "core/base/text.h"
#include "core/inspect/json.h"

namespace lockscope::ctl {

namespace {

constexpr std::chrono::seconds connectWithin(10);
constexpr std::chrono::seconds askWithin(30);
// Millions of keys take their time, and say so: who has no news for so long has gone away.
constexpr std::chrono::seconds newsWithin(30);
constexpr std::chrono::minutes lookWithin(10);

QString withRemedy(const Error &error, const QByteArray &variable = "LOCKSCOPE_PASSWORD_<NAME>")
{
    if (error.isExplained)
        return error.message;
    if (error.code == ErrorCode::NotConnected)
        return u"%1; is the server up, and are host and port right?"_s.arg(error.message);
    if (error.code == ErrorCode::AuthFailed)
        return u"%1; give user and password in the URI or in %2"_s.arg(error.message, QString::fromLatin1(variable));
    return error.message;
}

// Until it has told everything; false when it has stopped doing so. Says why on stderr then.
Task<bool> waitForFirstLook(CommandContext &context, Link *link)
{
    auto &loop = context.loop();
    const auto name = link->spec().name;
    const auto first = link->observer().firstSnapshot();
    const auto begun = loop.now();
    while (!first.isComplete()) {
        Completion<bool> news(loop);
        first.then([news](bool) { news.complete(true); });
        news.completeAt(Deadline::after(loop, std::chrono::seconds(1)), false);
        co_await news;
        const auto heard = std::max<Instant>(begun, context.sink.lastNews(name).value_or(begun));
        const auto silentFor = loop.now() - heard;
        if (first.isComplete() || (silentFor < newsWithin && loop.now() - begun < lookWithin))
            continue;
        const auto waited = silentFor < newsWithin ? std::chrono::seconds(lookWithin) : newsWithin;
        printError(u"%1: initial scan incomplete (no reply for %2); the output below is partial"_s.arg(
            escaped(name.bytes()), formatDuration(waited)));
        co_return false;
    }
    co_return true;
}

// All connections; those that are there now are put into `reached`.
Task<Exit> connectEach(CommandContext &context, std::vector<Link *> &reached)
{
    auto worst = Exit::Done;
    const auto deadline = Deadline::after(context.loop(), connectWithin);
    for (auto *link : context.workspace.links()) {
        const auto name = link->spec().name;
        const auto connected = co_await context.workspace.whenConnected(name, deadline);
        if (!connected) {
            printError(u"%1: %2"_s.arg(escaped(name.bytes()), withRemedy(connected.error(), passwordVariable(name))));
            worst = Exit::NoConnection;
        } else {
            printRemark(*link);
            reached.push_back(link);
        }
    }
    co_return worst;
}

} // namespace

Exit fail(const Error &error)
{
    printError(withRemedy(error));
    return app::exitFor(error.code);
}

bool printAnswer(const CommandContext &context, QJsonObject answer)
{
    if (const auto moment = context.pictures.recorded())
        answer[u"recorded"_s] = QJsonObject{{u"files"_s, QJsonArray::fromStringList(moment->recording->files())},
                                            {u"from"_s, inspect::isoTime(moment->recording->begin())},
                                            {u"to"_s, inspect::isoTime(moment->recording->end())},
                                            {u"asOf"_s, inspect::isoTime(moment->asOf)}};
    return printJson(std::move(answer));
}

Deadline requestDeadline(CommandContext &context)
{
    return Deadline::after(context.loop(), askWithin);
}

Task<Exit> connectAll(CommandContext &context)
{
    std::vector<Link *> reached;
    const auto status = co_await connectEach(context, reached);
    co_return status;
}

void reportBreaks(CommandContext &context)
{
    context.workspace.onLinkChanged([broken = std::set<ConnectionName>()](Link &link) mutable {
        const auto &name = link.spec().name;
        if (link.isConnected())
            broken.erase(name);
        else if (broken.insert(name).second)
            printError(u"%1: the connection broke; trying again"_s.arg(escaped(name.bytes())));
    });
}

void printRemark(const Link &link)
{
    const auto remark = link.remark();
    if (!remark.isEmpty())
        printError(u"%1: %2"_s.arg(escaped(link.spec().name.bytes()), remark));
}

Task<Exit> lookAround(CommandContext &context)
{
    std::vector<Link *> reached;
    auto status = co_await connectEach(context, reached);
    context.sink.showProgress(!context.json);
    for (auto *link : context.workspace.links()) {
        if (!link->isConnected())
            continue;
        const bool seen = co_await waitForFirstLook(context, link);
        if (!seen && status == Exit::Done)
            status = Exit::TimedOut;
    }
    context.sink.showProgress(false);
    // What is not connected is not shown: without a word it would seem to have no locks.
    for (auto *link : reached) {
        if (link->isConnected())
            continue;
        const auto &name = link->spec().name;
        printError(u"%1: the connection broke before the scan was complete; %2"_s.arg(
            escaped(name.bytes()),
            link->problem() ? withRemedy(*link->problem(), passwordVariable(name)) : u"try again"_s));
        status = Exit::NoConnection;
    }
    co_return status;
}

QJsonArray coverageJson(CommandContext &context)
{
    return inspect::toJson(context.pictures.coverage());
}

bool printClosedAnswer(CommandContext &context, QJsonObject answer)
{
    inspect::addClosing(answer, context.pictures.coverage());
    return printAnswer(context, std::move(answer));
}

QStringList coverageWords(CommandContext &context)
{
    // A recording has no more than what was recorded.
    const auto howToShow = context.pictures.recorded() ? QString() : u"--all shows them"_s;
    return inspect::gapsIn(context.pictures.coverage(), howToShow);
}

Result<inspect::LockName> lockOf(CommandContext &context)
{
    return context.pictures.parseLock(context.word(0));
}

} // namespace lockscope::ctl
