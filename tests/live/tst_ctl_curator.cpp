// SPDX-License-Identifier: Apache-2.0
// lockscopectl acquires Curator's locks, and show names them: recipe, holders, queue and watches.
#include "tests/support/testmain.h"
#include "tst_ctl_fixture.h"

using namespace lockscope;
using namespace lockscope::test;
using namespace Qt::StringLiterals;

class TestCtlCurator : public QObject {
    Q_OBJECT

    Servers m_servers;
    int m_count = 0;

    // "curator-mutex: 0 holds exclusive, 1 waits exclusive ->0": contenders by their place, a proven watch
    // as ->, an inferred as ~>.
    [[nodiscard]] QString draw(const QString &lock) const
    {
        const auto seen = m_servers.run({u"show"_s, lock, u"--json"_s}).json().value("lock"_L1).toObject();
        const auto contenders = seen.value("contenders"_L1).toArray();
        QStringList ids;
        for (const auto &one : contenders)
            ids << one.toObject().value("id"_L1).toString();
        QStringList out;
        for (const auto &entry : contenders) {
            const auto one = entry.toObject();
            QString text = u"%1 %2 %3"_s.arg(out.size())
                               .arg(one.value("role"_L1).toString() == u"holder"_s ? u"holds"_s : u"waits"_s,
                                    one.value("mode"_L1).toString());
            for (const auto &watch : one.value("watches"_L1).toArray()) {
                const auto target = watch.toObject().value("target"_L1).toString();
                text += watch.toObject().value("evidence"_L1).toString() == u"server"_s ? u" ->"_s : u" ~>"_s;
                text += target == u"children"_s ? target : QString::number(ids.indexOf(target));
            }
            out << text;
        }
        return seen.value("recipe"_L1).toString() + u": "_s + out.join(u", "_s);
    }
    [[nodiscard]] QString idOf(const QString &lock, int place) const
    {
        const auto seen = m_servers.run({u"show"_s, lock, u"--json"_s}).json().value("lock"_L1).toObject();
        return seen.value("contenders"_L1).toArray().at(place).toObject().value("id"_L1).toString();
    }

private slots:
    void initTestCase()
    {
        const auto why = m_servers.start();
        if (!why.isEmpty())
            QSKIP(qPrintable(why));
    }
    void cleanupTestCase() { m_servers.stop(); }

    void isSeenAsWhatItIs_data()
    {
        QTest::addColumn<QString>("recipe");
        QTest::addColumn<QStringList>("contenders"); // what each of them says besides, in order
        QTest::addColumn<int>("holders");
        QTest::addColumn<QString>("seen");
        const QStringList three{QString(), QString(), QString()};
        QTest::newRow("mutex") << u"curator-mutex"_s << three << 1
                               << u"curator-mutex: 0 holds exclusive, 1 waits exclusive ->0, 2 waits exclusive ->1"_s;
        QTest::newRow("semaphore mutex")
            << u"curator-semaphore-mutex"_s << three << 1
            << u"curator-semaphore: 0 holds permit, 1 waits permit ~>children, 2 waits permit ->1"_s;
        const QString two = u"--limit 2"_s;
        QTest::newRow("semaphore")
            << u"curator-semaphore"_s << QStringList{two, two, two, two} << 2
            << u"curator-semaphore: 0 holds permit, 1 holds permit, 2 waits permit ~>children, 3 waits permit ->2"_s;
        QTest::newRow("read and write")
            << u"curator-rwlock"_s
            << QStringList{u"--mode read"_s, u"--mode read"_s, QString(), u"--mode write"_s, u"--mode read"_s} << 2
            << u"curator-rwlock: 0 holds read, 1 holds read, 2 waits write ->1, 3 waits write ->2, 4 waits read ->2"_s;
    }
    void isSeenAsWhatItIs()
    {
        QFETCH(QString, recipe);
        QFETCH(QStringList, contenders);
        QFETCH(int, holders);
        QFETCH(QString, seen);
        const auto lock = u"zk:/locks/curator%1"_s.arg(++m_count);
        const auto expected = seen.split(u", "_s);
        std::vector<std::unique_ptr<Ctl>> programs;
        QStringList held;
        for (int i = 0; i < contenders.size(); ++i) {
            const auto more = contenders[i].split(u' ', Qt::SkipEmptyParts);
            programs.push_back(std::make_unique<Ctl>(
                m_servers.connect() + QStringList{u"acquire"_s, lock, u"--recipe"_s, recipe, u"--json"_s} + more));
            if (i < holders) {
                const auto had = programs.back()->jsonLine();
                QVERIFY(had.value("acquired"_L1).toBool());
                QVERIFY(had.value("fencingToken"_L1).isString());
                held << had.value("id"_L1).toString();
            }
            // Each is queued, watches and all, before the next one comes.
            QTRY_COMPARE_WITH_TIMEOUT(draw(lock), expected.mid(0, i + 1).join(u", "_s), patienceMs);
        }
        for (int i = 0; i < holders; ++i)
            QCOMPARE(idOf(lock, i), held[i]);
        // And they get in, each in its turn: into a semaphore when any permit is free, else when the one
        // before is out.
        const int ahead = recipe == u"curator-semaphore"_s ? holders : 1;
        for (int i = 0; i + ahead < int(programs.size()); ++i) {
            programs[size_t(i)]->signal(SIGTERM);
            QVERIFY(programs[size_t(i)]->jsonLine().value("released"_L1).toBool());
            QCOMPARE(programs[size_t(i)]->finish().status, 0);
            if (i + ahead >= holders)
                QVERIFY(programs[size_t(i + ahead)]->jsonLine().value("acquired"_L1).toBool());
        }
    }

    void wrongOptionsAreRefused()
    {
        const auto tried = [this](const QStringList &options) {
            return m_servers.run(QStringList{u"acquire"_s, u"zk:/locks/refused"_s, u"--recipe"_s} + options);
        };
        QVERIFY(tried({u"curator-mutex"_s, u"--limit"_s, u"2"_s}).status != 0);
        QVERIFY(tried({u"curator-semaphore"_s, u"--mode"_s, u"read"_s}).status != 0);
        QVERIFY(!await(m_servers.session->exists(ZPath("/locks/refused"), std::nullopt, m_servers.soon())));
    }
};

LOCKSCOPE_TEST(TestCtlCurator)
#include "tst_ctl_curator.moc"
