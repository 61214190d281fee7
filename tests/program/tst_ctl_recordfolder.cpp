// SPDX-License-Identifier: Apache-2.0
// record --dir: a recording without an end in bounded room, over several runs.
#include "core/base/text.h"
#include "core/redis/client.h"
#include "tests/support/ctlfixture.h"
#include "tests/support/testmain.h"

#include <QDateTime>
#include <QDir>
#include <QStandardPaths>

class TestCtlRecordFolder : public QObject {
    Q_OBJECT

    Servers m_servers;
    std::unique_ptr<redis::Connection> m_client;
    QTemporaryDir m_folder;

    static constexpr auto token = "b0f1c2d3e4a5968778695a4b3c2d1e0f";

    QString path(const QString &name) const { return m_folder.filePath(name); }
    static QStringList filesOf(const QString &folder) { return QDir(folder).entryList(QDir::Files, QDir::Name); }
    QStringList recordTo(const QString &folder, const QStringList &more = {}) const
    {
        return m_servers.connect() + QStringList{u"record"_s, u"--dir"_s, folder, u"--json"_s} + more;
    }
    void run(const QByteArrayList &command) { QVERIFY(await(m_client->command(command, m_servers.soon()))); }
    // As a crash leaves it right after the file was begun.
    static QString begunFile(const QString &folder, int number)
    {
        QFile file(u"%1/00000%2.lockscope"_s.arg(folder, QString::number(number)));
        return file.open(QFile::WriteOnly) && file.write("lockscope recording 7\n") > 0 ? file.fileName() : QString();
    }
    static QStringList locksIn(const QString &folder, const QStringList &at = {})
    {
        const auto ran = testing::run(QStringList{u"replay"_s, folder, u"locks"_s, u"--json"_s} + at);
        return mapped<QStringList>(ran.json()["locks"_L1].toArray(),
                                   [](const auto &lock) { return lock.toObject()["lock"_L1].toString(); });
    }

private slots:
    void initTestCase()
    {
        SKIP_FOR(m_servers.start());
        m_client = redis::openConnection(m_servers.loop, {.host = m_servers.redis->address()});
        QTRY_COMPARE(m_client->state(), redis::ConnectionState::Connected);
    }
    void cleanupTestCase()
    {
        m_client.reset();
        m_servers.stop();
    }

    void oldFilesAreRemovedAndOthersKept()
    {
        const auto folder = path(u"bounded"_s);
        QVERIFY(QDir().mkpath(folder));
        const QStringList others{u"1.lockscope"_s, u"000001.txt"_s, u"incident.lockscope"_s};
        for (const auto &name : others) {
            QFile file(folder + u'/' + name);
            QVERIFY(file.open(QFile::WriteOnly));
        }
        run({"SET", "orders-lock", token});
        const auto first = begunFile(folder, 1);
        QFile old(first);
        QVERIFY(old.open(QFile::ReadWrite)
                && old.setFileTime(QDateTime::currentDateTime().addSecs(-70), QFile::FileModificationTime));
        old.close();
        begunFile(folder, 2);
        Ctl recorder(recordTo(folder, {u"--keep"_s, u"1m"_s}));
        QTRY_VERIFY(locksIn(folder).contains(u"redis:orders-lock"_s));
        QVERIFY(!QFile::exists(first));
        recorder.signal(SIGTERM);
        const auto ran = recorder.finish();
        QVERIFY2(ran.status == 0, ran.what());
        const auto files = filesOf(folder);
        QCOMPARE(ran.json()["files"_L1].toInt(), files.size() - others.size());
        QCOMPARE(ran.json()["dir"_L1].toString(), folder);
        for (const auto &name : others)
            QVERIFY(files.contains(name));
        QCOMPARE(QFile::permissions(folder + u"/000003.lockscope"_s) & (QFile::ReadGroup | QFile::ReadOther),
                 QFile::Permissions());
        // The next run: its numbers go on.
        const auto again = testing::run(recordTo(folder, {u"--keep"_s, u"1m"_s, u"--for"_s, u"2s"_s}));
        QVERIFY2(again.status == 0, again.what());
        QVERIFY(filesOf(folder).contains(u"000004.lockscope"_s));
        QVERIFY(locksIn(folder).contains(u"redis:orders-lock"_s));
    }

    void aFolderHasOneRecorder()
    {
        const auto folder = path(u"shared"_s);
        Ctl first(recordTo(folder));
        QTRY_VERIFY(QFile::exists(folder + u"/000001.lockscope"_s));
        const auto second = testing::run(recordTo(folder));
        QCOMPARE(second.status, 1);
        QVERIFY2(second.err.contains("another process records to " + folder.toUtf8()), second.what());
        first.signal(SIGINT);
        QCOMPARE(first.finish().status, 0);
    }

    // What runs on waits for its servers.
    void unreachableServersDoNotEndIt()
    {
        const auto ran = testing::run({u"--connect"_s, u"redis://127.0.0.1:1"_s, u"record"_s, u"--dir"_s,
                                       path(u"alone"_s), u"--for"_s, u"1s"_s});
        QVERIFY2(ran.status == 0 && ran.out.startsWith("1 file, "), ran.what());
    }

