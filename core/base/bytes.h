// SPDX-License-Identifier: Apache-2.0
// Names and values as servers store them: bytes, not text.
//
// Two of them never sit side by side as plain strings in a signature: a path is not a node name,
// a Redis key is not the value stored under it. Each is its own type, made explicitly.
#pragma once

// moc 6.4 stops at <compare> when it comes first in a Q_OBJECT header.
#include <chrono>
#include <vector>
#include <version>

#include <compare>

#include <QByteArray>
#include <QHashFunctions>
#include <QString>

#include <algorithm>
#include <cstring>

namespace lockscope {

template <class Tag>
class StrongBytes {
public:
    StrongBytes() = default;
    explicit StrongBytes(QByteArray bytes) : m_bytes(std::move(bytes)) {}

    [[nodiscard]] const QByteArray &bytes() const { return m_bytes; }
    [[nodiscard]] bool isEmpty() const { return m_bytes.isEmpty(); }

    friend bool operator==(const StrongBytes &a, const StrongBytes &b)
    {
        const auto &one = a.m_bytes, &other = b.m_bytes;
        // Often they are copies of one.
        return one.size() == other.size()
               && (one.constData() == other.constData()
                   || std::memcmp(one.constData(), other.constData(), static_cast<std::size_t>(one.size())) == 0);
    }
    friend std::strong_ordering operator<=>(const StrongBytes &a, const StrongBytes &b)
    {
        return a.m_bytes.compare(b.m_bytes) <=> 0;
    }
    friend size_t qHash(const StrongBytes &value, size_t seed = 0) { return ::qHash(value.m_bytes, seed); }

private:
    QByteArray m_bytes;
};

// The name of a znode without its folder: "_c_…-lock-0000000041".
using NodeName = StrongBytes<struct NodeNameTag>;
using RedisKey = StrongBytes<struct RedisKeyTag>;
// What a lock key holds: the owner's token.
using LockValue = StrongBytes<struct LockValueTag>;
// The name a connection has in the command line and in LOCK ("zk", "orders-zk").
using ConnectionName = StrongBytes<struct ConnectionNameTag>;

// An absolute znode path, "/" or "/a/b" (never a trailing slash).
class ZPath : public StrongBytes<struct ZPathTag> {
public:
    using StrongBytes::StrongBytes;

    [[nodiscard]] bool isRoot() const { return bytes().size() == 1 && bytes().front() == '/'; }
    // In one block of just that size: very many are kept.
    [[nodiscard]] ZPath child(const NodeName &name) const
    {
        const auto &folder = bytes(), &last = name.bytes();
        const auto length = isRoot() ? 0 : folder.size();
        QByteArray path(length + 1 + last.size(), Qt::Uninitialized);
        auto *const to = std::copy_n(folder.constData(), length, path.data());
        *to = '/';
        std::copy_n(last.constData(), last.size(), to + 1);
        return ZPath(std::move(path));
    }
    // The root's parent is the root.
    [[nodiscard]] ZPath parent() const
    {
        const auto slash = lastSlash();
        return slash <= 0 ? ZPath(QByteArrayLiteral("/")) : ZPath(bytes().left(slash));
    }
    [[nodiscard]] NodeName name() const { return NodeName(bytes().mid(lastSlash() + 1)); }

private:
    [[nodiscard]] qsizetype lastSlash() const
    {
        const auto *const at = memrchr(bytes().constData(), '/', static_cast<std::size_t>(bytes().size()));
        return at ? static_cast<const char *>(at) - bytes().constData() : -1;
    }
};

} // namespace lockscope

template <class Tag>
struct std::hash<lockscope::StrongBytes<Tag>> {
    size_t operator()(const lockscope::StrongBytes<Tag> &value) const noexcept { return qHash(value); }
};
template <>
struct std::hash<lockscope::ZPath> {
    size_t operator()(const lockscope::ZPath &value) const noexcept { return qHash(value); }
};

// What ZooKeeper says of a znode, as values: for whoever shows one without talking to a server.

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
