// SPDX-License-Identifier: Apache-2.0
// findings: everything that is wrong anywhere, gravest first.
#include "app/lockscopectl/command.h"
#include "app/lockscopectl/lockwords.h"
#include "app/lockscopectl/output.h"
#include "app/lockscopectl/table.h"
#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/inspect/json.h"

#include <algorithm>

namespace lockscope::ctl {

using namespace Qt::StringLiterals;

namespace {

struct FoundFinding {
    inspect::Finding finding;
    inspect::LockName lock;
};

QJsonObject findingJson(const FoundFinding &found)
{
    const auto lock = escaped(found.lock.text());
    QJsonArray contenders;
    for (const auto &id : found.finding.contenders)
        contenders.append(QJsonObject{{u"lock"_s, lock}, {u"id"_s, escaped(id)}});
    return {{u"code"_s, inspect::word(found.finding.code)},
            {u"severity"_s, inspect::word(found.finding.severity)},
            {u"message"_s, harmless(found.finding.message)},
            {u"locks"_s, QJsonArray{lock}},
            {u"contenders"_s, contenders}};
}

Task<Exit> findings(CommandContext &context)
{
    auto looking = context.pictures.look(context);
    const auto looked = co_await looking;
    std::vector<FoundFinding> all;
    for (const auto &lock : context.pictures.locks()) {
        for (const auto &finding : lock.findings)
            all.push_back({finding, lock.lock});
    }
    std::stable_sort(all.begin(), all.end(), [](const FoundFinding &a, const FoundFinding &b) {
        return a.finding.severity > b.finding.severity;
    });
    if (context.json) {
        QJsonArray array;
        for (const auto &found : all)
            array.append(findingJson(found));
        printAnswer(context, QJsonObject{{u"findings"_s, array}, {u"coverage"_s, coverageJson(context)}});
        co_return looked;
    }
    Table table({{u"SEVERITY"_s},
                 {u"CODE"_s},
                 {u"LOCK"_s, Table::Align::Left, true},
                 {u"MESSAGE"_s, Table::Align::Left, true}});
    for (const auto &found : all)
        table.add({inspect::word(found.finding.severity), inspect::word(found.finding.code),
                   escaped(found.lock.text()), harmless(found.finding.message)});
    const auto unseen = coverageWords(context);
    if (!table.isEmpty())
        print(table.text(terminalWidth()));
    else
        print(unseen.isEmpty()               ? u"nothing is wrong with any lock that servers show"_s
              : context.pictures.isAnySeen() ? u"nothing is wrong with what was seen, and that was not everything"_s
                                             : u"nothing could be looked at"_s);
    for (const auto &line : unseen)
        print(line);
    co_return looked;
}

} // namespace

CommandSpec findingsCommand()
{
    CommandSpec spec;
    spec.name = u"findings"_s;
    spec.summary = u"everything that is wrong with any lock, gravest first"_s;
    spec.list = u"Codes\n"_s;
    for (const auto &kind : inspect::findingKinds())
        spec.list += app::helpLine(inspect::word(kind.code), kind.meaning.toString());
    spec.more = u"Each code, how to confirm it and what to do: docs/findings.md, and the window's help."_s;
    spec.observes = spec.isReplayable = true;
    spec.run = findings;
    return spec;
}

} // namespace lockscope::ctl
