// SPDX-License-Identifier: Apache-2.0
// The evidence of one connection, asked in the words of the recognisers: paths below the chroot go
// in, our own session is left out, and what the servers did not say stays unknown.
#pragma once

#include "core/inspect/zookeeper/recognise.h"

namespace lockscope::inspect {

struct SessionHealth {
    bool connected = false;
    std::optional<std::chrono::milliseconds> silence; // only when longer than a living client keeps
    std::optional<std::chrono::milliseconds> expiresIn;
    [[nodiscard]] bool isAlive() const { return connected && !silence; }
};

// A view: lives no longer than the context it is made of.
class ServerView {
public:
    explicit ServerView(const RecogniseContext &context)
        : m_context(context), m_evidence(context.evidence ? *context.evidence : none())
    {
    }

    [[nodiscard]] bool isOurs(zk::SessionId session) const { return session == m_context.ourselves; }
    [[nodiscard]] std::optional<QString> endpoint(zk::SessionId session) const;
    // Each that the servers list, below the connection's chroot.
    void eachEphemeral(const std::function<void(zk::SessionId, const ZPath &)> &call) const;
    // Empty unless every member answered `cons`.
    [[nodiscard]] std::optional<SessionHealth> health(zk::SessionId session) const;

    // Every member answered `wchp`: a watch that is not listed does not exist.
    [[nodiscard]] bool knowsAllWatches() const { return m_evidence.isComplete("wchp"); }
    // Whether the list that is judged shows what the servers' lists of watches may tell of: who moved up since then
    // watches another node, or none any more. Asked last, where a rule would speak: it is noted that it could not.
    [[nodiscard]] bool isListAsNew() const;
    // Whether the evidence is younger than that moment of the servers' clock.
    [[nodiscard]] bool wasAskedAfter(ServerTime moment) const;
    [[nodiscard]] bool watches(zk::SessionId session, const ZPath &path) const;
    [[nodiscard]] std::vector<zk::SessionId> watchers(const ZPath &path) const;
    // Whether it watches any path that begins so.
    [[nodiscard]] bool watchesBelow(zk::SessionId session, const QByteArray &prefix) const;

private:
    [[nodiscard]] ZPath fullPath(const QByteArray &path) const;

    // Said by nobody.
    [[nodiscard]] static const zk::Evidence &none()
    {
        static const zk::Evidence nothing;
        return nothing;
    }

    const RecogniseContext &m_context;
    const zk::Evidence &m_evidence;
};

// What is wrong with the sessions of a lock's contenders, from what the servers answered about them. Pure functions
// on snapshots; the one thing that needs memory (a watch missing twice in a row) is a small class.

// holder-disconnected and stale-queue, from complete `cons` evidence only. A disconnected holder's
// expiresAt is filled in where the servers said when its session ends.
void addSessionFindings(LockSnapshot &lock, const RecogniseContext &context);

// Waiters that by complete `wchp` evidence watch nothing of their lock, in a recipe whose watches a server can show.
// Suspects only: the evidence may be older than the wait, or the waiter between two looks at its queue.
[[nodiscard]] std::vector<QByteArray> watchingNothing(const LockSnapshot &lock, const RecogniseContext &context);

// lost-wakeup: whoever was suspect in two different evidence answers in a row. Kept by the observer,
// asked once per snapshot. Not thread-safe.
class LostWakeupMemory {
public:
    // Adds the finding to the snapshot when it is due.
    void judge(LockSnapshot &lock, const RecogniseContext &context);
    void forget(const LockName &lock) { m_suspects.erase(lock); }

private:
    struct Suspicion {
        int times = 0;
        std::chrono::system_clock::time_point lastAsked;
    };
    std::map<LockName, std::map<QByteArray, Suspicion>> m_suspects;
};

} // namespace lockscope::inspect
