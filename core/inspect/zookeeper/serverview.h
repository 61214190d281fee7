// SPDX-License-Identifier: Apache-2.0
// The evidence of one connection, asked in the words of the recognisers: paths below the chroot go
// in, our own session is left out, and what the servers did not say stays unknown.
#pragma once

#include "core/inspect/zookeeper/recognise.h"

#include <functional>

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
    explicit ServerView(const RecogniseContext &context) : m_context(context) {}

    [[nodiscard]] bool isOurs(zk::SessionId session) const { return session == m_context.ourselves; }
    [[nodiscard]] std::optional<QString> endpoint(zk::SessionId session) const;
    // Each that the servers list, below the connection's chroot.
    void eachEphemeral(const std::function<void(zk::SessionId, const ZPath &)> &call) const;
    // Empty unless every member answered `cons`.
    [[nodiscard]] std::optional<SessionHealth> health(zk::SessionId session) const;

    // Every member answered `wchp`: a watch that is not listed does not exist.
    [[nodiscard]] bool knowsAllWatches() const;
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

    const RecogniseContext &m_context;
};

} // namespace lockscope::inspect
