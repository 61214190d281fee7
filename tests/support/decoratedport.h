// SPDX-License-Identifier: Apache-2.0
// A port that stands before another and decides what becomes of each request: base of the counting and the faulty
// ones, of whichever port.
#pragma once

#include "core/async/port.h"
#include "tests/support/faultplan.h"
#include "tests/support/heldback.h"

namespace lockscope::testing {

// `Base` forwards.
template <class Base>
class DecoratedPort : public Base {
public:
    // `keepsOrder`: what is held back holds up what comes after it, as on a real connection.
    explicit DecoratedPort(typename Base::Inner &inner, bool keepsOrder = false)
        : Base(inner), m_self(std::make_shared<DecoratedPort *>(this)), m_held(std::make_shared<HeldBack>(keepsOrder))
    {
    }

    void send(typename Base::Request &&request) override
    {
        const auto fate = faultFor(request);
        std::visit([&](const auto &asked) { pass(asked, fate); }, request);
    }

    // Sends and answers what was held back.
    void letThrough() { m_held->letThrough(); }
    [[nodiscard]] qsizetype held() const { return m_held->size(); }
    // Requests that are not answered yet.
    [[nodiscard]] int out() const { return m_out; }
    // Nothing is out but what is held back.
    [[nodiscard]] bool isIdle() const { return m_out <= held(); }

protected:
    // Called for every request, before it is sent.
    virtual RequestFault faultFor(const typename Base::Request &request) = 0;
    [[nodiscard]] const std::shared_ptr<HeldBack> &heldBack() const { return m_held; }

private:
    template <class R>
    void pass(const Asked<R> &asked, RequestFault fate)
    {
        using Answer = Result<typename R::Answer>;
        const Error lost{ErrorCode::UnknownOutcome, QStringLiteral("lost on the way, by the test"), true};
        const auto answer = [reply = asked.reply, self = std::weak_ptr(m_self)](const Answer &result) {
            if (const auto alive = self.lock())
                --(*alive)->m_out;
            reply.complete(result);
        };
        ++m_out;
        if (fate == RequestFault::LoseRequest)
            return answer(lost);
        if (fate == RequestFault::Refuse)
            return answer(Error{ErrorCode::Unsupported, QStringLiteral("refused by the test")});
        m_held->pass(Flow::Out, fate == RequestFault::HoldRequest,
                     [&inner = this->inner(), request = asked.request, deadline = asked.deadline, answer, lost, fate,
                      held = m_held] {
                         inner.ask(request, deadline)
                             .then([answer, lost, fate, held, times = held->times()](const Answer &result) {
                                 const bool isToBeHeld = fate == RequestFault::HoldReply && held->times() == times;
                                 const auto told = fate == RequestFault::LoseReply ? Answer(lost) : result;
                                 held->pass(Flow::In, isToBeHeld, [answer, told] { answer(told); });
                             });
                     });
    }

    std::shared_ptr<DecoratedPort *> m_self;
    std::shared_ptr<HeldBack> m_held;
    int m_out = 0;
};

// Follows a FaultPlan: requests go wrong by their number, so that a test need not know what a recipe asks in which
// step.
template <class Decorated>
class PlannedPort : public Decorated {
public:
    PlannedPort(typename Decorated::Inner &inner, FaultPlan &plan) : Decorated(inner, true), m_plan(plan) {}

protected:
    RequestFault faultFor(const typename Decorated::Request &) override { return m_plan.next(); }

private:
    FaultPlan &m_plan;
};

} // namespace lockscope::testing
