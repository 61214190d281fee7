// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/redis/quorumlease.h"

#include "core/async/sleep.h"
#include "core/recipes/lockbase.h"
#include "core/rules/turn.h"
#include "core/redis/client.h"

namespace lockscope::recipes {

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
