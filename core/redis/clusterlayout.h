// SPDX-License-Identifier: Apache-2.0
// Who has which slots of a Redis Cluster, as CLUSTER SLOTS says it; and where an error reply sends a command.
//
// CLUSTER SLOTS rather than CLUSTER SHARDS: every cluster there is answers it (SHARDS is Redis 7's), and it names who
// serves a slot now, which is all that is asked here. SHARDS leaves a shard's slots out while its old primary is out
// (github.com/redis/redis/issues/13414, github.com/valkey-io/valkey/pull/790).
#pragma once

#include "core/base/connectionuri.h"
#include "core/redis/connection.h"

#include <QByteArray>

#include <array>

namespace lockscope::redis {

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
    // "0-5460, 10923": those that this one has; null: those that nobody has.
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

} // namespace lockscope::redis
