// SPDX-License-Identifier: Apache-2.0
// The AdminServer's JSON. Session ids are signed 64-bit numbers there, as text where they are keys;
// QJsonValue::toInteger() keeps all their digits.
#include "core/zookeeper/evidence.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

namespace lockscope::zk {

namespace {

using std::chrono::milliseconds;

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
