// SPDX-License-Identifier: Apache-2.0
// The way to a server, where it is pure: who is let in at a door, how TLS begins in MariaDB's protocol, what ssh
// and a TLS library say, in words.
#include "core/passage/mysqlprelude.h"
#include "core/passage/postgresqlprelude.h"
#include "core/passage/ownpeer.h"
#include "core/passage/sshtunnel.h"
#include "core/passage/tls.h"
#include "tests/support/testmain.h"

#include <QTest>

using namespace lockscope;
using namespace lockscope::passage;
using namespace Qt::StringLiterals;

namespace {

QByteArray packetOf(const QByteArray &body, char number)
{
    return QByteArray(1, static_cast<char>(body.size())) + QByteArray(2, '\0') + number + body;
}

// Of a server: version 10, its name, connection id, nonce, capabilities.
QByteArray greetingOf(bool hasTls)
{
    return packetOf(QByteArray("\x0a"
                               "5.5.5-10.11")
                        + QByteArray(1, '\0') + QByteArray(4, '\1') + QByteArray(8, 'n') + QByteArray(1, '\0')
                        + QByteArray("\xff") + (hasTls ? '\xff' : '\xf7') + QByteArray(20, 'r'),
                    0);
}

QByteArray loginPacket()
{
    return packetOf(QByteArray("\x85\xa6\x3f\x20") + QByteArray(28, 'h') + "root" + QByteArray(1, '\0') + "hash", 1);
}

} // namespace

class TestPassage : public QObject {
    Q_OBJECT

private slots:
    void findsASocketByItsTwoEnds()
    {
        const QByteArray table =
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
            "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 x\n"
            "   1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 4711 1 x\n"
            "   2: 0100007F:C351 0100007F:1F90 06 00000000:00000000 03:00000000 00000000     0        0 0 3 x\n";
        QCOMPARE(socketInode(table, 50000, 8080), std::optional(QByteArray("4711")));
        QVERIFY(!socketInode(table, 50001, 8080)); // closed by now: nobody's
        QVERIFY(!socketInode(table, 8080, 50000));
        QVERIFY(!socketInode({}, 1, 2));
    }

    void startsTlsBeforeTheLogin()
    {
        MySqlPrelude prelude;
        const auto greeted = prelude.fromServer(greetingOf(true).left(10));
        QVERIFY(greeted.toClient.isEmpty()); // not whole yet
        const auto shown = prelude.fromServer(greetingOf(true).mid(10));
        QCOMPARE(shown.toClient, greetingOf(false)); // a server without TLS

        const auto asked = prelude.fromClient(loginPacket());
        QVERIFY(asked.startTls);
        QVERIFY(!asked.toServer.contains("hash")); // not in clear
        QCOMPARE(asked.toServer.size(), 4 + 32);
        QCOMPARE(asked.toServer[3], char(1));
        QVERIFY((asked.toServer[5] & 0x08) != 0);

        const auto login = prelude.tlsStarted();
        QCOMPARE(login.toServer[3], char(2));
        QCOMPARE(login.toServer.mid(4, 32), asked.toServer.mid(4));
        QVERIFY(login.toServer.endsWith("hash"));

        // The server asks once more, and is content.
        QCOMPARE(prelude.fromServer(packetOf("\xfe", 3)).toClient, packetOf("\xfe", 2));
        QCOMPARE(prelude.fromClient(packetOf("more", 3)).toServer, packetOf("more", 4));
        QVERIFY(!prelude.isOver());
        const auto done = prelude.fromServer(packetOf(QByteArray(7, '\0'), 5) + "xyz");
        QCOMPARE(done.toClient, packetOf(QByteArray(7, '\0'), 4) + "xyz");
        QVERIFY(prelude.isOver());
        QCOMPARE(prelude.fromClient("raw").toServer, QByteArray("raw"));
    }

    // Or whoever is in between could take TLS away by changing one bit.
    void doesWithoutNoServerThatOffersNone()
    {
        MySqlPrelude prelude;
        const auto step = prelude.fromServer(greetingOf(false));
        QCOMPARE(step.problem, u"TLS: the server offers none"_s);
        QVERIFY(step.toClient.isEmpty());
        QCOMPARE(prelude.failure(u"no"_s, true), packetOf("\xff\xea\x07no", 0));
        QVERIFY(!MySqlPrelude().fromServer("HTTP/1.1 400 Bad Request\r\n\r\n").problem.isEmpty());
    }

