// SPDX-License-Identifier: Apache-2.0
// What the four ports share: requests are values, and each passes one virtual function.
//
// A request is a struct with its arguments and the type of its Answer. A port names its requests once; typed members
// such as get(path, watch, deadline) are made of ask(). Gate, trace and fault injection stand before a port and
// override send(), once for all requests. All of them hand the same Reply on: a request has one completion, however
// many stand on its way.
#pragma once

#include "core/async/completion.h"
#include "core/async/scope.h"

#include <algorithm>
#include <variant>
#include <vector>

namespace lockscope {

// Whoever wants to hear of a connection's state. They are told through its queue, so that a listener may destroy it.

// What a port gives to whoever listens: unsubscribes when destroyed.
class [[nodiscard]] Subscription {
public:
    Subscription() = default;
    explicit Subscription(std::shared_ptr<void> keepAlive) : m_keepAlive(std::move(keepAlive)) {}

private:
    std::shared_ptr<void> m_keepAlive;
};

template <class State>
class StateListeners {
public:
    using Listener = std::function<void(State)>;

    [[nodiscard]] Subscription add(Listener listener)
    {
        auto kept = std::make_shared<Listener>(std::move(listener));
        m_listeners.push_back(kept);
        return Subscription(std::move(kept));
    }
    void tell(Loop &loop, State state)
    {
        std::erase_if(m_listeners, [](const auto &listener) { return listener.expired(); });
        for (const auto &listener : m_listeners) {
            loop.post([listener, state] {
                if (const auto alive = listener.lock())
                    (*alive)(state);
            });
        }
    }

private:
    std::vector<std::weak_ptr<Listener>> m_listeners;
};

// A request on its way to the server. Whoever stands there may observe the reply, once the request is handed on; or
// put a reply of its own in its place, and complete the first one when it likes.
template <class R>
struct Asked {
    R request;
    Deadline deadline;
    Reply<typename R::Answer> reply;
};

// All members: loop thread only.
template <class StateType, class... Requests>
class Port {
public:
    using State = StateType;
    using Request = std::variant<Asked<Requests>...>;
    // Which of the port's requests this is.
    template <class R>
    static constexpr std::size_t indexOf = [] {
        constexpr std::array<bool, sizeof...(Requests)> matches{std::is_same_v<R, Requests>...};
        return static_cast<std::size_t>(std::ranges::find(matches, true) - matches.begin());
    }();

    virtual ~Port() = default;

    [[nodiscard]] virtual Loop &loop() const = 0;
    [[nodiscard]] virtual State state() const = 0;
    // Called on every change, through the queue, from then on.
    virtual Subscription onState(std::function<void(State)> listener) = 0;
    // Sends it now; completes its reply once, also where it cannot be sent.
    virtual void send(Request &&request) = 0;

    template <class R>
    Reply<typename R::Answer> ask(R request, Deadline deadline)
    {
        Reply<typename R::Answer> reply(loop());
        send(Asked<R>{std::move(request), deadline, reply});
        return reply;
    }

    // Work that goes on after whoever started it is gone, for as long as the port lives: taking away a lock nobody
    // waits for any more. Such work must not call the port from a destructor.
    [[nodiscard]] Scope &background() { return m_background.in(loop()); }

private:
    LazyScope m_background;
};

// A port that talks to the server itself: it has its loop, and those who listen to its state.
template <class PortType>
class EndPort : public PortType {
public:
    explicit EndPort(Loop &loop) : m_loop(loop) {}

    [[nodiscard]] Loop &loop() const final { return m_loop; }
    Subscription onState(std::function<void(typename PortType::State)> listener) final
    {
        return m_listeners.add(std::move(listener));
    }

protected:
    void notifyState(typename PortType::State state) { m_listeners.tell(m_loop, state); }

private:
    Loop &m_loop;
    StateListeners<typename PortType::State> m_listeners;
};

// A port that hands everything on to another one, which outlives it: the base of those that stand before a port and
// change one thing of it. Derived from for each port, where what it tells besides is handed on, too.
template <class PortType>
class Forwarding : public PortType {
public:
    using Inner = PortType;

    explicit Forwarding(PortType &inner) : m_inner(inner) {}

    [[nodiscard]] Loop &loop() const override { return m_inner.loop(); }
    [[nodiscard]] typename PortType::State state() const override { return m_inner.state(); }
    Subscription onState(std::function<void(typename PortType::State)> listener) override
    {
        return m_inner.onState(std::move(listener));
    }
    void send(typename PortType::Request &&request) override { m_inner.send(std::move(request)); }

protected:
    [[nodiscard]] PortType &inner() const { return m_inner; }

private:
    PortType &m_inner;
};

} // namespace lockscope
