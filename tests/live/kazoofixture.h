// SPDX-License-Identifier: Apache-2.0
// What the tests of kazoo's recipes share: contenders for one lock, each with a session and options of its own.
#pragma once

#include "tests/support/recipefixture.h"

namespace lockscope::test {

class KazooFixture : public RecipeFixture {
protected:
    static void kindsAsRows()
    {
        QTest::addColumn<QByteArray>("recipe");
        QTest::addColumn<bool>("read");
        QTest::newRow("lock") << QByteArray("kazoo-lock") << false;
        QTest::newRow("write lock") << QByteArray("kazoo-rwlock") << false;
        QTest::newRow("read lock") << QByteArray("kazoo-rwlock") << true;
        QTest::newRow("semaphore") << QByteArray("kazoo-semaphore") << false;
    }
    // Those that wait for each other.
    static void exclusiveAsRows()
    {
        QTest::addColumn<QByteArray>("recipe");
        for (const char *recipe : {"kazoo-lock", "kazoo-rwlock", "kazoo-semaphore"})
            QTest::newRow(recipe) << QByteArray(recipe);
    }

    [[nodiscard]] bool isSemaphore() const { return m_recipe == "kazoo-semaphore"; }
    [[nodiscard]] ZPath guards() const
    {
        return m_path.parent().child(NodeName(m_path.name().bytes() + "-__lock__"));
    }
    // A fresh lock whose directories stand, so that no test counts their making.
    bool begin(const QByteArray &recipe, int permits = 1)
    {
        m_recipe = recipe;
        m_path = ZPath("/kazoo-" + QByteArray::number(++m_runs) + "/" + recipe);
        const auto pool = isSemaphore() ? QByteArray::number(permits) : QByteArray();
        const auto kind = zk::CreateMode::Persistent;
        return make(m_path.parent()) && (!isSemaphore() || make(guards()))
               && bool(await(m_admin->create(m_path, pool, kind, zk::openAcl(), soon())));
    }
    bool join(const recipes::AcquireOptions &options = {})
    {
        m_clients.push_back(std::make_unique<Client>(m_loop, m_server->address()));
        m_contenders.push_back(contenderWith(*m_clients.back(), m_recipe, m_path, m_clients.size(), options));
        return waitForState(*m_clients.back()->real, zk::SessionState::Connected);
    }
    bool begin(const QByteArray &recipe, int permits, int contenders)
    {
        bool ready = begin(recipe, permits);
        recipes::AcquireOptions options;
        options.limit = permits;
        for (int i = 0; i < contenders; ++i)
            ready = ready && join(options);
        return ready;
    }

    // Waits until the contender holds; false if it cannot.
    bool getsIn(int i)
    {
        return QTest::qWaitFor([&] { return contender(i).holds(); }, 20'000);
    }
    bool hold(int i)
    {
        contender(i).acquire();
        return getsIn(i);
    }
    // Waits in line, its watch set: create, list and watch; the semaphore has read its pool, too.
    bool waitInLine(int i)
    {
        contender(i).acquire();
        return isInLine(i);
    }
    bool isInLine(int i)
    {
        const int joined = isSemaphore() ? 4 : 3;
        const auto settled = [&] { return counting(i).isIdle() && counting(i).requests() >= joined; };
        return QTest::qWaitFor(settled, 20'000) && !contender(i).granted;
    }
    // The first holds, the others queue behind it in order.
    bool lineUp(int n)
    {
        bool inLine = hold(0);
        for (int i = 1; i < n; ++i)
            inLine = inLine && waitInLine(i);
        return inLine;
    }
    bool letGo(int i)
    {
        contender(i).release();
        return QTest::qWaitFor([&] { return contender(i).released.has_value(); }, 20'000) && *contender(i).released;
    }
    QByteArrayList childrenOf(const ZPath &directory)
    {
        const auto listed = await(m_admin->children(directory, std::nullopt, soon()));
        QByteArrayList names;
        for (const auto &name : listed ? listed->names : std::vector<NodeName>())
            names << name.bytes();
        // In the order of the queue; leases, which have no number, by name.
        std::sort(names.begin(), names.end(), [](const QByteArray &a, const QByteArray &b) {
            return std::pair(a.last(10), a) < std::pair(b.last(10), b);
        });
        return names;
    }
    // Everything of the lock: its queue, or the leases and the guard's queue.
    QByteArrayList nodes() { return childrenOf(m_path) + (isSemaphore() ? childrenOf(guards()) : QByteArrayList()); }
    // Where the contenders wait in line.
    [[nodiscard]] ZPath line() const { return isSemaphore() ? guards() : m_path; }
    bool remove(const ZPath &node) { return bool(await(m_admin->remove(node, zk::anyVersion, soon()))); }
    QByteArray nameOf(int i) { return (*contender(i).granted)->node.name().bytes(); }
};

} // namespace lockscope::test
