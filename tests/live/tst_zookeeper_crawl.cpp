// SPDX-License-Identifier: Apache-2.0
// The walk through a tree that no server lists: locks before leaves, narrowed where it is asked to be, and nodes that
// may not be read are seen all the same.
#include "core/async/scope.h"
#include "core/inspect/zookeeper/observercrawl.h"
#include "tests/support/testmain.h"
#include "tests/support/ctlfixture.h"

#include <QElapsedTimer>

#include <algorithm>

using namespace lockscope::inspect;

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
        qputenv("XDG_STATE_HOME", m_state.path().toUtf8());
        sandbox::ZooKeeperOptions blind; // it lists nothing
        blind.adminServer = false;
        blind.fourLetterWords = "srvr";
        START_OR_SKIP(m_server, sandbox::makeZooKeeper(blind));
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

    void everyLockIsFoundWithinTheBudget()
    {
        const auto report = walk({});
        QVERIFY(report.isCut);
        QVERIFY2(report.seen <= budget(), "one answer for each question");
        QCOMPARE(foundLocks(report), locks() + 1);
    }

    void unopenedLeavesAreJudgedByTheirNames()
    {
        CrawlOptions options{.opensLeaves = false};
        const auto report = walk(options);
        QVERIFY(!report.isCut);
        QVERIFY2(report.seen < budget() / 2, "a watch at rest rests");
        QVERIFY(report.unopened > folders * leaves() / 2);
        QCOMPARE(foundLocks(report), locks() + 1);
    }

    // Which children stand for the others is as the server lists them, so there are more each time. The servers'
    // own folder is never asked: as one of them it kept the others from being opened, and nothing said so.
    void allChildrenAreOpenedForAnySample()
    {
        QVERIFY(await(make("/many")));
        const auto inside = open("/many");
        QVERIFY(inside);
        const auto add = [&](const QByteArray &path) {
            return inside->create(ZPath(path), {}, zk::CreateMode::Persistent, zk::openAcl(), Deadline::never());
        };
        QVERIFY(await(add("/zookeeper")));
        for (int others = 1; others <= 130; ++others) {
            QVERIFY(await(add("/n" + QByteArray::number(others))));
            if (others >= 95)
                QCOMPARE(walk({}, *inside).seen, others + 1);
        }
    }

    // 120 folders of ten leaves: 32 of them are opened with all that is in them. Where one of those is a folder
    // again, all are.
    void leavesOfManyFoldersAreJudgedByThoseOfAFew()
    {
        QVERIFY(await(make("/shelves")));
        for (int shelf = 0; shelf < 120; ++shelf) {
            const auto path = "/shelves/s" + QByteArray::number(shelf);
            make(path);
            for (int leaf = 0; leaf < 10; ++leaf)
                make(path + "/b" + QByteArray::number(leaf));
        }
        QVERIFY(await(make("/shelves/s77/lock")));
        CrawlOptions options{.from = ZPath("/shelves"), .opensLeaves = false};
        const auto some = walk(options);
        QVERIFY(!some.isCut);
        QVERIFY2(some.seen < 1 + 120 + 1 + 33 * 10, qPrintable(QString::number(some.seen)));
        QCOMPARE(some.seen + some.unopened, qint64(1 + 120 * 11 + 1)); // each is seen or counted
        QVERIFY(some.suspects.contains(ZPath("/shelves/s77")));
        options.opensLeaves = true;
        QCOMPARE(walk(options).seen, qint64(1 + 120 * 11 + 1));

        for (int shelf = 0; shelf < 120; ++shelf)
            make("/shelves/s" + QByteArray::number(shelf) + "/b3/" + "x");
        QVERIFY(await(make("/shelves/s99/b3/lock")));
        options.opensLeaves = false;
        const auto whole = walk(options);
        QCOMPARE(whole.unopened, qint64(0));
        QVERIFY(whole.suspects.contains(ZPath("/shelves/s99/b3")));
    }

    void aFolderToBeginWithNarrowsTheWalk()
    {
        CrawlOptions options{.from = ZPath("/zz/locks")};
        const auto report = walk(options);
        QVERIFY(!report.isCut);
        QVERIFY(report.seen < 4 * locks());
        QCOMPARE(foundLocks(report), locks());
        options.from = ZPath("/nowhere");
        QCOMPARE(walk(options).seen, qint64(0));
    }

    // A folder that somebody has read is taken as it was read; its ephemerals have nothing below them, and show that
    // the others may be locks.
    void readFoldersAreNotReadAgain()
    {
        const auto read = std::make_shared<ReadAnswer>();
        read->view.path = ZPath("/zz/queue");
        read->view.stat.numChildren = 300;
        for (int i = 0; i < 300; ++i) {
            ZnodeView child{.name = NodeName("queued-" + QByteArray::number(i).rightJustified(10, '0'))};
            child.stat.ephemeralOwner = {i < 200 ? 7ULL : 0ULL};
            read->view.children.push_back(child);
        }
        CrawlOptions options{.from = read->view.path, .opensLeaves = false};
        qint64 asked = 0;
        options.progressed = [&asked](qint64, qint64, qint64 sent) { asked = sent; };
        options.readAlready = [&read](const ZPath &path) { return path == read->view.path ? read : nullptr; };
        const auto report = walk(options);
        QCOMPARE(asked, qint64(100)); // those that may have children; they are not there now
        QCOMPARE(report.seen, qint64(1));
        QCOMPARE(report.unopened, qint64(0));
        QCOMPARE(report.suspects.at(read->view.path).size(), std::size_t(200));
    }

    void unreadableNodeIsSeen()
    {
        const zk::Acls nobodys{{zk::perms::all, "digest", "alice:unknown="}};
        const auto made = await(m_session->create(ZPath("/closed/_c_00000000-0000-4000-8000-aaaaaaaaaaaa-lock-"), {},
                                                  zk::CreateMode::EphemeralSequential, nobodys, Deadline::never()));
        QVERIFY(made);
        CrawlOptions options{.from = ZPath("/closed")};
        const auto report = walk(options);
        QVERIFY(report.suspects.contains(ZPath("/closed")));
        // There is nothing below an ephemeral; from ZooKeeper 3.9.3 on it is not told that it is one.
        QCOMPARE(report.refused.size(), std::size_t(isHidden(made->path) ? 1 : 0));
    }

    // The whole command: every lock is in the answer, and that nobody lists them is said.
    void theCommandFindsEachOfThem()
    {
        QElapsedTimer took;
        took.start();
        Ctl ctl(connect() + QStringList{u"locks"_s, u"--json"_s});
        QVERIFY(QTest::qWaitFor([&] { return ctl.pid() == 0; }, 600'000));
        const auto elapsed = took.elapsed();
        const auto ran = ctl.finish();
        QVERIFY2(ran.status == 0, ran.what().left(2000));
        int found = 0;
        for (const auto &lock : ran.json().value("locks"_L1).toArray()) {
            const auto name = lock.toObject().value("lock"_L1).toString();
            found += name.startsWith(u"zk:/zz/locks/"_s) || name == u"zk:/app/jobs/nightly"_s ? 1 : 0;
        }
        QStringList said;
        for (const auto &part : ran.json().value("coverage"_L1).toArray()) {
            if (!part.toObject().value("complete"_L1).toBool())
                said << part.toObject().value("message"_L1).toString();
        }
        qInfo("%d of %d locks among %d znodes in %lld ms; not seen: %s", found, locks() + 1, folders * leaves(),
              elapsed, qPrintable(said.join(u" | "_s)));
        QCOMPARE(found, locks() + 1);
        QVERIFY(!said.isEmpty());
    }

    // Deleting needs the right to do so in the folder, not to read the node. Who waits for it reads it, as kazoo and
    // Curator do: so the next in line is of the same user, and another one is told why it cannot wait.
    void unreadableLockIsFoundShownAndReleased()
    {
        const zk::Acls alices{{zk::perms::all, "digest", "alice:aYXlLOpEooaV1cRAvUL1fp9Qt7E="}}; // alice:secret
        QVERIFY(await(make("/closed/held")));
        const auto held = await(m_session->create(ZPath("/closed/held/00112233445566778899aabbccddeeff__lock__"), {},
                                                  zk::CreateMode::EphemeralSequential, alices, Deadline::never()));
        QVERIFY(held);
        const auto lock = u"zk:/closed/held"_s;
        const QStringList acquire{u"acquire"_s, lock, u"--recipe"_s, u"kazoo-lock"_s, u"--json"_s};
        const auto stranger = testing::run(connect() + acquire);
        QVERIFY2(stranger.status == 1 && stranger.err.contains("permission"), stranger.what());
        Ctl waiter(connect(u"alice:secret@"_s) + acquire);
        const auto listed = [&] { return testing::run(connect() + QStringList{u"locks"_s, u"--json"_s}); };
        const auto ours = [&]() -> QJsonObject {
            for (const auto &one : listed().json().value("locks"_L1).toArray()) {
                if (one.toObject().value("lock"_L1).toString() == lock)
                    return one.toObject();
            }
            return {};
        };
        QTRY_COMPARE_WITH_TIMEOUT(ours().value("state"_L1).toString(), u"contended"_s, 60'000);
        const auto shown = testing::run(connect() + QStringList{u"show"_s, lock, u"--json"_s});
        const auto contenders = shown.json().value("lock"_L1).toObject().value("contenders"_L1).toArray();
        QVERIFY2(contenders.size() == 2, shown.what());
        const auto id = contenders[0].toObject().value("id"_L1).toString();
        QVERIFY2(id.startsWith(QString::fromUtf8(held->path.name().bytes())), shown.what());
        const auto forced = [&](const QString &credentials, const QString &holder) {
            return testing::run(connect(credentials)
                                + QStringList{u"force-release"_s, lock, u"--holder"_s, holder, u"--yes"_s});
        };
        if (isHidden(held->path)) { // nothing guards what may not be looked at
            const auto blind = forced({}, id);
            QVERIFY2(blind.status == 4 && blind.err.contains("Nothing was sent. Check your permissions"),
                     blind.what());
            const auto alice = testing::run(connect(u"alice:secret@"_s) + QStringList{u"show"_s, lock, u"--json"_s});
            const auto hers = alice.json().value("lock"_L1).toObject().value("contenders"_L1).toArray()[0].toObject();
            const auto seen = forced(u"alice:secret@"_s, hers.value("id"_L1).toString());
            QVERIFY2(seen.status == 0, seen.what());
        } else {
            const auto done = forced({}, id);
            QVERIFY2(done.status == 0, done.what());
        }
        QVERIFY2(waiter.jsonLine().value("acquired"_L1).toBool(), waiter.finish().what());
    }

    // It lets in nobody, and still tells anybody by its commands which sessions there are.
    void refusingServerIsNotShownWithoutLocks()
    {
        auto server = sandbox::makeZooKeeper({.adminServer = false, .requiresSasl = true});
        QVERIFY(server);
        const auto started = (*server)->start(60s);
        QVERIFY2(started, started ? "" : qPrintable(started.error().message));
        const auto there = u"zk://127.0.0.1:%1"_s.arg((*server)->address().port);
        const auto ran = testing::run({u"--connect"_s, there, u"locks"_s});
        QVERIFY2(ran.status == 3 && ran.err.contains("SASL"), ran.what());
        const auto shown = testing::run({u"--connect"_s, there, u"show"_s, u"zk:/locks"_s});
        QVERIFY2(shown.status != 0, shown.what());
        // No password is asked for where it need not help, whether it refuses before the first question or with it.
        for (const auto &each : {ran, shown})
            QVERIFY2(!each.err.contains("give user and password")
                         && each.err.contains("work with the digest scheme only"),
                     each.what());
        QVERIFY2(!ran.out.contains("no locks found"), ran.what());
    }

private:
    // Whether the server tells no more of it than that it is there.
    [[nodiscard]] bool isHidden(const ZPath &path)
    {
        const auto stat = await(m_session->exists(path, {}, Deadline::never()));
        return !stat && stat.error().code == ErrorCode::NoPermission;
    }
    [[nodiscard]] QStringList connect(const QString &credentials = {}) const
    {
        return {u"--connect"_s,
                u"zk=zk://"_s + credentials + u"127.0.0.1:%1?admin=1"_s.arg(m_server->address().port)};
    }
    std::unique_ptr<zk::Session> open(const QByteArray &chroot = {})
    {
        auto session = zk::openSession(m_loop, {.hosts = {m_server->address()}, .chroot = chroot});
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
    CrawlReport walk(const CrawlOptions &options) { return walk(options, *m_session); }
    CrawlReport walk(CrawlOptions options, zk::Session &session)
    {
        options.most = budget();
        const Completion<CrawlReport> done(m_loop);
        m_scope.launch(store(crawl(session, options, [](const NamesByParent &) {}), done));
        return await(done, CrawlReport{}, 10min);
    }
    static int foundLocks(const CrawlReport &report)
    {
        return static_cast<int>(std::ranges::count_if(report.suspects, [](const auto &entry) {
            return entry.second.front().bytes().contains("-lock-")
                   && (entry.first.bytes().startsWith("/zz/locks/") || entry.first.bytes().startsWith("/app/jobs/"));
        }));
    }

    QTemporaryDir m_state;
    QtLoop m_loop;
    std::unique_ptr<sandbox::ZooKeeperServer> m_server;
    std::unique_ptr<zk::Session> m_session;
    Scope m_scope{m_loop};
};

LOCKSCOPE_TEST(TestZooKeeperCrawl)
#include "tst_zookeeper_crawl.moc"
