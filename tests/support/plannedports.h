// SPDX-License-Identifier: Apache-2.0
// A ZooKeeper session, a Redis connection and an SQL session that follow a FaultPlan: requests go wrong by their
// number, so that a test need not know what a recipe asks in which step. What is held back holds up what comes after
// it, as on a real connection.
#pragma once

#include "core/mariadb/session.h"
#include "core/redis/connection.h"
#include "tests/support/faultplan.h"
#include "tests/support/sessiondecorator.h"

namespace lockscope::testing {

class PlannedSession : public SessionDecorator {
public:
    PlannedSession(zk::Session &inner, FaultPlan &plan) : SessionDecorator(inner, true), m_plan(plan) {}

protected:
    RequestFault fateOf(Request) override { return m_plan.next(); }

private:
    FaultPlan &m_plan;
};

// What is on its way, and what is held back.
class PlannedTraffic {
public:
    PlannedTraffic(Loop &loop, FaultPlan &plan)
        : m_loop(&loop), m_plan(&plan), m_held(std::make_shared<HeldBack>(true)), m_out(std::make_shared<int>(0))
    {
    }

    template <class T>
    Reply<T> pass(std::function<Reply<T>()> send)
    {
        Reply<T> reply(*m_loop);
        const Error lost{ErrorCode::UnknownOutcome, QStringLiteral("lost on the way, by the test"), true};
        const auto fate = m_plan->next();
        if (fate == RequestFault::LoseRequest) {
            reply.complete(lost);
            return reply;
        }
        if (fate == RequestFault::Refuse) {
            reply.complete(Error{ErrorCode::Unsupported, QStringLiteral("refused by the test")});
            return reply;
        }
        ++*m_out;
        const auto answer = [reply, out = m_out](const Result<T> &result) {
            --*out;
            reply.complete(result);
        };
        m_held->pass(ReleaseAction::Out, fate == RequestFault::HoldRequest,
                     [send, answer, lost, fate, held = m_held] {
                         send().then([answer, lost, fate, held, times = held->times()](const Result<T> &result) {
                             const bool isToBeHeld = fate == RequestFault::HoldReply && held->times() == times;
                             const Result<T> told = fate == RequestFault::LoseReply ? Result<T>(lost) : result;
                             held->pass(ReleaseAction::In, isToBeHeld, [answer, told] { answer(told); });
                         });
                     });
        return reply;
    }
    // On its way, and nothing ever happens to it.
    template <class T>
    Reply<T> follow(Reply<T> inner)
    {
        Reply<T> reply(*m_loop);
        ++*m_out;
        inner.then([reply, out = m_out](const Result<T> &result) {
            --*out;
            reply.complete(result);
        });
        return reply;
    }
    [[nodiscard]] qsizetype held() const { return m_held->size(); }
    // Nothing is out but what is held back.
    [[nodiscard]] bool isIdle() const { return *m_out <= m_held->size(); }
    void letThrough() { m_held->letThrough(); }

private:
    Loop *m_loop;
    FaultPlan *m_plan;
    std::shared_ptr<HeldBack> m_held;
    std::shared_ptr<int> m_out;
};

class PlannedSql : public mariadb::ForwardingSession {
public:
    PlannedSql(mariadb::Session &inner, FaultPlan &plan) : ForwardingSession(inner), m_traffic(inner.loop(), plan) {}

    Reply<mariadb::Rows> execute(mariadb::Statement statement, Deadline deadline) override;

    [[nodiscard]] PlannedTraffic &traffic() { return m_traffic; }

private:
    PlannedTraffic m_traffic;
};

class PlannedRedis : public redis::ForwardingConnection {
public:
    PlannedRedis(redis::Connection &inner, FaultPlan &plan)
        : ForwardingConnection(inner), m_traffic(inner.loop(), plan), m_messages(std::make_shared<int>(0))
    {
    }

    Reply<redis::Value> command(redis::Command command, Deadline deadline) override;
    Reply<std::vector<redis::Value>> pipeline(std::vector<redis::Command> commands, Deadline deadline) override;
    Reply<redis::Value> script(redis::Script script, QByteArrayList keys, QByteArrayList args,
                               Deadline deadline) override;
    Subscription subscribe(QByteArray channel, std::function<void(const redis::Message &)> listener) override;
    Subscription subscribePattern(QByteArray pattern, std::function<void(const redis::Message &)> listener) override;
    Reply<qint64> subscriberId(Deadline deadline) override
    {
        return m_traffic.follow(inner().subscriberId(deadline));
    }

    [[nodiscard]] PlannedTraffic &traffic() { return m_traffic; }
    // No message gets through any more.
    void deafen() { *m_isDeaf = true; }
    [[nodiscard]] int messages() const { return *m_messages; }
    [[nodiscard]] int unsubscriptions() const { return *m_unsubscriptions; }
    void resetMessages()
    {
        *m_messages = 0;
        *m_unsubscriptions = 0;
    }

private:
    PlannedTraffic m_traffic;
    [[nodiscard]] std::function<void(const redis::Message &)> heard(
        std::function<void(const redis::Message &)> listener) const;
    // Counts when it is let go of.
    [[nodiscard]] Subscription counted(Subscription inner);

    std::shared_ptr<int> m_messages;
    std::shared_ptr<bool> m_isDeaf = std::make_shared<bool>(false);
    std::shared_ptr<int> m_unsubscriptions = std::make_shared<int>(0);
};

} // namespace lockscope::testing
