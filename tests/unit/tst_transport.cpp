// SPDX-License-Identifier: Apache-2.0
// The way to a server, where it is pure: who is let in at a door, how TLS begins in MariaDB's protocol, what ssh
// and a TLS library say, in words.
#include "core/transport/tunnel.h"
#include "core/transport/speech.h"
#include "core/transport/transport.h"
#include "tests/support/testmain.h"

using namespace lockscope::transport;

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

// The same with a name for how to log in.
QByteArray greetingFor(const QByteArray &plugin, bool isModern = true)
{
    return packetOf(QByteArray("\x0a"
                               "5.5.5-10.11")
                        + QByteArray(1, '\0') + QByteArray(4, '\1') + QByteArray(8, 'n') + QByteArray(1, '\0')
                        + "\xff" + (isModern ? '\xff' : '\x77') + "\x21" + QByteArray(2, '\0')
                        + QByteArray("\xff\x81\x15", 3) + QByteArray(10, '\0') + QByteArray(12, 'n')
                        + QByteArray(1, '\0') + plugin + QByteArray(1, '\0'),
                    0);
}

QByteArray switchTo(const QByteArray &plugin)
{
    return packetOf('\xfe' + plugin + QByteArray(1, '\0') + QByteArray(20, 'n') + QByteArray(1, '\0'), 2);
}

QByteArray askedByPostgreSql(char code, const QByteArray &more = {})
{
    return QByteArray("R\0\0\0", 4) + char(8 + more.size()) + QByteArray(3, '\0') + code + more;
}

QByteArray loginPacket()
{
    return packetOf(QByteArray("\x85\xa6\x3f\x20") + QByteArray(28, 'h') + "root" + QByteArray(1, '\0') + "hash", 1);
}

} // namespace

