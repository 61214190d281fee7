// SPDX-License-Identifier: Apache-2.0
// lockscopectl record and replay: an incident on real servers, recorded, and asked about afterwards without them.
#include "tests/support/testmain.h"
#include "tests/support/ctlfixture.h"

#include <QDateTime>

class TestCtlRecord : public QObject {
    Q_OBJECT

    Servers m_servers;
    QTemporaryDir m_folder;
    QString m_file;
    QStringList m_ids;     // in the order of the queue
    QStringList m_moments; // held; queued behind; forced
    Ran m_recorded;

    static QString now() { return QDateTime::currentDateTimeUtc().toString(Qt::ISODateWithMs); }
    Ran replay(const QStringList &arguments) const { return run(QStringList{u"replay"_s, m_file} + arguments); }
    QJsonArray contendersAt(const QStringList &at) const
    {
        const auto shown = replay(QStringList{u"show"_s, u"zk:/locks/stuck"_s, u"--json"_s} + at);
        return shown.json().value("lock"_L1).toObject().value("contenders"_L1).toArray();
    }
    static QString idOf(const QJsonArray &contenders, int index)
    {
        return contenders.at(index).toObject().value("id"_L1).toString();
    }
    std::unique_ptr<Ctl> acquire(const QString &lock = u"zk:/locks/stuck"_s)
    {
        return std::make_unique<Ctl>(m_servers.connect()
                                     + QStringList{u"acquire"_s, lock, u"--recipe"_s, u"zk-mutex"_s, u"--json"_s});
    }
    int statusOfBrief() const { return replay({u"show"_s, u"zk:/locks/brief"_s}).status; }

private slots:
    // The holder stalls, a queue grows behind it, it is force-released.
    void initTestCase()
    {
        SKIP_FOR(m_servers.start());
        m_file = m_folder.filePath(u"incident.lockscope"_s);
        Ctl recorder(m_servers.connect() + QStringList{u"record"_s, m_file, u"--json"_s});
        const auto brief = acquire(u"zk:/locks/brief"_s);
        QVERIFY(brief->jsonLine().value("acquired"_L1).toBool());
        QTRY_COMPARE(statusOfBrief(), 0);
        brief->signal(SIGTERM);
        QTRY_COMPARE(statusOfBrief(), 1);
        const auto holder = acquire();
        QVERIFY(holder->jsonLine().value("acquired"_L1).toBool());
        QTRY_COMPARE(contendersAt({}).size(), 1);
        m_moments << now();
        holder->signal(SIGSTOP);
        const auto next = acquire();
        QTRY_COMPARE(m_servers.childrenWithZxids("/locks/stuck").size(), 3);
        const auto last = acquire();
        QTRY_COMPARE(contendersAt({}).size(), 3);
        m_moments << now();
        for (int i = 0; i < 3; ++i)
            m_ids << idOf(contendersAt({}), i);
        const auto forced = m_servers.run({u"force-release"_s, u"zk:/locks/stuck"_s, u"--holder"_s, m_ids[0],
                                           u"--yes"_s, u"--reason"_s, u"stalled | stopped"_s});
        QVERIFY2(forced.status == 0, forced.what());
        QVERIFY(next->jsonLine().value("acquired"_L1).toBool());
        QTRY_COMPARE(idOf(contendersAt({}), 0), m_ids[1]);
        m_moments << now();
        QTRY_VERIFY(
            QDateTime::fromString(m_moments.last(), Qt::ISODateWithMs) < QDateTime::fromString(
                replay({u"locks"_s, u"--json"_s}).json().value("recorded"_L1).toObject().value("to"_L1).toString(),
                Qt::ISODateWithMs));
        recorder.signal(SIGINT);
        m_recorded = recorder.finish();
        holder->signal(SIGCONT);
        for (const auto *one : {holder.get(), next.get(), last.get()})
            one->signal(SIGTERM);
        m_servers.stop(); // nobody is asked from here on
    }

    void itSaysWhatItRecorded()
    {
        QVERIFY2(m_recorded.status == 0, m_recorded.what());
        const auto said = m_recorded.json();
        QCOMPARE(said.value("file"_L1).toString(), m_file);
        QVERIFY2(said.value("locks"_L1).toInt() >= 1 && said.value("changes"_L1).toInt() >= 3, m_recorded.what());
        QCOMPARE(said.value("bytes"_L1).toInteger(), QFileInfo(m_file).size());
        QFile file(m_file);
        QVERIFY(file.open(QIODevice::ReadOnly) && file.readLine() == "lockscope recording 7\n");
    }

    void eachMomentIsAsItWas()
    {
        const auto held = contendersAt({u"--at"_s, m_moments[0]});
        QCOMPARE(held.size(), 1);
        QCOMPARE(idOf(held, 0), m_ids[0]);
        const auto queued = contendersAt({u"--at"_s, m_moments[1]});
        QCOMPARE(queued.size(), 3);
        QCOMPARE(idOf(queued, 0), m_ids[0]);
        QCOMPARE(queued.at(1).toObject().value("role"_L1).toString(), u"waiter"_s);
        const auto after = contendersAt({u"--at"_s, m_moments[2]});
        QCOMPARE(after.size(), 2);
        QCOMPARE(idOf(after, 0), m_ids[1]);
        QCOMPARE(after.at(0).toObject().value("role"_L1).toString(), u"holder"_s);
    }

