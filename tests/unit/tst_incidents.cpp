// SPDX-License-Identifier: Apache-2.0
// Incidents as tables: locks as lines of text in; out come their locks, who is blocked and what is folded.
#include "core/inspect/waits/incidents.h"
#include "tests/support/testmain.h"
#include "tests/unit/drawnlocks.h"

#include <QJsonArray>

using namespace lockscope::inspect;
using namespace lockscope::inspect::drawing;
using namespace std::chrono_literals;

namespace {

// With the findings of age, as observers add them, and those of `extra`: "zk:/a no-ttl A".
std::vector<LockSnapshot> judged(const QString &picture, const QStringList &extra = {})
{
    auto locks = drawnLocks(picture);
    for (auto &lock : locks) {
        lock.observed = std::chrono::time_point_cast<std::chrono::milliseconds>(pictureTime);
        addAgeFindings(lock, Thresholds{});
        for (const auto &line : extra) {
            const auto parts = line.split(u' ');
            const auto kind = std::ranges::find(findingKinds(), parts[1],
                                                [](const FindingKind &one) { return QString::fromLatin1(one.name); });
            if (parts[0].toUtf8() == lock.lock.text())
                addFinding(lock, kind->code, parts.value(3) == "critical"_L1 ? Severity::Critical : kind->severity,
                           u"drawn"_s, {parts[2].toUtf8()});
        }
    }
    return locks;
}

std::vector<Incident> incidentsIn(const std::vector<LockSnapshot> &locks)
{
    const auto graph = waitGraphOf(locks, {}, pictureTime);
    auto judgedLocks = locks;
    for (auto &lock : judgedLocks)
        addDeadlocks(lock, graph, graph.cycles);
    return incidentsOf(graph, judgedLocks);
}

// "root-blocker zk:/a blocks 2, folds 1 long-wait".
QStringList incidentWords(const std::vector<LockSnapshot> &locks)
{
    QStringList all;
    for (const auto &incident : incidentsIn(locks)) {
        QStringList names;
        for (const auto &lock : incident.locks)
            names << QString::fromUtf8(lock.text());
        const auto folded = foldedText(incident);
        all << u"%1 %2 blocks %3%4"_s.arg(kindWord(incident), names.join(u'+'),
                                          QString::number(incident.blocked.size()),
                                          folded.isEmpty() ? QString() : u", folds %1"_s.arg(folded));
    }
    return all;
}

} // namespace

class TestIncidents : public QObject {
    Q_OBJECT
private slots:
    void incidents_data()
    {
        const Rows<QString, QStringList, QStringList> row("picture", "extra", "incidents");
        row("no client waits long", u"zk:/a kazoo-lock: A=30 | B=20"_s, {}, {});
        row("a long hold without waiters", u"zk:/a kazoo-lock: A=9000 |"_s, {}, {});
        row("a long wait has a root", u"zk:/a kazoo-lock: A=900 | B=600 C=500"_s, {},
            {u"root-blocker zk:/a blocks 2, folds 1 long-held, 1 long-wait"_s});
        row("one root over two locks", u"zk:/a kazoo-lock: A=900 | B=600\nzk:/b kazoo-lock: B=900 | C=500"_s, {},
            {u"root-blocker zk:/a blocks 2, folds 1 long-held, 2 long-wait"_s});
        row("two roots", u"zk:/a kazoo-lock: A=200 | B=150\nzk:/b kazoo-lock: C=200 | D=150 E=140"_s, {},
            {u"root-blocker zk:/b blocks 2, folds 1 long-wait"_s,
             u"root-blocker zk:/a blocks 1, folds 1 long-wait"_s});
        row("an election is none", u"zk:/a curator-leader: A=9000 | B=8000"_s, {}, {});
        row("a deadlock folds the waits behind it",
            u"zk:/a kazoo-lock: A=900 | B=600 C=300\nzk:/b kazoo-lock: B=900 | A=600"_s, {},
            {u"deadlock zk:/a+zk:/b blocks 1, folds 2 long-held, 2 long-wait"_s});
        row("a deadlock and another root",
            u"zk:/a kazoo-lock: A | B\nzk:/b kazoo-lock: B | A\nzk:/c kazoo-lock: C=900 | D=600"_s, {},
            {u"deadlock zk:/a+zk:/b blocks 0"_s, u"root-blocker zk:/c blocks 1, folds 1 long-held, 1 long-wait"_s});
        row("no expiry, no waiter", u"redis:a redis-set-nx: t1=4000 |"_s, {u"redis:a no-ttl t1"_s},
            {u"no-ttl redis:a blocks 0, folds 1 long-held"_s});
        row("no expiry explains the wait", u"zk:/a kazoo-lock: A=900 | B=600"_s, {u"zk:/a no-ttl A"_s},
            {u"no-ttl zk:/a blocks 1, folds 1 long-held, 1 long-wait"_s});
        row("disconnected without waiters", u"zk:/a kazoo-lock: A |"_s, {u"zk:/a holder-disconnected A"_s}, {});
        row("disconnected with waiters", u"zk:/a kazoo-lock: A | B=300"_s, {u"zk:/a holder-disconnected A"_s},
            {u"holder-disconnected zk:/a blocks 1, folds 1 long-wait"_s});
        row("one idle transaction, two rows",
            u"mariadb:t#id=1 sql-for-update: 9 | 3\nmariadb:t#id=2 sql-for-update: 9 | 4"_s,
            {u"mariadb:t#id=1 idle-in-transaction 9"_s, u"mariadb:t#id=2 idle-in-transaction 9"_s},
            {u"idle-in-transaction mariadb:t#id=1+mariadb:t#id=2 blocks 2"_s});
        row("no release wakes the second", u"zk:/a kazoo-lock: A | B C"_s, {u"zk:/a lost-wakeup B"_s},
            {u"lost-wakeup zk:/a blocks 2"_s});
        row("a wrong watch that stops the queue", u"zk:/a kazoo-lock: | B=300 C=290"_s,
            {u"zk:/a wrong-watch B critical"_s}, {u"lost-wakeup zk:/a blocks 2, folds 1 long-wait"_s});
        row("a wrong watch that may be right", u"zk:/a kazoo-lock: A | B C"_s, {u"zk:/a wrong-watch C"_s}, {});
        row("a wait for an unknown holder", u"zk:/a kazoo-lock: | B=300"_s, {}, {});
        row("a finding of another client's lock stays",
            u"zk:/a kazoo-lock: A=30 | B=20\nzk:/c kazoo-lock: A=9000 |"_s, {}, {});
    }
    void incidents()
    {
        QFETCH(QString, picture);
        QFETCH(QStringList, extra);
        QTEST(incidentWords(judged(picture, extra)), "incidents");
    }

