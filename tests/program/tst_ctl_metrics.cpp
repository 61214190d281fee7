// SPDX-License-Identifier: Apache-2.0
// metrics: the format, the bound on series, and a scraper that costs the servers nothing.
#include "core/redis/client.h"
#include "tests/support/ctlfixture.h"
#include "tests/support/sanitizershare.h"
#include "tests/support/testmain.h"

#include <QDeadlineTimer>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTcpServer>
#include <QTcpSocket>
#include <QUuid>

class TestCtlMetrics : public QObject {
    Q_OBJECT

    Servers m_servers;
    std::unique_ptr<redis::Connection> m_client;

    static constexpr auto token = "b0f1c2d3e4a5968778695a4b3c2d1e0f";

    QByteArray run(const QByteArrayList &command)
    {
        const auto reply = await(m_client->command(command, m_servers.soon()));
        return reply ? reply->text : reply.error().message.toUtf8();
    }
    qint64 commandsOfRedis()
    {
        static const QRegularExpression number(u"total_commands_processed:([0-9]+)"_s);
        return number.match(QString::fromUtf8(run({"INFO", "stats"}))).captured(1).toLongLong();
    }
    static QByteArrayList samplesOf(const QByteArray &text)
    {
        auto lines = text.split('\n');
        lines.removeIf([](const QByteArray &line) { return line.isEmpty() || line.startsWith('#'); });
        return lines;
    }
    // Each line, the order of the lines of a metric, and that no series appears twice.
    static QByteArray faultOf(const QByteArray &text)
    {
        static const QRegularExpression head(u"^# (TYPE|UNIT|HELP) (lockscope_[a-z_]+) (\\S.*)$"_s);
        static const QRegularExpression sample(
            u"^(lockscope_[a-z_]+)(?:\\{([a-z]+=\"(?:[^\"\\\\\\n]|\\\\[\\\\\"n])*\",?)+\\})? [0-9.e+]+$"_s);
        if (!text.endsWith("\n# EOF\n"))
            return "no end";
        QString metric;
        QSet<QByteArray> series;
        for (const auto &line : text.chopped(7).split('\n')) {
            const auto asHead = head.match(QString::fromUtf8(line));
            if (asHead.captured(1) == "TYPE"_L1)
                metric = asHead.captured(2);
            const auto asSample = sample.match(QString::fromUtf8(line));
            const auto name = asHead.hasMatch() ? asHead.captured(2) : asSample.captured(1);
            const auto before = series.size();
            series.insert(line.left(line.lastIndexOf(' ')));
            if (name != metric || (asSample.hasMatch() && series.size() == before))
                return line;
        }
        return promtool({u"check"_s, u"metrics"_s}, text);
    }
    // What promtool objects to; nothing where it is not installed.
    static QByteArray promtool(const QStringList &arguments, const QByteArray &text = {})
    {
        const auto program = QStandardPaths::findExecutable(u"promtool"_s);
        if (program.isEmpty())
            return {};
        QProcess process;
        process.setProcessChannelMode(QProcess::MergedChannels);
        process.start(program, arguments);
        process.write(text);
        process.closeWriteChannel();
        process.waitForFinished(testing::patienceMs);
        return process.exitCode() == 0 ? QByteArray() : "promtool: " + process.readAll();
    }
    static QByteArray request(quint16 port, const QByteArray &text)
    {
        QTcpSocket socket;
        socket.connectToHost(u"127.0.0.1"_s, port);
        if (!socket.waitForConnected(testing::patienceMs))
            return {};
        socket.write(text);
        QByteArray answer;
        while (socket.waitForReadyRead(testing::patienceMs))
            answer += socket.readAll();
        return answer + socket.readAll();
    }
    static QByteArray scrape(quint16 port)
    {
        const auto answer = request(port, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        return answer.startsWith("HTTP/1.1 200 ") ? answer.mid(answer.indexOf("\r\n\r\n") + 4) : QByteArray();
    }
    bool queueCurator(zk::Session &session, const QByteArray &lock)
    {
        const auto node = lock + "/_c_" + QUuid::createUuid().toByteArray(QUuid::WithoutBraces) + "-lock-";
        return bool(await(session.create(ZPath(node), "127.0.0.1", zk::CreateMode::EphemeralSequential, zk::openAcl(),
                                         m_servers.soon())));
    }
    static quint16 portOf(Ctl &ctl)
    {
        static const QRegularExpression address(u"^serving http://127.0.0.1:([0-9]+)/metrics"_s);
        return address.match(QString::fromUtf8(ctl.line())).captured(1).toUShort();
    }
    static qint64 residentPages(const Ctl &ctl)
    {
        QFile file(u"/proc/%1/statm"_s.arg(ctl.pid()));
        return file.open(QFile::ReadOnly) ? file.readAll().split(' ').value(1).toLongLong() : -1;
    }
    static QByteArray textOf(const QString &path)
    {
        QFile file(path);
        return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
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
    // The fixture's connection breaks while a slow machine counts 20,000 locks, and comes back only in the loop.
    void init() { QTRY_COMPARE_WITH_TIMEOUT(run({"FLUSHALL"}), QByteArray("OK"), testing::patienceMs); }

    void locksFindingsAndCoverageAreExported()
    {
        run({"SET", "orders-lock", token});
        Ctl holder(m_servers.connect()
                   + QStringList{u"acquire"_s, u"zk:/locks/a-7"_s, u"--recipe"_s, u"zk-mutex"_s, u"--json"_s});
        QVERIFY(holder.jsonLine()["acquired"_L1].toBool());
        Ctl waiter(m_servers.connect()
                   + QStringList{u"acquire"_s, u"zk:/locks/a-7"_s, u"--recipe"_s, u"zk-mutex"_s, u"--json"_s});
        QTRY_COMPARE(m_servers.childrenWithZxids("/locks/a-7").size(), 3);
        const auto ran = m_servers.run({u"metrics"_s});
        QCOMPARE(ran.status, 0);
        QVERIFY2(faultOf(ran.out).isEmpty(), faultOf(ran.out) + '\n' + ran.what());
        for (const QByteArray line :
             {R"(lockscope_up{connection="redis",backend="redis"} 1)",
              R"(lockscope_up{connection="zk",backend="zookeeper"} 1)", R"(lockscope_complete{connection="redis"} 1)",
              R"(lockscope_locks{connection="zk",pattern="/locks/a-*"} 1)",
              R"(lockscope_locks_held{connection="redis",pattern="orders-lock"} 1)",
              R"(lockscope_waiters{connection="zk",pattern="/locks/a-*"} 1)",
              R"(lockscope_findings{code="no-ttl",severity="critical"} 1)",
              R"(lockscope_findings{code="deadlock",severity="critical"} 0)",
              R"(lockscope_incidents{kind="no-ttl"} 1)", R"(lockscope_names_collapsed 1)",
              R"(lockscope_names_left_out 0)"}) {
            QVERIFY2(ran.out.contains('\n' + line + '\n'), line + '\n' + ran.what());
        }
        // Redis does not report which clients poll: no number is better than 0.
        QVERIFY2(!ran.out.contains(R"(lockscope_waiters{connection="redis")"), ran.what());
    }

    void twentyThousandLocksMakeFewSeries()
    {
        run({"EVAL",
             "for i = 1, 14000 do redis.call('SET', 'lock:order:' .. i, KEYS[1] .. i, 'PX', 600000) end "
             "for i = 1, 6000 do local n = string.gsub(tostring(i), '%d', function(d) return "
             "string.char(97 + d) end) redis.call('SET', 'lock:' .. n, KEYS[1] .. i, 'PX', 600000) end",
             "1", QByteArray(token).chopped(5)});
        const auto ran = testing::run({u"--connect"_s, m_servers.redisUri(), u"metrics"_s});
        QCOMPARE(ran.status, 0);
        QVERIFY2(faultOf(ran.out).isEmpty(), faultOf(ran.out));
        const auto samples = samplesOf(ran.out);
        QVERIFY2(samples.size() <= 2'000, QByteArray::number(samples.size()));
        QVERIFY(samples.contains(R"(lockscope_locks{connection="redis",pattern="lock:order:*"} 14000)"));
        QVERIFY(samples.contains("lockscope_names_collapsed 14000"));
        qint64 locks = 0;
        qint64 others = -1;
        for (const auto &sample : samples) {
            const auto value = sample.mid(sample.lastIndexOf(' ') + 1).toLongLong();
            if (sample.startsWith("lockscope_locks{") || sample.startsWith("lockscope_hidden_locks{"))
                locks += value;
            if (sample.startsWith("lockscope_locks{connection=\"redis\",pattern=\"other\""))
                others = value;
        }
        QCOMPARE(locks, 20'000);
        QVERIFY2(others > 5'000 && samples.contains("lockscope_names_left_out " + QByteArray::number(others)),
                 QByteArray::number(others));
    }

    void hostileNamesKeepTheFormat()
    {
        for (const QByteArray &name : {QByteArray("lock:\"} 1\nlockscope_up 0\n# EOF"), QByteArray("lock:\\"),
                                       QByteArray("lock:\xff\x1b]0;x\a"),
                                       QByteArray("lock:") + QByteArray(5'000, 'x'), QByteArray("lock:{a=\"b\",c}")})
            run({"SET", name, token});
        const auto ran = m_servers.run({u"metrics"_s});
        QVERIFY2(faultOf(ran.out).isEmpty(), faultOf(ran.out) + '\n' + ran.what());
        QVERIFY2(!ran.out.contains(token) && !ran.out.contains('\x1b') && !ran.out.contains(QByteArray(300, 'x')),
                 ran.what());
        QVERIFY2(ran.out.contains("\nlockscope_names_left_out 0\n"), ran.what());
    }

    void aScrapeCostsTheServersNothing()
    {
        run({"SET", "orders-lock", token, "PX", "600000"});
        Ctl ctl(m_servers.connect() + QStringList{u"metrics"_s, u"--listen"_s, u"0"_s});
        const auto port = portOf(ctl);
        QVERIFY(port > 0);
        QTRY_VERIFY_WITH_TIMEOUT(scrape(port).contains("lockscope_locks_held{"), testing::patienceMs);
        const auto first = scrape(port);
        QVERIFY2(faultOf(first).isEmpty(), faultOf(first) + '\n' + first);
        QVERIFY2(first.contains("lockscope_observer_requests_per_second{connection=\"redis\"}"), first);
        constexpr int scrapes = 500;
        for (int i = 0; i < scrapes / 5; ++i)
            QVERIFY(!scrape(port).isEmpty());
        const auto pages = residentPages(ctl);
        const auto commands = commandsOfRedis();
        for (int i = 0; i < scrapes; ++i)
            QVERIFY(!scrape(port).isEmpty());
        QVERIFY2(commandsOfRedis() - commands < scrapes / 2, "the observer's own");
        if (testing::sanitizerShare == 1)
            QVERIFY2(residentPages(ctl) - pages < 1'000, QByteArray::number(residentPages(ctl) - pages));
        // The next values come by themselves.
        run({"DEL", "orders-lock"});
        QTRY_VERIFY_WITH_TIMEOUT(!scrape(port).contains("orders-lock"), testing::patienceMs);
        ctl.signal(SIGTERM);
        QCOMPARE(ctl.finish().status, 0);
    }

    // A deadlock is read again in each refresh. Waiting for that is no work, and needs no long rest.
    void aServerThatHungDelaysOneRefresh()
    {
        const auto other = zk::openSession(m_servers.loop, {.hosts = {m_servers.zooKeeper->address()}});
        QVERIFY(waitForState(*other, zk::SessionState::Connected));
        for (const QByteArray path : {"/hung", "/hung/a", "/hung/b"})
            QVERIFY(m_servers.put(path));
        QVERIFY(queueCurator(*m_servers.session, "/hung/a") && queueCurator(*other, "/hung/b"));
        QVERIFY(queueCurator(*m_servers.session, "/hung/b") && queueCurator(*other, "/hung/a"));
        Ctl ctl(m_servers.connect() + QStringList{u"metrics"_s, u"--listen"_s, u"0"_s});
        const auto port = portOf(ctl);
        QTRY_VERIFY_WITH_TIMEOUT(scrape(port).contains(R"(findings{code="deadlock",severity="critical"} 1)"),
                                 testing::patienceMs);
        const QDeadlineTimer moreThanARest(9'000);
        m_servers.zooKeeper->pause();
        QTRY_VERIFY_WITH_TIMEOUT(moreThanARest.hasExpired(), 10'000);
        m_servers.zooKeeper->resume();
        run({"SET", "orders-lock", token});
        QTRY_VERIFY_WITH_TIMEOUT(scrape(port).contains("orders-lock"), 15'000);
    }

    void onlyMetricsAreServed_data()
    {
        const Rows<QByteArray, QByteArray> row("request", "answer");
        row("another page", "GET / HTTP/1.1\r\n\r\n", "404");
        row("another method", "POST /metrics HTTP/1.1\r\n\r\n", "405");
        row("no HTTP", "hello\r\n\r\n", "400");
        row("no end", QByteArray(9'000, 'x'), "431");
    }
    void onlyMetricsAreServed()
    {
        QFETCH(const QByteArray, request);
        QFETCH(const QByteArray, answer);
        Ctl ctl(m_servers.connect() + QStringList{u"metrics"_s, u"--listen"_s, u"127.0.0.1:0"_s});
        const auto answered = TestCtlMetrics::request(portOf(ctl), request);
        QVERIFY2(answered.startsWith("HTTP/1.1 " + answer + ' '), answered);
    }

    // A scraper sees that a server is not there. It does not see a program that ended.
    void unreachableServersAreExported()
    {
        const QStringList nowhere{u"--connect"_s, u"redis://127.0.0.1:1"_s, u"metrics"_s};
        const auto ran = testing::run(nowhere);
        QCOMPARE(ran.status, 3);
        QVERIFY2(ran.out.contains("lockscope_up{connection=\"redis\",backend=\"redis\"} 0\n"), ran.what());
        QVERIFY2(ran.out.contains("lockscope_complete{connection=\"redis\"} 0\n"), ran.what());
        Ctl ctl(nowhere + QStringList{u"--listen"_s, u"0"_s});
        const auto port = portOf(ctl);
        QTRY_VERIFY_WITH_TIMEOUT(scrape(port).contains("lockscope_up{connection=\"redis\",backend=\"redis\"} 0\n"),
                                 testing::patienceMs);
    }

    void badOptionsAreRefused_data()
    {
        const Rows<QStringList, QByteArray> row("options", "message");
        row("port", {u"--listen"_s, u"127.0.0.1:http"_s}, "--listen takes [ADDRESS:]PORT");
        row("address", {u"--listen"_s, u"1.2.3:80:1"_s}, "--listen takes [ADDRESS:]PORT");
        row("JSON", {u"--json"_s}, "--json does not exist here");
    }
    void badOptionsAreRefused()
    {
        QFETCH(const QStringList, options);
        QFETCH(const QByteArray, message);
        const auto ran = m_servers.run(QStringList{u"metrics"_s} + options);
        QCOMPARE(ran.status, 2);
        QVERIFY2(ran.err.contains(message), ran.what());
    }

    void takenPortIsReported()
    {
        QTcpServer taken;
        QVERIFY(taken.listen(QHostAddress::LocalHost));
        const auto ran = m_servers.run({u"metrics"_s, u"--listen"_s, QString::number(taken.serverPort())});
        QCOMPARE(ran.status, 1);
        QVERIFY2(ran.err.contains("metrics: could not listen on 127.0.0.1:"), ran.what());
    }

    // The examples that are installed use metrics that exist.
    void examplesAreValid()
    {
        const auto folder = QFINDTESTDATA("../../resources/monitoring");
        QSet<QString> known;
        const auto table = QJsonDocument::fromJson(textOf(QFINDTESTDATA("../../resources/metrics.json")))
                               .object()
                               .value("metrics"_L1);
        for (const auto &metric : table.toArray())
            known << u"lockscope_"_s + metric.toObject()["name"_L1].toString();
        for (const auto &name : {u"/lockscope-alerts.yml"_s, u"/lockscope-dashboard.json"_s}) {
            static const QRegularExpression metric(u"\\b(lockscope_[a-z_]+)"_s);
            auto used = metric.globalMatch(QString::fromUtf8(textOf(folder + name)));
            QVERIFY(used.hasNext());
            while (used.hasNext()) {
                const auto found = used.next().captured(1);
                QVERIFY2(known.contains(found), qPrintable(found));
            }
        }
        QVERIFY(QJsonDocument::fromJson(textOf(folder + u"/lockscope-dashboard.json"_s)).isObject());
        const auto fault = promtool({u"check"_s, u"rules"_s, folder + u"/lockscope-alerts.yml"_s});
        QVERIFY2(fault.isEmpty(), fault);
        if (QStandardPaths::findExecutable(u"promtool"_s).isEmpty())
            QSKIP("promtool, which judges metrics and rules, is not installed; Debian's package is prometheus");
    }
};

LOCKSCOPE_TEST(TestCtlMetrics)
#include "tst_ctl_metrics.moc"
