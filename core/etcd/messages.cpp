// SPDX-License-Identifier: Apache-2.0
#include "core/etcd/http.h"

#include "core/base/text.h"

#include <QJsonArray>
#include <QJsonDocument>

namespace lockscope::etcd {

namespace {

QString base64(const QByteArray &bytes)
{
    return QString::fromLatin1(bytes.toBase64());
}

QString number(qint64 value)
{
    return QString::number(value);
}

QByteArray bytesOf(const QJsonValue &value)
{
    return QByteArray::fromBase64(value.toString().toLatin1());
}

qint64 numberOf(const QJsonValue &value)
{
    return value.isString() ? value.toString().toLongLong() : value.toInteger();
}

Revision revisionOf(const QJsonObject &answer)
{
    return numberOf(answer.value("header"_L1).toObject().value("revision"_L1));
}

Error unreadable(const QString &what)
{
    return Error{ErrorCode::Server, u"could not read etcd's answer: %1"_s.arg(what)};
}

Result<KeyValue> readEntry(const QJsonValue &value)
{
    const auto object = value.toObject();
    KeyValue entry;
    entry.key = bytesOf(object.value("key"_L1));
    entry.value = bytesOf(object.value("value"_L1));
    entry.created = numberOf(object.value("create_revision"_L1));
    entry.modified = numberOf(object.value("mod_revision"_L1));
    entry.lease = numberOf(object.value("lease"_L1));
    if (entry.key.isEmpty() || entry.modified <= 0)
        return unreadable(u"an entry without a key or a revision"_s);
    return entry;
}

QJsonObject toJson(const Operation &operation)
{
    switch (operation.kind) {
    case Operation::Kind::Put:
        return {{u"request_put"_s, QJsonObject{{u"key"_s, base64(operation.range.key)},
                                               {u"value"_s, base64(operation.value)},
                                               {u"lease"_s, number(operation.lease)}}}};
    case Operation::Kind::Remove:
        return {{u"request_delete_range"_s, QJsonObject{{u"key"_s, base64(operation.range.key)}}}};
    case Operation::Kind::Range: break;
    }
    return {{u"request_range"_s, toJson(operation.range)}};
}

QJsonArray toJson(const std::vector<Operation> &operations)
{
    return mapped<QJsonArray>(operations, [&](const auto &one) { return toJson(one); });
}

} // namespace

QByteArray endOfPrefix(const QByteArray &prefix)
{
    QByteArray end = prefix;
    while (!end.isEmpty()) {
        const auto last = static_cast<uchar>(end.back());
        if (last < 0xff) {
            end.back() = static_cast<char>(last + 1);
            return end;
        }
        end.chop(1);
    }
    return QByteArray(1, '\0'); // "up to the end of all keys"
}

QByteArray leaseText(LeaseId id)
{
    return QByteArray::number(static_cast<quint64>(id), 16);
}

QJsonObject toJson(const RangeRequest &request)
{
    QJsonObject json{{u"key"_s, base64(request.key.isEmpty() ? QByteArray(1, '\0') : request.key)}};
    if (!request.end.isEmpty())
        json.insert(u"range_end"_s, base64(request.end));
    if (request.limit > 0)
        json.insert(u"limit"_s, number(request.limit));
    if (request.at > 0)
        json.insert(u"revision"_s, number(request.at));
    if (request.createdUpTo > 0)
        json.insert(u"max_create_revision"_s, number(request.createdUpTo));
    if (request.order != Order::AsStored) {
        json.insert(u"sort_target"_s, u"CREATE"_s);
        json.insert(u"sort_order"_s, request.order == Order::OldestFirst ? u"ASCEND"_s : u"DESCEND"_s);
    }
    if (request.keysOnly)
        json.insert(u"keys_only"_s, true);
    return json;
}

QJsonObject toJson(const Transaction &transaction)
{
    QJsonArray conditions;
    for (const auto &condition : transaction.conditions) {
        conditions.append(QJsonObject{{u"target"_s, u"CREATE"_s},
                                      {u"result"_s, u"EQUAL"_s},
                                      {u"key"_s, base64(condition.key)},
                                      {u"create_revision"_s, number(condition.created)}});
        if (condition.lease != 0)
            conditions.append(QJsonObject{{u"target"_s, u"LEASE"_s},
                                          {u"result"_s, u"EQUAL"_s},
                                          {u"key"_s, base64(condition.key)},
                                          {u"lease"_s, number(condition.lease)}});
    }
    return {{u"compare"_s, conditions},
            {u"success"_s, toJson(transaction.then)},
            {u"failure"_s, toJson(transaction.otherwise)}};
}

QJsonObject toJson(const WatchRequest &request)
{
    QJsonObject json{{u"key"_s, base64(request.key.isEmpty() ? QByteArray(1, '\0') : request.key)},
                     {u"start_revision"_s, number(request.from)}};
    if (!request.end.isEmpty())
        json.insert(u"range_end"_s, base64(request.end));
    return {{u"create_request"_s, json}};
}

Result<QJsonObject> readObject(const QByteArray &bytes)
{
    QJsonParseError why;
    const auto document = QJsonDocument::fromJson(bytes, &why);
    if (!document.isObject())
        return unreadable(why.error == QJsonParseError::NoError ? u"no object"_s : why.errorString());
    return document.object();
}

Result<RangeAnswer> readRange(const QJsonObject &answer)
{
    RangeAnswer read;
    read.revision = revisionOf(answer);
    read.more = answer.value("more"_L1).toBool();
    const auto kvs = answer.value("kvs"_L1);
    if (!kvs.isUndefined() && !kvs.isNull() && !kvs.isArray())
        return unreadable(u"entries that are not a list"_s);
    const auto entries = kvs.toArray();
    for (const auto &one : entries) {
        TRY(auto &entry, readEntry(one));
        if (entry.created <= 0)
            return unreadable(u"an entry without the revision that created it"_s);
        read.entries.push_back(std::move(entry));
    }
    return read;
}

Result<TransactionAnswer> readTransaction(const QJsonObject &answer)
{
    TransactionAnswer read;
    read.revision = revisionOf(answer);
    if (read.revision <= 0)
        return unreadable(u"a transaction without a revision"_s);
    read.held = answer.value("succeeded"_L1).toBool();
    const auto responses = answer.value("responses"_L1).toArray();
    for (const auto &response : responses) {
        const auto range = response.toObject().value("response_range"_L1);
        if (!range.isObject())
            continue;
        TRY(auto &entries, readRange(range.toObject()));
        read.ranges.push_back(std::move(entries));
    }
    return read;
}

Result<LeaseAnswer> readLease(const QJsonObject &answer)
{
    LeaseAnswer lease;
    lease.id = numberOf(answer.value("ID"_L1));
    lease.ttl = std::chrono::seconds(numberOf(answer.value("TTL"_L1)));
    lease.granted = std::chrono::seconds(numberOf(answer.value("grantedTTL"_L1)));
    const auto keys = answer.value("keys"_L1).toArray();
    for (const auto &key : keys)
        lease.keys.push_back(bytesOf(key));
    if (lease.id == 0)
        return unreadable(u"a lease without a number"_s);
    return lease;
}

Result<QJsonObject> readStreamed(const QJsonObject &line)
{
    const auto result = line.value("result"_L1);
    if (result.isObject())
        return result.toObject();
    return errorOf(0, line.value("error"_L1).isObject() ? line.value("error"_L1).toObject() : line);
}

Result<std::vector<LeaseId>> readLeases(const QJsonObject &answer)
{
    std::vector<LeaseId> ids;
    const auto leases = answer.value("leases"_L1).toArray();
    for (const auto &lease : leases)
        ids.push_back(numberOf(lease.toObject().value("ID"_L1)));
    return ids;
}

QStringList readRoles(const QJsonObject &answer)
{
    return answer.value("roles"_L1).toVariant().toStringList();
}

std::vector<Permission> readPermissions(const QJsonObject &answer)
{
    std::vector<Permission> permissions;
    const auto all = answer.value("perm"_L1).toArray();
    for (const auto &one : all) {
        const auto object = one.toObject();
        const auto type = object.value("permType"_L1).toString(u"READ"_s);
        permissions.push_back({bytesOf(object.value("key"_L1)), bytesOf(object.value("range_end"_L1)),
                               type.startsWith("READ"_L1), type.endsWith("WRITE"_L1)});
    }
    return permissions;
}

WatchNews readNews(const QJsonObject &line)
{
    WatchNews news;
    const auto result = readStreamed(line);
    if (!result) {
        news.over = result.error();
        return news;
    }
    news.revision = revisionOf(*result);
    const auto events = result->value("events"_L1).toArray();
    for (const auto &event : events) {
        const auto entry = readEntry(event.toObject().value("kv"_L1));
        if (!entry) {
            news.over = entry.error();
            return news;
        }
        news.events.push_back({event.toObject().value("type"_L1).toString() == "DELETE"_L1, *entry});
    }
    if (result->value("canceled"_L1).toBool()) {
        const auto compacted = numberOf(result->value("compact_revision"_L1));
        const auto why = result->value("cancel_reason"_L1).toString();
        news.over = Error{ErrorCode::Server,
                          compacted > 0 ? u"etcd has compacted its history up to revision %1"_s.arg(compacted)
                                        : u"etcd ended the watch: %1"_s.arg(why.isEmpty() ? u"no reason given"_s
                                                                                          : label(why.toUtf8())),
                          true};
    }
    return news;
}

Error errorOf(int status, const QJsonObject &answer)
{
    const auto text = [&answer] {
        const auto message = answer.value("message"_L1).toString();
        return message.isEmpty() ? answer.value("error"_L1).toString() : message;
    }();
    const auto said = text.isEmpty() ? u"HTTP status %1"_s.arg(status) : label(text.toUtf8());
    const auto code =
        answer.contains("code"_L1) ? answer.value("code"_L1).toInt() : answer.value("grpc_code"_L1).toInt();
    // The numbers are gRPC's.
    const bool wantsUser = said.contains("user name is empty"_L1) || said.contains("authentication failed"_L1);
    if (code == 16 || wantsUser)
        return {ErrorCode::AuthFailed, said};
    switch (code) {
    case 4:
    case 14: return {ErrorCode::UnknownOutcome, said, true};
    case 5: return {ErrorCode::NoNode, said};
    case 7: return {ErrorCode::NoPermission, said};
    case 8: return {ErrorCode::TooLarge, said, true};
    default: return {ErrorCode::Server, said};
    }
}

Error errorOfText(const QString &host, int status, const QByteArray &text)
{
    const auto said = label(text.simplified(), 200);
    // Of etcd itself, before its gateway is asked: nobody comes in with such a certificate, whatever the password.
    if (text.contains("CommonName of client sending a request against gateway"))
        return {ErrorCode::AuthFailed,
                u"TLS: %1 reports \"%2\": with authentication on, etcd's gateway rejects a client certificate "
                u"that has a CommonName; name one without it with cert= and key="_s.arg(host, said),
                false, true};
    const auto words = said.isEmpty() ? QString() : u": \"%1\""_s.arg(said);
    return {ErrorCode::Server,
            u"the server at %1 is not an etcd v3: HTTP status %2"_s.arg(host, QString::number(status)) + words};
}

} // namespace lockscope::etcd
