// SPDX-License-Identifier: Apache-2.0
#include "ui/models/auditmodel.h"

#include "core/base/text.h"
#include "core/workspace/values.h"
#include "ui/theme/pill.h"
#include "ui/theme/text.h"

#include <QDateTime>
#include <QJsonArray>

#include <algorithm>
#include <map>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using operate::AuditRecord;

namespace {

QString auditTime(const AuditRecord &record)
{
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(record.time.time_since_epoch());
    return QDateTime::fromMSecsSinceEpoch(since.count()).toString(u"yyyy-MM-dd HH:mm:ss"_s);
}

QString auditOutcome(const AuditRecord &record)
{
    if (record.lacksResult)
        return u"no result recorded: under way, or its program was ended"_s;
    return record.phase == "intent"_L1 ? u"intent: about to be done; the result is a record of its own"_s
                                       : harmless(record.outcome, 400);
}

// As a cell has room for; the detail says all of it.
QString auditBriefly(const AuditRecord &record)
{
    if (record.lacksResult)
        return u"no result recorded"_s;
    return record.phase == "intent"_L1 ? u"intent"_s : auditOutcome(record);
}

QVariant auditTone(const AuditRecord &record)
{
    if (record.lacksResult || record.outcome.startsWith("unknown"_L1))
        return static_cast<int>(Tone::Critical);
    return record.outcome.startsWith("refused"_L1) || record.outcome.startsWith("failed"_L1)
               ? QVariant(static_cast<int>(Tone::Warning))
               : QVariant();
}

std::map<QString, QJsonObject> contendersOf(const QJsonObject &lock)
{
    std::map<QString, QJsonObject> all;
    for (const auto &one : lock.value("contenders"_L1).toArray())
        all[one.toObject().value("id"_L1).toString()] = one.toObject();
    return all;
}

QString roleAndWho(const QJsonObject &contender)
{
    QStringList words{contender.value("role"_L1).toString(), contender.value("id"_L1).toString()};
    for (const auto &field : {"endpoint"_L1, "session"_L1}) {
        if (const auto text = contender.value(field).toString(); !text.isEmpty())
            words << text;
    }
    return harmless(words.join(u" · "_s), 400);
}

// What an edit was to make of it, a line each.
QStringList wantedLines(const QJsonObject &to)
{
    constexpr qsizetype longest = 2000;
    QStringList lines;
    for (auto one = to.begin(); one != to.end(); ++one) {
        QString text = one->toVariant().toString();
        if (one->isObject()) // a value, and how long it is
            text = u"%1 (%2 bytes)"_s.arg(one->toObject().value("text"_L1).toString().left(longest),
                                          QString::number(one->toObject().value("bytes"_L1).toInteger()));
        else if (one->isArray())
            text = one->toVariant().toStringList().join(u", "_s);
        else if (one->isNull())
            text = u"none"_s;
        lines << u"  %1: %2"_s.arg(harmless(one.key(), 40), harmless(text, longest));
    }
    return lines;
}

} // namespace

AuditModel::AuditModel(QObject *parent)
    : RowsModel(
        parent,
        {
            {.title = u"Time"_s, .text = &auditTime},
            {.title = u"Actor"_s, .text = [](const AuditRecord &record) { return harmless(record.actor, 200); }},
            {.title = u"Action"_s, .text = [](const AuditRecord &record) { return harmless(record.action, 80); }},
            {.title = u"Lock"_s, .text = [](const AuditRecord &record) { return label(record.lock, 400); }},
            {.title = u"Holder"_s, .text = [](const AuditRecord &record) { return label(record.holder, 200); }},
            {.title = u"Reason"_s, .text = [](const AuditRecord &record) { return harmless(record.reason, 400); }},
            {.title = u"Outcome"_s, .text = &auditBriefly, .values = {{ToneRole, &auditTone}}},
        })
{
}

void AuditModel::setRecords(std::vector<AuditRecord> records)
{
    std::ranges::reverse(records);
    // The records of one hash differ at most in whether a result was found for an intent.
    const auto isSame = [](const AuditRecord &a, const AuditRecord &b) { return a.hash == b.hash; };
    const auto isEqual = [](const AuditRecord &a, const AuditRecord &b) { return a.lacksResult == b.lacksResult; };
    replaceRows(std::move(records), isSame, isEqual);
}

QStringList auditDiff(const QJsonObject &before, const QJsonObject &after)
{
    const auto was = contendersOf(before), is = contendersOf(after);
    QStringList lines;
    const auto stateOf = [](const QJsonObject &lock) { return harmless(lock.value("state"_L1).toString(), 40); };
    if (stateOf(before) != stateOf(after))
        lines << u"~ state: %1 → %2"_s.arg(stateOf(before), stateOf(after));
    int same = 0;
    for (const auto &[id, one] : was) {
        const auto now = is.find(id);
        if (now == is.end())
            lines << u"- "_s + roleAndWho(one);
        else if (now->second.value("role"_L1) != one.value("role"_L1))
            lines << u"~ %1: %2 → %3"_s.arg(harmless(id, 200), harmless(one.value("role"_L1).toString(), 40),
                                            harmless(now->second.value("role"_L1).toString(), 40));
        else
            ++same;
    }
    for (const auto &[id, one] : is) {
        if (!was.contains(id))
            lines << u"+ "_s + roleAndWho(one);
    }
    if (same > 0)
        lines << (same == 1 ? u"= 1 contender as before"_s : u"= %1 contenders as before"_s.arg(same));
    return lines;
}

QString auditText(const AuditRecord &record)
{
    QStringList lines{
        u"%1  %2  %3"_s.arg(auditTime(record), harmless(record.action, 80), harmless(record.phase, 40)),
        u"lock     %1"_s.arg(escaped(record.lock)),
        u"holder   %1"_s.arg(escaped(record.holder)),
        u"actor    %1"_s.arg(harmless(record.actor, 400)),
        u"reason   %1"_s.arg(record.reason.isEmpty() ? u"(none given)"_s : harmless(record.reason, 2000)),
        u"outcome  %1"_s.arg(record.lacksResult || record.phase == "intent"_L1 ? auditOutcome(record)
                                                                               : harmless(record.outcome, 2000)),
        u"hash     %1"_s.arg(harmless(QString::fromLatin1(record.hash), 80)),
        QString()};
    if (!record.to.isEmpty())
        lines << u"To:"_s << wantedLines(record.to) << QString();
    if (record.phase == "intent"_L1) {
        lines << u"Before:"_s;
        for (const auto &[id, one] : contendersOf(record.before))
            lines << u"  "_s + roleAndWho(one);
    } else if (record.after.isEmpty()) {
        lines << u"Before:"_s;
        for (const auto &[id, one] : contendersOf(record.before))
            lines << u"  "_s + roleAndWho(one);
        lines << u"After: no picture of it; what was seen then is in the outcome"_s;
    } else {
        lines << u"Before → after:"_s;
        for (const auto &line : auditDiff(record.before, record.after))
            lines << u"  "_s + line;
    }
    return lines.join(u'\n');
}

} // namespace lockscope::ui

#include "moc_auditmodel.cpp"
