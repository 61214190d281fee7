// A ZooKeeper session, a Redis connection and an SQL session that follow a FaultPlan: requests go wrong by their number, so that a
// test need not know what a recipe asks in which step.
#pragma once

#include "core/mariadb/session.h"
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

// What is on its way, and what is held back.
class PlannedTraffic {
public:
    PlannedTraffic(Loop &loop, FaultPlan &plan)
        : m_loop(&loop), m_plan(&plan), m_held(std::make_shared<Held>()), m_out(std::make_shared<int>(0))
    {
    }

    template <class T>
    Reply<T> pass(std::function<Reply<T>()> send)
    {
        Reply<T> reply(*m_loop);
        const Error lost{ErrorCode::UnknownOutcome, QStringLiteral("lost on the way, by the test"), true};
        ++*m_out;
        const auto answer = [reply, out = m_out](const Result<T> &result) {
            --*out;
            reply.complete(result);
        };
        switch (m_plan->next()) {
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
    [[nodiscard]] qsizetype held() const { return qsizetype(m_held->size()); }
    [[nodiscard]] bool isIdle() const { return *m_out == 0; }
    void letThrough()
    {
        for (const auto &call : std::exchange(*m_held, {}))
            call();
    }

private:
    using Held = std::vector<std::function<void()>>;

    Loop *m_loop;
    FaultPlan *m_plan;
    std::shared_ptr<Held> m_held;
    std::shared_ptr<int> m_out;
};

class PlannedSql : public mariadb::Session {
public:
    PlannedSql(mariadb::Session &inner, FaultPlan &plan) : m_inner(inner), m_traffic(inner.loop(), plan) {}

    [[nodiscard]] Loop &loop() const override { return m_inner.loop(); }
    [[nodiscard]] mariadb::SessionState state() const override { return m_inner.state(); }
    [[nodiscard]] QString lastError() const override { return m_inner.lastError(); }
    [[nodiscard]] mariadb::ConnectionId connectionId() const override { return m_inner.connectionId(); }
    [[nodiscard]] QByteArray serverVersion() const override { return m_inner.serverVersion(); }
    mariadb::Subscription onState(std::function<void(mariadb::SessionState)> listener) override
    {
        return m_inner.onState(std::move(listener));
    }
    Reply<mariadb::Rows> execute(mariadb::Statement statement, Deadline deadline) override;
    void interrupt(mariadb::ConnectionId connection) override { m_inner.interrupt(connection); }

    [[nodiscard]] PlannedTraffic &traffic() { return m_traffic; }

private:
    mariadb::Session &m_inner;
    PlannedTraffic m_traffic;
};

class PlannedRedis : public redis::Connection {
public:
    PlannedRedis(redis::Connection &inner, FaultPlan &plan)
        : m_inner(inner), m_traffic(inner.loop(), plan), m_messages(std::make_shared<int>(0))
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

    [[nodiscard]] PlannedTraffic &traffic() { return m_traffic; }
    [[nodiscard]] int messages() const { return *m_messages; }
    [[nodiscard]] int unsubscriptions() const { return *m_unsubscriptions; }
    void resetMessages()
    {
        *m_messages = 0;
        *m_unsubscriptions = 0;
    }

private:
    redis::Connection &m_inner;
    PlannedTraffic m_traffic;
    // Counts when it is let go of.
    [[nodiscard]] redis::Subscription counted(redis::Subscription inner);

    std::shared_ptr<int> m_messages;
    std::shared_ptr<int> m_unsubscriptions = std::make_shared<int>(0);
};

} // namespace lockscope::testing
