// SPDX-License-Identifier: Apache-2.0
// What the tests of the ZooKeeper recipes under faults share: a server, an onlooker of its own, and
// contenders for one lock with a session each.
#pragma once

#include "tests/support/zookeepercontender.h"

#include <algorithm>

namespace lockscope::testing {

using namespace std::chrono_literals;
using testing::RequestFault;
using testing::RequestKind;

// Those whose nodes queue, and all.
inline const QByteArrayList queueRecipes{"zk-herd-mutex", "zk-mutex",       "zk-eager-mutex",
                                         "zk-flat-mutex", "zk-shared-herd", "zk-shared"};
inline const QByteArrayList allRecipes = QByteArrayList{"zk-ephemeral"} + queueRecipes;

class RecipeFixture : public QObject {
    Q_OBJECT

protected:
    QtLoop m_loop;
    std::unique_ptr<sandbox::ZooKeeperServer> m_server;
    std::unique_ptr<Cable> m_cable;
    std::unique_ptr<zk::Session> m_admin;
    std::vector<std::unique_ptr<Client>> m_clients;
    std::vector<std::unique_ptr<Contender>> m_contenders;
    QByteArray m_recipe;
    recipes::AcquireOptions m_options; // of whoever is added
    ZPath m_path;
    int m_runs = 0;

    static void asRows(const QByteArrayList &recipes)
    {
        QTest::addColumn<QByteArray>("recipe");
        for (const auto &recipe : recipes)
            QTest::newRow(recipe) << recipe;
    }
    static QByteArray rowsRecipe()
    {
        return *static_cast<QByteArray *>(QTest::qData("recipe", qMetaTypeId<QByteArray>()));
    }

    [[nodiscard]] Deadline soon() const { return Deadline::after(m_loop, 15s); }
    bool prepare(const QByteArray &recipe, int n, bool makeDirectories = true)
    {
        m_recipe = recipe;
        m_path = ZPath("/faults-" + QByteArray::number(++m_runs) + "/" + recipe);
        bool made = true;
        if (makeDirectories)
            made = make(m_path.parent()) && (directory() != m_path || make(m_path));
        for (int i = 0; i < n; ++i)
            made = made && add(m_server->address());
        return made;
    }
    bool make(const ZPath &path)
    {
        return bool(await(m_admin->create(path, {}, zk::CreateMode::Persistent, zk::openAcl(), soon())));
    }
    bool add(const HostPort &server, std::chrono::milliseconds timeout = 10s)
    {
        m_clients.push_back(std::make_unique<Client>(m_loop, server, timeout));
        m_contenders.push_back(contenderWith(*m_clients.back(), m_recipe, m_path, m_clients.size(), m_options));
        return waitForState(*m_clients.back()->real, zk::SessionState::Connected);
    }
    Contender &contender(int i) { return *m_contenders[size_t(i)]; }
    testing::FaultySession &faulty(int i) { return *m_clients[size_t(i)]->faulty; }
    testing::CountingSession &counting(int i) { return *m_clients[size_t(i)]->counting; }

    // Where the lock's nodes are.
    [[nodiscard]] ZPath directory() const
    {
        return m_recipe == "zk-ephemeral" || m_recipe == "zk-flat-mutex" ? m_path.parent() : m_path;
    }
    // The nodes of the lock: the children of its directory, or the one node.
    QByteArrayList nodes()
    {
        QByteArrayList names;
        if (m_recipe == "zk-ephemeral") {
            if (await(m_admin->exists(m_path, std::nullopt, soon())))
                names << m_path.name().bytes();
            return names;
        }
        const auto listed = await(m_admin->children(directory(), std::nullopt, soon()));
        for (const auto &name : listed ? listed->names : std::vector<NodeName>())
            names << name.bytes();
        std::sort(names.begin(), names.end());
        return names;
    }
    [[nodiscard]] ZPath nodeOf(const QByteArray &id) const { return directory().child(NodeName(id)); }
    bool takeAway(const QByteArray &id) { return bool(await(m_admin->remove(nodeOf(id), zk::anyVersion, soon()))); }
    // create, list and the watches; in the herd the list is the watch, the simple lock has no list.
    [[nodiscard]] int joinCost(int ahead) const
    {
        if (m_recipe == "zk-eager-mutex")
            return ahead == 1 ? 4 : 5;
        return m_recipe == "zk-ephemeral" || m_recipe.contains("herd") ? 2 : 3;
    }
    // The first contender holds, the others queue behind it in order.
    bool queueUp(int n)
    {
        for (int i = 0; i < n; ++i) {
            contender(i).acquire();
            const bool queued = QTest::qWaitFor(
                [&] {
                    return i == 0 ? contender(0).holds()
                                  : counting(i).isIdle() && counting(i).requests() >= joinCost(i);
                },
                20'000);
            if (!queued)
                return false;
        }
        return true;
    }

    bool allQuiet()
    {
        const auto isIdle = [](const auto &c) { return c->counting->isIdle(); };
        return QTest::qWaitFor([&] { return std::all_of(m_clients.begin(), m_clients.end(), isIdle); }, 20'000);
    }
    [[nodiscard]] int requests() const
    {
        int all = 0;
        for (const auto &c : m_clients)
            all += c->counting->requests();
        return all;
    }
    [[nodiscard]] int events() const
    {
        int all = 0;
        for (const auto &c : m_clients)
            all += c->counting->events();
        return all;
    }

    // What went wrong; empty if all is ready. Without programs to start there is no m_server afterwards.
    QString startServer()
    {
        sandbox::ZooKeeperOptions options{.adminServer = false};
        if (const auto problem = startInto(m_server, sandbox::makeZooKeeper(options)); !problem.isEmpty())
            return problem;
        zk::SessionOptions session{.hosts = {m_server->address()}};
        m_admin = zk::openSession(m_loop, session);
        return waitForState(*m_admin, zk::SessionState::Connected) ? QString() : QStringLiteral("no session");
    }
    void forgetContenders()
    {
        m_contenders.clear();
        m_clients.clear();
        m_cable.reset();
        m_options = {};
    }
    void closeSessions()
    {
        m_admin.reset();
        zk::waitForClosingSessions(10s);
    }

private slots:
    void initTestCase() { OK_OR_SKIP(m_server, startServer()); }
    void cleanup() { forgetContenders(); }
    void cleanupTestCase() { closeSessions(); }
};

} // namespace lockscope::testing
