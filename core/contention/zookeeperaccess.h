// SPDX-License-Identifier: Apache-2.0
// A contender's way to a lock on the simulated ZooKeeper, in a run or in a rehearsal.
#pragma once

#include "core/contention/mutants/mutants.h"
#include "core/contention/servers.h"
#include "core/recipes/multilock.h"
#include "core/simservers/zookeeper/ensemble.h"

namespace lockscope::contention {

// What a client of ZooKeeper does beside its lock, in the words of ZooKeeper's own shell (zkCli.sh):
//
//     create [-e] [-s] PATH [DATA]   set PATH DATA   delete PATH   sync PATH
//     get [-w] PATH   stat [-w] PATH   ls [-w] PATH          (-w leaves a watch)
//
// and, for data nobody wants to write out, `-size N` bytes in the place of DATA.

// BadInput says what can be done.
[[nodiscard]] Result<void> checkZooKeeperAct(const QByteArray &command);
// What came of it, in a few words; of what cannot be done, why. The session outlives it.
[[nodiscard]] Completion<QByteArray> doOnZooKeeper(zk::Session &session, const QByteArray &command);

class ZooKeeperAccess final : public ContenderAccess, public OnFreeList {
public:
    using Paths = std::shared_ptr<const std::vector<ZPath>>;
    // Of several paths it takes all, in their order. The scenario outlives it.
    ZooKeeperAccess(std::shared_ptr<zk::Session> session, const Scenario &scenario, Trace &trace, int contender,
                    Paths paths)
        : m_scenario(scenario), m_paths(std::move(paths)), m_trace(trace), m_contender(contender),
          m_session(std::move(session)), m_traced(tracedFor(m_scenario.recipe, *m_session, trace, contender))
    {
    }
    [[nodiscard]] bool isReady() const override { return m_session->state() == zk::SessionState::Connected; }
    [[nodiscard]] Result<std::unique_ptr<recipes::Lock>> makeLock(bool readMode, Random random) override
    {
        const recipes::AcquireOptions options{readMode, m_scenario.limit, m_scenario.ttl};
        if (m_paths->size() == 1)
            return makePlayableLock(m_scenario.recipe, *m_traced, m_paths->front(), options, random);
        std::vector<std::unique_ptr<recipes::Lock>> all;
        for (const auto &path : *m_paths) {
            TRY(auto &made, makePlayableLock(m_scenario.recipe, *m_traced, path, options, Random(random.next())));
            all.push_back(std::move(made));
        }
        auto both = std::make_unique<recipes::MultiLock>(m_session->loop(), std::move(all));
        both->onMember([this](std::size_t place) {
            m_trace.add({{}, m_contender, Mark::Gets, false, 0, (*m_paths)[place].bytes(), {}});
        });
        return std::unique_ptr<recipes::Lock>(std::move(both));
    }
    [[nodiscard]] std::optional<Completion<QByteArray>> act(const QByteArray &command) override
    {
        return doOnZooKeeper(*m_traced, command);
    }

private:
    const Scenario &m_scenario;
    const Paths m_paths;
    Trace &m_trace;
    const int m_contender;
    std::shared_ptr<zk::Session> m_session; // its process's
    std::unique_ptr<TracedSession> m_traced;
};

} // namespace lockscope::contention
