// SPDX-License-Identifier: Apache-2.0
// What the scenes of the demo share: the loop, chance, and the count of what is not up yet.
#pragma once

#include "core/async/scope.h"
#include "core/async/sleep.h"
#include "core/base/random.h"
#include "core/recipes/lock.h"

#include <functional>

namespace lockscope::sandbox {

// One per demo; the scenes live in its scope. Loop thread only.
class DemoStage {
public:
    DemoStage(Loop &loop, Random random) : m_loop(loop), m_random(random), m_filled(loop) {}

    [[nodiscard]] Loop &loop() { return m_loop; }
    [[nodiscard]] Random &random() { return m_random; }
    [[nodiscard]] Random newRandom() { return Random(m_random.next()); }
    [[nodiscard]] const Completion<bool> &filled() const { return m_filled; }

    Task<void> sleep(std::chrono::milliseconds span);
    // Between one and two thirds more of that, so that no two do everything in step.
    Task<void> rest(std::chrono::milliseconds span);

    void sceneBegins() { ++m_notUpYet; }
    void sceneIsUp()
    {
        if (--m_notUpYet == 0)
            m_filled.complete(true);
    }

private:
    Loop &m_loop;
    Random m_random;
    Completion<bool> m_filled;
    int m_notUpYet = 0;
};

// Takes the lock again and again, for as long as the task lives. Who was freed by force while it held comes back a
// little later. Both outlive the task. `work` is begun each time it is taken.
[[nodiscard]] Task<void> takeTurns(DemoStage *stage, recipes::Lock *lock, std::chrono::milliseconds hold,
                                   std::function<void()> work = {});

// A client that comes to a queue: it says when it is connected, and contends from then on.
using JoinQueue = std::function<Task<void>(const Completion<bool> &joined)>;
// A scene that is up once `clients` of them have come, one after the other, so that the queue is in that order. Stage
// and scope outlive the task.
[[nodiscard]] Task<void> queueUp(DemoStage *stage, Scope *scope, int clients, JoinQueue client);

// 8-4-4-4-12 hex digits, as clients name themselves.
[[nodiscard]] inline QByteArray randomUuid(Random &random)
{
    const auto hex = random.bytes(16).toHex();
    return hex.left(8) + '-' + hex.mid(8, 4) + "-4" + hex.mid(13, 3) + "-a" + hex.mid(17, 3) + '-' + hex.mid(20);
}

// Or until it cannot be. Both outlive the task.
template <class Port>
[[nodiscard]] Task<void> untilConnected(DemoStage *stage, Port *port)
{
    using State = decltype(port->state());
    const Completion<bool> done(stage->loop());
    const auto subscription = port->onState([done](State) { done.complete(true); });
    if (port->state() != State::Connecting)
        co_return;
    co_await done;
}

} // namespace lockscope::sandbox