    void itSaysThatItIsARecording()
    {
        for (const auto &command : {u"locks"_s, u"sessions"_s, u"findings"_s}) {
            const auto ran = replay({u"--at"_s, m_moments[1], command, u"--json"_s});
            QVERIFY2(ran.status == 0 && ran.err.contains("a recording, not the servers; as of "), ran.what());
            QCOMPARE(ran.json().value("recorded"_L1).toObject().value("asOf"_L1).toString(), m_moments[1]);
            QVERIFY(ran.json().contains(u"coverage"_s));
            QVERIFY2(ran.json().value(command).isArray(), ran.what());
        }
        const auto text = replay({u"show"_s, u"zk:/locks/stuck"_s, u"--at"_s, m_moments[1]});
        QVERIFY2(text.status == 0 && text.out.contains("is held by") && text.out.contains("2 wait"), text.what());
    }

    void theNoteTellsWhatHappened()
    {
        const auto ran = replay({u"note"_s, u"zk:/locks/stuck"_s});
        QVERIFY2(ran.status == 0, ran.what());
        for (const auto &part : {"# Incident: `zk:/locks/stuck`", "is force-released", "Forced releases: 1",
                                 "stalled \\| stopped", "a recording, from", "starts to wait", "ZooKeeper 3"})
            QVERIFY2(ran.out.contains(part), ran.what());
    }

    void theTimelineIsOneOfTheAnswers()
    {
        const auto ran = replay({u"show"_s, u"zk:/locks/stuck"_s, u"--timeline"_s, u"--json"_s});
        const auto timeline = ran.json().value("timeline"_L1).toObject();
        QStringList events;
        for (const auto &event : timeline.value("events"_L1).toArray())
            events << event.toObject().value("event"_L1).toString();
        QVERIFY2(events.contains(u"force-released"_s) && events.count(u"enqueued"_s) == 2, ran.what());
        QCOMPARE(timeline.value("forced"_L1).toInt(), 1);
        QCOMPARE(timeline.value("handOffs"_L1).toInt(), 1);
        const auto text = replay({u"show"_s, u"zk:/locks/stuck"_s, u"--timeline"_s});
        QVERIFY2(text.out.contains("hand-offs: 1, forced releases: 1"), text.what());
        const auto before = replay({u"show"_s, u"zk:/locks/stuck"_s, u"--timeline"_s, u"--at"_s, m_moments[1]});
        QVERIFY2(before.out.contains("hand-offs: 0, forced releases: 0"), before.what());
    }

    void lockOfAnotherTimeIsNamedWithItsTime()
    {
        const auto ended = replay({u"show"_s, u"zk:/locks/brief"_s});
        const QByteArray when = "it was there until then: replay FILE --at ";
        QVERIFY2(ended.status == 1 && ended.err.contains(when), ended.what());
        const auto at = QString::fromLatin1(ended.err.mid(ended.err.indexOf(when) + when.size()).trimmed());
        const auto then = replay({u"--at"_s, at, u"show"_s, u"zk:/locks/brief"_s});
        QVERIFY2(then.status == 0 && then.out.contains("is held by"), then.what());
        const auto begun = m_recorded.json().value("from"_L1).toString();
        const auto early = replay({u"--at"_s, begun, u"show"_s, u"zk:/locks/stuck"_s});
        QVERIFY2(early.status == 1 && early.err.contains("it came later: replay FILE --at 2"), early.what());
    }

    void unanswerableReplayIsReported_data()
    {
        const Rows<QStringList, int, QByteArray> row("words", "status", "said");
        row("before it began", {u"--at"_s, u"2001-01-01T00:00:00Z"_s, u"locks"_s}, 2, "is not in it");
        row("longer ago than it is long", {u"--at"_s, u"-9h"_s, u"locks"_s}, 2, "is not in it");
        row("no moment", {u"--at"_s, u"noon"_s, u"locks"_s}, 2, "is not a time");
        row("another lock", {u"show"_s, u"zk:/locks/other"_s}, 1, "shows no lock");
        row("another connection", {u"show"_s, u"redis9:x"_s}, 2, "names no connection");
        row("a command that acts", {u"acquire"_s, u"zk:/locks/stuck"_s}, 2, "not answered from a recording");
        row("an option of another", {u"sessions"_s, u"--match"_s, u"*"_s}, 2, "knows no --match");
        row("following", {u"locks"_s, u"--watch"_s}, 2, "a recording is over");
        row("following a lock", {u"show"_s, u"zk:/locks/stuck"_s, u"--watch"_s}, 2, "a recording is over");
        row("following the graph", {u"graph"_s, u"--watch"_s}, 2, "a recording is over");
        row("a word too many", {u"show"_s, u"zk:/a"_s, u"zk:/b"_s}, 2, "unexpected argument");
    }
    void unanswerableReplayIsReported()
    {
        QFETCH(QStringList, words);
        QFETCH(int, status);
        QFETCH(QByteArray, said);
        const auto ran = replay(words);
        QVERIFY2(ran.status == status && ran.err.contains(said) && ran.out.isEmpty(), ran.what());
    }

    void anotherFileIsRefused()
    {
        const auto path = m_folder.filePath(u"other"_s);
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write("lockscope recording 8\n") > 0);
        file.close();
        const auto newer = run({u"replay"_s, path, u"locks"_s});
        QVERIFY2(newer.status == 1 && newer.err.contains("format 8"), newer.what());
        QCOMPARE(run({u"replay"_s, u"/nowhere/at-all"_s, u"locks"_s}).status, 2);
        const auto over = run({u"record"_s, path, u"--connect"_s, u"zk://127.0.0.1:1"_s});
        QVERIFY2(over.status == 2 && over.err.contains("is not overwritten"), over.what());
    }
};

LOCKSCOPE_TEST(TestCtlRecord)
#include "tst_ctl_record.moc"
