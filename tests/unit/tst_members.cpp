// SPDX-License-Identifier: Apache-2.0
// Who the members of an ensemble are: from what they say, never from how many addresses were given.
#include "core/zookeeper/evidence.h"
#include "tests/support/testmain.h"

using namespace lockscope::zk;

namespace {

const QByteArray configuration = "server.1=zk1:2888:3888:participant;0.0.0.0:2181\n"
                                 "server.2=zk2:2888:3888:participant;10.0.0.2:2182\n"
                                 "server.3=zk3:2888:3888:observer\n"
                                 "version=100000000\n";

MemberFacts facts(qint64 id, const QByteArray &mode = "follower")
{
    return {mode, id, readConfiguration(configuration)};
}

QString drawn(const std::vector<ConfiguredServer> &servers)
{
    QStringList out;
    for (const auto &server : servers)
        out << u"%1 %2 %3"_s.arg(QString::number(server.id), server.host,
                                 server.client ? displayHost(*server.client) : u"-"_s);
    return out.join(u", "_s);
}

} // namespace

class TestMembers : public QObject {
    Q_OBJECT
private slots:
    void configurationsAsServersWriteThem_data()
    {
        const Rows<QByteArray, QString> row("text", "servers");
        row("three", configuration, u"1 zk1 zk1:2181, 2 zk2 10.0.0.2:2182, 3 zk3 -"_s);
        row("port alone", "server.7=a:1:2:participant;2181", u"7 a a:2181"_s);
        row("no role", "server.7=a:1:2;2181", u"7 a a:2181"_s);
        row("IPv6", "server.1=[::1]:1:2:participant;[::]:2181", u"1 ::1 [::1]:2181"_s);
        row("several addresses", "server.1=a:1:2|b:1:2:participant;2181", u"1 a a:2181"_s);
        row("as conf prints it", "serverId=1\nmembership: \nserver.1=a:1:2:participant;0.0.0.0:5\nversion=0",
            u"1 a a:5"_s);
        row("twice the same", "server.1=a:1:2\nserver.1=b:1:2", u"1 a -"_s);
        row("standalone", "clientPort=2181\nserverId=0\n", {});
        row("nonsense", "server.=\nserver.x=a\nserver.1\nserver.1=\nserver.2=:1:2", {});
    }
    void configurationsAsServersWriteThem()
    {
        QFETCH(QByteArray, text);
        QFETCH(QString, servers);
        QCOMPARE(drawn(readConfiguration(text)), servers);
    }

    void oneAddressIsNotTheEnsemble()
    {
        Membership members({{u"zk1"_s, 2181}});
        QVERIFY2(!members.size(), "nobody was asked yet");
        members.learn({{{u"zk1"_s, 2181}, facts(1)}});
        QCOMPARE(members.size(), std::optional(3)); // the observer included
        const auto places = members.places();
        QCOMPARE(places.size(), std::size_t(2));
        QCOMPARE(places[0].expected, std::optional<qint64>(1));
        QCOMPARE(places[1].at, (HostPort{u"10.0.0.2"_s, 2182}));
        QCOMPARE(members.nameOf(3), u"server 3 (zk3)"_s);
    }

    void aServerBehindAVirtualAddressIsWhoItSaysItIs()
    {
        Membership members({{u"vip"_s, 2181}});
        members.learn({{{u"vip"_s, 2181}, facts(2)}});
        const auto vip = members.places().front();
        QVERIFY(!vip.expected);
        QCOMPARE(members.whoIs(vip, facts(2)), std::optional<qint64>(2));
        QCOMPARE(members.whoIs(vip, facts(1)), std::optional<qint64>(1));
        QVERIFY2(!members.whoIs(vip, {}), "it did not say: it may be anyone");
        QVERIFY2(!members.whoIs(vip, facts(9)), "none of this ensemble");
    }

