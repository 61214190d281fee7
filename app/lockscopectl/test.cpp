// SPDX-License-Identifier: Apache-2.0
// test: whether a connection can be used, and for what.
#include "app/lockscopectl/output.h"
#include "core/base/text.h"
#include "core/workspace/browsequeries.h"

namespace lockscope::ctl {

namespace {

constexpr std::chrono::seconds trialWithin(30);

QJsonObject accountJson(const ConnectionName &name, const ConnectionAccount &account)
{
    QJsonObject json{{u"connection"_s, escaped(name.bytes())},
                     {u"uri"_s, account.address},
                     {u"server"_s, account.server.isEmpty() ? QJsonValue() : QJsonValue(account.server)},
                     {u"note"_s, account.remark.isEmpty() ? QJsonValue() : QJsonValue(account.remark)},
                     {u"rights"_s, QJsonArray::fromStringList(account.rights)},
                     {u"locks"_s, account.locks},
                     {u"initialScanComplete"_s, account.isFirstLookOver},
                     {u"coverage"_s, inspect::toJson(account.coverage)}};
    return json;
}

} // namespace

Task<Result<Exit>> runTest(CommandContext &context)
{
    auto worst = Exit::Done;
    QJsonArray array;
    for (auto *link : context.workspace.links()) {
        const auto name = link->spec().name;
        const auto deadline = Deadline::after(context.loop(), trialWithin);
        const auto account = co_await accountOf(context.workspace, name, deadline);
        if (!account) {
            worst = fail(account.error());
            continue;
        }
        array.append(accountJson(name, *account));
        if (context.json)
            continue;
        print(escaped(name.bytes()) + u':');
        for (const auto &line : linesOf(*account))
            print(u"  "_s + line);
    }
    if (context.json)
        printAnswer(context, QJsonObject{{u"connections"_s, array}});
    co_return worst;
}

} // namespace lockscope::ctl
