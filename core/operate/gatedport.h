// SPDX-License-Identifier: Apache-2.0
// A port behind the gate, whichever: what is refused, logged and counted of every request and state.
#pragma once

#include "core/operate/gate.h"

namespace lockscope::operate {

template <class State>
[[nodiscard]] QString stateWord(State state)
{
    if constexpr (requires { State::Closed; }) {
        if (state == State::Closed)
            return u"closed"_s;
    }
    if constexpr (requires { State::Expired; }) {
        if (state == State::Expired)
            return u"expired"_s;
    }
    if (state == State::AuthFailed)
        return u"authentication failed"_s;
    return state == State::Connected ? u"connected"_s : u"connecting"_s;
}

// "get a; get b; … 2 more", for the log.
[[nodiscard]] QString firstTexts(const auto &requests, std::size_t most, auto textOf)
{
    QStringList parts;
    for (std::size_t i = 0; i < std::min<std::size_t>(requests.size(), most); ++i)
        parts << textOf(requests[i]);
    if (requests.size() > most)
        parts << u"… %1 more"_s.arg(requests.size() - most);
    return parts.join(u"; "_s);
}

// Answers and events may come after the decorator (and its gate) are gone; they then pass unlogged.
struct GateKey {
    Gate *gate;
};

// `Base` forwards. `Words` has text() and isWrite() of every request, outcome() of every answer, stateText() of the
// port and its state, and whether a state is logged that was told again: who keeps trying says "connecting" at each
// attempt.
template <class Base, class Words>
class GatedPort : public Base {
public:
    // `owned` is empty when somebody else owns `inner`.
    GatedPort(typename Base::Inner &inner, std::unique_ptr<typename Base::Inner> owned, Gate &gate, Words words = {})
        : Base(inner), m_words(std::move(words)), m_owned(std::move(owned)),
          m_key(std::make_shared<GateKey>(GateKey{&gate}))
    {
        m_states = inner.onState([this](typename Base::State state) {
            if (Words::repeatsStates || m_noted != state)
                m_key->gate->state(m_words.stateText(this->inner(), state));
            m_noted = state;
        });
    }

    void send(typename Base::Request &&request) override
    {
        std::visit([&](const auto &asked) { pass(asked, std::move(request)); }, request);
    }

protected:
    [[nodiscard]] const std::shared_ptr<GateKey> &key() const { return m_key; }
    [[nodiscard]] const Words &words() const { return m_words; }

private:
    // Refused, or logged, sent, and its answer logged, too.
    template <class R>
    void pass(const Asked<R> &asked, typename Base::Request &&request)
    {
        const auto reply = asked.reply;
        const auto entry = m_key->gate->enter(m_words.text(asked.request), m_words.isWrite(asked.request));
        if (!entry)
            return reply.complete(entry.error());
        const auto sent = reply.loop().now();
        Base::send(std::move(request));
        reply.observe([weak = std::weak_ptr(m_key), &loop = reply.loop(), sent,
                       number = *entry](const Result<typename R::Answer> &answer) {
            if (const auto alive = weak.lock())
                alive->gate->leave(number, answer ? Words::outcome(*answer) : answer.error().message,
                                   loop.now() - sent);
        });
    }

    const Words m_words;
    std::unique_ptr<typename Base::Inner> m_owned;
    std::shared_ptr<GateKey> m_key;
    std::optional<typename Base::State> m_noted;
    Subscription m_states;
};

} // namespace lockscope::operate
