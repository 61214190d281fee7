// SPDX-License-Identifier: Apache-2.0
// What the tests of gentler ways share: a private ZooKeeper and Redis, a workspace on both, and locks there.
#pragma once

#include "tests/support/finish.h"
#include "tests/support/ctlfixture.h"

#include "core/base/random.h"
#include "core/operate/releasemethod.h"
#include "core/redis/client.h"
#include "core/workspace/hold.h"
#include "tests/support/redlockfixture.h"

namespace lockscope::testing {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using operate::ReleaseAction;

class AlternativesFixture : public QObject {
protected:
    Servers m_servers;
    std::unique_ptr<redis::Connection> m_redis; // somebody else's
    std::unique_ptr<Workspace> m_workspace;
    Random m_random = Random(20261123);
    int m_count = 0;

    Loop &loop() { return m_servers.loop; }
    Deadline soon() { return Deadline::after(loop(), 20s); }
    template <class T>
    Result<T> perform(Task<Result<T>> task)
    {
        return testing::finish(loop(), std::move(task));
    }
    HoldRequest request(const char *recipe, const char *connection)
    {
        HoldRequest wanted{.recipe = recipe};
        const auto number = QByteArray::number(++m_count);
        wanted.lock = {ConnectionName(connection),
                       (QByteArray(connection) == "zk" ? "/gentle/lock" : "gentle-lock") + number};
        wanted.ttl = 60s;
        return wanted;
    }
    Result<operate::ForceReleasePlan> plan(const inspect::LockName &lock, const QByteArray &contender,
                                           ReleaseAction way)
    {
        return perform(m_workspace->planForceRelease(lock, contender, soon(), way));
    }
    Result<operate::ForceReleaseOutcome> act(const operate::ForceReleasePlan &plan)
    {
        return perform(m_workspace->forceRelease(plan, u"stuck"_s, soon()));
    }
    qint64 command(const redis::Command &words)
    {
        const auto answer = testing::await(m_redis->command(words, soon()));
        return answer ? answer->integer : -100;
    }
    Result<inspect::LockSnapshot> read(const inspect::LockName &lock)
    {
        return perform(m_workspace->read(lock, soon()));
    }
    // Whoever waits, once it is there.
    QByteArray waiterOf(const inspect::LockName &lock)
    {
        QByteArray id;
        (void)QTest::qWaitFor(
            [&] {
                const auto now = read(lock);
                for (const auto &one : now ? now->contenders : std::vector<inspect::Contender>()) {
                    if (one.role == inspect::Role::Waiter)
                        id = one.id;
                }
                return !id.isEmpty();
            },
            5'000);
        return id;
    }
    std::vector<operate::AuditRecord> records()
    {
        const auto all = m_workspace->audit().read(nullptr);
        return all ? *all : std::vector<operate::AuditRecord>();
    }

    // Why it cannot be tried here; empty: the servers run.
    QString startServers()
    {
        const auto why = m_servers.start();
        if (!why.isEmpty())
            return why;
        m_redis = redis::openConnection(loop(), testing::optionsFor(m_servers.redis->address()));
        if (!testing::becomes(*m_redis, redis::ConnectionState::Connected))
            qFatal("%s", qPrintable(m_redis->lastError()));
        WorkspaceOptions options{.observe = false};
        m_workspace = std::make_unique<Workspace>(loop(), options, nullptr);
        for (const auto &uri : {u"zk="_s + m_servers.zk(), u"redis="_s + m_servers.redisUri()}) {
            auto spec = parseConnection(uri);
            if (!spec || !m_workspace->add(*spec))
                qFatal("%s is no connection", qPrintable(uri));
        }
        return {};
    }
    void stopServers()
    {
        m_workspace.reset();
        m_redis.reset();
        m_servers.stop();
    }
};

} // namespace lockscope::testing
