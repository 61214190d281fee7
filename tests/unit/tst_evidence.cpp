// SPDX-License-Identifier: Apache-2.0
// The servers' own words, read: answers as ZooKeeper 3.8.0 gave them, and answers that are none.
#include "core/zookeeper/evidence.h"
#include "tests/support/testmain.h"

#include <QDateTime>
#include <QTimeZone>

using namespace lockscope::zk;

namespace {

const QByteArray dumpStandalone = R"(SessionTracker dump:
Session Sets (2)/(2):
0 expire at Sat Nov 21 01:45:38 UTC 2026:
2 expire at Sat Nov 21 01:45:39 UTC 2026:
	0x1000015c71e0001
	0xf000015c71e00000
ephemeral nodes dump:
Sessions with Ephemerals (2):
0x1000015c71e0001:
	/q/locks/_c_4b8a64b0-aaaa-4bbb-8ccc-000000000002-lock-0000000001
0xf000015c71e00000:
	/plain/sp ace: x
	/q/locks/_c_4b8a64b0-aaaa-4bbb-8ccc-000000000001-lock-0000000000
Connections dump:
Connections Sets (1)/(3):
3 expire at Sat Nov 21 01:45:42 UTC 2026:
	ip: /127.0.0.1:56702 sessionId: 0x1000015c71e0000
	ip: /127.0.0.1:56728 sessionId: 0x0
)";

const QByteArray dumpFollower = R"(SessionTracker dump:
Global Sessions(1):
0x20000240e0c0000	10000ms
ephemeral nodes dump:
Sessions with Ephemerals (1):
0x20000240e0c0000:
	/e
Connections dump:
Connections Sets (1)/(1):
1 expire at Sat Nov 21 01:49:32 UTC 2026:
	ip: /127.0.0.1:58392 sessionId: 0x0
)";

const QByteArray consAnswer =
    " /127.0.0.1:56702[1](queued=0,recved=12,sent=12,sid=0x1000015c71e0000,lop=EXIS,est=1795225529706,to=10000,"
    "lcxid=0xb,lzxid=0x8,lresp=2147677,llat=1,minlat=0,avglat=3,maxlat=27)\n"
    " /[0:0:0:0:0:0:0:1]:56712[1](queued=0,recved=5,sent=5,sid=0x1000015c71e0001,lop=GETC,est=1795225529777,to=4000,"
    "lcxid=0x4,lzxid=0x8,lresp=2149679,llat=1,minlat=0,avglat=5,maxlat=23)\n"
    " /127.0.0.1:56750[0](queued=0,recved=1,sent=0)\n\n";

const QByteArray wchpAnswer = "/plain/nothing\n\t0x1000015c71e0000\n\t0xf000015c71e0001\n"
                              "/q/locks/with space\n\t0x1000015c71e0001\n\n";

const QByteArray dumpJson = R"({
  "expiry_time_to_session_ids" : {
    "2157600" : [ ],
    "2157800" : [ 72057687572873217, -1152920008047722496 ]
  },
  "session_id_to_ephemeral_paths" : {
    "72057687572873217" : [ "/q/locks/a-lock-0000000001" ],
    "-1152920008047722496" : [ "/plain/sp ace: x", "/q/\u00e4" ]
  },
  "command" : "dump",
  "error" : null
})";

const QByteArray connectionsJson = R"({
  "connections" : [ {
    "remote_socket_address" : "127.0.0.1:56712",
    "session_id" : 72057687572873217,
    "last_operation" : "GETC",
    "established" : 1795225529777,
    "session_timeout" : 10000,
    "last_response_time" : 2147679
  }, { "remote_socket_address" : "127.0.0.1:1", "interest_ops" : 0 } ],
  "secure_connections" : [ { "remote_socket_address" : "127.0.0.1:2", "session_id" : -1,
    "established" : 5, "session_timeout" : 6, "last_response_time" : 2147000 } ],
  "command" : "connections",
  "error" : null
})";

const QByteArray watchesJson = R"({
  "path_to_session_ids" : { "/plain/nothing" : [ 72057687572873217, -1 ] },
  "command" : "watches_by_path", "error" : null })";

constexpr SessionId low{0x1000015c71e0001};
constexpr SessionId high{0xf000015c71e00000}; // beyond the signed 64 bits
constexpr SessionId firstSession{0x1000015c71e0000};

