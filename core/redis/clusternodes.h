// SPDX-License-Identifier: Apache-2.0
// The nodes of a Redis Cluster that we talk to: a connection to each primary, and who has which slots by now.
//
// Asks a node that answers for the layout: at the start the seeds, later whenever a connection broke or a redirect
// came, every ten seconds in any case. Connected when each primary is and no slot is without one; or, once it was
// waited for a failover, without those that are away, where the others answer for their slots all the same
// (cluster-require-full-coverage no). Loop thread only.
#pragma once

#include "core/async/scope.h"
#include "core/base/connectionuri.h"
#include "core/redis/connection.h"

#include <QByteArray>

#include <map>

namespace lockscope::redis {

// Who has which slots of a Redis Cluster, as CLUSTER SLOTS says it; and where an error reply sends a command.
//
// CLUSTER SLOTS rather than CLUSTER SHARDS: every cluster there is answers it (SHARDS is Redis 7's), and it names who
// serves a slot now, which is all that is asked here. SHARDS leaves a shard's slots out while its old primary is out
// (github.com/redis/redis/issues/13414, github.com/valkey-io/valkey/pull/790).
class ClusterLayout {
public:
    // `asked`: who said so; a node that does not know its own address is that one. An error reply, and what is no
    // such answer, is an Error.
    [[nodiscard]] static Result<ClusterLayout> read(const Value &slots, const HostPort &asked);

    // Each once, by the lowest of its slots: a replica that takes over stands where its primary stood.
    [[nodiscard]] const std::vector<HostPort> &primaries() const { return m_primaries; }
    // Null: nobody has it.
    [[nodiscard]] const HostPort *ownerOf(int slot) const;
    [[nodiscard]] int unserved() const; // slots
    // "0-5460, 10923": those that this one has; null: those that no node has.
    [[nodiscard]] QString slotsOf(const HostPort *host) const;
    // What a MOVED told, ahead of the next look.
    void move(int slot, const HostPort &to);
    friend bool operator==(const ClusterLayout &, const ClusterLayout &) = default;

private:
    static constexpr qint16 nobody = -1;
    [[nodiscard]] qint16 indexOf(const HostPort &host);

    std::vector<HostPort> m_primaries;
    std::vector<qint16> m_owners; // of each slot, an index
};

struct Redirect {
    enum class Kind { Moved, Ask };
    Kind kind = Kind::Moved;
    int slot = 0;
    HostPort to;
};
// Of "MOVED 3999 127.0.0.1:6381" and "ASK 3999 …"; a host that is left out is the one that answered.
[[nodiscard]] std::optional<Redirect> redirectOf(const Value &reply, const HostPort &answered);
// An error reply that passes: nothing was done, and asking again may be answered.
[[nodiscard]] bool isWorthRepeating(const Value &reply);

// Where a Redis Cluster keeps a key: CRC16 (XMODEM) of its hash tag, or of all of it, modulo 16384.

inline constexpr int slotCount = 16384;

// What decides: the text between the first "{" and the next "}" where there is any, else the whole key.
[[nodiscard]] QByteArrayView hashTag(QByteArrayView key);
[[nodiscard]] int hashSlot(QByteArrayView key);

using OpenNode = std::function<std::unique_ptr<Connection>(const HostPort &)>;

class ClusterNodes {
public:
    // `changed`: after state, nodes or who has which slots did; true where subscriptions may have missed something
    // besides.
    ClusterNodes(Loop &loop, std::vector<HostPort> seeds, OpenNode open, std::function<void(bool)> changed);

    [[nodiscard]] ConnectionState state() const { return m_state; }
    [[nodiscard]] const QString &lastError() const { return m_lastError; }
    [[nodiscard]] bool isExplained() const; // of that: by any of those that say why
    [[nodiscard]] QString missing() const;  // Connection::missing()
    [[nodiscard]] bool isServed(int slot) const;
    // Those of the primaries that can be asked: all of them unless some are away for long.
    [[nodiscard]] std::vector<HostPort> serving();
    // Why a command cannot be sent now.
    [[nodiscard]] Error notConnected() const;
    // Whether the layout has ever been told.
    [[nodiscard]] bool isKnown() const { return !m_layout.primaries().empty(); }
    [[nodiscard]] const std::vector<HostPort> &primaries() const { return m_layout.primaries(); }
    // Another number after each change of the primaries, from 0 to 255 and again.
    [[nodiscard]] int generation() const { return m_generation; }
    // Null: nobody has it, as far as is known.
    [[nodiscard]] const HostPort *ownerOf(int slot) const { return m_layout.ownerOf(slot); }
    [[nodiscard]] Connection &at(const HostPort &host); // opened if need be
    [[nodiscard]] bool isConnected(const HostPort &host) { return at(host).state() == ConnectionState::Connected; }
    // One that is connected, for what any of them answers; null: none is.
    [[nodiscard]] const HostPort *anyone();

    void moved(const Redirect &redirect);
    // The layout may be out of date.
    void askAgain();
    // Completes with the next change, or at the deadline.
    [[nodiscard]] Completion<bool> nextChange(Deadline deadline);

private:
    struct Node {
        HostPort host;
        std::unique_ptr<Connection> connection;
        Subscription state;
        bool wasConnected = false;
    };

    Task<void> keepLooking();
    Task<bool> look();
    void adopt(ClusterLayout layout);
    void nodeChanged(const QString &name);
    void openSeeds();
    void judge(bool mayHaveMissed);
    Task<bool> isClusterDown(HostPort host);
    struct Finding {
        bool isWhole = false;
        bool isAnyConnected = false; // of the primaries
        bool isSettled = true;       // each of the missing ones says why
        QStringList missing{};       // primaries, and slots that nobody has
        bool isRefused = false;
        QString why; // empty while it only takes its time
    };
    [[nodiscard]] Finding finding() const;
    [[nodiscard]] bool isPrimary(const HostPort &host) const;

    Loop &m_loop;
    std::vector<HostPort> m_seeds;
    OpenNode m_open;
    std::function<void(bool)> m_changed;
    ClusterLayout m_layout;
    std::map<QString, Node> m_nodes; // by displayHost()
    ConnectionState m_state = ConnectionState::Connecting;
    QString m_lastError;
    QString m_refusal;     // of the layout
    QStringList m_missing; // Finding::missing
    Instant m_missingSince{};
    bool m_isPartial = false; // connected without them
    bool m_wasConnected = false;
    bool m_isDown = false; // the nodes say so, and refuse every command about a key
    int m_generation = 0;
    std::size_t m_turn = 0; // who is asked next
    bool m_askAgain = false;
    bool m_hasMoved = false; // a slot, by a redirect
    Completion<bool> m_wake;
    std::vector<Completion<bool>> m_waiting;
    Scope m_work; // last, so that it goes first
};

} // namespace lockscope::redis