class TestTransport : public QObject {
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
        MySqlPrelude prelude(true, Trust::Verified);
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
        MySqlPrelude prelude(true, Trust::Verified);
        const auto step = prelude.fromServer(greetingOf(false));
        QCOMPARE(step.problem, u"TLS: the server does not offer it"_s);
        QVERIFY(step.toClient.isEmpty());
        QCOMPARE(prelude.failure(u"no"_s, true), packetOf("\xff\xea\x07no", 0));
        QVERIFY(
            !MySqlPrelude(true, Trust::Verified).fromServer("HTTP/1.1 400 Bad Request\r\n\r\n").problem.isEmpty());
    }

    void postgreSqlIsAskedForTlsFirst()
    {
        const auto prelude = postgreSqlSpeech.verified.prelude(u"db.example"_s);
        QCOMPARE(prelude->request(), QByteArray("\0\0\0\x08\x04\xd2\x16\x2f", 8));
        QVERIFY(MySqlPrelude(true, Trust::Verified).request().isEmpty()); // its server speaks first
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
            const auto step = PostgreSqlPrelude(true, Trust::Verified).fromServer(answer);
            QVERIFY2(!step.startTls && step.toClient.isEmpty() && step.problem.startsWith("TLS: "_L1), answer);
        }
    }

    // A library gives the server what it asks for: the password itself, too.
    void passwordsGoToVerifiedMySqlOnly_data()
    {
        addColumns<QByteArray, QByteArray>("greeting", "answer");
        QTest::addColumn<QString>("far"); // a server that is not verified, on another machine: what is refused
        QTest::addColumn<QString>("near");
        const auto native = greetingFor("mysql_native_password");
        const auto ok = packetOf(QByteArray(7, '\0'), 2);
        const QString none;
        QTest::newRow("native") << native << ok << none << none;
        QTest::newRow("native after a switch")
            << greetingFor("client_ed25519") << switchTo("mysql_native_password") << none << none;
        QTest::newRow("quick SHA-2") << greetingFor("caching_sha2_password") << packetOf("\x01\x03", 2) << none
                                     << none;
        QTest::newRow("clear, after a switch")
            << native << switchTo("mysql_clear_password") << u"mysql_clear_password"_s << u"mysql_clear_password"_s;
        QTest::newRow("clear, from the first on")
            << greetingFor("mysql_clear_password") << ok << u"mysql_clear_password"_s << u"mysql_clear_password"_s;
        QTest::newRow("dialog") << native << switchTo("dialog") << u"dialog"_s << u"dialog"_s;
        QTest::newRow("of before 4.1") << native << packetOf("\xfe", 2) << u"mysql_old_password"_s
                                       << u"mysql_old_password"_s;
        QTest::newRow("of before 4.1, by its name")
            << native << switchTo("mysql_old_password") << u"mysql_old_password"_s << u"mysql_old_password"_s;
        QTest::newRow("a greeting of before 4.1")
            << greetingFor("", false) << ok << u"mysql_old_password"_s << u"mysql_old_password"_s;
        QTest::newRow("one of tomorrow")
            << native << switchTo("tomorrow\x1b[2J") << u"tomorrow\\x1B[2J"_s << u"tomorrow\\x1B[2J"_s;
        QTest::newRow("for its own key")
            << greetingFor("caching_sha2_password") << packetOf("\x01\x04", 2) << u"key that it names"_s << none;
        QTest::newRow("its own key at once")
            << greetingFor("caching_sha2_password") << packetOf("\x01-----BEGIN PUBLIC KEY-----", 2)
            << u"key that it names"_s << none;
        QTest::newRow("SHA-256") << greetingFor("sha256_password") << ok << u"sha256_password"_s << none;
    }
    void passwordsGoToVerifiedMySqlOnly()
    {
        QFETCH(QByteArray, greeting);
        QFETCH(QByteArray, answer);
        for (const auto &[host, column] : {std::pair(u"db.example"_s, "far"), std::pair(u"127.0.0.1"_s, "near")}) {
            const auto refused = *static_cast<const QString *>(QTest::qData(column, QMetaType::QString));
            const auto prelude = mySqlSpeech.plain.prelude(host);
            auto step = prelude->fromServer(greeting);
            if (step.problem.isEmpty()) {
                QCOMPARE(step.toClient, greeting); // as it is: nothing is changed
                QCOMPARE(prelude->fromClient(loginPacket()).toServer, loginPacket());
                step = prelude->fromServer(answer);
            }
            QCOMPARE(step.isRefusal, !refused.isEmpty());
            QVERIFY2(step.problem.contains(refused), qPrintable(step.problem));
            if (refused.isEmpty()) {
                QCOMPARE(step.toClient, answer);
                continue;
            }
            QVERIFY(step.toClient.isEmpty() && step.toServer.isEmpty());
            QVERIFY2(step.problem.contains(u"No password was sent"_s), qPrintable(step.problem));
            QCOMPARE(prelude->failure(step.problem, true).mid(4, 3),
                     QByteArray("\xff\xe3\x04")); // 1251: it is not tried again
        }
        // Inside of TLS that was not verified the same; inside of one that was, everything.
        for (const auto &[speech, isRefused] :
             {std::pair(mySqlSpeech.unverified, true), std::pair(mySqlSpeech.verified, false)}) {
            const auto prelude = speech.prelude(u"db.example"_s);
            (void)prelude->fromServer(greetingFor("mysql_native_password"));
            (void)prelude->fromClient(loginPacket());
            (void)prelude->tlsStarted();
            QCOMPARE(prelude->fromServer(switchTo("mysql_clear_password")).isRefusal, isRefused);
        }
    }
    void passwordsGoToVerifiedPostgreSqlOnly()
    {
        for (const char code : {char(0), char(5), char(10)})
            QCOMPARE(postgreSqlSpeech.plain.prelude({})->fromServer(askedByPostgreSql(code)).toClient,
                     askedByPostgreSql(code));
        for (const char code : {char(3), char(2), char(4), char(99)}) {
            const auto prelude = postgreSqlSpeech.plain.prelude(u"127.0.0.1"_s);
            QVERIFY(prelude->request().isEmpty());
            QCOMPARE(prelude->fromClient("startup").toServer, QByteArray("startup"));
            auto step = prelude->fromServer(askedByPostgreSql(code).left(4)); // in two parts
            QVERIFY(step.toClient.isEmpty());
            step = prelude->fromServer(askedByPostgreSql(code).mid(4));
            QVERIFY(step.isRefusal && step.toClient.isEmpty());
            QVERIFY2(step.problem.contains(u"No password was sent"_s), qPrintable(step.problem));
            QVERIFY(prelude->failure(step.problem, true).startsWith('E'));
        }
        // Behind one that is harmless, and once the login is over, as it is.
        const auto prelude = postgreSqlSpeech.plain.prelude({});
        QVERIFY(prelude->fromServer(askedByPostgreSql(10, "SCRAM-SHA-256") + askedByPostgreSql(3)).isRefusal);
        const auto over = postgreSqlSpeech.plain.prelude({});
        QCOMPARE(over->fromServer(askedByPostgreSql(0) + "Z....").toClient, askedByPostgreSql(0) + "Z....");
        QVERIFY(over->isOver());
        QVERIFY(postgreSqlSpeech.plain.prelude({})
                    ->fromServer("HTTP/1.1 400 Bad")
                    .problem.contains(u"does not use the protocol"_s));
        // An error needs no proof; inside of TLS that was verified everything is allowed.
        QCOMPARE(postgreSqlSpeech.plain.prelude({})->fromServer("Eno such database").toClient,
                 QByteArray("Eno such database"));
        for (const auto &[speech, isRefused] :
             {std::pair(postgreSqlSpeech.unverified, true), std::pair(postgreSqlSpeech.verified, false)}) {
            const auto secured = speech.prelude(u"db.example"_s);
            QVERIFY(secured->fromServer("S").startTls);
            (void)secured->tlsStarted();
            QCOMPARE(secured->fromServer(askedByPostgreSql(3)).isRefusal, isRefused);
        }
    }

    void saysWhatSshMeant_data()
    {
        const Rows<QByteArray, QString> row("said", "words");
        row("key", "ops@bastion: Permission denied (publickey).\r\n"_ba, u"it refused the login"_s);
        row("unknown host key",
            "No ED25519 host key is known for bastion and you have requested strict "
            "checking.\r\nHost key verification failed.\r\n"_ba,
            u"its host key is unknown"_s);
        row("another host key",
            "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key "
            "verification failed.\n"_ba,
            u"differs from the known key"_s);
        row("other", "Warning: x\nssh: connect to host bastion port 22: Connection refused\n"_ba,
            u"port 22: Connection refused"_s);
        row("hostile", "\x1b[2Jgone\n"_ba, u"\\x1B[2Jgone"_s);
        row("nothing", ""_ba, u"without a message"_s);
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
        QVERIFY(alertInWords(bad, named).contains(u"rejects our client certificate"_s));
        QVERIFY(alertInWords(u"Connection refused"_s, named).isEmpty());
    }
};

LOCKSCOPE_TEST(TestTransport)
#include "tst_transport.moc"
