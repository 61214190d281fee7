// SPDX-License-Identifier: Apache-2.0
// A force-release from its plan to its record, on ports that a test answers for.
#pragma once

#include "core/async/scope.h"
#include "core/operate/forcerelease.h"
#include "core/operate/gate.h"
#include "core/operate/redis.h"
#include "core/operate/releasemethod.h"
#include "core/operate/zookeeper.h"
#include "tests/unit/releasequeue.h"
#include "tests/unit/tst_gate_fakes.h"

#include <QTemporaryDir>

namespace lockscope::testing::releases {

using namespace operate;
using namespace Qt::StringLiterals;

// Answers with what a test put there; afterwards, with what was put there for later.
class FakeObserver : public Observer {
public:
    explicit FakeObserver(VirtualLoop &loop) : m_loop(loop) {}
    std::vector<Result<LockSnapshot>> answers; // the last one is repeated
    int reads = 0;

    void start() override {}
    Completion<bool> firstSnapshot() const override { return Completion<bool>(m_loop); }
    Task<Result<LockSnapshot>> readNow(QByteArray, Deadline) override
    {
        const auto at = std::min<std::size_t>(static_cast<std::size_t>(reads), answers.size() - 1);
        ++reads;
        co_return answers[at];
    }
    std::vector<LockSnapshot> snapshots() const override { return {}; }
    std::vector<SessionSnapshot> sessions() const override { return {}; }
    std::vector<Coverage> coverage() const override { return {}; }

private:
    VirtualLoop &m_loop;
};

inline Error noNode()
{
    return Error{ErrorCode::NoNode, u"there is no such lock"_s};
}

using Answer = std::optional<Result<ForceReleaseOutcome>>;

inline Task<void> run(ForceReleasePlan plan, ForceReleaseTools tools, Answer *answer)
{
    const auto deadline = Deadline::after(*tools.loop, std::chrono::seconds(5));
    const auto reason = u"stuck"_s;
    auto outcome = co_await forceRelease(plan, tools, reason, deadline);
    answer->emplace(outcome);
}

struct ReleaseWorld {
    QTemporaryDir folder;
    VirtualLoop loop;
    CommandLog log;
    Gate gate{ConnectionName("zk"), false, false, log};
    fakes::Session tree{loop};
    fakes::Connection store{loop};
    std::unique_ptr<zk::Session> zookeeper = gated(tree, gate);
    std::unique_ptr<redis::Connection> redis = gated(store, gate);
    FakeObserver observer{loop};
    AuditFile audit{folder.filePath(u"audit.jsonl"_s)};
    Scope scope{loop};

    ReleaseWorld()
    {
        for (int n = 0; n < 3; ++n)
            tree.put(contender(n).guard.znode().path, contender(n).guard.znode().czxid,
                     contender(n).guard.znode().owner);
    }

    Result<ForceReleaseOutcome> release(const LockSnapshot &snapshot)
    {
        const auto plan = planForceRelease(snapshot, snapshot.contenders[0].id);
        return plan ? release(*plan) : plan.error();
    }
    Result<ForceReleaseOutcome> release(const ForceReleasePlan &plan)
    {
        const std::vector<redis::Connection *> nodes(std::max<std::size_t>(1, plan.before.nodes.size()), redis.get());
        const auto send = [this, nodes](ForceReleasePlan sent, Deadline by) {
            const bool isNode = releaseWay(sent.before) && *releaseWay(sent.before) == ReleaseMechanism::DeleteNode;
            return isNode ? sendRelease(std::move(sent), zookeeper.get(), by)
                          : sendRelease(std::move(sent), nodes, by);
        };
        const ForceReleaseTools tools{&observer, send, &audit, &loop};
        Answer answer;
        scope.launch(run(plan, tools, &answer));
        loop.runUntilIdle();
        return answer ? *answer : Error{ErrorCode::TimedOut, u"never answered"_s};
    }
    QStringList outcomes() const
    {
        QStringList phases;
        const auto records = audit.read(nullptr);
        for (const auto &record : records ? *records : std::vector<AuditRecord>())
            phases << record.phase
                          + (record.outcome.isEmpty() ? QString() : u": "_s + record.outcome.section(u':', 0, 0));
        return phases;
    }
};

} // namespace lockscope::testing::releases