    void asksAPostgreSqlForTlsBeforeAnythingOfTheClient()
    {
        const auto prelude = postgreSqlTls.prelude();
        QCOMPARE(prelude->request(), QByteArray("\0\0\0\x08\x04\xd2\x16\x2f", 8));
        QVERIFY(MySqlPrelude().request().isEmpty()); // its server speaks first
        const auto early = prelude->fromClient("startup");
        QVERIFY(early.toServer.isEmpty());
        QVERIFY(!early.problem.isEmpty());
        QVERIFY(prelude->fromServer("S").startTls);
        QVERIFY(!prelude->isOver());
        QVERIFY(prelude->tlsStarted().toServer.isEmpty());
        QVERIFY(prelude->isOver());
        QCOMPARE(prelude->fromClient("startup").toServer, QByteArray("startup"));
        QCOMPARE(prelude->fromServer("R").toClient, QByteArray("R"));
    }
    void takesNoWordInClearForAPostgreSqls()
    {
        for (const auto *answer : {"N", "E", "SR", "HTTP/1.1 400"}) {
            const auto step = PostgreSqlPrelude().fromServer(answer);
            QVERIFY2(!step.startTls && step.toClient.isEmpty() && step.problem.startsWith("TLS: "_L1), answer);
        }
    }

    void saysWhatSshMeant_data()
    {
        QTest::addColumn<QByteArray>("said");
        QTest::addColumn<QString>("words");
        QTest::newRow("key") << "ops@bastion: Permission denied (publickey).\r\n"_ba << u"it refused the login"_s;
        QTest::newRow("unknown host key") << "No ED25519 host key is known for bastion and you have requested strict "
                                             "checking.\r\nHost key verification failed.\r\n"_ba
                                          << u"its host key is not known"_s;
        QTest::newRow("another host key") << "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key "
                                             "verification failed.\n"_ba
                                          << u"another one than known"_s;
        QTest::newRow("other") << "Warning: x\nssh: connect to host bastion port 22: Connection refused\n"_ba
                               << u"port 22: Connection refused"_s;
        QTest::newRow("hostile") << "\x1b[2Jgone\n"_ba << u"\\x1B[2Jgone"_s;
        QTest::newRow("nothing") << ""_ba << u"without a word"_s;
    }
    void saysWhatSshMeant()
    {
        QFETCH(QByteArray, said);
        QFETCH(QString, words);
        const auto problem = sshProblem({u"ops"_s, u"bastion"_s, 22}, said);
        QVERIFY2(problem.startsWith(u"ssh ops@bastion:22: "_s), qPrintable(problem));
        QVERIFY2(problem.contains(words, Qt::CaseInsensitive), qPrintable(problem));
    }

    // Nodes of a cluster are called what the cluster says.
    void forwardsToNamesOnly()
    {
        for (const auto &name :
             {u"10.0.0.7"_s, u"fe80::1%eth0"_s, u"redis-3.shop_eu.example"_s, u"xn--bcher-kva"_s, u"bücher"_s})
            QVERIFY2(isForwardable(name), qPrintable(name));
        for (const auto &name :
             {u""_s, u"-oProxyCommand=x"_s, u"/run/redis.sock"_s, u"a b"_s, u"[::1"_s, u"a\nb"_s, u"${HOME}"_s})
            QVERIFY2(!isForwardable(name), qPrintable(name));
    }

    void saysWhatAnAlertMeant()
    {
        TlsOptions nameless, named;
        named.cert = u"c.pem"_s;
        const auto required = u"error:0A00045C:SSL routines::tlsv13 alert certificate required"_s;
        QVERIFY(alertInWords(required, nameless).contains(u"demands a client certificate"_s));
        const auto bad = u"sslv3 alert bad certificate"_s;
        QVERIFY(alertInWords(bad, nameless).contains(u"demands a client certificate"_s));
        QVERIFY(alertInWords(bad, named).contains(u"refuses our client certificate"_s));
        QVERIFY(alertInWords(u"Connection refused"_s, named).isEmpty());
    }
};

LOCKSCOPE_TEST(TestPassage)
#include "tst_passage.moc"
