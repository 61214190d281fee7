// SPDX-License-Identifier: Apache-2.0
#include "tests/support/countingredis.h"

namespace lockscope::testing {

RequestFault CountingRedis::faultFor(const Request &request)
{
    if (const auto *const pipeline = std::get_if<Asked<redis::PipelineRequest>>(&request)) {
        for (const auto &command : pipeline->request.commands)
            ++m_counts[command.first()];
        return RequestFault::Pass;
    }
    const auto *const command = std::get_if<Asked<redis::CommandRequest>>(&request);
    const auto *const script = std::get_if<Asked<redis::ScriptRequest>>(&request);
    if (!command && !script)
        return RequestFault::Pass;
    const auto word = command ? command->request.command.first() : script->request.script.name;
    ++m_counts[word];
    const auto plan = m_plans.find(word);
    if (plan == m_plans.end() || plan->second.second == 0)
        return RequestFault::Pass;
    --plan->second.second;
    return plan->second.first;
}

Subscription CountingRedis::subscribe(QByteArray channel, std::function<void(const redis::Message &)> listener)
{
    ++m_counts["SUBSCRIBE"];
    return inner().subscribe(std::move(channel), std::move(listener));
}

Subscription CountingRedis::subscribePattern(QByteArray pattern, std::function<void(const redis::Message &)> listener)
{
    ++m_counts["PSUBSCRIBE"];
    return inner().subscribePattern(std::move(pattern), std::move(listener));
}

int CountingRedis::count(const QByteArray &word) const
{
    const auto at = m_counts.find(word);
    return at == m_counts.end() ? 0 : at->second;
}

int CountingRedis::requests() const
{
    int all = 0;
    for (const auto &[word, count] : m_counts)
        all += count;
    return all;
}

void CountingRedis::plan(const QByteArray &word, RequestFault fault, int times)
{
    m_plans[word] = {fault, times};
}

} // namespace lockscope::testing
