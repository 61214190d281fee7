// SPDX-License-Identifier: Apache-2.0
// lockscopectl beside a ZooKeeper server whose answers are malformed: it neither crashes nor takes all memory, ends
// with a status that is documented, and does not say that there is nothing.
#include "tests/program/fakezookeeper.h"
#include "tests/support/ctlfixture.h"
#include "tests/support/sanitizershare.h"
#include "tests/support/testmain.h"

#include <limits>
#include <sys/resource.h>

namespace {

constexpr qint32 largestCount = std::numeric_limits<qint32>::max();
using Spoil = std::function<void(FakeZooKeeper &)>;

// In place of the body of one kind of answer.
Spoil bodyOf(FakeZooKeeper::Operation which, std::function<QByteArray(const QByteArray &)> to)
{
    return [which, to](FakeZooKeeper &server) {
        server.spoil = [which, to](qint32 operation, const QByteArray &, const QByteArray &body) {
            return operation == which ? to(body) : body;
        };
    };
}
Spoil cutBy(FakeZooKeeper::Operation which, qsizetype bytes)
{
    return bodyOf(which, [bytes](const QByteArray &body) { return body.chopped(std::min(bytes, body.size())); });
}
Spoil beginsWith(FakeZooKeeper::Operation which, const QByteArray &begin)
{
    return bodyOf(which, [begin](QByteArray body) { return body.replace(0, begin.size(), begin); });
}
Spoil messages(const std::function<QByteArray(const QByteArray &)> &to)
{
    return [to](FakeZooKeeper &server) {
        server.spoilMessage = [to](qint32, const QByteArray &message) { return to(message); };
    };
}
Spoil greets(const std::function<QByteArray(const QByteArray &)> &to)
{
    return [to](FakeZooKeeper &server) { server.greeting = to(server.greeting); };
}

// Children of every znode, for ever.
Spoil endless(int count, qsizetype bytes)
{
    return bodyOf(FakeZooKeeper::List, [count, bytes](const QByteArray &) {
        QByteArrayList names;
        for (int i = 0; i < count; ++i)
            names << QByteArray::number(i) + QByteArray(bytes, 'n');
        return wire::list(names);
    });
}

// Two locks, each held by the session that waits for the other. Before a lock is read again the server is asked to
// sync it, and may refuse.
void haveDeadlock(FakeZooKeeper &server, bool refusesSync)
{
    static QByteArray asked;
    static const QByteArrayList claims{"_c_11111111-1111-4111-8111-111111111111-lock-0000000001",
                                       "_c_22222222-2222-4222-8222-222222222222-lock-0000000002"};
    server.spoil = [](qint32 operation, const QByteArray &path, const QByteArray &body) {
        asked = path;
        const bool isLock = path == "/a" || path == "/b";
        const bool isClaim = path.startsWith("/a/") || path.startsWith("/b/");
        if (operation == FakeZooKeeper::List)
            return wire::list(isLock ? claims : path == "/" ? QByteArrayList{"a", "b"} : QByteArrayList());
        if (operation == FakeZooKeeper::Sync || (!isLock && !isClaim))
            return body;
        auto stat = wire::stat(isLock ? 2 : 0);
        if (isClaim) // its owner
            stat.replace(44, 8, QByteArray(8, path.startsWith("/a") == path.endsWith('1') ? '\3' : '\4'));
        return operation == FakeZooKeeper::Get ? wire::text("10.0.0.7") + stat : stat;
    };
    server.spoilMessage = [refusesSync](qint32 operation, const QByteArray &message) {
        const bool isRefused = refusesSync && operation == FakeZooKeeper::Sync && (asked == "/a" || asked == "/b");
        return isRefused ? wire::text(message.mid(4, 12) + wire::number(-102)) : message; // no permission
    };
}

} // namespace
Q_DECLARE_METATYPE(Spoil)

class TestCtlMalformed : public QObject {
    Q_OBJECT

