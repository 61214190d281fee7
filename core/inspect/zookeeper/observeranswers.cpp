// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/observerjudge.h"

#include <algorithm>
#include <ranges>

namespace lockscope::inspect {

using std::chrono::milliseconds;

void ServerAnswers::absorb(zk::Evidence answer)
{
    if (m_isKnown) {
        const auto older = std::chrono::duration_cast<milliseconds>(answer.askedAt - m_evidence.askedAt);
        for (auto &[session, left] : m_evidence.expiresIn)
            left = std::max<milliseconds>(0ms, left - older);
    }
    if (answer.answers.contains("dump")) {
        m_evidence.ephemerals = std::move(answer.ephemerals);
        m_evidence.expiresIn = std::move(answer.expiresIn);
    }
    if (answer.answers.contains("cons"))
        m_evidence.connections = std::move(answer.connections);
    if (answer.answers.contains("wchp"))
        m_evidence.dataWatches = std::move(answer.dataWatches);
    for (const auto *command : {"dump", "cons", "wchp"}) {
        if (const auto at = answer.answers.find(command); at != answer.answers.end())
            m_evidence.answers[command] = std::move(at->second);
    }
    m_evidence.membersUnknown = answer.membersUnknown;
    m_evidence.askedAt = answer.askedAt;
    m_evidence.answeredAt = answer.answeredAt;
    m_evidence.work = answer.work;
    m_isKnown = true;
    learnServerClock();
}

// ZooKeeper has no command for the time; but `cons` says when, by the server's clock, our own connection was made.
void ServerAnswers::learnServerClock()
{
    const auto own = m_evidence.connections.find(m_ensemble.session.id());
    const auto ours = m_ensemble.session.connectedAt() ? m_ensemble.session.connectedAt() : m_connectedAt;
    if (own == m_evidence.connections.end() || !ours)
        return;
    const auto at = std::chrono::duration_cast<milliseconds>(ours->time_since_epoch());
    const auto ahead = own->second.established - at;
    if (ahead == m_told)
        return;
    m_told = ahead;
    m_ensemble.source.setServerAhead(ahead);
    // A clock that was set, or another member's: what was seen so far is dated by the one of before, and goes on so.
    if (!m_knowsServerClock || std::chrono::abs(ahead - m_serverAhead) < anotherClock)
        m_serverAhead = ahead;
    m_knowsServerClock = true;
}

void ServerAnswers::learnFromNodes(const DirectoryView &view)
{
    if (m_knowsServerClock)
        return;
    auto latest = serverNow();
    for (const auto &node : view.children)
        latest = std::max(latest, ServerTime(node.stat.ctime));
    m_serverAhead += latest - serverNow();
}

ServerTime ServerAnswers::serverNow() const
{
    return std::chrono::time_point_cast<milliseconds>(datedNow(m_ensemble.loop)) + m_serverAhead;
}

ServerTime ServerAnswers::askedAt() const
{
    return std::chrono::time_point_cast<milliseconds>(m_evidence.askedAt) + m_serverAhead;
}

RecogniseContext ServerAnswers::context() const
{
    RecogniseContext out;
    out.connection = m_ensemble.connection;
    out.chroot = m_ensemble.chroot;
    out.evidence = m_isKnown ? &m_evidence : nullptr;
    out.ourselves = m_ensemble.session.id();
    out.observed = serverNow();
    out.serverAhead = m_serverAhead;
    return out;
}

RecogniseContext ServerAnswers::contextAsOf(Instant known) const
{
    auto out = context();
    const auto age = std::max(Duration{}, m_ensemble.loop.now() - known);
    out.observed -= std::chrono::ceil<milliseconds>(age);
    return out;
}

Task<void> learnMembers(const ObservedEnsemble &ensemble)
{
    // A session with a chroot cannot see it.
    if (!ensemble.chroot.isEmpty() && ensemble.chroot != "/")
        co_return;
    auto reading = ensemble.session.get(ZPath("/zookeeper/config"), {}, Deadline::after(ensemble.loop, 1s));
    auto node = co_await reading;
    if (node)
        ensemble.source.setConfiguration(node->data);
}

milliseconds ClockSteps::setBy(qint64 czxid) const
{
    const auto last =
        std::ranges::find_if(std::views::reverse(m_steps), [czxid](const Step &step) { return step.czxid <= czxid; });
    return last == m_steps.rend() ? 0ms : last->by;
}

milliseconds ClockSteps::setBy() const
{
    return m_steps.empty() ? 0ms : m_steps.back().by;
}

bool ClockSteps::saw(qint64 czxid, ServerTime dated, ServerTime before, ServerTime now)
{
    m_isCompared = true;
    const bool isLast = m_steps.empty() || czxid > m_steps.back().czxid;
    const auto at = made(czxid, dated);
    if (!isLast || (at >= before - anotherClock && at <= now + anotherClock))
        return false;
    m_steps.push_back({czxid, dated - now});
    return true;
}

} // namespace lockscope::inspect
