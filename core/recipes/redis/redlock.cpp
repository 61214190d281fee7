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

namespace {

int countOf(const std::vector<Vote> &votes, Vote vote)
{
    return static_cast<int>(std::count(votes.begin(), votes.end(), vote));
}

} // namespace

QuorumCall::QuorumCall(const RedisNodes &nodes, const Ask &ask, Reading reading)
    : m_state(std::make_shared<State>(State{std::vector<Vote>(nodes.size(), Vote::NotAsked),
                                            Completion<bool>(nodes.front()->loop()),
                                            Completion<bool>(nodes.front()->loop()),
                                            {},
                                            std::move(reading)}))
{
    for (int node = 0; node < static_cast<int>(nodes.size()); ++node) {
        const auto index = static_cast<std::size_t>(node);
        if (nodes[index]->state() != redis::ConnectionState::Connected)
            continue;
        const auto reply = ask(node);
        if (!reply)
            continue;
        m_state->votes[index] = Vote::Out;
        reply->then([state = m_state, node](const Result<redis::Value> &answer) { take(state, node, answer); });
    }
    judge(*m_state);
}

int QuorumCall::count(Vote vote) const
{
    return countOf(m_state->votes, vote);
}

void QuorumCall::take(const std::shared_ptr<State> &state, int node, const Result<redis::Value> &answer)
{
    auto vote = Vote::Unknown;
    if (answer)
        vote = state->reading.isYes(*answer) ? Vote::Yes : Vote::No;
    else if (!isConnectionError(answer.error())) {
        vote = Vote::Failed;
        if (!state->refusal)
            state->refusal = answer.error();
    }
    state->votes[static_cast<std::size_t>(node)] = vote;
    if (state->reading.onVote)
        state->reading.onVote(node, vote);
    judge(*state);
}

void QuorumCall::judge(const State &state)
{
    const int enough = quorumOf(static_cast<int>(state.votes.size()));
    const int yes = countOf(state.votes, Vote::Yes);
    const int out = countOf(state.votes, Vote::Out);
    if (yes >= enough)
        state.decided.complete(true);
    else if (yes + out < enough)
        state.decided.complete(false);
    if (out == 0)
        state.counted.complete(true);
}

std::optional<Instant> NodeLeases::validUntil() const
{
    std::vector<Instant> ends;
    for (const auto &end : until) {
        if (end)
            ends.push_back(*end);
    }
    return quorumUntil(std::move(ends), static_cast<int>(until.size()));
}

void NodeLeases::note(int node, Vote vote, Instant ends)
{
    auto &mine = until[static_cast<std::size_t>(node)];
    if (vote == Vote::Yes)
        mine = ends;
    else if (vote == Vote::No)
        mine.reset();
}

Deadline nodeDeadline(const Loop &loop, std::chrono::milliseconds ttl)
{
    return Deadline::at(loop.now() + std::clamp<Duration>(ttl / 10, 1ms, 500ms));
}

QuorumLease::QuorumLease(RedisNodes nodes, TokenKey ours, std::chrono::milliseconds ttl,
                         std::shared_ptr<NodeLeases> standing, Instant asked, std::function<void(Loss)> onEnd)
    : m_nodes(std::move(nodes)), m_loop(&m_nodes.front()->loop()), m_ours(std::move(ours)), m_ttl(ttl),
      m_standing(std::move(standing)), m_onEnd(std::move(onEnd)), m_keeping(*m_loop)
{
    m_keeping.launch(keep(asked));
}

Duration QuorumLease::validity() const
{
    const auto until = m_standing->validUntil();
    return until ? std::max(Duration::zero(), *until - m_loop->now()) : Duration::zero();
}

QuorumCall QuorumLease::prolong() const
{
    const auto sent = m_loop->now();
    // Not beyond the time it is ours for: at its end we say so, whoever still owes an answer.
    const auto patience = nodeDeadline(*m_loop, m_ttl).when();
    const auto deadline = Deadline::at(std::min(patience, m_standing->validUntil().value_or(patience)));
    const auto ask = [&](int node) {
        return m_nodes[static_cast<std::size_t>(node)]->script(
            redis::loadScript("compare-and-expire"), {m_ours.key.bytes()},
            {m_ours.token.bytes(), QByteArray::number(qint64(m_ttl.count()))}, deadline);
    };
    QuorumCall::Reading reading;
    reading.isYes = [](const redis::Value &answer) { return answer.integer == 1; };
    reading.onVote = [standing = m_standing, ends = KeepAlive::validUntil(sent, m_ttl)](int node, Vote vote) {
        standing->note(node, vote, ends);
    };
    return QuorumCall(m_nodes, ask, std::move(reading));
}

Task<void> QuorumLease::keep(Instant asked)
{
    auto next = asked + m_ttl / 3;
    for (;;) {
        const auto until = m_standing->validUntil();
        co_await sleepUntil(*m_loop, std::min<Instant>(next, until.value_or(next)));
        if (validity() == Duration::zero()) {
            end(m_standing->validUntil() ? Loss::LeaseOver : Loss::TakenAway);
            co_return;
        }
        const auto sent = m_loop->now();
        const auto call = prolong();
        const bool prolonged = co_await call.decided();
        if (!m_standing->validUntil()) { // a quorum of keys is gone, or another's
            end(Loss::TakenAway);
            co_return;
        }
        next = prolonged ? sent + m_ttl / 3 : m_loop->now() + std::max<Duration>(m_ttl / 20, 1ms);
    }
}

void QuorumLease::end(Loss loss)
{
    m_isEnded = true;
    m_onEnd(loss);
}

} // namespace lockscope::recipes
