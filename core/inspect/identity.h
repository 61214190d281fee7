// SPDX-License-Identifier: Apache-2.0
// The identity of a hold: what tells it from every other, as its server keeps it. A force-release is guarded by it.
// Each backend has its own; what is asked in the words of another backend is empty, which no guard takes for an
// identity.
#pragma once

#include <QByteArray>

#include <optional>
#include <variant>

namespace lockscope::inspect {

// ZooKeeper: the contender's node.
struct ZnodeIdentity {
    QByteArray path{};
    qint64 czxid = 0;   // 0: the node stays from hold to hold
    quint64 owner = 0;  // ephemeralOwner; 0: persistent
    qint32 version = 0; // of its data
    friend bool operator==(const ZnodeIdentity &, const ZnodeIdentity &) = default;
};

struct RedisIdentity {
    QByteArray value{}; // the token, the member, or the hash's field
    // The other half of a hash's entry that is a hold: of a lock on a group of values and of a lock by a rule the
    // field that says `value`, of a permit that is a field what that says.
    QByteArray counterpart{};
    std::optional<qint64> expiryMs{}; // where every holder writes the same value: when this one's ends
    bool comesAgain = false;          // nothing the server says tells this hold from a later one
    friend bool operator==(const RedisIdentity &, const RedisIdentity &) = default;
};

// MariaDB, PostgreSQL: whoever holds by being connected, or by its transaction.
struct SqlIdentity {
    QByteArray
        text; // "trx 4711 started 1700000000000", "connection 12 of app from 10.0.0.7", "pid=7 backend_start=…"
    friend bool operator==(const SqlIdentity &, const SqlIdentity &) = default;
};

// A row of a table of locks, which stays when its client is gone.
struct RowIdentity {
    QByteArray lockedBy{};
    QByteArray stamp{}; // when it was locked, as it stands there: each hold has another
    friend bool operator==(const RowIdentity &, const RowIdentity &) = default;
};

struct EtcdIdentity {
    QByteArray key{};
    qint64 createRevision = 0;
    qint64 lease = 0;
    friend bool operator==(const EtcdIdentity &, const EtcdIdentity &) = default;
};

class Identity {
public:
    Identity() = default;
    Identity(ZnodeIdentity of) : m_of(std::move(of)) {}
    Identity(RedisIdentity of) : m_of(std::move(of)) {}
    Identity(SqlIdentity of) : m_of(std::move(of)) {}
    Identity(RowIdentity of) : m_of(std::move(of)) {}
    Identity(EtcdIdentity of) : m_of(std::move(of)) {}

    [[nodiscard]] const ZnodeIdentity &znode() const { return as<ZnodeIdentity>(); }
    [[nodiscard]] const RedisIdentity &redis() const { return as<RedisIdentity>(); }
    [[nodiscard]] const SqlIdentity &sql() const { return as<SqlIdentity>(); }
    [[nodiscard]] const RowIdentity &row() const { return as<RowIdentity>(); }
    [[nodiscard]] const EtcdIdentity &etcd() const { return as<EtcdIdentity>(); }
    // To change it; it becomes one of that backend where it was another's.
    template <class Of>
    [[nodiscard]] Of &edit()
    {
        auto *found = std::get_if<Of>(&m_of);
        return found ? *found : m_of.template emplace<Of>();
    }

    // What of it is a text of the client's or the server's, on any backend: a token, a transaction, a key; empty
    // for a znode.
    [[nodiscard]] const QByteArray &text() const
    {
        return !sql().text.isNull()       ? sql().text
               : !row().lockedBy.isNull() ? row().lockedBy
               : !etcd().key.isNull()     ? etcd().key
                                          : redis().value;
    }
    // The server's number of the change that made it, which grows: czxid, create_revision; 0: there is none.
    [[nodiscard]] qint64 creation() const { return znode().czxid != 0 ? znode().czxid : etcd().createRevision; }

    friend bool operator==(const Identity &, const Identity &) = default;

private:
    template <class Of>
    [[nodiscard]] const Of &as() const
    {
        static const Of nothing;
        const auto *found = std::get_if<Of>(&m_of);
        return found ? *found : nothing;
    }

    std::variant<std::monostate, ZnodeIdentity, RedisIdentity, SqlIdentity, RowIdentity, EtcdIdentity> m_of;
};

} // namespace lockscope::inspect
