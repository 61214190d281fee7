// SPDX-License-Identifier: Apache-2.0
#include "core/contention/recording.h"

#include "core/base/text.h"

#include <QJsonArray>
#include <QJsonDocument>

#include <cmath>

namespace lockscope::contention {

namespace {

constexpr int mostServers = 16;

QJsonValue orNull(const std::optional<Moment> &moment)
{
    return moment ? QJsonValue(qint64(moment->count())) : QJsonValue();
}

std::optional<Moment> momentOrNone(const QJsonValue &value)
{
    return value.isDouble() ? std::optional(Moment(value.toInteger())) : std::nullopt;
}

QByteArray textOf(const QJsonValue &value)
{
    return unescaped(value.toString()).value_or(QByteArray());
}

} // namespace

QJsonObject History::toJson() const
{
    QJsonArray changed, sent;
    for (const auto &[at, line, isGone] : changes) {
        QJsonArray array{qint64(at.count()), line.server, escaped(line.name),
                         isGone ? QJsonValue() : QJsonValue(escaped(line.text)), orNull(line.ends)};
        if (line.owner != nobody || !line.watchers.empty()) {
            QJsonArray watchers;
            std::ranges::copy(line.watchers, std::back_inserter(watchers));
            array << line.owner << watchers;
        }
        changed.append(array);
    }
    for (const auto &message : messages)
        sent.append(QJsonArray{qint64(message.at.count()), orNull(message.arrives), message.contender, message.server,
                               message.toServer});
    return {{u"servers"_s, servers}, {u"changes"_s, changed}, {u"messages"_s, sent}, {u"until"_s, orNull(until)}};
}

Result<History> History::fromJson(const QJsonObject &object, int contenders)
{
    History history;
    if (object.isEmpty())
        return history;
    history.isKept = true;
    history.servers = object.value(u"servers"_s).toInt();
    history.until = momentOrNone(object.value(u"until"_s));
    bool isRight = history.servers > 0 && history.servers <= mostServers;
    Moment last{};
    const auto happens = [&](Moment at, int server) {
        isRight = isRight && at >= last && server >= 0 && server < history.servers;
        last = at;
    };
    for (const auto &value : object.value(u"changes"_s).toArray()) {
        const auto array = value.toArray();
        ServerChange change{Moment(array.at(0).toInteger()),
                            {array.at(1).toInt(-1), textOf(array.at(2)), textOf(array.at(3)),
                             momentOrNone(array.at(4)), array.at(5).toInt(nobody)},
                            array.at(3).isNull()};
        isRight = isRight && change.line.owner >= nobody && change.line.owner < contenders;
        for (const auto &watcher : array.at(6).toArray()) {
            change.line.watchers.push_back(watcher.toInt(nobody));
            isRight = isRight && change.line.watchers.back() >= 0 && change.line.watchers.back() < contenders;
        }
        happens(change.at, change.line.server);
        history.changes.push_back(std::move(change));
    }
    last = {};
    for (const auto &value : object.value(u"messages"_s).toArray()) {
        const auto array = value.toArray();
        const SentMessage message{Moment(array.at(0).toInteger()), momentOrNone(array.at(1)), array.at(2).toInt(-1),
                                  array.at(3).toInt(-1), array.at(4).toBool()};
        happens(message.at, message.server);
        isRight = isRight && message.contender >= 0 && message.contender < contenders;
        history.messages.push_back(message);
    }
    if (!isRight)
        return Error{ErrorCode::BadInput, u"what its servers had cannot be read"_s};
    return history;
}

namespace {

constexpr const char *markNames[] = {"joins",    "request", "answer",   "watch-event", "message", "holds",
                                     "releases", "loses",   "gives-up", "writes",      "pauses",  "resumes",
                                     "dies",     "comes",   "fault",    "breaks",      "gets",    "acts"};
static_assert(std::size(markNames) == markCount);
constexpr auto recordingSchema = "lockscope-recording/1";

std::optional<Mark> markByName(const QString &name)
{
    const auto *at = std::ranges::find_if(markNames, [&](const char *one) { return name == QLatin1StringView(one); });
    return at == std::end(markNames) ? std::nullopt : std::optional(static_cast<Mark>(at - markNames));
}

Moment fromMs(const QJsonValue &value)
{
    return Moment(std::llround(value.toDouble() * 1000));
}

QJsonArray violationsJson(const std::vector<Violation> &violations)
{
    QJsonArray array;
    for (const auto &violation : violations)
        array.append(QJsonObject{{u"invariant"_s, QString::fromLatin1(violation.invariant)},
                                 {u"atMs"_s, inMs(violation.at)},
                                 {u"message"_s, violation.message}});
    return array;
}

QJsonArray eventJson(const Event &event)
{
    return {qint64(event.at.count()),
            event.contender,
            QString::fromLatin1(nameOf(event.mark)),
            escaped(event.what),
            escaped(event.where),
            qint64(event.token),
            event.isWasted};
}

std::optional<Event> eventFrom(const QJsonArray &array, int contenders)
{
    const auto mark = markByName(array.at(2).toString());
    const auto contender = array.at(1).toInt(contenders);
    if (array.size() != 7 || !mark || contender < nobody || contender >= contenders)
        return std::nullopt;
    Event event;
    event.at = Moment(array.at(0).toInteger());
    event.contender = contender;
    event.mark = *mark;
    event.what = textOf(array.at(3));
    event.where = textOf(array.at(4));
    event.token = array.at(5).toInteger();
    event.isWasted = array.at(6).toBool();
    return event;
}

Counters countersFrom(const QJsonObject &result)
{
    Counters counters;
    for (const auto &[name, value] : namedCounters)
        counters.*value = result.value(QLatin1StringView(name)).toInteger();
    const auto because = result.value(u"gaveUpBecause"_s).toObject();
    for (const auto &reason : because.keys())
        counters.gaveUpBecause[reason.toUtf8()] = because.value(reason).toInteger();
    counters.fairnessPairs = result.value(u"fairnessPairs"_s).toInteger();
    counters.longestOverlap = fromMs(result.value(u"longestOverlapMs"_s));
    counters.fairness = result.value(u"fairness"_s).toDouble();
    const auto waits = result.value(u"waitMs"_s).toObject();
    counters.waits = {fromMs(waits.value(u"p50"_s)), fromMs(waits.value(u"p99"_s)), fromMs(waits.value(u"max"_s))};
    return counters;
}

QByteArray quoted(const QByteArray &cell)
{
    auto text = escaped(cell).toUtf8();
    // A spreadsheet takes what begins so for a formula.
    if (!text.isEmpty() && QByteArrayView("=+-@").contains(text.front()))
        text.prepend('\'');
    if (text.contains(',') || text.contains('"'))
        return '"' + text.replace('"', "\"\"") + '"';
    return text;
}

QString hashText(quint64 hash)
{
    return u"0x"_s + QString::number(hash, 16).rightJustified(16, u'0');
}

} // namespace

QByteArray nameOf(Mark mark)
{
    return markNames[static_cast<std::size_t>(mark)];
}

QByteArray Recording::laneName(int contender) const
{
    return contenderName(contender, scenario.contenders);
}

bool Recording::hasDrain() const
{
    const bool hasAllEvents = !events.empty() && !isCut;
    const auto isRelease = [](const Event &event) { return event.mark == Mark::Releases; };
    return counters.grants > 0 && (!hasAllEvents || std::ranges::any_of(events, isRelease));
}

QByteArray contenderName(int contender, int contenders)
{
    const auto digits = std::max<qsizetype>(2, QByteArray::number(contenders - 1).size());
    return 'c' + QByteArray::number(contender).rightJustified(digits, '0');
}

QJsonObject Recording::toJson() const
{
    const QJsonObject waits{{u"p50"_s, inMs(counters.waits.p50)},
                            {u"p99"_s, inMs(counters.waits.p99)},
                            {u"max"_s, inMs(counters.waits.max)}};
    QJsonObject object{{u"recipe"_s, QString::fromUtf8(scenario.recipe)},
                       {u"contenders"_s, scenario.contenders},
                       {u"rounds"_s, scenario.rounds},
                       {u"seed"_s, qint64(scenario.seed)},
                       {u"world"_s, escaped(world)},
                       {u"fairness"_s, counters.fairness},
                       {u"fairnessPairs"_s, counters.fairnessPairs},
                       {u"longestOverlapMs"_s, inMs(counters.longestOverlap)},
                       {u"waitMs"_s, waits},
                       {u"elapsedMs"_s, inMs(elapsed)},
                       {u"eventHash"_s, hashText(eventHash)},
                       {u"violations"_s, violationsJson(violations)}};
    for (const auto &[name, value] : namedCounters)
        object.insert(QLatin1StringView(name), counters.*value);
    if (!counters.gaveUpBecause.empty()) {
        QJsonObject because;
        for (const auto &[reason, count] : counters.gaveUpBecause)
            because.insert(harmless(QString::fromUtf8(reason)), count);
        object.insert(u"gaveUpBecause"_s, because);
    }
    if (!note.isEmpty())
        object.insert(u"note"_s, escaped(note));
    if (eventsNotKept > 0)
        object.insert(u"eventsNotKept"_s, eventsNotKept);
    return object;
}

QByteArray Recording::save() const
{
    const auto left = mapped<QJsonArray>(leftBehind, [&](const auto &name) { return escaped(name); });
    QJsonObject object{{u"schema"_s, QLatin1StringView(recordingSchema)},
                       {u"scenario"_s, scenario.toJson()},
                       {u"result"_s, toJson()},
                       {u"isCut"_s, isCut},
                       {u"leftBehind"_s, left}};
    if (history.isKept)
        object.insert(u"history"_s, history.toJson());
    // The events one by one: a tree of millions of them would take ten times what it says.
    QByteArray bytes = "{\"events\":[";
    for (const auto &event : events)
        bytes += QJsonDocument(eventJson(event)).toJson(QJsonDocument::Compact) + ',';
    if (!events.empty())
        bytes.chop(1);
    return bytes + "]," + QJsonDocument(object).toJson(QJsonDocument::Compact).sliced(1);
}

Result<Recording> Recording::load(const QByteArray &bytes)
{
    const auto bad = [](const QString &why) {
        return Error{ErrorCode::BadInput, u"this is not a Lockscope recording: %1"_s.arg(why)};
    };
    QJsonParseError parsing;
    const auto object = QJsonDocument::fromJson(bytes, &parsing).object();
    if (parsing.error != QJsonParseError::NoError)
        return bad(u"%1 at byte %2"_s.arg(parsing.errorString(), QString::number(parsing.offset)));
    if (object.value(u"schema"_s).toString() != QLatin1StringView(recordingSchema))
        return bad(u"its schema is not %1"_s.arg(QLatin1StringView(recordingSchema)));
    auto scenario = Scenario::fromJson(object.value(u"scenario"_s).toObject());
    if (!scenario)
        return bad(scenario.error().message);
    if (const auto playable = scenario->check(); !playable)
        return bad(playable.error().message);
    Recording recording;
    recording.scenario = *std::move(scenario);
    const auto result = object.value(u"result"_s).toObject();
    recording.world = textOf(result.value(u"world"_s).toString(u"sim"_s));
    recording.note = textOf(result.value(u"note"_s));
    recording.counters = countersFrom(result);
    recording.elapsed = fromMs(result.value(u"elapsedMs"_s));
    recording.eventHash = result.value(u"eventHash"_s).toString().toULongLong(nullptr, 16);
    recording.isCut = object.value(u"isCut"_s).toBool();
    recording.eventsNotKept = result.value(u"eventsNotKept"_s).toInteger();
    for (const auto &value : result.value(u"violations"_s).toArray()) {
        const auto violation = value.toObject();
        recording.violations.push_back({violation.value(u"invariant"_s).toString().toUtf8(),
                                        fromMs(violation.value(u"atMs"_s)),
                                        violation.value(u"message"_s).toString()});
    }
    for (const auto &name : object.value(u"leftBehind"_s).toArray())
        recording.leftBehind.push_back(textOf(name));
    auto history = History::fromJson(object.value(u"history"_s).toObject(), recording.scenario.contenders);
    if (!history)
        return bad(history.error().message);
    recording.history = *std::move(history);
    Moment last{};
    for (const auto &value : object.value(u"events"_s).toArray()) {
        auto event = eventFrom(value.toArray(), recording.scenario.contenders);
        if (!event || event->at < last)
            return bad(u"its event %1 cannot be read"_s.arg(recording.events.size() + 1));
        last = event->at;
        recording.events.push_back(*std::move(event));
    }
    return recording;
}

QByteArray Recording::toCsv() const
{
    QByteArray csv = "at_us,contender,mark,what,where,token,wasted\n";
    for (const auto &event : events) {
        csv += QByteArray::number(qint64(event.at.count())) + ',';
        csv += (event.contender == nobody ? QByteArray() : laneName(event.contender)) + ',';
        csv += nameOf(event.mark) + ',' + quoted(event.what) + ',' + quoted(event.where) + ',';
        csv += (event.token == 0 ? QByteArray() : QByteArray::number(event.token)) + ',';
        csv += event.isWasted ? "1\n" : "0\n";
    }
    return csv;
}

} // namespace lockscope::contention