    void standaloneServerIsTheOnlyMember()
    {
        Membership members({{u"zk"_s, 2181}});
        members.learn({{{u"zk"_s, 2181}, {"standalone", 0, {}}}});
        QCOMPARE(members.size(), std::optional(1));
        QVERIFY(members.isStandalone());
    }

    void anEnsembleThatDoesNotSayWhoItIs()
    {
        Membership members({{u"zk"_s, 2181}});
        members.learn({{{u"zk"_s, 2181}, {"follower", {}, {}}}});
        QVERIFY(!members.size());
        members.learn({{{u"zk"_s, 2181}, {}}});
        QVERIFY(!members.size());
        members.learnConfiguration(configuration); // read through a session
        QCOMPARE(members.size(), std::optional(3));
    }

    void nothingIsCompleteWhereTheMembersAreNotKnown()
    {
        zk::Evidence evidence;
        evidence.answers["cons"] = {1, 1, {"4lw"}, {}};
        QVERIFY(evidence.isComplete("cons"));
        evidence.membersUnknown = u"conf: not in the whitelist"_s;
        QVERIFY(!evidence.isComplete("cons"));
        QVERIFY(evidence.hasAny("cons"));
    }

    void versionAndRolesAreSaidInWords_data()
    {
        QTest::addColumn<QByteArrayList>("members"); // version and mode
        addColumns<int, QString>("silent", "words");
        QTest::newRow("alone") << QByteArrayList{"3.8.0 standalone"} << 0 << u"ZooKeeper 3.8.0, standalone"_s;
        QTest::newRow("three") << QByteArrayList{"3.9.3 follower", "3.9.3 leader", "3.9.3 follower"} << 0
                               << u"ZooKeeper 3.9.3 on 3 members: 1 leader, 2 followers"_s;
        QTest::newRow("while it is upgraded")
            << QByteArrayList{"3.8.0 leader", "3.9.3 follower"} << 1
            << u"ZooKeeper 3.8.0 and 3.9.3 on 2 members: 1 leader, 1 follower; 1 did not report"_s;
        QTest::newRow("nobody") << QByteArrayList() << 1 << QString();
        QTest::newRow("no version") << QByteArrayList{" leader"} << 0 << QString();
    }
    void versionAndRolesAreSaidInWords()
    {
        QFETCH(const QByteArrayList, members);
        QFETCH(int, silent);
        std::vector<zk::MemberFacts> facts;
        for (const auto &member : members) {
            facts.push_back({.mode = member.split(' ').value(1), .version = member.split(' ').value(0)});
        }
        QTEST(zk::serverWords(facts, silent), "words");
        QCOMPARE(zk::versionIn("3.8.0-5a02a05eddb59aee6ac762f7ea82e92a68eb9c0f, built on 2022-02-25"),
                 QByteArray("3.8.0"));
    }

    void serversSayWhoTheyAre()
    {
        zk::Evidence evidence;
        QVERIFY(readFourLetter("srvr", "Zookeeper version: 3.8.0\nMode: observer\nNode count: 5\n", evidence));
        QCOMPARE(evidence.raw.member.mode, QByteArray("observer"));
        QCOMPARE(evidence.raw.member.version, QByteArray("3.8.0"));
        QVERIFY(readFourLetter("conf", "clientPort=2181\nserverId=3\nmembership: \n" + configuration, evidence));
        QCOMPARE(evidence.raw.member.serverId, std::optional<qint64>(3));
        QCOMPARE(evidence.raw.member.configured.size(), std::size_t(3));
        zk::Evidence admin;
        QVERIFY(readAdmin("server_stats",
                          R"({"command":"server_stats","error":null,"server_stats":{"server_state":"standalone"}})",
                          admin));
        QVERIFY(admin.raw.member.isStandalone());
        QVERIFY(readAdmin("configuration", R"({"command":"configuration","error":null,"server_id":2})", admin));
        QCOMPARE(admin.raw.member.serverId, std::optional<qint64>(2));
    }
};

LOCKSCOPE_TEST(TestMembers)
#include "tst_members.moc"
