// SPDX-License-Identifier: Apache-2.0
// How long from exec to a painted window: the whole process that shows its first frame, writes it to a
// file and leaves, against the least a Qt program can be. So the start itself is a little shorter than
// what is printed.
#include "tests/bench/report.h"

#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

using namespace lockscope;
using namespace Qt::StringLiterals;

class BenchStartUp : public QObject {
    Q_OBJECT

    // Nanoseconds from start to end; -1 if it failed or painted nothing.
    static qint64 timeOf(const QString &program, const QStringList &arguments, const QString &snapshot)
    {
        QElapsedTimer timer;
        timer.start();
        QProcess process;
        process.start(program, arguments);
        const bool ended = process.waitForFinished(30'000);
        const auto took = timer.nsecsElapsed();
        const bool painted = QFile::exists(snapshot) && QFile::remove(snapshot);
        return ended && process.exitCode() == 0 && painted ? took : -1;
    }

private slots:
    void firstFrame()
    {
        QTemporaryDir folder;
        const auto snapshot = folder.filePath(u"window.png"_s);
        bench::Medians ours;
        bench::Medians plain;
        for (int round = 0; round < 9; ++round) {
            const auto us =
                timeOf(QStringLiteral(LOCKSCOPE),
                       {u"--screenshot"_s, snapshot, u"--after"_s, u"0"_s, u"--size"_s, u"1280x800"_s}, snapshot);
            const auto them = timeOf(QStringLiteral(PLAINWINDOW), {snapshot}, snapshot);
            QVERIFY(us > 0 && them > 0);
            if (round == 0)
                continue; // the first one of each reads its files from the disk
            ours.add(us);
            plain.add(them);
        }
        bench::report(
            u"from exec to the first frame in a file and out again (limit 300 ms): lockscope ÷ a plain Qt window"_s,
            ours, plain);
    }
};

QTEST_GUILESS_MAIN(BenchStartUp)
#include "bench_startup.moc"
