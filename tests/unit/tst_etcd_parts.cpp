// SPDX-License-Identifier: Apache-2.0
// etcd without a server: HTTP as it comes in pieces, the gateway's messages, and locks as they stand in the keys.
#include "core/etcd/http.h"
#include "core/inspect/etcd/observer.h"
#include "core/inspect/etcd/recognise.h"
#include "core/inspect/findings.h"
#include "core/inspect/json.h"
#include "core/operate/etcd.h"
#include "core/operate/forcereleaseplan.h"
#include "core/rehearse/rehearsal.h"
#include "tests/support/testmain.h"

using namespace lockscope::inspect;

namespace {

const ConnectionName connection("etcd");
constexpr ServerTime etcdNow(1'700'000'000s);

etcd::KeyValue entryOf(const QByteArray &key, etcd::Revision created, etcd::LeaseId lease,
                       const QByteArray &value = {})
{
    return {key, value, created, created, lease};
}

EtcdQueue etcdQueueOf(const std::vector<etcd::KeyValue> &entries)
{
    EtcdQueue queue;
    for (const auto &entry : entries)
        queue[entry.created].entry = entry;
    return queue;
}

QJsonObject json(const char *text)
{
    return *etcd::readObject(text);
}

} // namespace

class TestEtcdParts : public QObject {
    Q_OBJECT
private slots:
    void readsAnswersInWhateverPieces_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QByteArray>("body"); // null: no HTTP
        QTest::addColumn<bool>("isWhole");
        QTest::newRow("length") << QByteArray("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                                << QByteArray("hello") << true;
        QTest::newRow("empty") << QByteArray("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") << QByteArray("")
                               << true;
        QTest::newRow("chunks") << QByteArray(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0a;x=1\r\n0123456789\r\n0\r\n\r\n")
                                << QByteArray("abc0123456789") << true;
        QTest::newRow("chunks, not yet all")
            << QByteArray("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n5\r\nde")
            << QByteArray("abcde") << false;
        QTest::newRow("until closed") << QByteArray("HTTP/1.0 500 X\r\n\r\nwhy") << QByteArray("why") << false;
        QTest::newRow("another protocol") << QByteArray("-ERR unknown command\r\n\r\n") << QByteArray() << false;
        QTest::newRow("no length") << QByteArray("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n") << QByteArray()
                                   << false;
        QTest::newRow("too long") << QByteArray("HTTP/1.1 200 OK\r\nContent-Length: 4096\r\n\r\n") << QByteArray()
                                  << false;
        QTest::newRow("no piece") << QByteArray("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
                                  << QByteArray() << false;
    }
    void readsAnswersInWhateverPieces()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QByteArray, body);
        QFETCH(bool, isWhole);
        for (qsizetype size = 1; size <= bytes.size(); size += size < 4 ? 1 : bytes.size()) {
            etcd::HttpReader reader(1024);
            QByteArray got;
            bool isRefused = false;
            for (qsizetype i = 0; i < bytes.size() && !isRefused; i += size) {
                const auto piece = reader.take(bytes.mid(i, size));
                isRefused = !piece;
                got += piece ? *piece : QByteArray();
            }
            QCOMPARE(isRefused, body.isNull());
            if (!isRefused) {
                QCOMPARE(got, body);
                QCOMPARE(reader.isWhole(), isWhole);
            }
        }
    }

    void asksForWhatItMeans()
    {
        etcd::RangeRequest request{.key = "foo/",
                                   .end = etcd::endOfPrefix("foo/"),
                                   .limit = 1,
                                   .createdUpTo = 41,
                                   .order = etcd::Order::NewestFirst,
                                   .keysOnly = true};
        QCOMPARE(etcd::toJson(request),
                 json(R"({"key":"Zm9vLw==","range_end":"Zm9vMA==","limit":"1","max_create_revision":"41",
                          "sort_target":"CREATE","sort_order":"DESCEND","keys_only":true})"));
        etcd::Transaction transaction;
        transaction.conditions.push_back({"foo", 7});
        etcd::Operation remove{.kind = etcd::Operation::Kind::Remove};
        remove.range.key = "foo";
        QVERIFY(!operate::isWrite(transaction));
        transaction.then.push_back(remove);
        QVERIFY(operate::isWrite(transaction));
        QCOMPARE(etcd::toJson(transaction),
                 json(R"({"compare":[{"target":"CREATE","result":"EQUAL","key":"Zm9v","create_revision":"7"}],
                          "success":[{"request_delete_range":{"key":"Zm9v"}}],"failure":[]})"));
        transaction.conditions.front().lease = 123456789;
        QCOMPARE(etcd::toJson(transaction).value("compare"_L1).toArray().at(1).toObject(),
                 json(R"({"target":"LEASE","result":"EQUAL","key":"Zm9v","lease":"123456789"})"));
        // All keys.
        QCOMPARE(etcd::endOfPrefix({}), QByteArray(1, '\0'));
        QCOMPARE(etcd::endOfPrefix("a\xff"), QByteArray("b"));
        QCOMPARE(etcd::toJson(etcd::RangeRequest()).value("key"_L1).toString(), u"AA=="_s);
    }

