// SPDX-License-Identifier: Apache-2.0
// The four-letter words' answers. Formats as written by DataTree, SessionTrackerImpl, ServerCnxn and
// WatchManager; paths hold no control characters, so lines and tabs are safe to split at.
#include "core/zookeeper/evidence.h"

#include <QDateTime>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTimeZone>

namespace lockscope::zk {

namespace {

using std::chrono::milliseconds;

// "0x1000009b4890001", with or without the 0x.
std::optional<SessionId> readSessionId(QByteArray text)
{
    text = text.trimmed();
    if (text.startsWith("0x"))
        text = text.mid(2);
    bool ok = false;
    const auto value = text.toULongLong(&ok, 16);
    return ok ? std::optional(SessionId{value}) : std::nullopt;
}

// "Sat Nov 21 01:45:39 UTC 2026", how Java prints a date: whole seconds, in the server's zone, of which
// only a short name is given. Sessions live for minutes and zones differ by quarters of an hour, so the
// zone does not matter: only what is left within the quarter is taken.
std::optional<milliseconds> timeUntil(const QByteArray &date, milliseconds serverNow)
{
    const auto words = date.simplified().split(' ');
    if (words.size() != 6)
        return {};
    static const QByteArray months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const auto month = months.indexOf(words[1]);
    const auto clock = QTime::fromString(QString::fromLatin1(words[3]), Qt::ISODate);
    const QDate day(words[5].toInt(), static_cast<int>(month / 3) + 1, words[2].toInt());
    if (month < 0 || words[1].size() != 3 || !clock.isValid() || !day.isValid())
        return {};
    const milliseconds at(QDateTime(day, clock, QTimeZone::utc()).toMSecsSinceEpoch());
    constexpr milliseconds quarter = std::chrono::minutes(15);
    // A little in the past is a session about to be noticed, not one with a quarter of an hour to live.
    constexpr milliseconds late = std::chrono::minutes(1);
    const auto left = (at - serverNow + late) % quarter;
    return (left < milliseconds::zero() ? left + quarter : left) - late;
}

// "2 expire at <date>:" → the time left.
std::optional<milliseconds> readExpiry(const QByteArray &line, milliseconds serverNow)
{
    const auto at = line.indexOf(" expire at "); // prose: ok (the server's text)
    if (at < 0 || !line.endsWith(':'))
        return {};
    return timeUntil(line.mid(at + 11).chopped(1), serverNow);
}

// The values of "sid=0x…,lop=PING,est=…": everything between the parentheses.
QMap<QByteArray, QByteArray> readFields(const QByteArray &line)
{
    QMap<QByteArray, QByteArray> fields;
    const auto open = line.indexOf('(');
    const auto close = line.lastIndexOf(')');
    if (open < 0 || close < open)
        return fields;
    for (const auto &pair : line.mid(open + 1, close - open - 1).split(',')) {
        const auto equals = pair.indexOf('=');
        if (equals > 0)
            fields.insert(pair.left(equals), pair.mid(equals + 1));
    }
    return fields;
}

// The number at the end of the line that begins with `label`. No line but that is made: `mntr` has hundreds.
std::optional<qint64> numberAfter(const QByteArray &text, const QByteArray &label)
{
    auto at = text.indexOf(label);
    while (at > 0 && text[at - 1] != '\n')
        at = text.indexOf(label, at + 1);
    if (at < 0)
        return {};
    const auto begin = at + label.size();
    const auto end = text.indexOf('\n', begin);
    bool ok = false;
    const auto number = text.mid(begin, end < 0 ? -1 : end - begin).trimmed().toLongLong(&ok);
    return ok ? std::optional(number) : std::nullopt;
}

SessionId sessionOf(const QJsonValue &number)
{
    return {static_cast<quint64>(number.toInteger())};
}

std::optional<qint64> integer(const QJsonValue &value)
{
    return value.isDouble() ? std::optional(value.toInteger()) : std::nullopt;
}

void readDumpJson(const QJsonObject &answer, Evidence &into)
{
    const auto expiries = answer[u"expiry_time_to_session_ids"_s].toObject();
    for (auto at = expiries.begin(); at != expiries.end(); ++at)
        for (const auto &session : at.value().toArray())
            into.raw.expiries[sessionOf(session)] = milliseconds(at.key().toLongLong());
    const auto ephemerals = answer[u"session_id_to_ephemeral_paths"_s].toObject();
    for (auto at = ephemerals.begin(); at != ephemerals.end(); ++at) {
        auto &paths = into.ephemerals[{static_cast<quint64>(at.key().toLongLong())}];
        for (const auto &path : at.value().toArray())
            paths.emplace_back(path.toString().toUtf8());
    }
}

void readConnectionsJson(const QJsonArray &connections, Evidence &into)
{
    for (const auto &entry : connections) {
        const auto connection = entry.toObject();
        const auto session = sessionOf(connection[u"session_id"_s]);
        if (session.isNone())
            continue;
        ConnectionFacts facts;
        facts.endpoint = connection[u"remote_socket_address"_s].toString();
        if (facts.endpoint.startsWith(u'/'))
            facts.endpoint.remove(0, 1);
        facts.established = milliseconds(connection[u"established"_s].toInteger());
        facts.timeout = milliseconds(connection[u"session_timeout"_s].toInteger());
        into.connections[session] = facts;
        if (const auto response = integer(connection[u"last_response_time"_s]))
            into.raw.lastResponses[session] = milliseconds(*response);
    }
}

void readWatchesJson(const QJsonObject &paths, Evidence &into)
{
    for (auto at = paths.begin(); at != paths.end(); ++at) {
        auto &watchers = into.dataWatches[ZPath(at.key().toUtf8())];
        for (const auto &session : at.value().toArray())
            watchers.insert(sessionOf(session));
    }
}

} // namespace

void readDump(const QByteArray &fourLetterAnswer, Evidence &into)
{
    enum class Part { None, Sessions, Ephemerals, Connections } part = Part::None;
    const auto now = std::chrono::duration_cast<milliseconds>(into.askedAt.time_since_epoch()) + into.serverAhead;
    std::optional<milliseconds> left;
    std::vector<ZPath> *paths = nullptr;
    for (const auto &line : fourLetterAnswer.split('\n')) {
        const bool isIndented = line.startsWith('\t');
        if (line.startsWith("SessionTracker dump")) {
            part = Part::Sessions;
        } else if (line.startsWith("ephemeral nodes dump")) {
            part = Part::Ephemerals;
        } else if (line.startsWith("Connections dump")) {
            part = Part::Connections;
        } else if (part == Part::Sessions) {
            // A follower lists "0x…<tab>10000ms" without indent: it does not know when they expire.
            if (!isIndented)
                left = readExpiry(line, now);
            else if (const auto session = readSessionId(line); session && left)
                into.expiresIn[*session] = std::max(milliseconds::zero(), *left);
        } else if (part == Part::Ephemerals) {
            if (!isIndented && line.startsWith("0x") && line.endsWith(':')) {
                const auto session = readSessionId(line.chopped(1));
                paths = session ? &into.ephemerals[*session] : nullptr;
            } else if (isIndented && paths) {
                paths->emplace_back(line.mid(1));
            }
        }
    }
}

void readCons(const QByteArray &fourLetterAnswer, Evidence &into)
{
    for (const auto &line : fourLetterAnswer.split('\n')) {
        // " /10.0.3.7:56332[1](queued=0,…)"; connections without a session have no sid.
        const auto bracket = line.lastIndexOf('[', line.indexOf('(')); // an IPv6 address has brackets, too
        const auto fields = readFields(line);
        const auto session = readSessionId(fields.value("sid"));
        if (!line.startsWith(" /") || bracket < 0 || !session || session->isNone())
            continue;
        ConnectionFacts facts;
        facts.endpoint = QString::fromLatin1(line.mid(2, bracket - 2));
        facts.established = milliseconds(fields.value("est").toLongLong());
        facts.timeout = milliseconds(fields.value("to").toLongLong());
        into.connections[*session] = facts;
        if (fields.contains("lresp"))
            into.raw.lastResponses[*session] = milliseconds(fields.value("lresp").toLongLong());
    }
}

void readWchp(const QByteArray &fourLetterAnswer, Evidence &into)
{
    std::set<SessionId> *watchers = nullptr;
    for (const auto &line : fourLetterAnswer.split('\n')) {
        if (line.startsWith('/'))
            watchers = &into.dataWatches[ZPath(line)];
        else if (line.startsWith('\t') && watchers)
            if (const auto session = readSessionId(line))
                watchers->insert(*session);
    }
}

void readWchs(const QByteArray &fourLetterAnswer, Evidence &into)
{
    into.raw.dataWatchTotal = numberAfter(fourLetterAnswer, "Total watches:"); // prose: ok (the server's text)
}

void readMntr(const QByteArray &fourLetterAnswer, Evidence &into)
{
    into.raw.watchTotal = numberAfter(fourLetterAnswer, "zk_watch_count\t");
    into.requestsServed = numberAfter(fourLetterAnswer, "zk_packets_received\t");
}

bool readFourLetter(const QByteArray &command, const QByteArray &answer, Evidence &into)
{
    if (command == "dump") {
        if (!answer.contains("ephemeral nodes dump"))
            return false;
        readDump(answer, into);
    } else if (command == "cons") {
        if (!answer.startsWith(" /")) // at least the connection that asks is there
            return false;
        readCons(answer, into);
    } else if (command == "wchp") {
        if (!answer.startsWith('/') && !answer.trimmed().isEmpty())
            return false;
        readWchp(answer, into);
        // No watches at all is an empty line; nothing at all is no answer.
        return !answer.isEmpty();
    } else if (command == "wchs") {
        readWchs(answer, into);
        return into.raw.dataWatchTotal.has_value();
    } else if (command == "mntr") {
        readMntr(answer, into);
        return into.raw.watchTotal.has_value();
    } else if (command == "srvr") {
        const QByteArray version("Zookeeper version: "); // prose: ok (the server's text)
        for (const auto &line : answer.split('\n')) {
            if (line.startsWith("Mode: "))
                into.raw.member.mode = line.mid(6).trimmed();
            else if (line.startsWith(version))
                into.raw.member.version = versionIn(line.mid(version.size()));
        }
        return !into.raw.member.mode.isEmpty();
    } else if (command == "conf") {
        into.raw.member.serverId = numberAfter(answer, "serverId=");
        into.raw.member.configured = readConfiguration(answer);
        return into.raw.member.serverId.has_value();
    } else {
        return false;
    }
    return true;
}

// The AdminServer's JSON. Session ids are signed 64-bit numbers there, as text where they are keys;
// QJsonValue::toInteger() keeps all their digits.

bool readAdmin(const QByteArray &command, const QByteArray &json, Evidence &into)
{
    const auto document = QJsonDocument::fromJson(json);
    if (!document.isObject())
        return false;
    const auto answer = document.object();
    const auto error = answer[u"error"_s];
    // Whatever else listens on that port may answer with JSON, too.
    if (answer[u"command"_s].toString().toUtf8() != command || !(error.isNull() || error.isUndefined()))
        return false;
    if (command == "dump") {
        if (!answer.contains(u"session_id_to_ephemeral_paths"_s))
            return false;
        readDumpJson(answer, into);
    } else if (command == "connections") {
        readConnectionsJson(answer[u"connections"_s].toArray(), into);
        readConnectionsJson(answer[u"secure_connections"_s].toArray(), into);
    } else if (command == "watches_by_path") {
        readWatchesJson(answer[u"path_to_session_ids"_s].toObject(), into);
    } else if (command == "watch_summary") {
        into.raw.dataWatchTotal = integer(answer[u"num_total_watches"_s]);
        return into.raw.dataWatchTotal.has_value();
    } else if (command == "monitor") {
        into.raw.watchTotal = integer(answer[u"watch_count"_s]);
        into.requestsServed = integer(answer[u"packets_received"_s]);
        return into.raw.watchTotal.has_value();
    } else if (command == "server_stats") {
        into.raw.member.mode = answer[u"server_stats"_s].toObject()[u"server_state"_s].toString().toUtf8();
        into.raw.member.version = versionIn(answer[u"version"_s].toString().toUtf8());
    } else if (command == "configuration") {
        into.raw.member.serverId = integer(answer[u"server_id"_s]); // the members it leaves out
        return into.raw.member.serverId.has_value();
    }
    return true;
}

QByteArray adminName(const QByteArray &fourLetterWord)
{
    static const std::map<QByteArray, QByteArray> names{
        {"dump", "dump"},    {"cons", "connections"},  {"wchp", "watches_by_path"}, {"wchs", "watch_summary"},
        {"mntr", "monitor"}, {"srvr", "server_stats"}, {"conf", "configuration"}};
    const auto at = names.find(fourLetterWord);
    return at == names.end() ? QByteArray() : at->second;
}

} // namespace lockscope::zk
