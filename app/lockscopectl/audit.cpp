// SPDX-License-Identifier: Apache-2.0
// audit: what was forced, when, by whom and why.
#include "app/lockscopectl/output.h"
#include "core/base/text.h"

namespace lockscope::ctl {

namespace {

QString outcomeWords(const operate::AuditRecord &record)
{
    return record.lacksResult ? u"no result recorded: under way, or its program was ended"_s : shown(record.outcome);
}

// The verdict alone. No word says more than the two files can.
Exit verify(CommandContext &context, const std::vector<operate::AuditRecord> &records, QStringList problems)
{
    const auto &file = context.workspace.audit();
    if (!records.empty() && !file.hasHead())
        problems << u"%1.head does not exist, so missing records at the end cannot be detected"_s.arg(file.path());
    for (const auto &problem : problems)
        printError(u"audit: "_s + problem);
    const auto count = static_cast<qint64>(records.size());
    if (context.json)
        printJson(QJsonObject{{u"verified"_s, problems.isEmpty()},
                              {u"records"_s, count},
                              {u"problems"_s, QJsonArray::fromStringList(problems)}});
    else if (problems.isEmpty())
        print(count == 0 ? u"nothing was forced yet (%1)"_s.arg(file.path())
                         : u"%1: each record follows from the one before, none is missing at the end (%2)"_s.arg(
                             count == 1 ? u"1 record"_s : u"%1 records"_s.arg(count), file.path()));
    return problems.isEmpty() ? Exit::Done : Exit::Failed;
}

} // namespace

Task<Result<Exit>> runAudit(CommandContext &context)
{
    QStringList problems;
    CO_TRY(const auto &records, context.workspace.audit().read(&problems));
    if (context.has(u"verify"_s))
        co_return verify(context, records, problems);
    for (const auto &problem : problems)
        printError(u"audit: "_s + problem);
    const auto unfinished = std::ranges::count(records, true, &operate::AuditRecord::lacksResult);
    if (unfinished > 0)
        printError(u"audit: %1 without a result: what came of it is not known, look at it"_s.arg(
            unfinished == 1 ? u"1 intent is"_s : u"%1 intents are"_s.arg(unfinished)));
    const auto status = problems.isEmpty() ? Exit::Done : Exit::Failed;
    if (context.json) {
        QJsonArray array;
        for (const auto &record : records) {
            auto json = operate::toJson(record);
            if (record.lacksResult)
                json["unfinished"_L1] = true;
            array.append(json);
        }
        printJson(QJsonObject{{u"records"_s, array}});
        co_return status;
    }
    Table table(Table::columnsOf(u"TIME|ACTOR|ACTION|~LOCK|~HOLDER|PHASE|~OUTCOME|+REASON"_s));
    for (const auto &record : records)
        table.add({operate::toJson(record).value("time"_L1).toString(), shown(record.actor), shown(record.action),
                   escaped(record.lock), label(record.holder), shown(record.phase), outcomeWords(record),
                   shown(record.reason)});
    print(table.isEmpty() ? u"nothing was forced yet (%1)"_s.arg(context.workspace.audit().path())
                          : table.text(terminalWidth()));
    co_return status;
}

} // namespace lockscope::ctl