std::chrono::system_clock::time_point at(int minute, int second, int zoneHours = 0)
{
    const QDateTime moment(QDate(2026, 11, 21), QTime(1 + zoneHours, minute, second), QTimeZone::utc());
    return std::chrono::system_clock::time_point(std::chrono::milliseconds(moment.toMSecsSinceEpoch()));
}

std::vector<QByteArray> bytes(const std::vector<ZPath> &paths)
{
    std::vector<QByteArray> out;
    for (const auto &path : paths)
        out.push_back(path.bytes());
    return out;
}

} // namespace

class TestEvidence : public QObject {
    Q_OBJECT
private slots:
    void dumpOfALeader()
    {
        zk::Evidence evidence{.askedAt = at(45, 30)};
        readDump(dumpStandalone, evidence);
        QCOMPARE(evidence.ephemerals.size(), std::size_t(2));
        QCOMPARE(bytes(evidence.ephemerals[high]),
                 (std::vector<QByteArray>{"/plain/sp ace: x",
                                          "/q/locks/_c_4b8a64b0-aaaa-4bbb-8ccc-000000000001-lock-0000000000"}));
        QCOMPARE(evidence.ephemerals[low].size(), std::size_t(1));
        QCOMPARE(evidence.expiresIn[low], 9s);
        QCOMPARE(evidence.expiresIn[high], 9s);
    }

    void dumpOfAFollowerKnowsNoExpiry()
    {
        zk::Evidence evidence;
        readDump(dumpFollower, evidence);
        QCOMPARE(evidence.ephemerals.size(), std::size_t(1));
        QCOMPARE(bytes(evidence.ephemerals[{0x20000240e0c0000}]), std::vector<QByteArray>{"/e"});
        QVERIFY(evidence.expiresIn.empty());
    }