    void aFileWithoutASnapshotIsLeftOut()
    {
        const auto folder = path(u"crashed"_s);
        run({"SET", "orders-lock", token});
        QVERIFY(testing::run(recordTo(folder, {u"--for"_s, u"2s"_s})).status == 0);
        begunFile(folder, 2);
        const auto ran = testing::run({u"replay"_s, folder, u"locks"_s, u"--json"_s});
        QVERIFY2(ran.status == 0 && ran.err.contains("000002.lockscope contains no snapshot"), ran.what());
        const auto end = ran.json()["recorded"_L1]["to"_L1].toString();
        QVERIFY(locksIn(folder).contains(u"redis:orders-lock"_s));
        QVERIFY(testing::run(recordTo(folder, {u"--for"_s, u"1s"_s})).status == 0);
        QVERIFY(QFile::exists(folder + u"/000003.lockscope"_s));
        // Until the next run began nothing was recorded.
        const auto gap = QDateTime::fromString(end, Qt::ISODateWithMs).addMSecs(5).toString(Qt::ISODateWithMs);
        QCOMPARE(locksIn(folder, {u"--at"_s, gap}), QStringList());
        QVERIFY(locksIn(folder, {u"--at"_s, end}).contains(u"redis:orders-lock"_s));
    }

    // After an upgrade, and after a run with a clock that was ahead.
    void filesOfAnotherRecordingAreLeftOut()
    {
        const auto folder = path(u"upgraded"_s);
        run({"SET", "orders-lock", token});
        for (int i = 0; i < 2; ++i)
            QVERIFY(testing::run(recordTo(folder, {u"--for"_s, u"2s"_s})).status == 0);
        QFile first(folder + u"/000001.lockscope"_s);
        QVERIFY(QFile::copy(folder + u"/000002.lockscope"_s, folder + u"/000000.lockscope"_s));
        QVERIFY(first.open(QFile::ReadWrite) && first.write("lockscope recording 6\n") > 0);
        first.close();
        const auto ran = testing::run({u"replay"_s, folder, u"locks"_s, u"--json"_s});
        QVERIFY2(ran.status == 0 && ran.out.contains("redis:orders-lock"), ran.what());
        QCOMPARE(ran.json()["recorded"_L1]["files"_L1].toArray().size(), 1);
        QVERIFY2(ran.err.contains("000001.lockscope is left out: it is in format 6"), ran.what());
        QVERIFY2(ran.err.contains("000000.lockscope is left out: it ends at "), ran.what());
    }

    void badOptionsAreRefused_data()
    {
        const Rows<QStringList, QByteArray> row("options", "message");
        row("nothing", {}, "record takes FILE or --dir DIR");
        row("both", {u"file"_s, u"--dir"_s, u"folder"_s}, "record takes FILE or --dir DIR");
        row("bound of a file", {u"file"_s, u"--keep"_s, u"7d"_s}, "--keep needs --dir DIR");
        row("no duration", {u"--dir"_s, u"folder"_s, u"--keep"_s, u"long"_s}, "is not a duration");
        row("too short", {u"--dir"_s, u"folder"_s, u"--keep"_s, u"59s"_s}, "--keep takes at least 1m");
        row("no size", {u"--dir"_s, u"folder"_s, u"--size"_s, u"0"_s}, "--size takes a number of MiB");
    }
    void badOptionsAreRefused()
    {
        QFETCH(const QStringList, options);
        QFETCH(const QByteArray, message);
        const auto ran = m_servers.run(QStringList{u"record"_s} + options);
        QCOMPARE(ran.status, 2);
        QVERIFY2(ran.err.contains(message), ran.what());
        QVERIFY(!QFile::exists(u"file"_s) && !QFile::exists(u"folder"_s));
    }

    // As systemd reads them; the program is not installed here.
    void unitsAreValid()
    {
        const auto program = QStandardPaths::findExecutable(u"systemd-analyze"_s);
        if (program.isEmpty())
            QSKIP("systemd-analyze is not installed");
        for (const auto &name : {u"lockscope-metrics.service"_s, u"lockscope-record.service"_s}) {
            QFile unit(QFINDTESTDATA("../../installer/systemd/") + name);
            QVERIFY(unit.open(QFile::ReadOnly));
            auto text = unit.readAll();
            QVERIFY(text.contains("DynamicUser=yes") && text.contains("ProtectSystem=strict"));
            text.replace("/usr/bin/lockscopectl", LOCKSCOPECTL).replace("Documentation=", "# ");
            QFile copy(path(name));
            QVERIFY(copy.open(QFile::WriteOnly) && copy.write(text) > 0);
            copy.close();
            QProcess process;
            process.setProcessChannelMode(QProcess::MergedChannels);
            process.start(program, {u"verify"_s, copy.fileName()});
            QVERIFY(process.waitForFinished(patienceMs));
            const auto complaint = process.readAll();
            QVERIFY2(process.exitCode() == 0 && !complaint.contains(name.toUtf8()), complaint);
        }
    }
};

LOCKSCOPE_TEST(TestCtlRecordFolder)
#include "tst_ctl_recordfolder.moc"
