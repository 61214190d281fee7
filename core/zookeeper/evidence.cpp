// SPDX-License-Identifier: Apache-2.0
#include "core/zookeeper/evidence.h"

namespace lockscope::zk {

bool Evidence::isComplete(const QByteArray &command) const
{
    const auto at = answers.find(command);
    return membersUnknown.isEmpty() && at != answers.end() && at->second.members > 0
           && at->second.answered == at->second.members;
}

bool Evidence::hasAny(const QByteArray &command) const
{
    const auto at = answers.find(command);
    return at != answers.end() && at->second.answered > 0;
}

void Evidence::settle()
{
    using std::chrono::milliseconds;
    // Its newest response is the latest moment this member's monotonic clock is known to have shown:
    // what lies between is at least as long as computed, never shorter.
    // 0 is no moment: a connection that was opened (again) and has not been answered since says so.
    std::erase_if(raw.lastResponses, [](const auto &entry) { return entry.second <= milliseconds::zero(); });
    milliseconds now{};
    for (const auto &[session, response] : raw.lastResponses)
        now = std::max(now, response);
    if (now > milliseconds::zero()) {
        for (const auto &[session, response] : raw.lastResponses)
            if (const auto at = connections.find(session); at != connections.end())
                at->second.silence = now - response;
        for (const auto &[session, expiry] : raw.expiries)
            expiresIn[session] = std::max(milliseconds::zero(), expiry - now);
    }
    if (raw.watchTotal && raw.dataWatchTotal)
        childWatchTotal = std::max<qint64>(0, *raw.watchTotal - *raw.dataWatchTotal);
    if (!raw.member.mode.isEmpty())
        members = {raw.member};
    raw = {};
}

void Evidence::merge(const Evidence &other)
{
    for (const auto &[command, answer] : other.answers) {
        auto &mine = answers[command];
        mine.members += answer.members;
        mine.answered += answer.answered;
        mine.ways.insert(answer.ways.begin(), answer.ways.end());
        if (mine.refusal.isEmpty())
            mine.refusal = answer.refusal;
    }
    // A member that lags behind may still show, or not yet show, a node; the first answer is as good.
    for (const auto &[session, paths] : other.ephemerals)
        ephemerals.try_emplace(session, paths);
    for (const auto &[session, facts] : other.connections)
        connections[session] = facts;
    for (const auto &[session, left] : other.expiresIn)
        expiresIn[session] = left;
    for (const auto &[path, sessions] : other.dataWatches)
        dataWatches[path].insert(sessions.begin(), sessions.end());
    members.insert(members.end(), other.members.begin(), other.members.end());
    if (other.requestsServed)
        requestsServed = requestsServed.value_or(0) + *other.requestsServed;
    if (other.childWatchTotal)
        childWatchTotal = childWatchTotal.value_or(0) + *other.childWatchTotal;
}

} // namespace lockscope::zk
