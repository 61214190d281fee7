// SPDX-License-Identifier: Apache-2.0
// The JSON of every command follows resources/schema, on the demo of the sandbox.
#include "core/redis/client.h"
#include "tests/support/ctlfixture.h"
#include "tests/support/testmain.h"

#include <QUrl>

class TestCtlSchema : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::unique_ptr<Ctl> m_demo;
    QStringList m_connect;
    QUrl m_redis;
    QByteArray m_outputs; // lines of a name of the schema, a tab and JSON

    // What does not follow it.
    static Ran check(const QByteArray &outputs)
    {
        QProcess process;
        process.start(u"/usr/bin/python3"_s, {QFINDTESTDATA("check_schema.py"),
                                              QFINDTESTDATA("../../resources/schema/lockscope-1.schema.json")});
        process.write(outputs);
        process.closeWriteChannel();
        if (!process.waitForFinished(testing::patienceMs))
            return {};
        return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
    }
    void add(const QString &name, const QByteArray &json)
    {
        QVERIFY2(!json.isEmpty(), qPrintable(name));
        m_outputs += name.toUtf8() + '\t' + json + '\n';
    }
    Ran add(const QString &name, const QStringList &words, bool isConnected = true)
    {
        const auto ran = testing::run((isConnected ? m_connect : QStringList()) + QStringList{u"--json"_s} + words);
        add(name, QJsonDocument::fromJson(ran.out).toJson(QJsonDocument::Compact));
        return ran;
    }
    void addLines(const QString &name, const QStringList &words, int lines)
    {
        Ctl ctl(m_connect + QStringList{u"--json"_s} + words);
        for (int i = 0; i < lines; ++i)
            add(name, ctl.line());
    }
    QString path(const QString &name) const { return m_folder.filePath(name); }
    QString holder() const
    {
        const auto shown =
            testing::run(m_connect + QStringList{u"show"_s, u"zk:/locks/orders"_s, u"--json"_s}).json();
        return shown["lock"_L1]["contenders"_L1][0]["id"_L1].toString();
    }
    // By thread 20 of a JVM.
    void holdLikeRedisson(const QByteArray &lock) const
    {
        QtLoop loop;
        const auto client =
            redis::openConnection(loop, {.host = {m_redis.host(), static_cast<quint16>(m_redis.port())}});
        const auto ask = [&](const QByteArrayList &command) {
            QVERIFY(await(client->command(command, Deadline::after(loop, testing::patience))));
        };
        QTRY_COMPARE(client->state(), redis::ConnectionState::Connected);
        ask({"HSET", lock, "0f8f3a0e-6a2b-4d38-9d7c-2f1f4b6f8a11:20", "1"});
        ask({"PEXPIRE", lock, "600000"});
    }

