// SPDX-License-Identifier: Apache-2.0
#include "tests/support/countingredis.h"

namespace lockscope::testing {

using redis::Value;

Reply<Value> CountingRedis::pass(const QByteArray &word, const std::function<Reply<Value>()> &send)
{
    ++m_counts[word];
    const auto plan = m_plans.find(word);
    if (plan == m_plans.end() || plan->second.second == 0)
        return send();
    --plan->second.second;
    Reply<Value> reply(inner().loop());
    const Error lost{ErrorCode::UnknownOutcome, QStringLiteral("lost on the way, by the test"), true};
    switch (plan->second.first) {
    case Fault::LoseRequest: reply.complete(lost); break;
    case Fault::LoseReply: send().then([reply, lost](const Result<Value> &) { reply.complete(lost); }); break;
    case Fault::HoldReply:
        send().then([reply, held = m_held](const Result<Value> &result) {
            held->push_back([reply, result] { reply.complete(result); });
        });
        break;
    }
    return reply;
}

Reply<Value> CountingRedis::command(redis::Command command, Deadline deadline)
{
    return pass(command.first(), [&] { return inner().command(command, deadline); });
}

Reply<std::vector<Value>> CountingRedis::pipeline(std::vector<redis::Command> commands, Deadline deadline)
{
    for (const auto &command : commands)
        ++m_counts[command.first()];
    return inner().pipeline(std::move(commands), deadline);
}

Reply<Value> CountingRedis::script(redis::Script script, QByteArrayList keys, QByteArrayList args, Deadline deadline)
{
    return pass(script.name, [&] { return inner().script(script, keys, args, deadline); });
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

void CountingRedis::plan(const QByteArray &word, Fault fault, int times)
{
    m_plans[word] = {fault, times};
}

void CountingRedis::letThrough()
{
    for (const auto &call : std::exchange(*m_held, {}))
        call();
}

} // namespace lockscope::testing
