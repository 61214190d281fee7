// SPDX-License-Identifier: Apache-2.0
// What ZooKeeper says of a znode, as values: for whoever shows one without talking to a server.
#pragma once

#include "core/base/bytes.h"

#include <QString>

#include <chrono>
#include <vector>

namespace lockscope::zk {

// 64 bits; shown as 0x and hex without leading zeros.
struct SessionId {
    quint64 value = 0;
    [[nodiscard]] bool isNone() const { return value == 0; }
    [[nodiscard]] QString text() const { return QStringLiteral("0x") + QString::number(value, 16); }
    friend auto operator<=>(const SessionId &, const SessionId &) = default;
    friend size_t qHash(const SessionId &id, size_t seed = 0) { return ::qHash(id.value, seed); }
};

struct Stat {
    qint64 czxid = 0;
    qint64 mzxid = 0;
    qint64 pzxid = 0;
    std::chrono::milliseconds ctime{}; // since the epoch, by the server's clock
    std::chrono::milliseconds mtime{};
    qint32 version = 0;
    qint32 cversion = 0;
    qint32 aversion = 0;
    SessionId ephemeralOwner; // none also for containers and nodes with a TTL: the server does not tell them
    qint32 dataLength = 0;
    qint32 numChildren = 0;
    friend bool operator==(const Stat &, const Stat &) = default;
};

namespace perms {
constexpr int read = 1, write = 2, create = 4, remove = 8, admin = 16, all = 31;
}
struct Acl {
    int perms = perms::all;
    QByteArray scheme;
    QByteArray id;
    friend bool operator==(const Acl &, const Acl &) = default;
};
using Acls = std::vector<Acl>;
[[nodiscard]] inline Acls openAcl()
{
    return {{perms::all, QByteArrayLiteral("world"), QByteArrayLiteral("anyone")}};
}

} // namespace lockscope::zk
