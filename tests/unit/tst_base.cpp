// SPDX-License-Identifier: Apache-2.0
// Escaping, durations, moments, connection URIs.
#include "core/base/connectionuri.h"
#include "core/base/random.h"
#include "core/base/result.h"
#include "core/base/text.h"
#include "tests/support/testmain.h"

#include <cmath>
#include <ctime>
#include <set>

class TestBase : public QObject {
    Q_OBJECT
private slots:
    // Each with a letter too few, one of another kind, and a dash elsewhere: what is no UUID is said to be none.
    void uuidsAreKnownByEachOfTheirCharacters()
    {
        const QByteArray uuid = "01234567-89ab-cdef-0123-456789abcdef";
        QVERIFY(isUuid36(uuid));
        QVERIFY(isUuid36(uuid.toUpper()));
        QVERIFY(!isUuid36(uuid.chopped(1)));
        QVERIFY(!isUuid36(uuid + '0'));
        QVERIFY(!isUuid36({}));
        for (qsizetype at = 0; at < uuid.size(); ++at) {
            for (const char other : {'g', 'G', '/', ':', '@', '`', ' ', '\0', '\xc3', uuid[at] == '-' ? 'a' : '-'}) {
                auto wrong = uuid;
                wrong[at] = other;
                QVERIFY2(!isUuid36(wrong), wrong.constData());
                QVERIFY2(!holdsUuid("_c_" + wrong + "-lock-"), wrong.constData());
            }
        }
        QVERIFY(holdsUuid("_c_" + uuid + "-lock-"));
        QVERIFY(holdsUuid(uuid));
        const auto hex = QByteArray(uuid).replace("-", "");
        QVERIFY(isHex32(hex) && holdsUuid("_c_" + hex + "-lock-"));
        QVERIFY(!isHex32(hex.toUpper()) && !isHex32(hex.chopped(1)) && !isHex({}) && !isHex("G"));
    }

