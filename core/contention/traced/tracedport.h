// SPDX-License-Identifier: Apache-2.0
// A port that tells the trace what one contender sends and hears over it. In the simulated world and on real servers
// alike; several contenders may share what stands behind it. Outlived by both.
#pragma once

#include "core/async/freelist.h"
#include "core/async/port.h"
#include "core/contention/trace.h"

namespace lockscope::contention {

// Who writes down, shared with what is still to be heard.
class Tracer {
public:
    Tracer(Trace &trace, int contender) : m_trace(&trace), m_contender(contender) {}
    // What comes after the port has gone is not written down.
    void end() { m_trace = nullptr; }

    void sent(const QByteArray &verb, const QByteArray &where, qint64 bytes) const
    {
        if (m_trace)
            m_trace->sent(m_contender, verb, where, bytes);
    }
    void answered(const QByteArray &verb, bool isError, qint64 bytes) const
    {
        if (m_trace)
            m_trace->answered(m_contender, verb, isError, bytes);
    }
    void woken(Mark mark, const QByteArray &what, const QByteArray &where) const
    {
        if (m_trace)
            m_trace->woken(m_contender, mark, what, where);
    }

private:
    Trace *m_trace;
    int m_contender;
};

// `Base` forwards. `Measures` has verb(), where() and bytes() of every request, and answerBytes() of every answer.
// Requests it has no verb for are handed on unseen.
template <class Base, class Measures>
class TracedPort : public Base {
public:
    TracedPort(typename Base::Inner &inner, Trace &trace, int contender)
        : Base(inner), m_tracer(freelist::makeShared<Tracer>(trace, contender))
    {
    }
    ~TracedPort() override { m_tracer->end(); }

    void send(typename Base::Request &&request) override
    {
        std::visit([&](const auto &asked) { pass(asked, std::move(request)); }, request);
    }

protected:
    [[nodiscard]] const std::shared_ptr<Tracer> &tracer() const { return m_tracer; }

private:
    template <class R>
    void pass(const Asked<R> &asked, typename Base::Request &&request)
    {
        if constexpr (requires { Measures::verb(asked.request); }) {
            const auto verb = Measures::verb(asked.request);
            m_tracer->sent(verb, Measures::where(asked.request), Measures::bytes(asked.request));
            const auto reply = asked.reply;
            Base::send(std::move(request));
            reply.observe([verb, tracer = m_tracer](const Result<typename R::Answer> &result) {
                tracer->answered(verb, !result, result ? Measures::answerBytes(*result) : Measures::errorBytes);
            });
        } else {
            Base::send(std::move(request));
        }
    }

    std::shared_ptr<Tracer> m_tracer;
};

} // namespace lockscope::contention
