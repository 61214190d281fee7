// SPDX-License-Identifier: Apache-2.0
// How long the simulated world takes for very many contenders, and how much memory: the terminal's own simulate, from
// its start to its end, as a process of its own. Asserts only that everybody had the lock and that it cost what it
// must.
#include "tests/bench/report.h"

#include <QElapsedTimer>
#include <QProcess>
#include <QTest>

#include <sys/resource.h>

using namespace lockscope;
using namespace Qt::StringLiterals;

class BenchSimulate : public QObject {
    Q_OBJECT

    // Of the children that have ended: seconds of the processor, and the most memory that one of them had.
    struct Usage {
        double seconds = 0;
        double megabytes = 0;
    };
    static Usage usage()
    {
        rusage all{};
        getrusage(RUSAGE_CHILDREN, &all);
        const auto seconds = [](const timeval &time) {
            return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
        };
        return {seconds(all.ru_utime) + seconds(all.ru_stime), static_cast<double>(all.ru_maxrss) * 1024 / 1e6};
    }
    static void tell(const QString &what, double wall, double processor, double megabytes)
    {
        QTextStream(stdout) << u"BENCH %1: %2 s (%3 s of the processor), at most %4 MB\n"_s.arg(what)
                                   .arg(wall, 0, 'f', 1)
                                   .arg(processor, 0, 'f', 1)
                                   .arg(megabytes, 0, 'f', 0);
        bench::write({{u"what"_s, what},
                      {u"unit"_s, u"s"_s},
                      {u"wall"_s, wall},
                      {u"processor"_s, processor},
                      {u"peakMegabytes"_s, megabytes}});
    }

private slots:
    // The small one first: what is known of the memory is the most of all children so far.
    void drains_data()
    {
        QTest::addColumn<int>("contenders");
        QTest::addColumn<bool>("isHerd");
        QTest::newRow("zk-herd-mutex") << 2'000 << true;
        QTest::newRow("zk-mutex") << 100'000 << false;
    }
    void drains()
    {
        QFETCH(int, contenders);
        QFETCH(bool, isHerd);
        const auto recipe = QString::fromLatin1(QTest::currentDataTag());
        const auto before = usage();
        QElapsedTimer timer;
        timer.start();
        QProcess process;
        process.start(QStringLiteral(LOCKSCOPECTL), {u"simulate"_s, u"--recipe"_s, recipe, u"--contenders"_s,
                                                     QString::number(contenders), u"--json"_s});
        QVERIFY(process.waitForFinished(280'000));
        const auto wall = static_cast<double>(timer.elapsed()) / 1000;
        QCOMPARE(process.exitCode(), 0);
        const auto after = usage();
        tell(u"%1 contenders of %2 in the simulated world (limit 10 s, 1000 MB)"_s.arg(contenders).arg(recipe), wall,
             after.seconds - before.seconds, after.megabytes);

        const auto answer = QJsonDocument::fromJson(process.readAllStandardOutput()).object();
        const auto run = answer.value(u"runs"_s).toArray().at(0).toObject();
        const qint64 n = contenders;
        QCOMPARE(run.value(u"grants"_s).toInteger(), n);
        QCOMPARE(run.value(u"requests"_s).toInteger(), isHerd ? n + n * (n - 1) / 2 : 2 * n - 1);
        QCOMPARE(run.value(u"watchEvents"_s).toInteger(), isHerd ? n * (n - 1) / 2 : n - 1);
        QVERIFY(run.value(u"violations"_s).isArray());
        QVERIFY(run.value(u"violations"_s).toArray().isEmpty());
    }
};

QTEST_GUILESS_MAIN(BenchSimulate)
#include "bench_simulate.moc"
