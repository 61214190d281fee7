// SPDX-License-Identifier: Apache-2.0
// Redlock. Source: Redis documentation, "Distributed Locks with Redis", the Redlock algorithm.
//   1. Take the time. Send SET key token NX PX ttl to all nodes at once, with a random token nobody else
//      has, and give each a time to answer that is little beside the TTL.
//   2. A quorum (N/2 + 1) said OK, and time is left: the lock is ours for the TTL less what has passed and
//      what the clocks may differ (1 % and 2 ms).
//   3. Otherwise delete the key again on all nodes asked, if it holds our token: also where the answer was
//      lost. Pause, a little at random, and go to 1 with a new token.
//   4. While it is held, prolong the TTL on all nodes at every third of it, where the key still holds our
//      token. Valid is what a quorum may be believed for.
//   5. To release, delete the key on all nodes, where it still holds our token.
//
// Not fair, and nobody is woken. No fencing token. A node whose answer is lost does not count as ours. It
// is safe as long as the nodes' clocks run about equally fast and a restarted node stays away for a TTL.
#include "core/recipes/redis/locks.h"

#include "core/base/text.h"
#include "core/recipes/lockbase.h"
#include "core/recipes/redis/tokenkey.h"
#include "core/recipes/token.h"
#include "core/rules/turn.h"
#include "core/redis/client.h"