    void readsWhatEtcdSays()
    {
        const auto transaction = etcd::readTransaction(json(
            R"({"header":{"revision":"2"},"succeeded":true,"responses":[{"response_put":{"header":{"revision":"2"}}},
                {"response_range":{"kvs":[{"key":"Zm9v","create_revision":"2","mod_revision":"2","version":"1",
                "lease":"123456789"}],"count":"1"}}]})"));
        QVERIFY(transaction && transaction->held && transaction->ranges.size() == 1);
        QCOMPARE(transaction->ranges[0].entries.front(), entryOf("foo", 2, 123456789));
        const auto lease =
            etcd::readLease(json(R"({"ID":"9223372036854775807","TTL":"9","grantedTTL":"10","keys":["Zm9v"]})"));
        QCOMPARE(lease->id, std::numeric_limits<qint64>::max());
        QVERIFY(lease->ttl == 9s && lease->granted == 10s && lease->keys.front() == "foo");
        QVERIFY(etcd::readLease(json(R"({"ID":"5","TTL":"-1"})"))->ttl < 0s);
        const auto news = etcd::readNews(json(
            R"({"result":{"header":{"revision":"3"},"events":[{"type":"DELETE","kv":{"key":"Zm9v","mod_revision":"3"}}]}})"));
        QVERIFY(!news.over && news.events.size() == 1 && news.events.front().isRemoved);
        QCOMPARE(news.events.front().entry.key, QByteArray("foo"));
        const auto over = etcd::readNews(json(R"({"result":{"header":{},"canceled":true,"compact_revision":"7"}})"));
        QVERIFY(over.over && over.over->message.contains("up to revision 7"_L1));
    }
    void refusesWhatIsNotAsItShouldBe_data()
    {
        const Rows<QByteArray> row("text");
        row("no key", QByteArray(R"({"kvs":[{"create_revision":"2","mod_revision":"2"}]})"));
        row("no revision", QByteArray(R"({"kvs":[{"key":"Zm9v"}]})"));
        row("entries that are not a list", QByteArray(R"({"kvs":"nonsense","more":true})"));
        row("a number that is none",
            QByteArray(R"({"kvs":[{"key":"Zm9v","create_revision":{},"mod_revision":"2"}]})"));
    }
    void refusesWhatIsNotAsItShouldBe()
    {
        QFETCH(QByteArray, text);
        QVERIFY(!etcd::readRange(json(text.constData())));
        QVERIFY(!etcd::readObject("[]") && !etcd::readObject("{") && !etcd::readLease({}));
    }
    void errorsSayWhatToThinkOfThem_data()
    {
        addColumns<QByteArray, int>("text", "code");
        const auto row = [](const char *name, const char *text, ErrorCode code) {
            QTest::newRow(name) << QByteArray(text) << static_cast<int>(code);
        };
        row("token", R"({"message":"etcdserver: invalid auth token","code":16})", ErrorCode::AuthFailed);
        row("password", R"({"message":"etcdserver: authentication failed, invalid user ID or password","code":3})",
            ErrorCode::AuthFailed);
        row("nobody", R"({"error":"etcdserver: user name is empty","code":3})", ErrorCode::AuthFailed);
        row("permission", R"({"message":"etcdserver: permission denied","code":7})", ErrorCode::NoPermission);
        row("no leader", R"({"message":"etcdserver: no leader","code":14})", ErrorCode::UnknownOutcome);
        row("lease", R"({"message":"etcdserver: requested lease not found","code":5})", ErrorCode::NoNode);
        row("nothing said", "{}", ErrorCode::Server);
    }
    void errorsSayWhatToThinkOfThem()
    {
        QFETCH(QByteArray, text);
        QFETCH(int, code);
        const auto error = etcd::errorOf(400, json(text.constData()));
        QCOMPARE(static_cast<int>(error.code), code);
        QVERIFY(!error.message.isEmpty());
    }

