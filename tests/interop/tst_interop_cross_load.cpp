// SPDX-License-Identifier: Apache-2.0
// Mutual exclusion across clients under load: several of our contenders and several of theirs, in processes of
// their own, add to one number that only the lock protects.
#include "tests/interop/counting.h"
#include "tests/interop/crossfixture.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::interop;
using namespace Qt::StringLiterals;

class TestInteropCrossLoad : public CrossFixture {
    Q_OBJECT

    static constexpr int rounds = 8, ourContenders = 3, processes = 2, theirContenders = 2;

    static std::unique_ptr<ForeignClient> start(Client client, const QStringList &server)
    {
        if (client == Client::Curator)
            return javaClient(u"CuratorCounter.java"_s, server);
        return pythonClient(client == Client::Kazoo ? u"kazoo_client.py"_s : u"redis_client.py"_s, server);
    }
    static bool alone(const Pair &pair) { return pair.alone; }

private slots:
    void initTestCase()
    {
        for (const auto &why : {whyNoPythonClients(), whyNoCurator()}) {
            if (!why.isEmpty())
                QSKIP(why.constData());
        }
        const auto problem = startServers();
        QVERIFY2(problem.isEmpty(), qPrintable(problem));
    }
    void cleanup() { m_ours.clear(); }
    void cleanupTestCase() { stopServers(); }

    void nothingIsLost_data() { pairsAsRows(alone); }
    void nothingIsLost()
    {
        begin();
        const auto file = m_files.filePath(u"counter%1"_s.arg(m_count));
        QVERIFY(writeNumber(file, 0));
        std::vector<std::unique_ptr<ForeignClient>> programs;
        for (int i = 0; i < processes; ++i)
            programs.push_back(start(m_pair.client, theirServer()));
        for (const auto &program : programs)
            QVERIFY2(program->says("ready"), program->everythingSaid().constData());

        int failed = 0;
        Scope scope(m_loop);
        for (int i = 0; i < ourContenders; ++i)
            scope.launch(count(ours().lock(), &m_loop, file, rounds, &failed));
        const QByteArray kind = m_pair.client == Client::RedisPy ? QByteArray() : m_pair.kind + ' ';
        const QByteArray rest = kind + m_lock + ' ' + file.toUtf8() + ' ' + QByteArray::number(rounds);
        for (const auto &program : programs) {
            for (int i = 0; i < theirContenders; ++i)
                program->tell("count t" + QByteArray::number(i) + ' ' + rest);
        }
        // No pauses between looks, as QTest's own waiting makes: our contenders are in this thread.
        QEventLoop events;
        QTimer look;
        connect(&look, &QTimer::timeout, this, [&] {
            const bool done = std::ranges::all_of(programs, [](const auto &program) {
                return program->hasSaid("counted t0") && program->hasSaid("counted t1");
            });
            if (done && scope.isIdle())
                events.quit();
        });
        look.start(20ms);
        QTimer::singleShot(2 * patienceMs, &events, &QEventLoop::quit);
        events.exec();

        for (const auto &program : programs)
            QVERIFY2(program->hasSaid("counted t0") && program->hasSaid("counted t1"),
                     program->everythingSaid().constData());
        QVERIFY(scope.isIdle());
        QCOMPARE(failed, 0);
        QCOMPARE(numberIn(file), rounds * (ourContenders + processes * theirContenders));
    }
};

LOCKSCOPE_TEST(TestInteropCrossLoad)
#include "tst_interop_cross_load.moc"