    void expiryFromADate_data()
    {
        addColumns<QByteArray, qint64>("date", "serverAheadMs");
        QTest::addColumn<qint64>("leftMs"); // -1: unknown
        QTest::newRow("utc") << QByteArray("Sat Nov 21 01:45:39 UTC 2026") << qint64(0) << qint64(9000);
        QTest::newRow("another zone") << QByteArray("Sat Nov 21 02:45:39 CET 2026") << qint64(0) << qint64(9000);
        QTest::newRow("a zone of quarters")
            << QByteArray("Sat Nov 21 07:30:39 NPT 2026") << qint64(0) << qint64(9000);
        QTest::newRow("another day") << QByteArray("Fri Nov 20 17:45:39 PST 2026") << qint64(0) << qint64(9000);
        QTest::newRow("over the hour") << QByteArray("Sat Nov 21 01:52:30 UTC 2026") << qint64(0) << qint64(420'000);
        QTest::newRow("just past") << QByteArray("Sat Nov 21 01:45:29 UTC 2026") << qint64(0) << qint64(0);
        QTest::newRow("server ahead") << QByteArray("Sat Nov 21 01:45:39 UTC 2026") << qint64(5000) << qint64(4000);
        QTest::newRow("no date") << QByteArray("tomorrow") << qint64(0) << qint64(-1);
        QTest::newRow("no month") << QByteArray("Sat ovD 21 01:45:39 UTC 2026 x") << qint64(0) << qint64(-1);
    }
    void expiryFromADate()
    {
        QFETCH(QByteArray, date);
        QFETCH(qint64, serverAheadMs);
        QFETCH(qint64, leftMs);
        zk::Evidence evidence{.askedAt = at(45, 30), .serverAhead = std::chrono::milliseconds(serverAheadMs)};
        readDump("SessionTracker dump:\nSession Sets (1)/(1):\n1 expire at " + date
                     + ":\n\t0x1\nephemeral nodes dump:\n",
                 evidence);
        if (leftMs < 0)
            QVERIFY(evidence.expiresIn.empty());
        else
            QCOMPARE(evidence.expiresIn[{1}].count(), leftMs);
    }

    void connections()
    {
        zk::Evidence evidence;
        readCons(consAnswer, evidence);
        QCOMPARE(evidence.connections.size(), std::size_t(2));
        QCOMPARE(evidence.connections[firstSession].endpoint, QStringLiteral("127.0.0.1:56702"));
        QCOMPARE(evidence.connections[firstSession].established.count(), 1795225529706);
        QCOMPARE(evidence.connections[firstSession].timeout, 10s);
        QVERIFY(!evidence.connections[firstSession].silence);
        evidence.settle();
        QCOMPARE(evidence.connections[firstSession].silence, 2002ms);
        QCOMPARE(evidence.connections[low].silence, 0ms);
    }

    // After a restart of the server: reconnected, and nothing answered on the new connection yet.
    void sessionWithoutAReplyYetIsNotSilent()
    {
        auto answer = consAnswer;
        answer.replace("lresp=2147677", "lresp=0");
        zk::Evidence evidence;
        readCons(answer, evidence);
        evidence.settle();
        QVERIFY(!evidence.connections[firstSession].silence);
        QCOMPARE(evidence.connections[low].silence, 0ms);
    }

    void anIpv6Endpoint()
    {
        zk::Evidence evidence;
        readCons(consAnswer, evidence);
        QCOMPARE(evidence.connections[low].endpoint, QStringLiteral("[0:0:0:0:0:0:0:1]:56712"));
        QCOMPARE(evidence.connections[low].timeout, 4s);
    }

    void watches()
    {
        zk::Evidence evidence;
        readWchp(wchpAnswer, evidence);
        QCOMPARE(evidence.dataWatches.size(), std::size_t(2));
        const std::set<SessionId> both{firstSession, {0xf000015c71e0001}};
        QVERIFY(evidence.dataWatches[ZPath("/plain/nothing")] == both);
        QVERIFY(evidence.dataWatches[ZPath("/q/locks/with space")] == std::set{low});
    }

    void childWatchesAreWhatTheTotalsDoNotShare()
    {
        zk::Evidence evidence;
        QVERIFY(readFourLetter("wchs", "2 connections watching 2 paths\nTotal watches:3\n", evidence));
        QVERIFY(readFourLetter("mntr", "zk_version\t3.8.0\nzk_watch_count\t4\nzk_packets_received\t912\n", evidence));
        evidence.settle();
        QCOMPARE(evidence.childWatchTotal, qint64(1));
        QCOMPARE(evidence.requestsServed, qint64(912));
        zk::Evidence half;
        QVERIFY(readFourLetter("wchs", "0 connections watching 0 paths\nTotal watches:0", half));
        half.settle();
        QVERIFY(!half.childWatchTotal && !half.requestsServed);
        evidence.merge(half);
        QCOMPARE(evidence.childWatchTotal, qint64(1));
        half.requestsServed = 8;
        evidence.merge(half);
        QCOMPARE(evidence.requestsServed, qint64(920));
    }

    // Its name may stand in another line, too; and the last line need not end.
    void aNumberIsOfTheLineThatBeginsWithItsName()
    {
        zk::Evidence evidence;
        QVERIFY(readFourLetter("mntr", "zk_max_zk_watch_count\t9\nzk_watch_count\t4", evidence));
        QCOMPARE(evidence.raw.watchTotal, qint64(4));
        zk::Evidence twice;
        QVERIFY(readFourLetter("mntr", "zk_watch_count\t5\r\nzk_watch_count\t6\n", twice));
        QCOMPARE(twice.raw.watchTotal, qint64(5));
        zk::Evidence none;
        QVERIFY(!readFourLetter("mntr", "zk_max_zk_watch_count\t9\n", none));
        QVERIFY(!readFourLetter("mntr", "zk_watch_count\t\nzk_watch_bytes\t7\n", none));
        QVERIFY(!readFourLetter("mntr", "", none));
    }

    void otherTextIsNotAReply_data()
    {
        const Rows<QByteArray, QByteArray> row("command", "answer");
        for (const auto *word : {"dump", "cons", "wchp", "wchs", "mntr", "srvr"}) {
            const QByteArray command(word);
            QTest::addRow("%s refused", word)
                << command << command + " is not executed because it is not in the whitelist.\n";
            QTest::addRow("%s too early", word)
                << command << QByteArray("This ZooKeeper instance is not currently serving requests\n");
            QTest::addRow("%s empty", word) << command << QByteArray();
            QTest::addRow("%s other server", word) << command << QByteArray("-ERR unknown command\r\n");
        }
        row("unknown", "ruok", "imok");
    }
    void otherTextIsNotAReply()
    {
        QFETCH(QByteArray, command);
        QFETCH(QByteArray, answer);
        zk::Evidence evidence;
        QVERIFY(!readFourLetter(command, answer, evidence));
        QVERIFY(evidence.dataWatches.empty());
    }

    void noWatchesIsAnAnswer()
    {
        zk::Evidence evidence;
        QVERIFY(readFourLetter("wchp", "\n", evidence));
        QVERIFY(readFourLetter("srvr", "Zookeeper version: 3.8.0\nMode: standalone\nNode count: 11\n", evidence));
    }

    void adminDumpKeepsEveryDigit()
    {
        zk::Evidence evidence;
        QVERIFY(readAdmin("dump", dumpJson, evidence));
        QCOMPARE(evidence.ephemerals.size(), std::size_t(2));
        QCOMPARE(bytes(evidence.ephemerals[low]), std::vector<QByteArray>{"/q/locks/a-lock-0000000001"});
        QCOMPARE(bytes(evidence.ephemerals[high]), (std::vector<QByteArray>{"/plain/sp ace: x", "/q/\xc3\xa4"}));
        QVERIFY(readAdmin("connections", connectionsJson, evidence));
        evidence.settle();
        QCOMPARE(evidence.expiresIn[low].count(), 2157800 - 2147679);
        QCOMPARE(evidence.expiresIn[high].count(), 2157800 - 2147679);
    }

    void adminConnectionsAndWatches()
    {
        zk::Evidence evidence;
        QVERIFY(readAdmin("connections", connectionsJson, evidence));
        QVERIFY(readAdmin("watches_by_path", watchesJson, evidence));
        evidence.settle();
        QCOMPARE(evidence.connections.size(), std::size_t(2));
        QCOMPARE(evidence.connections[low].endpoint, QStringLiteral("127.0.0.1:56712"));
        QCOMPARE(evidence.connections[low].established.count(), 1795225529777);
        const SessionId allOnes{0xffffffffffffffff};
        QCOMPARE(evidence.connections[allOnes].endpoint, QStringLiteral("127.0.0.1:2"));
        QCOMPARE(evidence.connections[allOnes].silence, 679ms);
        QVERIFY((evidence.dataWatches[ZPath("/plain/nothing")] == std::set<SessionId>{low, allOnes}));
    }

    void adminTotals()
    {
        zk::Evidence evidence;
        QVERIFY(readAdmin(
            "watch_summary",
            R"({"num_connections":2,"num_paths":2,"num_total_watches":3,"command":"watch_summary","error":null})",
            evidence));
        QVERIFY(readAdmin("monitor", R"({"watch_count":10,"packets_received":71,"command":"monitor","error":null})",
                          evidence));
        QCOMPARE(evidence.requestsServed, qint64(71));
        evidence.settle();
        QCOMPARE(evidence.childWatchTotal, qint64(7));
    }

    void otherJsonIsNotTheAdminServers_data()
    {
        const Rows<QByteArray> row("json");
        row("empty", {});
        row("html", "<html><body>It works!</body></html>");
        row("other json", QByteArray(R"({"status":"ok"})"));
        row("array", "[]");
        row("cut", dumpJson.left(100));
        row("unknown command", QByteArray(R"({"command":"dump","error":"Unknown command: dump"})"));
        row("another command", QByteArray(R"({"command":"monitor","error":null})"));
        row("nothing in it", QByteArray(R"({"command":"dump","error":null})"));
    }
    void otherJsonIsNotTheAdminServers()
    {
        QFETCH(QByteArray, json);
        zk::Evidence evidence;
        QVERIFY(!readAdmin("dump", json, evidence));
        QVERIFY(evidence.ephemerals.empty());
    }

    void membersAddUp()
    {
        zk::Evidence one;
        one.answers["wchp"] = {1, 1, {"4lw"}, {}};
        readWchp("/a\n\t0x1\n", one);
        zk::Evidence two;
        two.answers["wchp"] = {1, 0, {}, QStringLiteral("connection refused")};
        one.merge(two);
        QVERIFY(one.hasAny("wchp"));
        QVERIFY(!one.isComplete("wchp"));
        QCOMPARE(one.answers["wchp"].refusal, QStringLiteral("connection refused"));
        zk::Evidence three;
        three.answers["wchp"] = {1, 1, {"admin"}, {}};
        readWchp("/a\n\t0x2\n/b\n\t0x2\n", three);
        one.merge(three);
        QCOMPARE(one.answers["wchp"].members, 3);
        QCOMPARE(one.answers["wchp"].answered, 2);
        QVERIFY((one.dataWatches[ZPath("/a")] == std::set<SessionId>{{1}, {2}}));
        QVERIFY(!one.hasAny("dump"));
        QVERIFY(!one.isComplete("dump"));
    }
};

LOCKSCOPE_TEST(TestEvidence)
#include "tst_evidence.moc"
