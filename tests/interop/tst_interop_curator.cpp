// SPDX-License-Identifier: Apache-2.0
// Our Curator locks beside Curator itself: the same queue, and neither enters while the other is in.
#include "tests/interop/foreignclients.h"
#include "tests/support/curatorfixture.h"
#include "tests/support/finish.h"
#include "tests/support/revocation.h"

#include "core/recipes/curator/locks.h"
#include "tests/support/testmain.h"

using namespace lockscope::interop;

class TestInteropCurator : public CuratorFixture {
    Q_OBJECT

    std::unique_ptr<ForeignClient> m_curator;
    int m_names = 0;

    // Which of their contenders it is by now.
    QByteArray theirs(const QByteArray &kind)
    {
        const QByteArray name = "t" + QByteArray::number(++m_names);
        const bool counted = kind.toInt() > 0;
        m_curator->tell("acquire " + name + ' ' + (counted ? QByteArray("semaphore") : kind) + ' ' + m_path.bytes()
                        + ' ' + (counted ? kind : QByteArray("1")));
        return name;
    }
    bool hold(const QByteArray &name) { return m_curator->says("held " + name); }
    bool letGo(const QByteArray &name)
    {
        m_curator->tell("release " + name);
        return m_curator->says("released " + name);
    }
    bool haveNotEntered(const QByteArray &name) { return !m_curator->hasSaid("held " + name); }
    // Holders and waiters, as their nodes say; a semaphore's head has one in each directory.
    bool areQueued(const QByteArray &kind, int contenders)
    {
        const auto directory = isSemaphore(kind) ? leases() : m_path;
        return QTest::qWaitFor([&] { return namesIn(directory).size() == contenders; }, 20'000);
    }
    static void pairsAsRows()
    {
        addColumns<QByteArray, QByteArray>("kind", "their");
        const QList<std::pair<QByteArray, QByteArray>> pairs{
            {"mutex", "mutex"},      {"semaphore-mutex", "semaphore-mutex"},
            {"write", "write"},      {"read", "write"},
            {"write", "read"},       {"1", "1"},
            {"1", "semaphore-mutex"}};
        for (const auto &[ours, their] : pairs)
            QTest::addRow("our %s, their %s", ours.constData(), their.constData()) << ours << their;
    }

private slots:
    void initTestCase()
    {
        SKIP_FOR(whyNoCurator());
        OK(startServer());
        const auto hosts = QStringLiteral("%1:%2").arg(m_server->address().host).arg(m_server->address().port);
        m_curator = javaClient(QStringLiteral("CuratorClient.java"), {hosts});
        QVERIFY2(m_curator->says("ready"), m_curator->everythingSaid().constData());
    }
    void cleanup() { forgetContenders(); }
    void cleanupTestCase()
    {
        m_curator.reset();
        closeSessions();
    }

    void theirsBlocksOurs_data() { pairsAsRows(); }
    void theirsBlocksOurs()
    {
        QFETCH(QByteArray, their);
        const auto kind = rowsKind();
        QVERIFY(prepare({kind}));
        const auto first = theirs(their);
        QVERIFY2(hold(first), m_curator->everythingSaid().constData());
        contender(0).acquire();
        QVERIFY(waits(0, isSemaphore(kind) ? 4 : 3));
        QVERIFY(areQueued(kind, 2));
        const auto second = theirs(their); // and one of theirs behind ours
        QVERIFY(letGo(first));
        QVERIFY(gets(0));
        QVERIFY(haveNotEntered(second));
        QVERIFY(areQueued(kind, 2));
        QVERIFY(haveNotEntered(second));
        QVERIFY(givesBack(0));
        QVERIFY2(hold(second), m_curator->everythingSaid().constData());
        QVERIFY(letGo(second));
        QCOMPARE(namesIn(isSemaphore(kind) ? leases() : m_path), QByteArrayList());
    }

    void oursBlocksTheirs_data() { pairsAsRows(); }
    void oursBlocksTheirs()
    {
        QFETCH(QByteArray, their);
        const auto kind = rowsKind();
        QVERIFY(prepare({kind, kind}));
        QVERIFY(contender(0).takes());
        const auto first = theirs(their);
        QVERIFY2(areQueued(kind, 2), m_curator->everythingSaid().constData());
        contender(1).acquire(); // and one of ours behind theirs
        if (kind == "read" && their == "write")
            QVERIFY(waits(1, 3));
        QVERIFY(haveNotEntered(first));
        QVERIFY(givesBack(0));
        QVERIFY2(hold(first), m_curator->everythingSaid().constData());
        QVERIFY(!contender(1).granted);
        QVERIFY(letGo(first));
        QVERIFY(gets(1));
        QVERIFY(givesBack(1));
    }

    // Two permits: one each, and the next one of each waits.
    void permitsAreShared()
    {
        QVERIFY(prepare({"2", "2"}));
        QVERIFY(contender(0).takes());
        const auto first = theirs("2");
        QVERIFY2(hold(first), m_curator->everythingSaid().constData());
        contender(1).acquire();
        QVERIFY(waits(1, 4));
        const auto second = theirs("2");
        QTRY_COMPARE(namesIn(locks()).size(), 2);
        QVERIFY(givesBack(0));
        QVERIFY(gets(1));
        QVERIFY(areQueued("2", 3)); // theirs has moved up and made its lease
        QVERIFY(haveNotEntered(second));
        QVERIFY(letGo(first));
        QVERIFY(hold(second));
        QVERIFY(givesBack(1));
        QVERIFY(letGo(second));
    }

    void readersShare()
    {
        QVERIFY(prepare({"read", "write", "read"}));
        const auto first = theirs("read");
        QVERIFY2(hold(first), m_curator->everythingSaid().constData());
        QVERIFY(contender(0).takes());
        contender(1).acquire();
        QVERIFY(waits(1, 3));
        const auto second = theirs("read");
        QVERIFY(areQueued("read", 4));
        QVERIFY(letGo(first));
        QVERIFY(!contender(1).granted && haveNotEntered(second));
        QVERIFY(givesBack(0));
        QVERIFY(gets(1));
        QVERIFY(haveNotEntered(second));
        QVERIFY(givesBack(1));
        QVERIFY(hold(second));
        QVERIFY(contender(2).takes());
        QVERIFY(letGo(second));
    }

    // Their writer queued while we wrote; we go on reading, and it stays out.
    void theirWriterWaitsForOurDowngrade()
    {
        QVERIFY(prepare({"read"})); // makes the directory
        auto &client = addClient();
        QVERIFY(waitForState(*client.real, zk::SessionState::Connected));
        addSides(std::make_shared<recipes::CuratorReadWriteLock>(*client.counting, m_path, Random(9)));
        constexpr int weWrite = 1, weRead = 2;
        QVERIFY(contender(weWrite).takes());
        const auto writer = theirs("write");
        QVERIFY2(areQueued("write", 2), m_curator->everythingSaid().constData());
        const auto reader = theirs("read");
        QVERIFY2(areQueued("write", 3), m_curator->everythingSaid().constData());
        QVERIFY(contender(weRead).takes());
        QVERIFY(givesBack(weWrite));
        contender(0).acquire(); // behind them all: when it is seen to wait, theirs had time to look again
        QVERIFY(waits(0, 3));
        QVERIFY(haveNotEntered(writer) && haveNotEntered(reader));
        QVERIFY(givesBack(weRead));
        QVERIFY2(hold(writer), m_curator->everythingSaid().constData());
        QVERIFY(haveNotEntered(reader));
        QVERIFY(letGo(writer));
        QVERIFY2(hold(reader), m_curator->everythingSaid().constData());
        QVERIFY(gets(0));
        QVERIFY(letGo(reader));
    }

    // The other way round: ours queued while theirs wrote, and wait until it has ended reading, too.
    void ourWriterWaitsForTheirDowngrade()
    {
        QVERIFY(prepare({"write", "read"}));
        const auto name = theirs("downgrade");
        QVERIFY2(hold(name), m_curator->everythingSaid().constData());
        contender(0).acquire();
        QVERIFY(waits(0, 3));
        contender(1).acquire();
        QVERIFY(waits(1, 3));
        const auto written = namesIn(m_path).first().last(10);
        m_curator->tell("release " + name);
        QVERIFY2(m_curator->says("reads " + name), m_curator->everythingSaid().constData());
        if (namesIn(m_path).first().last(10) != written) {
            QVERIFY2(qEnvironmentVariableIsEmpty("LOCKSCOPE_INTEROP_JARS"),
                     "the newest Curator reads under its number");
            QSKIP("this Curator is older than 5.5: its reader stands behind those who queued (CURATOR-276)");
        }
        QVERIFY(waits(0, 5)); // both have looked again
        QVERIFY(waits(1, 5));
        QVERIFY(letGo(name));
        QVERIFY(gets(0));
        QVERIFY(!contender(1).granted);
        QVERIFY(givesBack(0));
        QVERIFY(gets(1));
        QVERIFY(givesBack(1));
    }

    void weAskTheirHolderToLetGo()
    {
        QVERIFY(prepare({"mutex"}));
        const auto name = theirs("revocable");
        QVERIFY2(hold(name), m_curator->everythingSaid().constData());
        const auto node = m_path.child(NodeName(namesIn(m_path).first()));
        contender(0).acquire();
        QVERIFY(waits(0, 3));
        std::optional<Result<void>> asked;
        Scope scope(m_loop);
        scope.launch(keepResult(requestRevocation(m_clients[0]->counting.get(), node, soon()), &asked));
        QVERIFY2(m_curator->says("asked " + name), m_curator->everythingSaid().constData());
        QTRY_VERIFY(asked && *asked);
        QVERIFY(!contender(0).granted);
        QVERIFY(letGo(name));
        QVERIFY(gets(0));
    }

    void theyAskOurHolderToLetGo()
    {
        QVERIFY(prepare({"mutex"}));
        QVERIFY(contender(0).takes());
        const auto node = (*contender(0).granted)->node;
        std::optional<Result<bool>> heard;
        Scope scope(m_loop);
        scope.launch(
            keepResult(untilRevocationRequested(m_clients[0]->counting.get(), node, Deadline::never()), &heard));
        const auto name = theirs("mutex");
        QVERIFY(areQueued("mutex", 2));
        QVERIFY(!heard);
        m_curator->tell("revoke " + name + ' ' + node.bytes());
        QTRY_VERIFY_WITH_TIMEOUT(heard, 20'000);
        QVERIFY(*heard && **heard);
        QVERIFY(haveNotEntered(name));
        QVERIFY(givesBack(0));
        QVERIFY(hold(name));
        QVERIFY(letGo(name));
    }
};

LOCKSCOPE_TEST(TestInteropCurator)
#include "tst_interop_curator.moc"