private slots:
    void initTestCase()
    {
        const auto checker = check({});
        if (checker.status == 77)
            QSKIP(checker.out.constData());
        qputenv("XDG_STATE_HOME", path(u"state"_s).toUtf8());
        m_demo = std::make_unique<Ctl>(
            QStringList{u"sandbox"_s, u"--zk"_s, u"--redis"_s, u"1"_s, u"--mariadb"_s, u"--demo"_s, u"--json"_s});
        const auto line = m_demo->line(60'000);
        add(u"sandbox"_s, line);
        for (const auto &connection : QJsonDocument::fromJson(line).object().value("connections"_L1).toArray()) {
            const QUrl uri(connection["uri"_L1].toString());
            if (uri.scheme() == "redis"_L1)
                m_redis = uri;
            m_connect << u"--connect"_s << connection["name"_L1].toString() + u'=' + connection["uri"_L1].toString();
        }
        QCOMPARE(m_connect.size(), 6);
        QTRY_VERIFY(!holder().isEmpty());
    }
    void cleanupTestCase()
    {
        if (m_demo)
            m_demo->signal(SIGTERM);
    }

    void inspectionFollowsTheSchema()
    {
        for (const auto &name : words("locks sessions findings graph test"))
            add(name, {name});
        add(u"locks"_s, {u"locks"_s, u"--all"_s});
        for (const auto &name : words("show note"))
            add(name, {name, u"zk:/locks/orders"_s});
        add(u"show"_s, {u"show"_s, u"mariadb:shop.stock#id=1"_s});
        holdLikeRedisson("dumped");
        add(u"show"_s,
            {u"show"_s, u"redis:dumped"_s, u"--thread-dump"_s, QFINDTESTDATA("../unit/threaddumps/redisson.txt")});
        for (const auto &name : words("tree keys"))
            add(name, {name});
        addLines(u"locks-watch"_s, {u"locks"_s, u"--watch"_s}, 10);
        addLines(u"locks-watch"_s, {u"show"_s, u"zk:/locks/orders"_s, u"--watch"_s}, 2);
        addLines(u"graph"_s, {u"graph"_s, u"--watch"_s}, 2);
        addLines(u"findings-watch"_s, {u"findings"_s, u"--watch"_s}, 2);
        const auto told = path(u"told.json"_s);
        testing::run(m_connect
                     + QStringList{u"findings"_s, u"--fail-on"_s, u"warning"_s, u"--exec"_s, u"cat >"_s + told});
        QFile file(told);
        QVERIFY(file.open(QFile::ReadOnly));
        add(u"findings-exec"_s, file.readAll().trimmed());
    }

    void actionsFollowTheSchema()
    {
        add(u"rehearse"_s, {u"rehearse"_s, u"zk:/locks/orders"_s, u"--holder"_s, holder()});
        const QStringList release{u"force-release"_s, u"zk:/locks/orders"_s, u"--reason"_s, u"a test"_s,
                                  u"--holder"_s};
        add(u"force-release"_s, release + QStringList{holder(), u"--dry-run"_s});
        add(u"force-release"_s, release + QStringList{u"nobody"_s, u"--yes"_s});
        // The demo's holders come and go.
        for (int i = 0; i < 5; ++i) {
            if (add(u"force-release"_s, release + QStringList{holder(), u"--yes"_s}).status == 0)
                break;
        }
        addLines(u"acquire"_s,
                 {u"acquire"_s, u"zk:/locks/own"_s, u"--recipe"_s, u"zk-mutex"_s, u"--hold"_s, u"100ms"_s}, 2);
        add(u"audit"_s, {u"audit"_s}, false);
        add(u"audit-verify"_s, {u"audit"_s, u"--verify"_s}, false);
    }

    void recordingsFollowTheSchema()
    {
        const auto file = path(u"incident.lockscope"_s);
        add(u"record"_s, {u"record"_s, file, u"--for"_s, u"3s"_s});
        add(u"record-dir"_s, {u"record"_s, u"--dir"_s, path(u"folder"_s), u"--for"_s, u"1s"_s});
        for (const auto &name : words("locks sessions findings graph"))
            add(name, {u"replay"_s, file, name}, false);
        add(u"show"_s, {u"replay"_s, file, u"show"_s, u"zk:/locks/orders"_s, u"--timeline"_s}, false);
    }

    void learningFollowsTheSchema()
    {
        add(u"recipes"_s, {u"recipes"_s}, false);
        add(u"recipes"_s, {u"recipes"_s, u"--faults"_s}, false);
        const QStringList simulate{u"simulate"_s,     u"--connect"_s, u"sim:1"_s,
                                   u"--contenders"_s, u"4"_s,         u"--recipe"_s};
        add(u"simulate"_s, simulate + QStringList{u"zk-mutex"_s, u"--recipe"_s, u"redis-set-nx"_s}, false);
        add(u"simulate"_s,
            simulate + QStringList{u"redis-setnx-expire"_s, u"--fault"_s, u"all"_s, u"--shrink"_s, u"20"_s}, false);
        add(u"lessons"_s, {u"lesson"_s}, false);
        add(u"lesson"_s, {u"lesson"_s, u"3"_s}, false);
        add(u"recognise"_s, {u"recognise"_s, u"--rules"_s, QFINDTESTDATA("../../docs/rules/acme-jobs.json")});
    }

    // All of the above, and each part of the schema at least once.
    void allOutputsFollowTheSchema()
    {
        const auto checked = check(m_outputs);
        QVERIFY2(checked.status == 0 && checked.out.isEmpty(), checked.what());
    }

    void faultsAreFound()
    {
        const auto lacks = check("record-dir\t{\"schema\": \"lockscope/1\", \"dir\": \"x\", \"files\": 1}\n");
        QVERIFY2(lacks.out.contains("'bytes' is a required property"), lacks.what());
        const auto more =
            check("note\t{\"schema\": \"lockscope/1\", \"lock\": \"x\", \"markdown\": \"\", \"new\": 1}\n");
        QVERIFY2(more.out.contains("'new' was unexpected"), more.what());
    }
};

LOCKSCOPE_TEST(TestCtlSchema)
#include "tst_ctl_schema.moc"