    void aUserIsToldWhichKeysAreItsOwn()
    {
        etcd::AccessRights access;
        QVERIFY(etcdRightsOf(access).front().startsWith(u"authentication is off"_s));
        access.areUsersOn = true;
        access.user = "bob\x1b";
        QCOMPARE(etcd::readRoles(json(R"({"roles":["app","root"]})")), (QStringList{u"app"_s, u"root"_s}));
        QCOMPARE(etcdRightsOf(access).front(),
                 u"user bob\\x1B may neither read nor write any key: none of its roles says that it may"_s);
        // As etcd 3.4 answers: what is zero is left out.
        access.permissions = etcd::readPermissions(json(
            R"({"perm":[{"key":"YQ==","range_end":"Yw=="},{"permType":"READWRITE","key":"YXBwLw==","range_end":"YXBwMA=="},
                             {"key":"Y29uZi94"},{"permType":"WRITE","key":"cQ==","range_end":"AA=="}]})"));
        QCOMPARE(etcdRightsOf(access),
                 (QStringList{u"user bob\\x1B may read and write the keys that begin with app/"_s,
                              u"may read, and not write, the keys from a to before c, the key conf/x"_s,
                              u"may write, and not read, the keys from q on"_s}));
        access.permissions = {{QByteArray(1, '\0'), QByteArray(1, '\0'), true, true}};
        QCOMPARE(etcdRightsOf(access).front(), u"user bob\\x1B may read and write all keys"_s);
        access.isRoot = true;
        QVERIFY(etcdRightsOf(access).front().endsWith(u"has the role root, and may do everything"_s));
    }

    void whichPrefixesMayBeRead()
    {
        etcd::AccessRights access;
        const auto may = [&access](const QByteArray &key, const QByteArray &end, bool reads) {
            access.permissions.push_back({key, end, reads, true});
        };
        may("jobs/", "jobs0", true);
        may("app/", "app0", true);
        may("app/part/", "app/part0", true); // below another
        may("written/", "written0", false);
        may("key", "", true);
        may("range", "rangez", true);
        QCOMPARE(readablePrefixes(access, {}), (QByteArrayList{"app/", "jobs/"}));
        QCOMPARE(readablePrefixes(access, "j"), QByteArrayList{"jobs/"});
        QCOMPARE(readablePrefixes(access, "other"), QByteArrayList());
        QVERIFY(prefixToChoose({"app/", "/a b?/"}).endsWith(u"end its URI with /app/ or //a%20b%3F/"_s));
        QVERIFY(prefixToChoose({}).contains(u"none of the scanned prefixes"_s));
    }

    void replyWithoutJsonIsQuoted()
    {
        const auto certificate = etcd::errorOfText(
            u"db1:2379"_s, 400,
            "CommonName of client sending a request against gateway will be ignored and not used as expected\n");
        QVERIFY(certificate.code == ErrorCode::AuthFailed);
        for (const auto &words :
             {u"TLS: db1:2379 reports \"CommonName of client"_s, u"without it with cert= and key="_s})
            QVERIFY2(certificate.message.contains(words), qPrintable(certificate.message));
        const auto other = etcd::errorOfText(u"db1:2379"_s, 502, "<h1>\x1b[2JBad\r\nGateway</h1>");
        QVERIFY(other.code == ErrorCode::Server);
        QCOMPARE(other.message, u"the server at db1:2379 is not an etcd v3: HTTP status 502: "
                                "\"<h1>\\x1B[2JBad Gateway</h1>\""_s);
        QVERIFY(etcd::errorOfText(u"h:1"_s, 500, QByteArray(100'000, 'x')).message.size() < 300);
        QCOMPARE(etcd::errorOfText(u"h:1"_s, 404, {}).message,
                 u"the server at h:1 is not an etcd v3: HTTP status 404"_s);
    }

    void knowsALockByItsKey_data()
    {
        addColumns<QByteArray, qint64>("key", "lease");
        QTest::addColumn<QByteArray>("lock"); // null: none
        QTest::newRow("Go's") << QByteArray("orders/75bcd15") << qint64(123456789) << QByteArray("orders");
        QTest::newRow("deeper") << QByteArray("/shop/orders/75bcd15") << qint64(123456789)
                                << QByteArray("/shop/orders");
        QTest::newRow("a slash of its own")
            << QByteArray("orders//75bcd15") << qint64(123456789) << QByteArray("orders/");
        QTest::newRow("another's lease") << QByteArray("orders/75bcd15") << qint64(5) << QByteArray();
        QTest::newRow("no lease") << QByteArray("orders/0") << qint64(0) << QByteArray();
        QTest::newRow("capitals") << QByteArray("orders/75BCD15") << qint64(123456789) << QByteArray();
        QTest::newRow("leading zero") << QByteArray("orders/075bcd15") << qint64(123456789) << QByteArray();
        QTest::newRow("as etcdctl prints it")
            << QByteArray("a/x.lock/00000000075bcd15") << qint64(123456789) << QByteArray("a/x.lock");
        QTest::newRow("a service, as etcdctl prints it")
            << QByteArray("services/00000000075bcd15") << qint64(123456789) << QByteArray();
        QTest::newRow("no prefix") << QByteArray("/75bcd15") << qint64(123456789) << QByteArray();
        const QByteArray decimal("7587868007797608997"), stamp("1700000000000000000");
        const qint64 lease = decimal.toLongLong();
        QTest::newRow("in decimal") << "city/locks/" + decimal << lease << QByteArray("city/locks");
        QTest::newRow("in decimal, a folder of locks") << "locks/a/" + decimal << lease << QByteArray("locks/a");
        QTest::newRow("in decimal, a lock's folder") << "a-lock/node/" + decimal << lease << QByteArray();
        QTest::newRow("in decimal, an election of Node's")
            << "election/a/" + decimal << lease << QByteArray("election/a");
        QTest::newRow("in decimal, a service of locks") << "lock-service/" + decimal << lease << QByteArray();
        QTest::newRow("in decimal, go-zero's") << "lock.rpc/" + decimal << lease << QByteArray();
        QTest::newRow("a reader") << "shop/orders/read/" + stamp << qint64(7) << QByteArray("shop/orders");
        QTest::newRow("a writer") << "orders/write/" + stamp << qint64(7) << QByteArray("orders");
        QTest::newRow("a reader without lease") << "orders/read/" + stamp << qint64(0) << QByteArray();
        QTest::newRow("a writer of no prefix") << "/write/" + stamp << qint64(7) << QByteArray();
        QTest::newRow("read, and a number") << QByteArray("mail/read/170000000000") << qint64(7) << QByteArray();
        QTest::newRow("unread") << "mail/unread/" + stamp << qint64(7) << QByteArray();
        QTest::newRow("a service") << QByteArray("services/web/10.0.0.1") << qint64(123456789) << QByteArray();
    }
    void knowsALockByItsKey()
    {
        QFETCH(QByteArray, key);
        QFETCH(qint64, lease);
        QFETCH(QByteArray, lock);
        const auto found = etcdLockOf(entryOf(key, 2, lease));
        QCOMPARE(found.value_or(QByteArray()), lock);
        QCOMPARE(found.has_value(), !lock.isNull());
    }

    void theOldestHoldsAndEachWatchesTheOneBefore()
    {
        const auto queue =
            etcdQueueOf({entryOf("orders/9", 12, 9), entryOf("orders/7", 11, 7), entryOf("orders/8", 14, 8)});
        const EtcdLeases leases{{7, {10s, etcdNow + 7s}}};
        const auto lock = etcdSnapshot({connection, "orders"}, queue, {}, leases, etcdNow);
        QCOMPARE(lock.recipe, QByteArray("etcd-mutex"));
        QVERIFY(lock.state == LockState::Contended && lock.confidence == Confidence::High && lock.findings.empty());
        QByteArrayList ids;
        for (const auto &contender : lock.contenders)
            ids << contender.id;
        QCOMPARE(ids, (QByteArrayList{"7@11", "9@12", "8@14"}));
        const auto &[holder, second, third] = std::tie(lock.contenders[0], lock.contenders[1], lock.contenders[2]);
        QVERIFY(holder.role == Role::Holder && holder.watches.empty() && !holder.heldSince);
        QVERIFY(holder.expiresAt == etcdNow + 7s && holder.session == u"7"_s);
        QVERIFY(second.role == Role::Waiter && second.watches.front().target == "7@11");
        QVERIFY(third.watches.front().target == "9@12" && third.watches.front().evidence == Evidence::Inferred);
        const auto sessions = etcdSessions({{"orders", queue}}, {}, leases, connection);
        QVERIFY(sessions.size() == 3 && sessions[0].holds.front() == "orders"
                && sessions[1].waits.front() == "orders");
    }
    // The claims' keys are the locks'; of very many others the first are kept, and their number.
    void otherKeysOfALeaseAreReported()
    {
        const auto queue = etcdQueueOf({entryOf("orders/7", 11, 7)});
        EtcdLeases leases{{7, {10s, etcdNow + 7s}}};
        const auto told = [&](const std::vector<QByteArray> &keys) {
            noteOtherKeys(leases[7], {7, 7s, 10s, keys});
            return etcdSessions({{"orders", queue}}, {}, leases, connection).front();
        };
        const auto two = told({"seen/b", "orders/7", "seen/a", "jobs/7"});
        QCOMPARE(two.alsoEnds, (std::vector<QByteArray>{"seen/a", "seen/b"}));
        QCOMPARE(two.alsoEndsCount, qint64(2));
        QCOMPARE(toJson(two)["alsoEndsCount"_L1].toInt(), 2);
        std::vector<QByteArray> many{"orders/7"};
        for (int i = 1000; i < 1500; ++i)
            many.push_back("seen/" + QByteArray::number(i));
        QCOMPARE(told(many).alsoEndsCount, qint64(500));
        QVERIFY(told(many).alsoEnds.size() < 100 && told(many).alsoEnds.front() == "seen/1000");
        QVERIFY(!toJson(told({"orders/7"})).contains("alsoEnds"_L1));
    }
    void candidatesProposeWhenTheyCome()
    {
        auto queue = etcdQueueOf({entryOf("jobs/7", 11, 7, "host-a"), entryOf("jobs/8", 12, 8, "host-b")});
        const auto lock = etcdSnapshot({connection, "jobs"}, queue, {}, {}, etcdNow);
        QCOMPARE(lock.recipe, QByteArray("etcd-election"));
        QCOMPARE(lock.contenders[0].identity, QByteArray("host-a"));
        queue[11].entry.modified = 20; // the leader proclaims something else
        QCOMPARE(etcdSnapshot({connection, "jobs"}, queue, {}, {}, etcdNow).recipe, QByteArray("etcd-election"));
    }
    void aValueWrittenByTheHolderIsNoElection()
    {
        auto queue = etcdQueueOf({entryOf("jobs/7", 11, 7, "host-a"), entryOf("jobs/8", 12, 8)});
        auto lock = etcdSnapshot({connection, "jobs"}, queue, {}, {}, etcdNow);
        QCOMPARE(lock.recipe, QByteArray("etcd-mutex"));
        QCOMPARE(lock.contenders[0].identity, QByteArray("host-a"));
        queue.erase(12);
        queue[11].entry.modified = 20;
        QCOMPARE(etcdSnapshot({connection, "jobs"}, queue, {}, {}, etcdNow).recipe, QByteArray("etcd-mutex"));
    }
    // A leader that is alone and has proclaimed something has written its key again, as a mutex's holder may.
    void nameOfALeadersKeyTells()
    {
        auto queue = etcdQueueOf({entryOf("shop/leader-election/7", 11, 7, "host-a")});
        queue[11].entry.modified = 20;
        const auto recipe = [&](const QByteArray &name) {
            return etcdSnapshot({connection, name}, queue, {}, {}, etcdNow).recipe;
        };
        QCOMPARE(recipe("shop/leader-election"), QByteArray("etcd-election"));
        QCOMPARE(recipe("shop/orders"), QByteArray("etcd-mutex"));
    }
    void electionInDecimalNamesTheLeader()
    {
        const auto queue = etcdQueueOf(
            {entryOf("election/a/1000007", 11, 1000007, "id-1"), entryOf("election/a/1000008", 12, 1000008, "id-2")});
        const auto lock = etcdSnapshot({connection, "election/a"}, queue, {}, {}, etcdNow);
        QVERIFY(lock.recipe == "etcd-election" && lock.confidence == Confidence::High);
        QVERIFY(lock.contenders[0].role == Role::Holder && lock.contenders[0].identity == "id-1");
    }
    void decimalLeasesBelowLocksQueueByRevision()
    {
        const auto queue = etcdQueueOf({entryOf("city/locks/1000007", 11, 1000007, R"({"Action":"X"})"),
                                        entryOf("city/locks/1000008", 12, 1000008, R"({"Action":"Y"})")});
        for (const auto &[created, claim] : queue)
            QCOMPARE(etcdLockOf(claim.entry), std::optional<QByteArray>("city/locks"));
        const auto lock = etcdSnapshot({connection, "city/locks"}, queue, {}, {}, etcdNow);
        QCOMPARE(lock.recipe, QByteArray("etcd-mutex"));
        QVERIFY(lock.contenders[0].role == Role::Holder && lock.contenders[0].identity == R"({"Action":"X"})");
        QVERIFY(lock.contenders[1].watches.front().target == lock.contenders[0].id);
        // A registry of services ends its keys so, too.
        QVERIFY(!etcdLockOf(entryOf("user.rpc/1000007", 11, 1000007, "10.0.0.7:80")));
        QVERIFY(!etcdLockOf(entryOf("shop/lock/1000007", 11, 1000007, "10.0.0.7:80")));
        QVERIFY(etcdLockOf(entryOf("shop/lock/1000007", 11, 1000007, "web-1")));
        QVERIFY(etcdLockOf(entryOf("shop/locks/1000007", 11, 1000007, "10.0.0.7:80")));
    }
    void decimalClaimWithoutItsLeaseIsAStray()
    {
        const QByteArray number("7587868007797608997");
        QCOMPARE(strayLockOf(entryOf("locks/" + number, 11, 0)), std::optional<QByteArray>("locks"));
        QVERIFY(!strayLockOf(entryOf("locks/" + number, 11, number.toLongLong())));
        QVERIFY(!strayLockOf(entryOf("locks/" + number, 11, 7))); // a number like any other
        QVERIFY(!strayLockOf(entryOf("users/" + number, 11, 0)));
        QVERIFY(!strayLockOf(entryOf("locks/1700000000", 11, 0)));
    }
    // R reader, W writer, M a claim of the mutex, F another key, f one whose name begins as those of writers do.
    void readersHoldUntilAnOlderWriter_data()
    {
        const Rows<QByteArray, QByteArray, QByteArray> row("keys", "holders", "awaited");
        row("a reader", "R", "0", "-");
        row("a writer", "W", "0", "-");
        row("two readers", "RR", "01", "--");
        row("a writer behind readers", "RRW", "01", "--1");
        row("a reader behind a writer", "RWR", "0", "-01");
        row("readers behind a writer", "WRR", "0", "-00");
        row("writers", "WWR", "0", "-01");
        row("a reader ignores the mutex", "MR", "01", "--");
        row("a mutex behind a reader", "RM", "0", "-0");
        row("a writer behind other data", "FW", "", "!");
        row("a reader beside other data", "FR", "1", "-");
        row("a reader behind a writer's folder", "fR", "", "!");
        row("other data between", "RFW", "0", "-!");
    }
    void readersHoldUntilAnOlderWriter()
    {
        QFETCH(QByteArray, keys);
        EtcdQueue queue;
        EtcdForeign foreign;
        for (qsizetype i = 0; i < keys.size(); ++i) {
            const auto stamp = QByteArray::number(1'700'000'000'000'000'000 + i);
            const etcd::LeaseId lease = 7 + i;
            const auto key = keys[i] == 'R'   ? "a/read/" + stamp
                             : keys[i] == 'W' ? "a/write/" + stamp
                             : keys[i] == 'M' ? "a/" + etcd::leaseText(lease)
                             : keys[i] == 'F' ? "a/config"_ba
                                              : "a/writes/x"_ba;
            const auto entry = entryOf(key, 11 + i, lease);
            QCOMPARE(etcdLockOf(entry) == QByteArray("a"), keys[i] != 'F' && keys[i] != 'f');
            if (keys[i] == 'F' || keys[i] == 'f')
                noteForeign(foreign, entry);
            else
                queue[entry.created].entry = entry;
        }
        const auto lock = etcdSnapshot({connection, "a"}, queue, foreign, {}, etcdNow);
        QCOMPARE(lock.recipe, QByteArray("etcd-rwmutex"));
        QVERIFY(lock.confidence == (keys.contains('M') ? Confidence::High : Confidence::Medium));
        QByteArray holders, awaited;
        for (const auto &one : lock.contenders) {
            const auto index = QByteArray::number(one.guard.etcd().createRevision - 11);
            QCOMPARE(one.mode, keys[index.toInt()] == 'R'   ? Mode::Read
                               : keys[index.toInt()] == 'W' ? Mode::Write
                                                            : Mode::Exclusive);
            holders += one.role == Role::Holder ? index : QByteArray();
            const auto *other = one.watches.isEmpty() ? nullptr : lock.find(one.watches.front().target);
            awaited += one.watches.isEmpty() ? "-"_ba
                       : other               ? QByteArray::number(other->guard.etcd().createRevision - 11)
                                             : "!"_ba;
        }
        QTEST(holders, "holders");
        QTEST(awaited, "awaited");
        const auto sessions = etcdSessions({{"a", queue}}, {{"a", foreign}}, {}, connection);
        QCOMPARE(std::ranges::count_if(sessions, [](const auto &one) { return !one.holds.empty(); }), holders.size());
    }
    // Reader A holds, writer B waits for it, readers C and D wait for B.
    void removalOfAWaitingWriterLetsTheReadersIn()
    {
        const auto keys = etcdQueueOf(
            {entryOf("a/read/1700000000000000000", 11, 7), entryOf("a/write/1700000000000000001", 12, 8),
             entryOf("a/read/1700000000000000002", 13, 9), entryOf("a/read/1700000000000000003", 14, 10)});
        const auto lock = etcdSnapshot({connection, "a"}, keys, {}, {}, etcdNow);
        const auto writer = operate::planWay(lock, "8@12", operate::ReleaseAction::KillWaiter);
        QVERIFY2(writer, writer ? "" : qPrintable(writer.error().message));
        QVERIFY2(writer->who.contains(u"9@13"_s) && writer->who.contains(u"a@14"_s), qPrintable(writer->who));
        QVERIFY(writer->commands.first().contains(u"create_revision(a/read/1700000000000000000) = 11"_s));
        // That the older reader is there would not prove that this one waits.
        const auto reader = operate::planWay(lock, "9@13", operate::ReleaseAction::KillWaiter);
        QVERIFY2(reader, reader ? "" : qPrintable(reader.error().message));
        QVERIFY2(reader->commands.first().contains(u"create_revision(a/write/1700000000000000001) = 12"_s),
                 qPrintable(reader->commands.first()));
        QVERIFY(reader->who.contains(u"no new holder"_s));
    }
    void releaseOfOneReaderLetsNoWriterIn()
    {
        const auto keys =
            etcdQueueOf({entryOf("a/read/1700000000000000000", 11, 7), entryOf("a/read/1700000000000000001", 12, 8),
                         entryOf("a/write/1700000000000000002", 13, 9)});
        const auto lock = etcdSnapshot({connection, "a"}, keys, {}, {}, etcdNow);
        const auto plan = operate::planForceRelease(lock, "7@11");
        QVERIFY2(plan, plan ? "" : qPrintable(plan.error().message));
        QVERIFY(!plan->nextHolder && plan->wakes.contains(u"other readers hold it"_s));
        QCOMPARE(plan->commands, QStringList{u"txn: if create_revision(a/read/1700000000000000000) = 11 then delete "
                                             "a/read/1700000000000000000"_s});
        auto one = keys;
        one.erase(12);
        const auto last = operate::planForceRelease(etcdSnapshot({connection, "a"}, one, {}, {}, etcdNow), "7@11");
        QVERIFY(last && last->nextHolder == "9@13");
    }
    void readersAndWritersWithDataAreNone()
    {
        const QByteArray stamp("1700000000000000000");
        QVERIFY(!etcdLockOf(entryOf("mail/read/" + stamp, 11, 7, "hello")));
        auto rewritten = entryOf("mail/read/" + stamp, 11, 7);
        rewritten.modified = 15;
        QVERIFY(!etcdLockOf(rewritten));
        QVERIFY(isKnownEntry("barrier/waiters/" + stamp) && !isKnownEntry("barrier/waiters/5")
                && !isKnownEntry("barrier/read/" + stamp) && !isKnownEntry(""));
        QVERIFY(isKnownEntry("by-dev/meta/session/rootcoord-7") && isKnownEntry("by-dev/meta/session/querynode-12")
                && !isKnownEntry("by-dev/meta/session/rootcoord")); // the active one is elected by that key
    }
    void claimWithoutLeaseHolds()
    {
        const QByteArray old = "deploy/694d7a3f1b2c3d4e";
        EtcdQueues locks{{"deploy", etcdQueueOf({entryOf("deploy/7", 12, 7)})}};
        auto lost = entryOf(old, 11, 0, "host-1");
        lost.modified = 15;
        addStrays(locks, {{"deploy", etcdQueueOf({lost})}});
        const auto lock = etcdSnapshot({connection, "deploy"}, locks["deploy"], {}, {}, etcdNow);
        QVERIFY(lock.recipe == "etcd-mutex" && lock.confidence == Confidence::High);
        const auto &holder = lock.contenders[0];
        QVERIFY(holder.role == Role::Holder && holder.identity == "host-1" && !holder.session && !holder.expiresAt);
        QVERIFY(lock.contenders[1].role == Role::Waiter && lock.contenders[1].watches.front().target == holder.id);
        QVERIFY(lock.find(FindingCode::NoTtl) && lock.worst() == Severity::Critical);
        QVERIFY(!lock.find(FindingCode::ForeignNode));
        const auto sessions = etcdSessions(locks, {}, {}, connection);
        QVERIFY(sessions.size() == 1 && sessions[0].holds.empty() && sessions[0].waits.front() == "deploy");
        const auto plan = operate::planForceRelease(lock, holder.id);
        QVERIFY2(plan, plan ? "" : qPrintable(plan.error().message));
        QCOMPARE(plan->commands,
                 QStringList{u"txn: if create_revision(%1) = 11 then delete %1"_s.arg(QString::fromUtf8(old))});
        QVERIFY(plan->nextHolder == lock.contenders[1].id);
        QVERIFY(!operate::planWay(lock, holder.id, operate::ReleaseAction::EndLease));
    }
    // Names of 16 hexadecimal digits are what data has, too.
    void dataNamedAsAClaimIsNoLock()
    {
        const auto one = entryOf("users/694d7a3f1b2c3d4e", 11, 0, "data");
        auto written = one;
        written.modified = 15;
        EtcdQueues locks;
        addStrays(locks, {{"users", etcdQueueOf({one})}});
        QVERIFY(locks.empty());
        addStrays(locks, {{"users", etcdQueueOf({written, entryOf("users/694d7a3f1b2c3d4f", 12, 0)})}});
        QVERIFY(locks.empty());
        addStrays(locks, {{"users", etcdQueueOf({written})}});
        QCOMPARE(etcdSnapshot({connection, "users"}, locks["users"], {}, {}, etcdNow).confidence, Confidence::Low);
        QCOMPARE(etcdSnapshot({connection, "a/lock"}, locks["users"], {}, {}, etcdNow).confidence,
                 Confidence::Medium);
    }
    void olderForeignKeyLeavesNoHolder()
    {
        const auto queue = etcdQueueOf({entryOf("orders/7", 11, 7)});
        const EtcdForeign older{{entryOf("orders/config", 5, 0)}};
        const auto lock = etcdSnapshot({connection, "orders"}, queue, older, {}, etcdNow);
        QVERIFY(lock.holderCount() == 0 && lock.waiterCount() == 1);
        QCOMPARE(lock.contenders[0].watches.front().target, QByteArray("orders/config"));
        const auto *finding = lock.find(FindingCode::ForeignNode);
        QVERIFY(finding && finding->message.contains(u"orders/config, which has no lease"_s));
        QVERIFY2(finding->message.contains(
                     uR"(printf 'c("orders/config") = "5"\n\ndel orders/config\n\n\n' | etcdctl txn)"_s),
                 qPrintable(finding->message));
        const auto sentence = answerSentence(lock, etcdNow);
        QCOMPARE(sentence, u"no client holds orders; 1 waits; the first in the queue waits for orders/config"_s);
        const auto sessions = etcdSessions({{"orders", queue}}, {{"orders", older}}, {}, connection);
        QVERIFY(sessions[0].holds.empty() && sessions[0].waits.front() == "orders");
        const auto plan = operate::planForceRelease(lock, lock.contenders[0].id);
        QVERIFY(!plan && plan.error().message.contains(u"waits for orders/config"_s));
    }
    void youngerForeignKeyIsReported()
    {
        const auto queue = etcdQueueOf({entryOf("orders/7", 11, 7)});
        const auto lock =
            etcdSnapshot({connection, "orders"}, queue, {{entryOf("orders/config", 12, 0)}}, {}, etcdNow);
        QVERIFY(lock.holderCount() == 1 && lock.worst() == Severity::Info);
        QVERIFY(lock.find(FindingCode::ForeignNode)->message.contains(u"the next client that comes waits"_s));
    }
    // The next in the queue does not wait for the holder.
    void foreignKeyBetweenHolderAndWaiterLeavesNoNext()
    {
        const auto queue = etcdQueueOf({entryOf("pay/7", 11, 7), entryOf("pay/8", 13, 8), entryOf("pay/9", 14, 9)});
        const auto lock = etcdSnapshot({connection, "pay"}, queue, {{entryOf("pay/config", 12, 0)}}, {}, etcdNow);
        QVERIFY(lock.contenders[0].role == Role::Holder && lock.find(FindingCode::ForeignNode));
        QCOMPARE(lock.contenders[1].watches.front().target, QByteArray("pay/config"));
        QCOMPARE(lock.contenders[2].watches.front().target, lock.contenders[1].id);
        QVERIFY(!lock.nextAfter(lock.contenders[0].id));
        const auto plan = operate::planForceRelease(lock, lock.contenders[0].id);
        QVERIFY(plan && !plan->nextHolder && plan->wakes.contains(u"waits for pay/config"_s));
        const auto rehearsal = rehearse::rehearse(*plan);
        QVERIFY(rehearsal && rehearsal->next == rehearse::Next::NoOne && rehearsal->woken == 0);
        QVERIFY(rehearsal->assumed.join(u' ').contains(u"pay/config"_s));
    }
    void manyForeignKeysLeaveTheOrderOpen()
    {
        EtcdForeign many;
        for (int i = 0; i < 40; ++i)
            noteForeign(many, entryOf("pay/data" + QByteArray::number(i), 12 + i, 0));
        const auto queue = etcdQueueOf({entryOf("pay/7", 11, 7), entryOf("pay/8", 99, 8)});
        const auto lock = etcdSnapshot({connection, "pay"}, queue, many, {}, etcdNow);
        QVERIFY(lock.contenders[0].role == Role::Holder && lock.contenders[1].watches.isEmpty());
        QVERIFY(!lock.nextAfter(lock.contenders[0].id) && lock.worst() == Severity::Warning);
    }
    void releaseWakesTheWaiterOfTheLockAbove()
    {
        auto inner = etcdSnapshot({connection, "o/a"}, etcdQueueOf({entryOf("o/a/7", 11, 7)}), {}, {}, etcdNow);
        const auto above = etcdQueueOf({entryOf("o/8", 12, 8)});
        addWaiterAbove(inner, "o", above, {{entryOf("o/a/7", 11, 7)}});
        const auto plan = operate::planForceRelease(inner, inner.contenders[0].id);
        QVERIFY(plan && plan->wakes.contains(u"waits for the lock o (8@12)"_s));
        const auto rehearsal = rehearse::rehearse(*plan);
        QVERIFY(rehearsal && rehearsal->assumed.join(u' ').contains(u"waits for the lock o (8@12)"_s));
        auto free = etcdSnapshot({connection, "o/a"}, etcdQueueOf({entryOf("o/a/7", 11, 7)}), {}, {}, etcdNow);
        addWaiterAbove(free, "o", etcdQueueOf({entryOf("o/8", 10, 8)}), {{entryOf("o/a/7", 11, 7)}});
        QVERIFY(free.findings.empty());
    }
    void aLeaseThatNobodyRenewsIsSaid_data()
    {
        const Rows<int, int, bool> row("granted", "left", "isSaid");
        row("renewed in time", 10, 6, false);
        row("missed", 10, 3, true);
        row("too short to tell", 3, 1, false);
    }
    void aLeaseThatNobodyRenewsIsSaid()
    {
        QFETCH(int, granted);
        QFETCH(int, left);
        QFETCH(bool, isSaid);
        const EtcdLeases leases{{7, {std::chrono::seconds(granted), etcdNow + std::chrono::seconds(left)}}};
        const auto lock =
            etcdSnapshot({connection, "orders"}, etcdQueueOf({entryOf("orders/7", 11, 7)}), {}, leases, etcdNow);
        QCOMPARE(lock.find(FindingCode::HolderDisconnected) != nullptr, isSaid);
    }

    void itsReleaseIsPlannedExactly()
    {
        const auto queue = etcdQueueOf({entryOf("orders/7", 11, 7), entryOf("orders/8", 12, 8)});
        const auto lock = etcdSnapshot({connection, "orders"}, queue, {}, {}, etcdNow);
        const auto plan = operate::planForceRelease(lock, "7@11");
        QVERIFY2(plan, plan ? "" : qPrintable(plan.error().message));
        QVERIFY(plan->exact && plan->nextHolder == "8@12");
        QCOMPARE(plan->commands, QStringList{u"txn: if create_revision(orders/7) = 11 then delete orders/7"_s});
        const auto waiter = operate::planWay(lock, "8@12", operate::ReleaseAction::KillWaiter);
        QVERIFY2(waiter, waiter ? "" : qPrintable(waiter.error().message));
        QVERIFY(waiter->commands.front().contains("create_revision(orders/7) = 11"_L1));
        // A name that comes again.
        QVERIFY(!operate::planForceRelease(lock, "7"));
        QVERIFY(!operate::planForceRelease(lock, "8@12"));
    }
};

LOCKSCOPE_TEST(TestEtcdParts)
#include "tst_etcd_parts.moc"