    // It ends while the event loop of the test goes on: the server answers there.
    static Ran ranAgainst(const FakeZooKeeper &server, const QStringList &command)
    {
        Ctl program(QStringList{u"--connect"_s, u"zk="_s + server.uri()} + command);
        if (!QTest::qWaitFor([&] { return program.pid() == 0; }, 120'000))
            return {-1, {}, "did not end"};
        return program.finish();
    }

private slots:
    void aWholeAnswerIsUnderstood()
    {
        const FakeZooKeeper server;
        const auto ran = ranAgainst(server, {u"tree"_s, u"zk:/locks"_s});
        QVERIFY2(ran.status == 0 && ran.out.contains("lock-0000000002"), ran.what());
    }

    void deadlockThatIsNotReadAgainIsNoClaim()
    {
        FakeZooKeeper server;
        haveDeadlock(server, false);
        auto ran = ranAgainst(server, {u"findings"_s});
        QVERIFY2(ran.out.contains("critical\tdeadlock\t"), ran.what());
        QVERIFY2(!ran.out.contains("could not be read again"), ran.what());
        haveDeadlock(server, true);
        for (const auto *command : {"findings", "graph"}) {
            ran = ranAgainst(server, {QString::fromLatin1(command)});
            QVERIFY2(ran.out.contains("a deadlock was seen once and could not be read again"), ran.what());
            QVERIFY2(!ran.out.contains("critical\tdeadlock\t") && !ran.out.contains("no problems found\n"),
                     ran.what());
        }
        const auto json = ranAgainst(server, {u"findings"_s, u"--json"_s}).json();
        QVERIFY(!json["coverage"_L1][0]["complete"_L1].toBool(true));
    }

    void aMalformedAnswerIsAnError_data()
    {
        using F = FakeZooKeeper;
        QTest::addColumn<Spoil>("spoil");
        const auto row = [](const char *name, const Spoil &spoil) { QTest::newRow(name) << spoil; };
        row("a list, cut after the header", cutBy(F::List, 1'000'000));
        row("a list, cut in a name", cutBy(F::List, 80));
        row("a list, cut in its stat", cutBy(F::List, 3));
        row("a list of 2^31-1 names", beginsWith(F::List, wire::number(largestCount)));
        row("a list of 10^8 names", beginsWith(F::List, wire::number(100'000'000)));
        row("a list of -1 names", beginsWith(F::List, wire::number(-1)));
        row("a list of -2 names", beginsWith(F::List, wire::number(-2)));
        row("a list with a name of 2^31-1 bytes", beginsWith(F::List, wire::number(1) + wire::number(largestCount)));
        row("a list with a name of -5 bytes", beginsWith(F::List, wire::number(1) + wire::number(-5)));
        row("a list with names that are empty", bodyOf(F::List, [](const QByteArray &) {
                return wire::list({"", ""});
            }));
        row("a list with a name that is a path", bodyOf(F::List, [](const QByteArray &) {
                return wire::list({"../..", "a/b"});
            }));
        row("data, cut after the header", cutBy(F::Get, 1'000'000));
        row("data, cut in its stat", cutBy(F::Get, 10));
        row("data of 2^31-1 bytes", beginsWith(F::Get, wire::number(largestCount)));
        row("data of -2 bytes", beginsWith(F::Get, wire::number(-2)));
        row("data of more bytes than there are", beginsWith(F::Get, wire::number(200)));
        row("a stat, cut after the header", cutBy(F::Exists, 1'000'000));
        row("a stat, cut", cutBy(F::Exists, 28));
        row("a sync without its path", cutBy(F::Sync, 1'000'000));
        row("another request's answer",
            messages([](QByteArray message) { return message.replace(4, 4, wire::number(99)); }));
        row("no header", messages([](const QByteArray &message) { return wire::text(message.mid(4, 8)); }));
        row("a length of -5", messages([](const QByteArray &) { return wire::number(-5); }));
        row("a length of 2^31-1",
            messages([](const QByteArray &message) { return wire::number(largestCount) + message; }));
        row("an event without a path", messages([](const QByteArray &message) {
                return wire::text(wire::number(-1) + QByteArray(12, '\0') + wire::number(4)) + message;
            }));
        row("an answer twice", messages([](const QByteArray &message) { return message + message; }));
        row("a greeting, cut", greets([](const QByteArray &whole) { return whole.left(20); }));
        row("a greeting with a password of 2^31-1 bytes",
            greets([](QByteArray whole) { return whole.replace(16, 4, wire::number(largestCount)); }));
        row("a greeting that is too long",
            greets([](const QByteArray &whole) { return whole + QByteArray(900, 'x'); }));
        row("names of 1 MB in a tree that never ends", endless(5, 1'000'000));
        row("a list of more than is read", endless(40, 1'000'000));
    }
    void aMalformedAnswerIsAnError()
    {
        QFETCH(const Spoil, spoil);
        FakeZooKeeper server;
        spoil(server);
        for (const auto &command : {QStringList{u"locks"_s}, {u"show"_s, u"zk:/locks"_s}}) {
            const auto ran = ranAgainst(server, command);
            QVERIFY2(ran.status >= 0 && ran.status <= 5, ran.what());
            const bool isReported = ran.status != 0 || ran.out.contains("Incomplete: ");
            QVERIFY2(isReported && !ran.err.contains("bad_alloc"), ran.what());
        }
        rusage used{};
        ::getrusage(RUSAGE_CHILDREN, &used); // of the largest so far
        if (sanitizerShare == 1)
            QVERIFY2(used.ru_maxrss < 200 * 1024, qPrintable(QString::number(used.ru_maxrss)));
    }
};

LOCKSCOPE_TEST(TestCtlMalformed)
#include "tst_ctl_malformed.moc"
