// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/demo.h"

namespace lockscope::sandbox {

Task<void> DemoStage::rest(std::chrono::milliseconds span)
{
    const auto extra = m_random.below(static_cast<quint64>(span.count()) * 2 / 3 + 1);
    return sleep(span + std::chrono::milliseconds(extra));
}

Task<void> takeTurns(DemoStage *stage, recipes::Lock *lock, std::chrono::milliseconds hold,
                     std::function<void()> work)
{
    const auto never = Deadline::never();
    for (;;) {
        const auto grant = co_await lock->acquire(never);
        if (grant && work)
            work();
        const auto span = grant ? hold : 1000ms;
        co_await stage->rest(span);
        if (!grant)
            continue;
        const auto limit = Deadline::after(stage->loop(), 5s);
        const auto released = co_await lock->release(limit);
        const auto pause = released ? 300ms : 5000ms;
        co_await stage->rest(pause);
    }
}

Task<void> queueUp(DemoStage *stage, Scope *scope, int clients, JoinQueue client)
{
    stage->sceneBegins();
    for (int i = 0; i < clients; ++i) {
        const Completion<bool> joined(stage->loop());
        scope->launch(client(joined));
        co_await joined;
        co_await stage->sleep(50ms);
    }
    stage->sceneIsUp();
}

Demo::Demo(Loop &loop, const std::vector<ConnectionSpec> &connections, Random random)
    : m_stage(loop, std::move(random))
{
    // Held open until all scenes are counted.
    m_stage.sceneBegins();
    for (const auto &backend : allBackends()) {
        // Of several of one kind the first; each deployment of it (a cluster, what sentinels name) is one of its own.
        std::set<Scheme> played;
        for (const auto &connection : connections) {
            if (backendOf(connection.scheme) == backend.kind && played.insert(connection.scheme).second)
                m_scenes.push_back(kitOf(backend.kind).play(m_stage, connection));
        }
    }
    m_stage.sceneIsUp();
    m_stage.filled().completeAt(Deadline::after(loop, 30s), false);
}

} // namespace lockscope::sandbox
