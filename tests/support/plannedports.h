// A session and a Redis connection that follow a FaultPlan: requests go wrong by their number, so that a
// test need not know what a recipe asks in which step.
#pragma once

#include "core/redis/connection.h"
#include "tests/support/faultplan.h"
#include "tests/support/sessiondecorator.h"

namespace lockscope::testing {

class PlannedSession : public SessionDecorator {
public:
    PlannedSession(zk::Session &inner, FaultPlan &plan) : SessionDecorator(inner), m_plan(plan) {}

protected:
    Fate fateOf(Request) override { return m_plan.next(); }

private:
    FaultPlan &m_plan;
};

class PlannedRedis : public redis::Connection {
public:
    PlannedRedis(redis::Connection &inner, FaultPlan &plan)
        : m_inner(inner), m_plan(plan), m_held(std::make_shared<Held>()), m_messages(std::make_shared<int>(0)),
          m_out(std::make_shared<int>(0))
    {
    }

    [[nodiscard]] Loop &loop() const override { return m_inner.loop(); }
    [[nodiscard]] redis::ConnectionState state() const override { return m_inner.state(); }
    [[nodiscard]] QString lastError() const override { return m_inner.lastError(); }
    redis::Subscription onState(std::function<void(redis::ConnectionState)> listener) override
    {
        return m_inner.onState(std::move(listener));
    }
    Reply<redis::Value> command(redis::Command command, Deadline deadline) override;
    Reply<std::vector<redis::Value>> pipeline(std::vector<redis::Command> commands, Deadline deadline) override;
    Reply<redis::Value> script(redis::Script script, QByteArrayList keys, QByteArrayList args,
                               Deadline deadline) override;
    redis::Subscription subscribe(QByteArray channel, std::function<void(const redis::Message &)> listener) override;
    redis::Subscription subscribePattern(QByteArray pattern,
                                         std::function<void(const redis::Message &)> listener) override;
    Reply<qint64> subscriberId(Deadline deadline) override { return m_inner.subscriberId(deadline); }

    [[nodiscard]] qsizetype held() const { return qsizetype(m_held->size()); }
    void letThrough();
    [[nodiscard]] int messages() const { return *m_messages; }
    void resetMessages() { *m_messages = 0; }
    [[nodiscard]] bool isIdle() const { return *m_out == 0; }

private:
    using Held = std::vector<std::function<void()>>;
    template <class T>
    Reply<T> pass(std::function<Reply<T>()> send);

    redis::Connection &m_inner;
    FaultPlan &m_plan;
    std::shared_ptr<Held> m_held;
    std::shared_ptr<int> m_messages;
    std::shared_ptr<int> m_out;
};

} // namespace lockscope::testing