    void escapes_data()
    {
        const Rows<QByteArray, QString> row("bytes", "text");
        row("plain", "orders-lock", u"orders-lock"_s);
        row("utf8", "\xc3\xa9t\xc3\xa9", u"\u00e9t\u00e9"_s);
        row("newline and space", "a b\nc", u"a b\\x0Ac"_s);
        row("terminal escape", "\x1b[31m", u"\\x1B[31m"_s);
        row("not utf8", "\xff\xfe", u"\\xFF\\xFE"_s);
        row("cut utf8", "x\xc3", u"x\\xC3"_s);
        row("overlong", "\xc0\xaf", u"\\xC0\\xAF"_s);
        row("right-to-left override", "\xe2\x80\xae", u"\\xE2\\x80\\xAE"_s);
        row("arabic letter mark", "\xd8\x9c", u"\\xD8\\x9C"_s);
        row("mongolian vowel separator", "\xe1\xa0\x8e", u"\\xE1\\xA0\\x8E"_s);
        row("word joiner", "\xe2\x81\xa0", u"\\xE2\\x81\\xA0"_s);
        row("tag", "\xf3\xa0\x81\xa1", u"\\xF3\\xA0\\x81\\xA1"_s);
        row("backslash", "a\\b", u"a\\\\b"_s);
        row("nul", QByteArray("a\0b", 3), u"a\\x00b"_s);
    }
    void escapes()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, text);
        QCOMPARE(escaped(bytes), text);
        QCOMPARE(unescaped(text).value_or("?"), bytes);
    }

    // Sentences are made of labels: those are not escaped a second time, and nothing raw gets through.
    void aSentenceIsEscapedOnce()
    {
        const auto inside = label("a\\b\x1b");
        QCOMPARE(harmless(QStringLiteral("held by ") + inside), QStringLiteral("held by ") + inside);
        QCOMPARE(harmless(QStringLiteral("raw \x1b[2J")), QStringLiteral("raw \\x1B[2J"));
        QVERIFY(harmless(QString(5000, u'x')).size() <= 1000);
    }

    // A copy keeps its own error, whatever becomes of the other.
    void resultsAreCopiedWithTheirErrors()
    {
        Result<QString> failed = Error{ErrorCode::NoNode, u"no such node"_s, true};
        auto copy = failed;
        failed = u"found"_s;
        QVERIFY(bool(failed));
        QCOMPARE(*failed, u"found"_s);
        QVERIFY(!copy);
        QCOMPARE(copy.error().code, ErrorCode::NoNode);
        QCOMPARE(copy.error().message, u"no such node"_s);
        QVERIFY(copy.error().retryable);
        const auto moved = std::move(copy);
        QCOMPARE(moved.error().message, u"no such node"_s);
        // Of its own error, which goes with what it held before.
        Result<QString> again = moved;
        again = again.error();
        QCOMPARE(again.error().message, u"no such node"_s);
    }
    void resultsOfNothingAreCopiedWithTheirErrors()
    {
        Result<void> done;
        QVERIFY(bool(done));
        const Result<void> failed = Error{ErrorCode::TimedOut, u"too late"_s};
        done = failed;
        QVERIFY(!done);
        QVERIFY(!failed);
        QCOMPARE(done.error().message, failed.error().message);
        done = done.error();
        QCOMPARE(done.error().code, ErrorCode::TimedOut);
        done = {};
        QVERIFY(bool(done));
    }

    void refusesBrokenEscapes()
    {
        QVERIFY(!unescaped(u"\\q"_s));
        QVERIFY(!unescaped(u"\\x1"_s));
        QVERIFY(!unescaped(u"end\\"_s));
    }

    void readsDurations()
    {
        QCOMPARE((*parseDuration(u"500ms"_s)).count(), 500);
        QCOMPARE((*parseDuration(u"30s"_s)).count(), 30'000);
        QCOMPARE((*parseDuration(u"2m"_s)).count(), 120'000);
        QCOMPARE((*parseDuration(u"7d"_s)).count(), 604'800'000);
        for (const auto &bad : {u"5"_s, u"-5s"_s, u"1.5s"_s, u"s"_s, u""_s, u"5 s"_s})
            QVERIFY2(!parseDuration(bad), qPrintable(bad));
    }

    void speaksDurations()
    {
        using namespace std::chrono_literals;
        QCOMPARE(formatDuration(640ms), u"640 ms"_s);
        QCOMPARE(formatDuration(1800ms), u"1.8 s"_s);
        QCOMPARE(formatDuration(252s), u"4 m 12 s"_s);
        QCOMPARE(formatDuration(9h + 2min), u"9 h 02 m"_s);
        QCOMPARE(formatDuration(80h), u"3 d"_s);
    }

    // Servers and files are read with these: what no clock shows is neither refused nor undefined.
    void aDurationOfSomebodyElseHasALimit()
    {
        constexpr auto limit = std::chrono::milliseconds(315'576'000'000'000);
        QCOMPARE(millisecondsOf(1499.6), 1500ms);
        QCOMPARE(millisecondsOf(-2.4), -2ms);
        QCOMPARE(millisecondsOf(1.7638e22), limit);
        QCOMPARE(millisecondsOf(-HUGE_VAL), -limit);
        QCOMPARE(millisecondsOf(std::nan("")), 0ms);
    }

    void writesMomentsInUtc_data()
    {
        const Rows<QByteArray> row("timeZone");
        for (const char *zone : {"UTC", "Pacific/Kiritimati", "America/St_Johns"})
            row(zone, QByteArray(zone));
    }
    void writesMomentsInUtc()
    {
        using namespace std::chrono_literals;
        QFETCH(QByteArray, timeZone);
        const auto before = qgetenv("TZ");
        qputenv("TZ", timeZone);
        tzset();
        const auto beginning = isoTime(0ms), now = isoTime(1'772'359'200'123ms);
        if (before.isNull())
            qunsetenv("TZ");
        else
            qputenv("TZ", before);
        tzset();
        QCOMPARE(beginning, u"1970-01-01T00:00:00.000Z"_s);
        QCOMPARE(now, u"2026-03-01T10:00:00.123Z"_s);
    }

    void readsConnections_data()
    {
        QTest::addColumn<QString>("argument");
        QTest::addColumn<QString>("shown"); // empty: refused
        QTest::newRow("zk") << u"zk://h:1"_s << u"zk://h:1"_s;
        QTest::newRow("ensemble") << u"orders=zk://a:1,b:2,c/app/x?admin=9"_s
                                  << u"zk://a:1,b:2,c:2181/app/x?admin=9"_s;
        QTest::newRow("secret stays out") << u"redis://me:p%40ss@h/3"_s << u"redis://h:6379/3"_s;
        QTest::newRow("ipv6") << u"zk://[::1]:2181"_s << u"zk://[::1]:2181"_s;
        QTest::newRow("sandbox") << u"sandbox:"_s << u"sandbox:"_s;
        QTest::newRow("sim") << u"sim:42"_s << u"sim:"_s;
        QTest::newRow("tls") << u"zk://h:1?tls=on&ca=/etc/a b.pem"_s << u"zk://h:1?tls=on&ca=/etc/a%20b.pem"_s;
        QTest::newRow("tls by its scheme") << u"rediss://h?verify=off"_s << u"rediss://h:6379?verify=off"_s;
        QTest::newRow("another word that says it") << u"etcds://h?ca=a.pem"_s << u"etcd://h:2379?tls=on&ca=a.pem"_s;
        QTest::newRow("none where the word says it") << u"etcds://h?tls=off"_s << QString();
        QTest::newRow("client certificate")
            << u"mariadb://h/shop?tls=on&cert=c.pem&key=k.pem&servername=db.example"_s
            << u"mariadb://h:3306/shop?tls=on&cert=c.pem&key=k.pem&servername=db.example"_s;
        QTest::newRow("ssh") << u"zk://a,b/x?admin=9&ssh=ops@bastion:2222"_s
                             << u"zk://a:2181,b:2181/x?admin=9&ssh=ops@bastion:2222"_s;
        QTest::newRow("ssh, encoded") << u"redis://me:pw@h?ssh=ops%40%5B::1%5D"_s
                                      << u"redis://h:6379?ssh=ops@%5B::1%5D"_s;
        QTest::newRow("TLS options without TLS") << u"redis://h?ca=a.pem"_s << QString();
        QTest::newRow("no TLS in a scheme of TLS") << u"rediss://h?tls=off"_s << QString();
        QTest::newRow("certificate without its key") << u"rediss://h?cert=a.pem"_s << QString();
        QTest::newRow("neither on nor off") << u"rediss://h?verify=no"_s << QString();
        QTest::newRow("an option for ssh") << u"redis://h?ssh=-oProxyCommand=x"_s << QString();
        QTest::newRow("a command for ssh") << u"redis://h?ssh=a`x`"_s << QString();
        QTest::newRow("no port of ssh") << u"redis://h?ssh=a:0"_s << QString();
        const auto kube = u"redis://h:1?kube=admin@prod/shop/pod/cart-0:6379"_s;
        QTest::newRow("kubectl") << kube << kube;
        QTest::newRow("a context with slashes")
            << u"redis://h:1?kube=arn:a/b/shop/cart"_s << u"redis://h:1?kube=arn:a/b/shop/cart"_s;
        QTest::newRow("kubectl without a namespace") << u"redis://h:1?kube=cart"_s << QString();
        QTest::newRow("kubectl and ssh") << u"redis://h:1?kube=shop/cart&ssh=a"_s << QString();
        QTest::newRow("kubectl and two hosts") << u"zk://h,i?kube=shop/cart"_s << QString();
        QTest::newRow("a command is not shown") << u"redis://h:1?password-command=echo%20a"_s << u"redis://h:1"_s;
        QTest::newRow("a password and a command") << u"redis://:b@h:1?password-command=a"_s << QString();
        QTest::newRow("no scheme") << u"h:1"_s << QString();
        QTest::newRow("unknown scheme") << u"consul://h:1"_s << QString();
        QTest::newRow("bad port") << u"zk://h:99999"_s << QString();
        QTest::newRow("no host") << u"zk://"_s << QString();
        QTest::newRow("bad db") << u"redis://h/x"_s << QString();
        QTest::newRow("cluster") << u"redis+cluster://a:7000,b"_s << u"redis+cluster://a:7000,b:6379"_s;
        QTest::newRow("cluster with a database") << u"redis+cluster://a/1"_s << QString();
        QTest::newRow("sentinels") << u"redis+sentinel://me:x@a,b:5/my%20master/2"_s
                                   << u"redis+sentinel://a:26379,b:5/my master/2"_s;
        QTest::newRow("sentinels without a service") << u"redis+sentinel://a,b"_s << QString();
        QTest::newRow("sentinels and a bad db") << u"redis+sentinel://a/m/x"_s << QString();
        QTest::newRow("unknown option") << u"zk://h:1?x=1"_s << QString();
    }
    void readsConnections()
    {
        QFETCH(QString, argument);
        QFETCH(QString, shown);
        const auto spec = parseConnection(argument);
        QCOMPARE(spec ? spec->displayUri() : QString(), shown);
        if (!spec)
            QVERIFY(!spec.error().message.isEmpty());
    }

    // What is shown is read as the same again, and says it where TLS is not verified.
    void keepsHowItGetsThere()
    {
        const auto spec = parseConnection(u"zk://h:1?tls=on&verify=off&ca=/a&b=1"_s);
        QVERIFY(!spec); // an & of a name is written %26
        auto whole = parseConnection(u"zk://h:1?tls=on&verify=off&ca=/a%26b&cert=c&key=k&servername=s&ssh=u@j:22"_s);
        QVERIFY(whole);
        QCOMPARE(whole->transport.tls.ca, u"/a&b"_s);
        whole->transport.tls.keyPassphrase = u"s3cret"_s;
        QVERIFY(!whole->displayUri().contains(u"s3cret"_s));
        const auto again = parseConnection(whole->displayUri());
        QVERIFY(again);
        whole->transport.tls.keyPassphrase.clear();
        QVERIFY(again->transport.tls == whole->transport.tls && again->transport.ssh == whole->transport.ssh);
        QVERIFY(whole->transport.warning().contains(u"NOT VERIFIED"_s));
        QCOMPARE(transportWarning(whole->displayUri()), whole->transport.warning());
        QVERIFY(transportWarning(u"zk://h:1?tls=on"_s).isEmpty());
        QCOMPARE(passphraseVariable(ConnectionName("zk")), QByteArray("LOCKSCOPE_PASSWORD_ZK_KEY"));
    }

    void commandIsKeptWithItsConnection()
    {
        const auto spec = parseConnection(u"redis://h:1?password-command=echo%20a%26b"_s);
        QVERIFY(spec && spec->hasPassword());
        QCOMPARE(spec->transport.passwordCommand, u"echo a&b"_s);
        QCOMPARE(queryOf(*spec), u"password-command=echo%20a%26b"_s);
    }

    void aSchemeHasItsBackend()
    {
        QCOMPARE(backendOf(Scheme::ZooKeeper), BackendKind::ZooKeeper);
        QCOMPARE(backendOf(Scheme::Redis), BackendKind::Redis);
        QCOMPARE(backendOf(Scheme::RedisTls), BackendKind::Redis);
        QCOMPARE(backendOf(Scheme::MariaDb), BackendKind::MariaDb);
        QVERIFY(!backendOf(Scheme::Sandbox) && !backendOf(Scheme::Simulated));
        QCOMPARE(infoOf(BackendKind::MariaDb).word, u"mariadb"_s);
    }
    // Shared code reads what it says of a backend from the entry: none may lack a part.
    void eachBackendHasItsEntry()
    {
        std::set<QString> taken;
        for (std::size_t i = 0; i < allBackends().size(); ++i) {
            const auto &backend = allBackends()[i];
            QCOMPARE(static_cast<std::size_t>(backend.kind), i);
            QCOMPARE(&infoOf(backend.kind), &backend);
            const auto &words = backend.words;
            for (const auto &text :
                 {backend.title, backend.uriHelp, backend.lockHelp, backend.exampleLock, backend.exampleName,
                  backend.exampleHosts, backend.userMissing, backend.pathLabel, backend.pathMissing, words.entry,
                  words.looked, words.lookedOne, words.client, words.waitsFor, words.whoWaits, words.raw,
                  words.rawEntry, words.rawValue, words.nothing})
                QVERIFY2(!text.isEmpty(), qPrintable(backend.word));
            QVERIFY(taken.insert(backend.word).second && taken.insert(u"name "_s + backend.defaultName).second);
            for (const auto &scheme : backend.schemes) {
                QVERIFY(taken.insert(u"scheme "_s + scheme.word).second);
                QCOMPARE(backendOf(scheme.scheme), backend.kind);
                const auto spec =
                    parseConnection(scheme.word + (scheme.namesService ? u"://host/service"_s : u"://host"_s));
                QVERIFY2(spec, qPrintable(scheme.word));
                QCOMPARE(spec->hosts.front().port,
                         scheme.defaultPort != 0 ? scheme.defaultPort : backend.defaultPort);
            }
            QVERIFY(
                parseConnection(backend.schemes.front().word + u"://"_s + backend.exampleHosts.section(u' ', 0, 0)));
        }
        QCOMPARE(serverSchemes(), (QStringList{u"zk"_s, u"redis"_s, u"rediss"_s, u"redis+cluster"_s,
                                               u"redis+sentinel"_s, u"mariadb"_s, u"etcd"_s, u"postgresql"_s}));
    }
    void readsCredentials()
    {
        const auto spec = parseConnection(u"redis://me:p%40ss@h/3"_s);
        QCOMPARE(spec->user, u"me"_s);
        QCOMPARE(spec->password, u"p@ss"_s);
        QCOMPARE(spec->database, 3);
    }

    void namesConnections()
    {
        std::vector<ConnectionSpec> specs;
        for (const auto &argument : {u"zk://a:1"_s, u"redis://a:1"_s, u"zk://b:1"_s, u"zk3=zk://c:1"_s})
            specs.push_back(*parseConnection(argument));
        QVERIFY(nameConnections(specs));
        QByteArrayList names;
        for (const auto &spec : specs)
            names << spec.name.bytes();
        QCOMPARE(names, (QByteArrayList{"zk", "redis", "zk2", "zk3"}));
        specs.push_back(*parseConnection(u"zk3=zk://d:1"_s));
        QVERIFY(!nameConnections(specs));
    }

    void passwordVariables()
    {
        QCOMPARE(passwordVariable(ConnectionName("orders-zk2")), QByteArray("LOCKSCOPE_PASSWORD_ORDERS_ZK2"));
    }

    void randomIsTheSameForTheSameSeed()
    {
        Random one(7);
        Random again(7);
        Random other(8);
        const auto bytes = one.bytes(64);
        QCOMPARE(again.bytes(64), bytes);
        QVERIFY(other.bytes(64) != bytes);
        QVERIFY(Random::fromSystem().bytes(64) != Random::fromSystem().bytes(64));
        // The first numbers of xoshiro256** from a state made of splitmix64's first four.
        Random zero(0);
        QCOMPARE(zero.next(), quint64(0x99ec5f36cb75f2b4));
        QCOMPARE(zero.next(), quint64(0xbf6e1f784956452a));
    }
    void randomNumbersStayBelowTheBound()
    {
        Random random(1);
        std::array<int, 6> faces{};
        for (int i = 0; i < 6000; ++i)
            ++faces[random.below(6)];
        for (const int face : faces)
            QVERIFY2(face > 800 && face < 1200, qPrintable(QString::number(face)));
    }
    // Recorded seeds count on it: whoever draws, draws what the standard library's would.
    void randomNumbersAreThoseOfTheLibrary()
    {
        for (const quint64 bound :
             {quint64(1), quint64(2), quint64(6), quint64(401), quint64(1) << 40, ~quint64(0) / 3 * 2}) {
            Random ours(11), its(11);
            for (int i = 0; i < 1000; ++i) {
                const auto drawn = ours.below(bound);
                QCOMPARE(drawn, std::uniform_int_distribution<quint64>(0, bound - 1)(its));
            }
            QCOMPARE(ours.next(), its.next()); // as many were thrown away
        }
    }

    // Whoever shows an error's message shows it as it is.
    void errorMessageIsHarmless()
    {
        const Result<int> failed = Error{ErrorCode::BadInput, u"\"/\x1b[2J\" is\nnone: C:\\x, \\x07"_s};
        QCOMPARE(failed.error().message, u"\"/\\x1B[2J\" is none: C:\\x, \\x07"_s);
        const Result<int> again = failed.error();
        QCOMPARE(again.error().message, failed.error().message);
        QCOMPARE(harmlessLines(u"a\tb\n● \x1b\n"_s), u"a\\x09b\n● \\x1B\n"_s);
    }
};

LOCKSCOPE_TEST(TestBase)
#include "tst_base.moc"
