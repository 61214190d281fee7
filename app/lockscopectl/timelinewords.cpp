// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/timelinewords.h"

#include "app/lockscopectl/lockwords.h"
#include "app/lockscopectl/output.h"
#include "app/lockscopectl/table.h"
#include "core/base/duration.h"
#include "core/base/text.h"
#include "core/inspect/json.h"

#include <QJsonArray>

#include <algorithm>

namespace lockscope::ctl {

using namespace Qt::StringLiterals;

namespace {

QJsonObject spansJson(const history::Spans &spans)
{
    const auto ms = [&spans](std::chrono::milliseconds span) {
        return spans.count > 0 ? QJsonValue(static_cast<qint64>(span.count())) : QJsonValue(QJsonValue::Null);
    };
    return {{u"count"_s, spans.count},
            {u"p50Ms"_s, ms(spans.p50)},
            {u"p90Ms"_s, ms(spans.p90)},
            {u"p99Ms"_s, ms(spans.p99)},
            {u"maxMs"_s, ms(spans.max)}};
}

QString spansLine(const QString &what, const history::Spans &spans)
{
    if (spans.count == 0)
        return what + u": none was seen from begin to end"_s;
    return u"%1: %2 seen from begin to end; p50 %3, p90 %4, p99 %5, longest %6"_s.arg(
        what, QString::number(spans.count), spokenDuration(spans.p50), spokenDuration(spans.p90),
        spokenDuration(spans.p99), spokenDuration(spans.max));
}

} // namespace

QJsonObject timelineJson(const history::Timeline &timeline)
{
    QJsonArray events;
    for (const auto &event : timeline.events) {
        const auto &who = event.contender;
        QJsonObject json{{u"at"_s, inspect::isoTime(event.at)}, {u"event"_s, history::nameOf(event.kind)}};
        json[u"id"_s] = who.id.isEmpty() ? QJsonValue() : QJsonValue(escaped(who.id));
        json[u"identity"_s] = who.identity ? QJsonValue(escaped(*who.identity)) : QJsonValue();
        if (!who.label.isEmpty())
            json[u"label"_s] = shown(who.label);
        json[u"endpoint"_s] = who.endpoint ? QJsonValue(shown(*who.endpoint)) : QJsonValue();
        json[u"spanMs"_s] = event.span ? QJsonValue(static_cast<qint64>(event.span->count())) : QJsonValue();
        json[u"words"_s] = harmless(history::wordsOf(event));
        events.append(json);
    }
    return {{u"events"_s, events},
            {u"handOffs"_s, timeline.handOffs},
            {u"forced"_s, timeline.forced},
            {u"holds"_s, spansJson(timeline.holds)},
            {u"waits"_s, spansJson(timeline.waits)},
            {u"gaps"_s, spansJson(timeline.gaps)}};
}

QStringList timelineLines(const history::Timeline &timeline)
{
    std::vector<Table::Column> columns{{u"SEEN AT"_s},
                                       {u"ID"_s},
                                       {u"ENDPOINT"_s},
                                       {u"IDENTITY"_s, Table::Align::Left, true},
                                       {u"WHAT"_s, Table::Align::Left, false, true}};
    constexpr auto behindId = 2;
    const bool isCalled =
        std::ranges::any_of(timeline.events, [](const auto &event) { return !event.contender.label.isEmpty(); });
    if (isCalled)
        columns.insert(columns.begin() + behindId, {u"LABEL"_s});
    Table table(std::move(columns));
    for (const auto &event : timeline.events) {
        const auto &who = event.contender;
        QStringList cells{inspect::isoTime(event.at), who.id.isEmpty() ? u"-"_s : escaped(who.id),
                          shown(who.endpoint), who.id.isEmpty() ? u"-"_s : identityWords(who),
                          harmless(history::wordsOf(event))};
        if (isCalled)
            cells.insert(behindId, who.label.isEmpty() ? u"-"_s : shown(who.label));
        table.add(std::move(cells));
    }
    return {table.text(terminalWidth()),
            u"hand-offs: %1, forced to let go: %2"_s.arg(QString::number(timeline.handOffs),
                                                         QString::number(timeline.forced)),
            spansLine(u"holds"_s, timeline.holds), spansLine(u"waits that ended in a hold"_s, timeline.waits),
            spansLine(u"nobody held it although somebody waited"_s, timeline.gaps)};
}

} // namespace lockscope::ctl
