// SPDX-License-Identifier: Apache-2.0
#include "core/world/process.h"

#include <vector>

namespace lockscope::world {

// Outlives the process in what is queued in the world.
struct Process::State : ExecutorHook, OnFreeList {
    bool isPaused = false;
    bool isAlive = true;
    using Deferred = std::vector<Call>;
    std::unique_ptr<Deferred> deferred; // while it is paused; none: nothing

    void pass(Call &&call) override
    {
        if (!isAlive)
            return;
        if (!isPaused) {
            call();
            return;
        }
        if (!deferred)
            deferred = std::make_unique<Deferred>();
        deferred->push_back(std::move(call));
    }
};

Process::Process(VirtualLoop &world, int number) : Loop(true), m_world(world), m_number(number), m_state(new State) {}

Process::~Process()
{
    kill();
}

void Process::post(Call call)
{
    if (m_state->isAlive)
        m_world.postThrough(LocalPtr<ExecutorHook>(m_state.get()), std::move(call));
}

Instant Process::now() const
{
    const auto world = m_world.now();
    if (m_rate == 1)
        return m_rateSinceOwn + (world - m_rateSinceWorld);
    const auto passed = static_cast<double>((world - m_rateSinceWorld).count()) * m_rate;
    return m_rateSinceOwn + Duration(static_cast<Duration::rep>(passed));
}

std::chrono::system_clock::time_point Process::wallNow() const
{
    return std::chrono::system_clock::time_point(now().time_since_epoch()) + m_wallOffset;
}

Instant Process::inWorld(Instant own) const
{
    auto span = own - now();
    if (m_rate != 1)
        span = Duration(static_cast<Duration::rep>(std::ceil(static_cast<double>(span.count()) / m_rate)));
    return m_world.now() + std::max(span, Duration::zero());
}

Timer Process::callAt(Instant when, Call call)
{
    if (!m_state->isAlive)
        return {};
    // Cancelling has to reach a call also when it is due already but deferred by a pause.
    struct Pending {
        Call call;
        Timer timer;
    };
    auto pending = std::allocate_shared<Pending>(freelist::Allocator<Pending>());
    pending->call = std::move(call);
    pending->timer = m_world.callAt(inWorld(when), [state = m_state, weak = std::weak_ptr<Pending>(pending)] {
        state->pass([weak] {
            if (const auto alive = weak.lock())
                std::exchange(alive->call, {})();
        });
    });
    return Timer(pending);
}

void Process::pause()
{
    if (!m_state->isAlive || std::exchange(m_state->isPaused, true))
        return;
    tell();
}

void Process::resume()
{
    if (!m_state->isAlive || !std::exchange(m_state->isPaused, false))
        return;
    // Through the queue, so that a pause that comes at once finds the rest of them.
    if (const auto deferred = std::exchange(m_state->deferred, {})) {
        for (auto &call : *deferred)
            m_world.postThrough(LocalPtr<ExecutorHook>(m_state.get()), std::move(call));
    }
    tell();
}

bool Process::isPaused() const
{
    return m_state->isPaused;
}

void Process::kill()
{
    if (!std::exchange(m_state->isAlive, false))
        return;
    // Destroyed after the loop over it: a capture's destructor may come back here.
    const auto dropped = std::exchange(m_state->deferred, {});
    tell();
    m_listener = {};
}

bool Process::isAlive() const
{
    return m_state->isAlive;
}

void Process::tell()
{
    if (m_listener)
        m_listener();
}

void Process::setRate(double rate)
{
    m_rateSinceOwn = now();
    m_rateSinceWorld = m_world.now();
    m_rate = rate;
}

} // namespace lockscope::world
