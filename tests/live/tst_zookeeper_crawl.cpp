// SPDX-License-Identifier: Apache-2.0
// The walk through a tree that no server lists: locks before leaves, narrowed where it is asked to be, and nodes that
// may not be read are seen all the same.
#include "tests/support/zookeeperfixture.h"

#include "core/async/scope.h"
#include "core/inspect/zookeeper/observercrawl.h"
#include "tests/support/testmain.h"

#include <algorithm>

using namespace lockscope;
using namespace lockscope::inspect;
using namespace lockscope::test;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace {

// 206,000 znodes and 300 locks, where 200,000 may be asked: LOCKSCOPE_CRAWL=100; a hundredth of it otherwise.
int scale()
{
    return std::max(1, qEnvironmentVariableIntValue("LOCKSCOPE_CRAWL"));
}
constexpr int folders = 10;
int leaves() // in each
{
    return 206 * scale();
}
int locks()
{
    return 3 * scale();
}
qint64 budget()
{
    return 2000 * scale();
}

Task<void> store(Task<CrawlReport> crawling, Completion<CrawlReport> into)
{
    auto report = co_await crawling;
    into.complete(std::move(report));
}

} // namespace

class TestZooKeeperCrawl : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        auto server = sandbox::makeZooKeeper();
        if (!server)
            QSKIP(qPrintable(server.error().message));
        m_server = std::move(*server);
        QVERIFY(m_server->start(30s));
        m_session = open();
        QVERIFY(m_session);
        fill();
    }
    void cleanupTestCase()
    {
        m_session.reset();
        zk::waitForClosingSessions(10s);
        m_server.reset();
    }

    void everyLockIsFoundWithinABudgetThatLeavesWouldEat()
    {
        const auto report = walk({});
        QVERIFY(report.isCut);
        QVERIFY2(report.seen <= budget(), "one answer for each question");
        QCOMPARE(foundLocks(report), locks() + 1);
    }

    void leavesAreJudgedByTheirNamesWhereTheyNeedNotBeOpened()
    {
        CrawlOptions options;
        options.opensLeaves = false;
        const auto report = walk(options);
        QVERIFY(!report.isCut);
        QVERIFY2(report.seen < budget() / 2, "a watch at rest rests");
        QVERIFY(report.unopened > folders * leaves() / 2);
        QCOMPARE(foundLocks(report), locks() + 1);
    }

    void aFolderToBeginWithNarrowsTheWalk()
    {
        CrawlOptions options;
        options.from = ZPath("/zz/locks");
        const auto report = walk(options);
        QVERIFY(!report.isCut);
        QVERIFY(report.seen < 4 * locks());
        QCOMPARE(foundLocks(report), locks());
        options.from = ZPath("/nowhere");
        QCOMPARE(walk(options).seen, qint64(0));
    }

    void whatMayNotBeReadIsSeen()
    {
        const zk::Acls nobodys{{zk::perms::all, "digest", "alice:unknown="}};
        const auto made = await(m_session->create(ZPath("/closed/_c_00000000-0000-4000-8000-aaaaaaaaaaaa-lock-"), {},
                                                  zk::CreateMode::EphemeralSequential, nobodys, Deadline::never()));
        QVERIFY(made);
        CrawlOptions options;
        options.from = ZPath("/closed");
        const auto report = walk(options);
        QVERIFY(report.suspects.contains(ZPath("/closed")));
        QCOMPARE(report.refused, qint64(0)); // there is nothing below an ephemeral
    }

private:
    std::unique_ptr<zk::Session> open()
    {
        zk::SessionOptions options;
        options.hosts = {m_server->address()};
        auto session = zk::openSession(m_loop, std::move(options));
        return waitForState(*session, zk::SessionState::Connected) ? std::move(session) : nullptr;
    }
    Reply<zk::Created> make(const QByteArray &path, zk::CreateMode mode = zk::CreateMode::Persistent)
    {
        return m_session->create(ZPath(path), {}, mode, zk::openAcl(), Deadline::never());
    }
    void fill()
    {
        for (const char *folder : {"/closed", "/data", "/zz", "/zz/locks", "/app", "/app/jobs"})
            make(folder);
        for (int folder = 0; folder < folders; ++folder) {
            const auto path = "/data/part-" + QByteArray::number(folder);
            make(path);
            for (int leaf = 0; leaf < leaves(); ++leaf) {
                const auto made = make(path + "/item" + QByteArray::number(leaf));
                if (leaf % 2000 == 0)
                    QVERIFY(await(made));
            }
        }
        const QByteArray name = "/_c_00000000-0000-4000-8000-000000000001-lock-";
        for (int lock = 0; lock < locks(); ++lock) {
            const auto path = "/zz/locks/" + QByteArray::number(lock);
            make(path);
            make(path + name, zk::CreateMode::EphemeralSequential);
        }
        make("/app/jobs/nightly");
        const auto last = make("/app/jobs/nightly" + name, zk::CreateMode::EphemeralSequential);
        QVERIFY(await(last));
    }
    CrawlReport walk(CrawlOptions options)
    {
        options.most = budget();
        const Completion<CrawlReport> done(m_loop);
        m_scope.launch(store(crawl(*m_session, options, [](const NamesByParent &) {}), done));
        return await(done, CrawlReport{}, 10min);
    }
    static int foundLocks(const CrawlReport &report)
    {
        return static_cast<int>(std::ranges::count_if(report.suspects, [](const auto &entry) {
            return entry.second.front().bytes().contains("-lock-")
                   && (entry.first.bytes().startsWith("/zz/locks/") || entry.first.bytes().startsWith("/app/jobs/"));
        }));
    }

    QtLoop m_loop;
    std::unique_ptr<sandbox::ZooKeeperServer> m_server;
    std::unique_ptr<zk::Session> m_session;
    Scope m_scope{m_loop};
};

LOCKSCOPE_TEST(TestZooKeeperCrawl)
#include "tst_zookeeper_crawl.moc"