    void aDeadlockNamesItsClientsAndAVictim()
    {
        const auto found = incidentsIn(judged(u"zk:/a kazoo-lock: A=900 | B=600\nzk:/b kazoo-lock: B=800 | A=500"_s));
        QCOMPARE(found.size(), std::size_t(1));
        const auto &deadlock = found.front();
        QCOMPARE(deadlock.severity, Severity::Critical);
        QCOMPARE(deadlock.age, std::optional<std::chrono::milliseconds>(500s)); // since the last one waits
        QVERIFY2(deadlock.cause.contains(" wait for each other."_L1), qPrintable(deadlock.cause));
        QVERIFY2(deadlock.cause.endsWith("if each client does one thing at a time."_L1), qPrintable(deadlock.cause));
        QCOMPARE(deadlock.target.front().lock.text(), QByteArray("zk:/b"));
        QCOMPARE(deadlock.target.front().contender, QByteArray("B"));
        QVERIFY2(deadlock.action.contains("no other client waits for it"_L1), qPrintable(deadlock.action));
    }

    void endedDeadlocksArePast()
    {
        EndedDeadlock known{
            .parties = {{u"6"_s, "h root", "UPDATE t", "t#id=1", true}, {u"7"_s, {}, {}, "t#id=2", false}}};
        EndedDeadlock counted{.unknown = u"the server only counts them"_s};
        std::vector<Coverage> coverage(1);
        coverage[0] = {.connection = ConnectionName("db"), .complete = true, .endedDeadlocks = {known, counted}};
        const auto locks = judged(u"zk:/a kazoo-lock: A=900 | B=600"_s);
        const auto found = incidentsOf(waitGraphOf(locks, {}, pictureTime), locks, coverage);
        QCOMPARE(found.size(), std::size_t(3));
        QCOMPARE(kindWord(found.front()), u"root-blocker"_s);
        QCOMPARE(kindWord(found[1]), u"deadlock-ended"_s);
        QCOMPARE(found[1].severity, Severity::Info);
        QCOMPARE(found[1].locks.size(), std::size_t(2));
        QVERIFY2(found[1].cause.contains("connection 6 was rolled back"_L1), qPrintable(found[1].cause));
        QVERIFY2(found[2].locks.empty() && found[2].cause.contains("only counts"_L1), qPrintable(found[2].cause));
    }

    void oneBlockedClientIsSingular()
    {
        const auto cause = [](const QString &picture) { return incidentsIn(judged(picture)).front().cause; };
        QVERIFY(cause(u"zk:/a kazoo-lock: A=900 | B=600"_s).endsWith("holds zk:/a and blocks 1 client."_L1));
        QVERIFY(cause(u"zk:/a kazoo-lock: A=900 | B=600 C=1"_s).endsWith("holds zk:/a and blocks 2 clients."_L1));
        // A writer waits for each of the readers: one of them is not the whole cause.
        const auto found = incidentsIn(judged(u"zk:/a curator-rwlock: A.r=900 B.r=800 | C=600"_s));
        QCOMPARE(found.size(), std::size_t(1));
        QVERIFY2(found.front().cause.endsWith("blocks 1 client. 1 other client holds it as well."_L1),
                 qPrintable(found.front().cause));
    }

    void theJsonNamesWhatIsFolded()
    {
        const auto json = toJson(incidentsIn(judged(u"zk:/a kazoo-lock: A=900 | B=600"_s))).at(0).toObject();
        QCOMPARE(json["kind"_L1].toString(), u"root-blocker"_s);
        QCOMPARE(json["blocked"_L1].toInt(), 1);
        QCOMPARE(json["ageMs"_L1].toInt(), 900'000);
        QCOMPARE(json["folded"_L1].toArray().size(), 2);
        QCOMPARE(json["target"_L1].toArray().at(0).toObject()["id"_L1].toString(), u"A"_s);
    }
};

LOCKSCOPE_TEST(TestIncidents)
#include "tst_incidents.moc"