namespace lockscope::recipes {

namespace {

// Asks all nodes to delete the key where it holds our token; by `standing` only those where it does as far
// as we know.
QuorumCall askToDelete(const RedisNodes &nodes, const TokenKey &ours, const NodeLeases &standing, Deadline deadline)
{
    const auto ask = [&](int node) -> std::optional<Reply<redis::Value>> {
        if (!standing.isOn(node))
            return std::nullopt;
        return nodes[static_cast<std::size_t>(node)]->script(redis::loadScript("compare-and-delete"),
                                                             {ours.key.bytes()}, {ours.token.bytes()}, deadline);
    };
    return QuorumCall(nodes, ask, {[](const redis::Value &answer) { return answer.integer == 1; }});
}

// Our token may stand on these nodes: unless somebody says that it does not, or keeps it, it is taken away
// when this goes out of scope.
class NodesGuard {
public:
    NodesGuard(const RedisNodes &nodes, std::vector<WaitGroup> waitGroups, TokenKey ours)
        : m_nodes(nodes), m_waitGroups(std::move(waitGroups)), m_ours(std::move(ours)), m_suspect(nodes.size(), true)
    {
    }
    Q_DISABLE_COPY(NodesGuard)
    ~NodesGuard()
    {
        for (std::size_t node = 0; node < m_nodes.size(); ++node) {
            if (m_suspect[node])
                removeToken(*m_nodes[node], m_waitGroups[node], m_ours);
        }
    }
    void forget(int node) { m_suspect[static_cast<std::size_t>(node)] = false; }
    void forgetAll() { m_suspect.assign(m_nodes.size(), false); }

private:
    RedisNodes m_nodes;
    std::vector<WaitGroup> m_waitGroups;
    TokenKey m_ours;
    std::vector<bool> m_suspect;
};

} // namespace

RedlockLock::RedlockLock(RedisNodes nodes, RedisKey key, std::chrono::milliseconds ttl, Random random)
    : LockBase(nodes.front()->loop(), key.bytes()), m_nodes(std::move(nodes)), m_loop(&m_nodes.front()->loop()),
      m_key(std::move(key)), m_ttl(ttl), m_random(std::move(random))
{
    for (std::size_t node = 0; node < m_nodes.size(); ++node)
        m_waitGroups.emplace_back(*m_loop); // one each: copies would share their count
}

Task<Result<Grant>> RedlockLock::take(Deadline deadline)
{
    m_wasRefused = false;
    auto taken = co_await rounds(deadline);
    if (taken)
        co_return taken;
    // What was not taken away again cannot make it ours, unless it is a quorum.
    std::vector<Completion<bool>> cleaning;
    const auto patience = answerBy(*m_nodes.front(), Deadline::at(m_loop->now()));
    for (const auto &waitGroup : m_waitGroups)
        cleaning.push_back(waitGroup.finished(patience));
    int unclean = 0;
    for (const auto &cleaned : cleaning) {
        const bool clean = co_await cleaned;
        unclean += clean ? 0 : 1;
    }
    co_return unclean >= quorum() ? lateGrantError(taken.error()) : taken.error();
}

Task<Result<Grant>> RedlockLock::rounds(Deadline deadline)
{
    for (;;) {
        if (const auto never = hopeless())
            co_return *never;
        CO_TRY(const auto &had, co_await round()); // 1, 2, 3
        if (had)
            co_return Grant{m_lease->key().token.bytes(), std::nullopt, {}};
        m_wasRefused = m_wasRefused || m_silent <= spare();
        if (deadline.hasPassed(*m_loop))
            co_return tooLate();
        co_await pauseBetweenTries(*m_loop, m_random, deadline); // 3
    }
}

// Whether the lock is ours now. What a failed round left is being taken away when this returns.
Task<Result<bool>> RedlockLock::round()
{
    const TokenKey ours{m_key, LockValue(uuidToken(m_random))};
    const auto asked = m_loop->now();
    const auto standing = std::make_shared<NodeLeases>(NodeLeases{{m_nodes.size(), std::nullopt}});
    NodesGuard guard(m_nodes, m_waitGroups, ours);
    const auto limit = nodeDeadline(*m_loop, m_ttl);
    const redis::Command setting{
        "SET", ours.key.bytes(), ours.token.bytes(), "NX", "PX", QByteArray::number(qint64(m_ttl.count()))};
    const auto ask = [&](int node) -> std::optional<Reply<redis::Value>> {
        // A node that still owes us the answer to an earlier round is left in peace.
        if (!m_waitGroups[static_cast<std::size_t>(node)].isIdle())
            return std::nullopt;
        return m_nodes[static_cast<std::size_t>(node)]->command(setting, limit);
    };
    QuorumCall::Reading reading;
    reading.isYes = [](const redis::Value &answer) { return !answer.isNil(); };
    reading.onVote = [standing, ends = KeepAlive::validUntil(asked, m_ttl)](int node, Vote vote) {
        standing->note(node, vote, ends);
    };
    const QuorumCall call(m_nodes, ask, std::move(reading)); // 1
    const bool enough = co_await call.decided();
    for (int node = 0; node < static_cast<int>(m_nodes.size()); ++node) {
        if (call.vote(node) == Vote::NotAsked || call.vote(node) == Vote::Failed)
            guard.forget(node);
    }
    m_silent = call.count(Vote::NotAsked) + call.count(Vote::Unknown);
    const auto until = standing->validUntil();
    if (enough && until && m_loop->now() < *until) { // 2
        guard.forgetAll();
        m_lease.emplace(m_nodes, ours, m_ttl, standing, asked, [this](Loss loss) { lose(loss); }); // 4
        co_return true;
    }
    const int refused = call.count(Vote::Failed);
    if (refused > spare())
        co_return *call.refusal();
    co_return false;
}

// When no waiting helps: too many nodes do not let us in at all.
std::optional<Error> RedlockLock::hopeless() const
{
    int shut = 0;
    std::optional<Error> why;
    for (const auto *node : m_nodes) {
        const bool isAuth = node->state() == redis::ConnectionState::AuthFailed;
        if (!isAuth && node->state() != redis::ConnectionState::Closed)
            continue;
        ++shut;
        why = Error{isAuth ? ErrorCode::AuthFailed : ErrorCode::NotConnected, node->lastError(), false,
                    node->isExplained()};
    }
    return shut > spare() ? why : std::nullopt;
}

// Nodes that were slow in the last round alone are not why it was not had.
Error RedlockLock::tooLate() const
{
    const auto answered =
        u"%1 of %2 nodes answered in time"_s.arg(static_cast<int>(m_nodes.size()) - m_silent).arg(m_nodes.size());
    if (!m_wasRefused)
        return {ErrorCode::NotConnected, u"%1, and it takes %2"_s.arg(answered).arg(quorum()), true};
    const auto last = m_silent > spare() ? u"when last asked, %1"_s.arg(answered) : QString();
    return {ErrorCode::TimedOut, u"timed out waiting for its holder"_s + clause(last), true};
}

Task<Result<void>> RedlockLock::release(Deadline /*deadline*/)
{
    const bool wasHeld = isHeld();
    if (!wasHeld) {
        letGo();
        co_return Error{ErrorCode::NotHeld, u"%1 is not held by us"_s.arg(name())};
    }
    const TokenKey ours = m_lease->key();
    const auto standing = m_lease->standing();
    m_lease.reset();
    const auto what = name();
    const int enough = quorum();
    NodesGuard guard(m_nodes, m_waitGroups, ours); // where there is no answer, or nobody to hear it
    const auto call = askToDelete(m_nodes, ours, *standing, nodeDeadline(*m_loop, m_ttl)); // 5
    co_await call.counted(); // `this` may be gone by now
    int possible = 0;
    for (int node = 0; node < static_cast<int>(standing->until.size()); ++node) {
        const auto vote = call.vote(node);
        if (vote == Vote::Yes || vote == Vote::No)
            guard.forget(node);
        possible += standing->isOn(node) && vote != Vote::No ? 1 : 0;
    }
    if (call.count(Vote::Yes) >= enough)
        co_return Result<void>();
    if (possible < enough)
        co_return Error{ErrorCode::NotHeld, u"%1 was not ours any more"_s.arg(what)};
    co_return Error{ErrorCode::UnknownOutcome,
                    u"%1 may still be held and is being released in the background: %2 of %3 nodes answered"_s.arg(
                        what, QString::number(call.answered()), QString::number(standing->until.size()))};
}

Task<Result<bool>> RedlockLock::isStillMine(Deadline deadline)
{
    if (!m_lease)
        co_return false;
    const auto ours = m_lease->key();
    const int nodes = static_cast<int>(m_nodes.size());
    const int enough = quorum();
    const auto limit = std::min(deadline.when(), nodeDeadline(*m_loop, m_ttl).when());
    const auto ask = [&](int node) {
        return m_nodes[static_cast<std::size_t>(node)]->command({"GET", ours.key.bytes()}, Deadline::at(limit));
    };
    const QuorumCall call(m_nodes, ask, {[ours](const redis::Value &answer) {
                              return !answer.isNil() && answer.text == ours.token.bytes();
                          }});
    const bool mine = co_await call.decided();
    if (mine || call.count(Vote::No) > nodes - enough)
        co_return mine;
    co_return Error{ErrorCode::NotConnected,
                    u"%1 of %2 nodes answered in time, and it takes %3"_s.arg(call.answered()).arg(nodes).arg(enough),
                    true};
}

void RedlockLock::letGo()
{
    if (!m_lease)
        return;
    const NodesGuard guard(m_nodes, m_waitGroups, m_lease->key());
    m_lease.reset();
}

int RedlockLock::quorum() const
{
    return quorumOf(static_cast<int>(m_nodes.size()));
}

int RedlockLock::spare() const
{
    return static_cast<int>(m_nodes.size()) - quorum();
}

} // namespace lockscope::recipes
