// SPDX-License-Identifier: Apache-2.0
// What the tests of Curator's recipes share: contenders of every kind for one lock, each with a session
// of its own.
#pragma once

#include "tests/support/recipefixture.h"

#include "core/recipes/curator/locks.h"

namespace lockscope::testing {

// "mutex", "read", "write", "semaphore-mutex", or a semaphore's number of permits: "2".
inline std::unique_ptr<recipes::Lock> makeCuratorLock(const QByteArray &kind, zk::Session &session, const ZPath &path,
                                                      quint64 seed)
{
    recipes::AcquireOptions options{.readMode = kind == "read"};
    QByteArray recipe = "curator-" + kind;
    if (kind == "read" || kind == "write") {
        recipe = "curator-rwlock";
    } else if (const int limit = kind.toInt()) {
        recipe = "curator-semaphore";
        options.limit = limit;
    }
    auto made = recipes::makeLock(recipe, session, path, options, Random(seed));
    if (!made)
        qFatal("%s", qPrintable(made.error().message));
    return std::move(*made);
}

inline QByteArray curatorRecipe(const QByteArray &kind)
{
    if (kind == "read" || kind == "write")
        return "curator-rwlock";
    return kind.toInt() > 0 ? QByteArray("curator-semaphore") : "curator-" + kind;
}

// A side of a lock whose sides belong together.
class Side : public recipes::Lock {
public:
    Side(std::shared_ptr<recipes::CuratorReadWriteLock> both, recipes::Lock &one)
        : m_both(std::move(both)), m_one(one)
    {
    }
    Task<Result<recipes::Grant>> acquire(Deadline deadline) override { return m_one.acquire(deadline); }
    Task<Result<void>> release(Deadline deadline) override { return m_one.release(deadline); }
    [[nodiscard]] int holdCount() const override { return m_one.holdCount(); }
    Task<Result<bool>> isStillMine(Deadline deadline) override { return m_one.isStillMine(deadline); }
    [[nodiscard]] Completion<recipes::Loss> lost() const override { return m_one.lost(); }

private:
    std::shared_ptr<recipes::CuratorReadWriteLock> m_both;
    recipes::Lock &m_one;
};

class CuratorFixture : public RecipeFixture {
protected:
    static bool isSemaphore(const QByteArray &kind) { return kind == "semaphore-mutex" || kind.toInt() > 0; }
    static QByteArray rowsKind()
    {
        return *static_cast<QByteArray *>(QTest::qData("kind", qMetaTypeId<QByteArray>()));
    }
    static void kindsAsRows(const QByteArrayList &kinds)
    {
        QTest::addColumn<QByteArray>("kind");
        for (const auto &kind : kinds)
            QTest::newRow(kind) << kind;
    }

    // The directories stand, so that no test counts their making; one contender of each kind.
    bool prepare(const QByteArrayList &kinds)
    {
        m_path = ZPath("/curator-" + QByteArray::number(++m_runs));
        bool made = make(m_path);
        if (isSemaphore(kinds.first()))
            made = made && make(locks()) && make(leases());
        for (const auto &kind : kinds)
            made = made && join(kind);
        return made;
    }
    // One more contender, connected.
    bool join(const QByteArray &kind)
    {
        auto &client = addClient();
        auto lock = makeCuratorLock(kind, *client.counting, m_path, m_clients.size());
        m_contenders.push_back(std::make_unique<Contender>(m_loop, std::move(lock)));
        return waitForState(*client.real, zk::SessionState::Connected);
    }
    Client &addClient()
    {
        m_clients.push_back(std::make_unique<Client>(m_loop, m_server->address()));
        return *m_clients.back();
    }
    // A writer and a reader of one owner: two contenders with one client, the last one added.
    void addSides(const std::shared_ptr<recipes::CuratorReadWriteLock> &both)
    {
        for (auto *side : {&both->writeLock(), &both->readLock()})
            m_contenders.push_back(std::make_unique<Contender>(m_loop, std::make_unique<Side>(both, *side)));
        m_clients.push_back(nullptr); // so that contender(i) has counting(i)
    }
    [[nodiscard]] ZPath locks() const { return m_path.child(NodeName("locks")); }
    [[nodiscard]] ZPath leases() const { return m_path.child(NodeName("leases")); }

    // In the order of their numbers.
    QByteArrayList namesIn(const ZPath &directory)
    {
        const auto listed = await(m_admin->children(directory, std::nullopt, soon()));
        QByteArrayList names;
        for (const auto &name : listed ? listed->names : std::vector<NodeName>())
            names << name.bytes();
        std::sort(names.begin(), names.end(), [](const auto &a, const auto &b) { return a.last(10) < b.last(10); });
        return names;
    }
    bool removeNode(const ZPath &path) { return bool(await(m_admin->remove(path, zk::anyVersion, soon()))); }
    // Waits with that many requests sent and all of them answered.
    bool waits(int i, int requests)
    {
        const auto isThere = [&] { return counting(i).requests() == requests && counting(i).isIdle(); };
        return QTest::qWaitFor(isThere, 20'000) && !contender(i).granted;
    }
    bool gets(int i)
    {
        return QTest::qWaitFor([&] { return contender(i).granted.has_value(); }, 20'000) && contender(i).holds();
    }
    // And has nothing more to say: who comes into a semaphore leaves the queue before it only afterwards, and a
    // contender that asks too early still meets it there.
    bool getsInPeace(int i)
    {
        return gets(i) && QTest::qWaitFor([&] { return counting(i).isIdle(); }, 20'000);
    }
    bool givesBack(int i)
    {
        contender(i).release();
        const bool answered = QTest::qWaitFor([&] { return contender(i).released.has_value(); }, 20'000);
        return answered && bool(*contender(i).released);
    }
    // Whether it is refused: nothing of it is sent.
    bool isRefused(Contender &who, int i)
    {
        const int before = counting(i).requests();
        who.acquire();
        const bool answered = QTest::qWaitFor([&] { return who.granted.has_value(); }, 20'000);
        return answered && !who.holds() && who.granted->error().code == ErrorCode::BadInput
               && counting(i).requests() == before;
    }
};

} // namespace lockscope::testing
