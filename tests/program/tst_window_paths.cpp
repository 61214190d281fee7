// SPDX-License-Identifier: Apache-2.0
// lockscope as a process, without a window: where it says that its files are.
#include "tests/support/ctlfixture.h"
#include "tests/support/testmain.h"

#include <QTest>

using namespace lockscope::testing;
using namespace Qt::StringLiterals;

class TestWindowPaths : public QObject {
    Q_OBJECT
private slots:
    void everyFileIsBelowTheFoldersThatWereSet()
    {
        const QTemporaryDir home;
        const auto paths = pathsIn(home.path());
        const QMap<QString, QString> expected{{u"settings"_s, u"config/Lockscope/lockscope.conf"_s},
                                              {u"connections"_s, u"config/lockscope/connections.json"_s},
                                              {u"recent"_s, u"config/lockscope/recent.json"_s},
                                              {u"passwords"_s, u"config/lockscope/secrets.json"_s},
                                              {u"labels"_s, u"config/lockscope/labels"_s},
                                              {u"mutes"_s, u"config/lockscope/mutes.json"_s},
                                              {u"thresholds"_s, u"config/lockscope/thresholds.json"_s},
                                              {u"rules"_s, u"config/lockscope/rules"_s},
                                              {u"lessons"_s, u"data/lockscope/lessons"_s},
                                              {u"audit"_s, u"state/lockscope/audit.jsonl"_s},
                                              {u"recordings"_s, u"state/lockscope/recorder"_s}};
        QCOMPARE(paths.keys(), expected.keys());
        for (auto at = expected.begin(); at != expected.end(); ++at)
            QCOMPARE(paths.value(at.key()), home.filePath(at.value()));
        QVERIFY(QDir(home.path()).isEmpty()); // asking makes none of them
    }

    // The files are those that lockscopectl uses: it refuses a file of mutes that is none, and names it.
    void theTerminalReadsTheSameFile()
    {
        const QTemporaryDir home;
        QFile file(pathsIn(home.path()).value(u"mutes"_s));
        QVERIFY(QDir().mkpath(QFileInfo(file.fileName()).path()) && file.open(QIODevice::WriteOnly));
        file.write("no JSON");
        file.close();
        const auto ran = run({u"--connect"_s, u"redis://127.0.0.1:1"_s, u"findings"_s}, foldersIn(home.path()));
        QVERIFY2(ran.err.contains(file.fileName().toUtf8()), ran.what());
    }

private:
    static QMap<QString, QString> foldersIn(const QString &home)
    {
        return {{u"HOME"_s, home},
                {u"XDG_CONFIG_HOME"_s, home + u"/config"_s},
                {u"XDG_DATA_HOME"_s, home + u"/data"_s},
                {u"XDG_STATE_HOME"_s, home + u"/state"_s}};
    }

    static QMap<QString, QString> pathsIn(const QString &home)
    {
        auto environment = QProcessEnvironment::systemEnvironment();
        const auto folders = foldersIn(home);
        for (auto at = folders.begin(); at != folders.end(); ++at)
            environment.insert(at.key(), at.value());
        environment.remove(u"QT_QPA_PLATFORM"_s); // it needs no display
        environment.remove(u"DISPLAY"_s);
        QProcess process;
        process.setProcessEnvironment(environment);
        process.start(QStringLiteral(LOCKSCOPE), {u"--print-paths"_s});
        process.waitForFinished(patienceMs);
        QMap<QString, QString> paths;
        for (const auto &line : QString::fromUtf8(process.readAllStandardOutput()).split(u'\n', Qt::SkipEmptyParts))
            paths.insert(line.section(u' ', 0, 0), line.section(u' ', 1).trimmed());
        return process.exitCode() == 0 && process.readAllStandardError().isEmpty() ? paths : QMap<QString, QString>();
    }
};

LOCKSCOPE_TEST(TestWindowPaths)
#include "tst_window_paths.moc"
