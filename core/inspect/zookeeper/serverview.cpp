// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/serverview.h"

namespace lockscope::inspect {

using std::chrono::milliseconds;

namespace {
// Servers check sessions once per tick; a ping may be that much late without anything being wrong.
constexpr milliseconds tick{2000};
} // namespace

std::optional<QString> ServerView::endpoint(zk::SessionId session) const
{
    if (!m_context.evidence)
        return std::nullopt;
    const auto found = m_context.evidence->connections.find(session);
    if (found == m_context.evidence->connections.end())
        return std::nullopt;
    return found->second.endpoint;
}

void ServerView::eachEphemeral(const std::function<void(zk::SessionId, const ZPath &)> &call) const
{
    if (!m_context.evidence)
        return;
    const auto chroot = m_context.chroot == "/" ? QByteArray() : m_context.chroot;
    for (const auto &[session, paths] : m_context.evidence->ephemerals) {
        for (const auto &path : paths) {
            if (path.bytes().startsWith(chroot + '/'))
                call(session, ZPath(path.bytes().mid(chroot.size())));
        }
    }
}

std::optional<SessionHealth> ServerView::health(zk::SessionId session) const
{
    const zk::Evidence *evidence = m_context.evidence;
    if (!evidence || !evidence->isComplete("cons"))
        return std::nullopt;
    SessionHealth health;
    if (const auto expiry = evidence->expiresIn.find(session); expiry != evidence->expiresIn.end())
        health.expiresIn = expiry->second;
    const auto connection = evidence->connections.find(session);
    if (connection == evidence->connections.end())
        return health;
    health.connected = true;
    const auto &facts = connection->second;
    // An idle client pings after a third of its timeout, Java's and C's; Rust's crate zookeeper after two.
    if (facts.silence && facts.timeout.count() > 0 && *facts.silence > facts.timeout * 2 / 3 + tick)
        health.silence = facts.silence;
    return health;
}

bool ServerView::knowsAllWatches() const
{
    return m_context.evidence && m_context.evidence->isComplete("wchp");
}

bool ServerView::isListAsNew() const
{
    const bool isAsNew = m_context.evidence && m_context.listedAt >= m_context.evidence->answeredAt;
    if (!isAsNew && m_context.wantsNewerList)
        *m_context.wantsNewerList = true;
    return isAsNew;
}

bool ServerView::wasAskedAfter(ServerTime moment) const
{
    if (!m_context.evidence)
        return false;
    const auto asked = std::chrono::time_point_cast<milliseconds>(m_context.evidence->askedAt);
    return asked + m_context.serverAhead >= moment;
}

bool ServerView::watches(zk::SessionId session, const ZPath &path) const
{
    if (!m_context.evidence || session.isNone() || isOurs(session))
        return false;
    const auto found = m_context.evidence->dataWatches.find(fullPath(path.bytes()));
    return found != m_context.evidence->dataWatches.end() && found->second.contains(session);
}

std::vector<zk::SessionId> ServerView::watchers(const ZPath &path) const
{
    if (!m_context.evidence)
        return {};
    const auto found = m_context.evidence->dataWatches.find(fullPath(path.bytes()));
    if (found == m_context.evidence->dataWatches.end())
        return {};
    std::vector<zk::SessionId> all(found->second.begin(), found->second.end());
    std::erase_if(all, [this](zk::SessionId session) { return isOurs(session); });
    return all;
}

bool ServerView::watchesBelow(zk::SessionId session, const QByteArray &prefix) const
{
    if (!m_context.evidence)
        return false;
    const ZPath from = fullPath(prefix);
    const auto &watches = m_context.evidence->dataWatches;
    for (auto at = watches.lower_bound(from); at != watches.end(); ++at) {
        if (!at->first.bytes().startsWith(from.bytes()))
            return false;
        if (at->second.contains(session))
            return true;
    }
    return false;
}

ZPath ServerView::fullPath(const QByteArray &path) const
{
    const QByteArray &chroot = m_context.chroot;
    if (chroot.isEmpty() || chroot == "/")
        return ZPath(path);
    return ZPath(path == "/" ? chroot : chroot + path);
}

} // namespace lockscope::inspect
