// SPDX-License-Identifier: Apache-2.0
// CLIENT LIST, read; and which of a lock's contenders is which connection, where that can be told. Pure.
#pragma once

#include "core/inspect/snapshotstore.h"
#include "core/redis/connection.h"

namespace lockscope::inspect {

struct RedisClient {
    QString id;
    QString endpoint;      // empty: not told
    QByteArray name;       // CLIENT SETNAME; empty: none
    bool isNameIts = true; // not one that its library gives to many
    qint64 channels = 0;   // that it listens on
    friend bool operator==(const RedisClient &, const RedisClient &) = default;
};

// "id=7 addr=10.0.3.7:56332 name=worker …", one line per client. Those whose ids are `ours` are left out: nobody
// looks for a lock in its inspector.
[[nodiscard]] std::vector<RedisClient> readClientList(const QByteArray &list, const QByteArrayList &ours);
[[nodiscard]] std::vector<SessionSnapshot> sessionsOf(const std::vector<RedisClient> &clients,
                                                      const ConnectionName &name);

using ChannelCounts = std::map<QByteArray, qint64>; // who listens there
[[nodiscard]] ChannelCounts readChannelCounts(const redis::Value &numsub);

// The channels on which this lock's named waiters listen, each on its own (Redisson's fair lock).
[[nodiscard]] std::vector<QByteArray> waiterChannels(const LockSnapshot &lock);
// The same, and those on which somebody listens of whom no more is known.
[[nodiscard]] std::vector<QByteArray> channelsOf(const LockSnapshot &lock, const ChannelCounts &subscribers);

// Who is connected, and how many of them listen on some channels: both asked in one go.
//
// A token says nothing about a connection, so a contender is one only where nothing else can be meant. It waits on
// a channel: all clients that listen anywhere are as many as listen there. What it wrote is the address of a
// connection, or the name of a single one, perhaps with a UUID behind it.
class ConnectedClients {
public:
    ConnectedClients() = default;
    ConnectedClients(std::vector<RedisClient> clients, ChannelCounts listeners);

    // The same lock with its contenders' connections as they are now; empty if it has them already. `subscribers`:
    // of the lock's channels, as they were counted with it.
    [[nodiscard]] std::optional<LockSnapshot> told(const LockSnapshot &lock, const ChannelCounts &subscribers) const;
    // With what each is known to hold and to wait for.
    [[nodiscard]] std::vector<SessionSnapshot> sessions(const ConnectionName &name, const SnapshotStore &locks) const;
    // Whether as many listen there as did when the clients were listed; or they are too many to be listed each time.
    [[nodiscard]] bool isUpToDate(const ChannelCounts &subscribers) const;

    friend bool operator==(const ConnectedClients &, const ConnectedClients &) = default;

private:
    struct Connection {
        std::optional<QString> session, endpoint;
        std::optional<QByteArray> program;
    };
    [[nodiscard]] std::vector<const RedisClient *> listenersOn(const QByteArray &channel) const;
    [[nodiscard]] Connection byChannel(const RedisClient &client) const;
    [[nodiscard]] Connection byText(const Contender &one) const;
    [[nodiscard]] bool isOfOneHost(const QByteArray &name) const;

    std::vector<RedisClient> m_clients;
    ChannelCounts m_listeners;
    std::map<QByteArray, std::vector<std::size_t>> m_named;
    std::map<QByteArray, std::size_t> m_at; // by endpoint
    std::vector<std::size_t> m_listening;
};

} // namespace lockscope::inspect
