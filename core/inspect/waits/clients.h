// SPDX-License-Identifier: Apache-2.0
// Contenders grouped into clients: by the session, connection or client id that they share; across connections by
// what the client says of itself, or by a label that the user gives. Two that only might be one stay two.
#pragma once

#include "core/inspect/snapshot.h"

namespace lockscope::inspect {

// What the user calls clients whose endpoint, identity, program, session or id matches the pattern (of a shell).
struct ClientLabel {
    QByteArray pattern;
    QString name;
    friend bool operator==(const ClientLabel &, const ClientLabel &) = default;
};
// "PATTERN=NAME", split at the last =; empty if there is no name or no pattern.
[[nodiscard]] std::optional<ClientLabel> readClientLabel(const QString &text);

// What may be one client's name: an address is a host's, a number or a short word is everybody's.
[[nodiscard]] bool isClientName(const QByteArray &text);
// What this contender calls itself, where that is a name: no account, no address, no token.
[[nodiscard]] std::optional<QByteArray> selfNameOf(const Contender &one, BackendKind backend);

// The name in a line of text: whole up to some 200 characters. Of a longer one, its beginning and its host (after the
// last @) stay, or else its end.
[[nodiscard]] QString nameLabel(const QByteArray &name);

// Beside its address or id: what the user calls its client; else, where it has an address, what it calls itself.
[[nodiscard]] std::optional<QByteArray> nameBeside(const Contender &one, BackendKind backend);
// What the user calls each of them, by what is said of that one alone.
void addLabels(LockSnapshot &lock, const std::vector<ClientLabel> &labels);
void addLabel(Contender &one, const LockName &lock, BackendKind backend, const std::vector<ClientLabel> &labels);

// How sure it is that all of a client's contenders are one client.
enum class Join {
    SameSession,  // one session, connection or client id
    SelfReported, // it wrote the same name to several servers, and nobody else does
    Label,        // the user said so
};

struct Client {
    QByteArray id;                  // "zk:0x1000009b4890001"; of a joined one its name
    QString name;                   // for people: its label, what it calls itself, its endpoint, its id
    Join join = Join::SameSession;  // the weakest that was needed
    QString because;                // "calls itself app-9", "label billing"; empty for a session
    std::vector<QString> endpoints; // each once
    friend bool operator==(const Client &, const Client &) = default;
};

// A contender: lock and place in it, its client, and whoever does one thing after the other.
struct ClientsOfLocks {
    std::vector<Client> clients;
    std::vector<std::vector<int>> client; // by lock and contender
    std::vector<std::vector<int>> agent;  // the same; a client's threads are agents of their own where they are known
    int agents = 0;
    std::vector<int> clientOfAgent;
};
[[nodiscard]] ClientsOfLocks clientsOf(const std::vector<LockSnapshot> &locks,
                                       const std::vector<ClientLabel> &labels);

// Locks that one thread holds at once, as Redisson's MultiLock takes its members: nothing on the server says that
// they are one, and a thread that takes one after the other leaves the same. Known where a holder's id names its
// thread. Pure: snapshots in, plain values out.
struct HeldTogether {
    ConnectionName connection;
    QByteArray thread;             // "<client>:<thread>"
    std::vector<QByteArray> locks; // names on that connection, in their order; two at least
    friend bool operator==(const HeldTogether &, const HeldTogether &) = default;
};
// In the order of connections and threads.
[[nodiscard]] std::vector<HeldTogether> heldTogether(const std::vector<LockSnapshot> &locks);

// "<client>:<thread>", where its id or identity says so, as Redisson's do.
[[nodiscard]] std::optional<QByteArray> threadOf(const Contender &one);
// The threads that hold this lock, each once.
[[nodiscard]] std::vector<QByteArray> holdingThreads(const LockSnapshot &lock);
[[nodiscard]] bool isHeldByAny(const LockSnapshot &lock, const std::vector<QByteArray> &threads);

// What else the threads that hold this lock hold, by what heldTogether() found; in order.
[[nodiscard]] std::vector<QByteArray> heldWith(const LockSnapshot &lock, const std::vector<HeldTogether> &groups);

// "a, b and c", "a, b, c and 3 more"; empty for none.
[[nodiscard]] QString heldWithNames(const std::vector<QByteArray> &others);
// "held together with a and b by one thread, as the members of a MultiLock are"; empty for none.
[[nodiscard]] QString heldWithSentence(const std::vector<QByteArray> &others);

} // namespace lockscope::inspect
