// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/redis/quorumcall.h"

#include "core/recipes/connectionerrors.h"
#include "core/rules/turn.h"

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

} // namespace lockscope::recipes
