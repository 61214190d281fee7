// SPDX-License-Identifier: Apache-2.0
// The messages of etcd's JSON gateway: bytes are Base64, 64-bit numbers are strings, what is zero is left out. Pure.
#pragma once

#include "core/etcd/client.h"

#include <QJsonObject>

namespace lockscope::etcd {

[[nodiscard]] QJsonObject toJson(const RangeRequest &request);
[[nodiscard]] QJsonObject toJson(const Transaction &transaction);
[[nodiscard]] QJsonObject toJson(const WatchRequest &request);

// Errors say what was not as it should be.
[[nodiscard]] Result<QJsonObject> readObject(const QByteArray &bytes);
[[nodiscard]] Result<RangeAnswer> readRange(const QJsonObject &answer);
[[nodiscard]] Result<TransactionAnswer> readTransaction(const QJsonObject &answer);
[[nodiscard]] Result<LeaseAnswer> readLease(const QJsonObject &answer);
// One of a stream's, of which the answer to a keep-alive has one.
[[nodiscard]] Result<QJsonObject> readStreamed(const QJsonObject &line);
[[nodiscard]] Result<std::vector<LeaseId>> readLeases(const QJsonObject &answer);
// Of a user, its roles' names.
[[nodiscard]] QStringList readRoles(const QJsonObject &answer);
// Of a role.
[[nodiscard]] std::vector<Permission> readPermissions(const QJsonObject &answer);
// A line of a watch's stream.
[[nodiscard]] WatchNews readNews(const QJsonObject &line);
// What the gateway says of a request that failed.
[[nodiscard]] Error errorOf(int status, const QJsonObject &answer);
// The same of an answer that is no JSON: `host` is what a person calls the one who sent it.
[[nodiscard]] Error errorOfText(const QString &host, int status, const QByteArray &text);

} // namespace lockscope::etcd
