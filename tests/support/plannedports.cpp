#include "tests/support/plannedports.h"

namespace lockscope::testing {

using redis::Message;
using redis::Value;

template <class T>
Reply<T> PlannedRedis::pass(std::function<Reply<T>()> send)
{
    Reply<T> reply(m_inner.loop());
    const Error lost{ErrorCode::UnknownOutcome, QStringLiteral("lost on the way, by the test"), true};
    ++*m_out;
    const auto answer = [reply, out = m_out](const Result<T> &result) {
        --*out;
        reply.complete(result);
    };
    switch (m_plan.next()) {
    case Fate::LoseRequest:
        answer(lost);
        break;
    case Fate::Refuse:
        answer(Error{ErrorCode::Unsupported, QStringLiteral("refused by the test")});
        break;
    case Fate::LoseReply:
        send().then([answer, lost](const Result<T> &) { answer(lost); });
        break;
    case Fate::HoldRequest:
        m_held->push_back([send, answer] { send().then(answer); });
        break;
    case Fate::HoldReply:
        send().then([answer, held = m_held](const Result<T> &result) {
            held->push_back([answer, result] { answer(result); });
        });
        break;
    case Fate::Pass:
        send().then(answer);
        break;
    }
    return reply;
}

Reply<Value> PlannedRedis::command(redis::Command command, Deadline deadline)
{
    return pass<Value>([=, this] { return m_inner.command(command, deadline); });
}

Reply<std::vector<Value>> PlannedRedis::pipeline(std::vector<redis::Command> commands, Deadline deadline)
{
    return pass<std::vector<Value>>([=, this] { return m_inner.pipeline(commands, deadline); });
}

Reply<Value> PlannedRedis::script(redis::Script script, QByteArrayList keys, QByteArrayList args, Deadline deadline)
{
    return pass<Value>([=, this] { return m_inner.script(script, keys, args, deadline); });
}

redis::Subscription PlannedRedis::subscribe(QByteArray channel, std::function<void(const Message &)> listener)
{
    return m_inner.subscribe(std::move(channel), [messages = m_messages, listener](const Message &message) {
        ++*messages;
        listener(message);
    });
}

redis::Subscription PlannedRedis::subscribePattern(QByteArray pattern, std::function<void(const Message &)> listener)
{
    return m_inner.subscribePattern(std::move(pattern), [messages = m_messages, listener](const Message &message) {
        ++*messages;
        listener(message);
    });
}

void PlannedRedis::letThrough()
{
    for (const auto &call : std::exchange(*m_held, {}))
        call();
}

} // namespace lockscope::testing
