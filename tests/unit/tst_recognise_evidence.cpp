// SPDX-License-Identifier: Apache-2.0
// What the servers' answers prove, what they do not, and what follows from them: edges, ages, findings;
// and which directories are worth reading at all.
#include "tests/support/testmain.h"
#include "znodetable.h"

#include "core/inspect/findings.h"
#include "core/inspect/zookeeper/recognise.h"
#include "core/rules/turn.h"

using namespace lockscope::inspect;
using namespace lockscope::inspect::table;

namespace {

const QByteArray three = R"(
    {h1}__lock__0000000001 s1
    {h2}__lock__0000000002 s2
    {h3}__lock__0000000003 s3)";

QByteArray edge(const LockSnapshot &lock, size_t contender)
{
    const auto &edges = lock.contenders.at(contender).watches;
    if (edges.size() != 1)
        return QByteArray::number(static_cast<int>(edges.size())) + " edges";
    const QByteArray mark = edges[0].evidence == Evidence::Server ? "->" : "~>";
    return mark + (edges[0].children ? QByteArray("children") : shorten(edges[0].target));
}

std::vector<NodeName> names(const QByteArray &text)
{
    std::vector<NodeName> out;
    for (const auto &name : expand(text).split(' '))
        out.emplace_back(name);
    return out;
}

} // namespace

class TestRecogniseEvidence : public QObject {
    Q_OBJECT
private slots:
    void edgeIsProvenByAWatchOfAOneNodeSession()
    {
        const QByteArray watch = "\n s3 > {h2}__lock__0000000002";
        const Input input("/l", three + watch);
        QCOMPARE(edge(input.locks()[0], 2), QByteArray("->{h2}__lock__0000000002"));
        QCOMPARE(edge(input.locks()[0], 1), QByteArray("~>{h1}__lock__0000000001"));

        const Input twice("/l", three + "\n {h4}__lock__0000000004 s3" + watch);
        QCOMPARE(edge(twice.locks()[0], 2), QByteArray("~>{h2}__lock__0000000002"));

        Input ours("/l", three + watch);
        ours.context.ourselves = zk::SessionId{sessionNumber(3)};
        QCOMPARE(edge(ours.locks()[0], 2), QByteArray("~>{h2}__lock__0000000002"));

        Input blind("/l", three + watch);
        blind.context.evidence = nullptr;
        QCOMPARE(edge(blind.locks()[0], 2), QByteArray("~>{h2}__lock__0000000002"));
        QVERIFY(!blind.locks()[0].contenders[0].endpoint);
    }

    void evidenceCarriesTheChroot()
    {
        Input input("/l", three);
        input.context.chroot = "/app";
        input.evidence.dataWatches[ZPath(expand("/app/l/{h2}__lock__0000000002"))].insert(
            zk::SessionId{sessionNumber(3)});
        QCOMPARE(edge(input.locks()[0], 2), QByteArray("->{h2}__lock__0000000002"));
        QCOMPARE(input.locks()[0].lock.name, QByteArray("/l"));
    }

    void anEagerWaiterWatchesMore()
    {
        const Input input("/l", three + R"(
            s3 > {h1}__lock__0000000001
            s3 > {h2}__lock__0000000002
            s3 > {h3}__lock__0000000003)");
        const auto lock = input.locks()[0];
        QCOMPARE(
            draw(lock.contenders[2]),
            expand("{h3}__lock__0000000003 waits exclusive 2 ->{h2}__lock__0000000002 ->{h1}__lock__0000000001"));
        QVERIFY(!lock.find(FindingCode::WrongWatch));
    }

    void knowsWhoTheyAre()
    {
        Input input("/l", three);
        input.directory.children[0].data = QByteArray(300, 'x');
        input.directory.children[0].stat.version = 4;
        const auto holder = input.locks()[0].contenders[0];
        QCOMPARE(holder.session, zk::SessionId{sessionNumber(1)}.text());
        QCOMPARE(holder.endpoint, QStringLiteral("10.0.0.1:1000"));
        QCOMPARE(holder.identity, QByteArray(256, 'x'));
        const ZnodeIdentity guard{
            .path = expand("/l/{h1}__lock__0000000001"), .czxid = 1, .owner = sessionNumber(1), .version = 4};
        QCOMPARE(holder.guard.znode(), guard);
        QVERIFY(!input.locks()[0].contenders[1].identity);
        input.directory.children[0].data.reset(); // no permission to read it
        QVERIFY(!input.locks()[0].contenders[0].identity);
    }

    void ages()
    {
        Input input("/l", three);
        auto lock = input.locks()[0];
        QCOMPARE(*lock.contenders[0].heldSince, ServerTime(1s));
        QVERIFY(lock.contenders[0].heldAtMost);
        QVERIFY(!lock.contenders[0].waitingSince);
        QCOMPARE(*lock.contenders[1].waitingSince, ServerTime(2s));

        const HeadSince seen{{{ZPath(expand("/l/{h1}__lock__0000000001")), 1}, ServerTime(77s)}};
        input.context.headSince = &seen;
        lock = input.locks()[0];
        QCOMPARE(*lock.contenders[0].heldSince, ServerTime(77s));
        QVERIFY(!lock.contenders[0].heldAtMost);

        const Input first("/l", "{h1}__lock__0000000000 s1");
        QVERIFY2(!first.locks()[0].contenders[0].heldAtMost, "nobody was before the first node of a directory");
        const Input plain("/locks", "job s1");
        QVERIFY2(!plain.locks()[0].contenders[0].heldAtMost, "a plain node is made when the lock is taken");
    }

    void longAges()
    {
        const Input input("/locks", "job s1");
        auto lock = input.locks()[0]; // held for 999 s
        addAgeFindings(lock, {1000s, 1000s});
        QVERIFY(lock.findings.empty());
        addAgeFindings(lock, {998s, 1000s});
        QCOMPARE(lock.findings.size(), size_t(1));
        QCOMPARE(lock.findings[0].code, FindingCode::LongHeld);
        QCOMPARE(lock.findings[0].severity, Severity::Info); // it keeps nobody waiting
        lock.findings.clear();
        lock.contenders.emplace_back().id = "waiter";
        addAgeFindings(lock, {998s, 1000s});
        QCOMPARE(lock.findings[0].severity, Severity::Warning);
        lock.findings.clear();
        lock.recipe = "curator-leader"; // leads, and shall
        addAgeFindings(lock, {998s, 1000s});
        QVERIFY(lock.findings.empty());

        auto queue = Input("/l", three).locks()[0];
        addAgeFindings(queue, {900s, 997s});
        QCOMPARE(queue.findings.size(), size_t(2));
        QCOMPARE(queue.findings[0].severity, Severity::Info); // at most that long
        QCOMPARE(queue.findings[1].code, FindingCode::LongWait);
        QCOMPARE(queue.findings[1].contenders, std::vector<QByteArray>{expand("{h2}__lock__0000000002")});
    }

    void holderWithoutConnection()
    {
        Input input("/l", three);
        QVERIFY(input.locks()[0].findings.empty());
        const zk::SessionId holder{sessionNumber(1)};
        input.evidence.connections.erase(holder);
        input.evidence.connections.erase(zk::SessionId{sessionNumber(3)});
        input.evidence.expiresIn[holder] = 3200ms;
        const auto lock = input.locks()[0];
        const auto *gone = lock.find(FindingCode::HolderDisconnected);
        QVERIFY(gone);
        QCOMPARE(gone->message,
                 QStringLiteral("session 0x100000000000001 has no live connection; it expires in 3.2 s"));
        QCOMPARE(gone->contenders, std::vector<QByteArray>{lock.contenders[0].id});
        QCOMPARE(*lock.contenders[0].expiresAt, lock.observed + 3200ms);
        QVERIFY(lock.find(FindingCode::StaleQueue));
        QCOMPARE(lock.find(FindingCode::StaleQueue)->contenders, std::vector<QByteArray>{lock.contenders[2].id});

        input.evidence.answers["cons"].answered = 0; // one member may have the connection
        QVERIFY(input.locks()[0].findings.empty());
    }

    void laterSessionIsNotMissingInTheReply()
    {
        Input input("/l", three);
        input.evidence.connections.clear();
        input.evidence.askedAt = zk::Evidence().askedAt + 500ms;
        QVERIFY(input.locks()[0].findings.empty());
    }

    void holderFallenSilent()
    {
        Input input("/l", three);
        auto &facts = input.evidence.connections[zk::SessionId{sessionNumber(1)}];
        facts.silence = 8600ms; // two thirds of 10 s, after which the crate zookeeper pings, and a tick
        QVERIFY(!input.locks()[0].find(FindingCode::HolderDisconnected));
        facts.silence = 8700ms;
        QVERIFY(input.locks()[0].find(FindingCode::HolderDisconnected));
    }

    void wrongWatch()
    {
        const QByteArray watch = "\n s3 > {h1}__lock__0000000001";
        Input input("/l", three + watch);
        const auto lock = input.locks()[0];
        QVERIFY(lock.find(FindingCode::WrongWatch));
        QCOMPARE(edge(lock, 2), QByteArray("->{h1}__lock__0000000001"));

        input.evidence.answers["wchp"].members = 3; // the right watch may be on another member
        QVERIFY(!input.locks()[0].find(FindingCode::WrongWatch));
        input.evidence.answers["wchp"].members = 1;
        input.evidence.askedAt = std::chrono::system_clock::time_point(2500ms); // before it queued
        QVERIFY(!input.locks()[0].find(FindingCode::WrongWatch));
    }

    void lostWakeupNeedsTwoLooks()
    {
        Input input("/l", three + "\n s2 > {h1}__lock__0000000001");
        LostWakeupMemory memory;
        const auto judged = [&] {
            auto lock = input.locks()[0];
            memory.judge(lock, input.context);
            return lock;
        };
        QVERIFY(!judged().find(FindingCode::LostWakeup));
        QVERIFY2(!judged().find(FindingCode::LostWakeup), "the same answer again proves nothing new");
        input.evidence.askedAt += 1s;
        const auto lock = judged();
        QVERIFY(lock.find(FindingCode::LostWakeup));
        QCOMPARE(lock.find(FindingCode::LostWakeup)->contenders, std::vector<QByteArray>{lock.contenders[2].id});

        input.evidence.dataWatches[ZPath(expand("/l/{h2}__lock__0000000002"))].insert(
            zk::SessionId{sessionNumber(3)});
        input.evidence.askedAt += 1s;
        QVERIFY(!judged().find(FindingCode::LostWakeup));
        input.evidence.dataWatches.erase(ZPath(expand("/l/{h2}__lock__0000000002")));
        input.evidence.askedAt += 1s;
        QVERIFY2(!judged().find(FindingCode::LostWakeup), "twice in a row, not twice ever");
    }

    void lostWakeupOnlyWhereItCanBeSeen_data()
    {
        const Rows<QByteArray, int> row("nodes", "suspects");
        row("kazoo", three, 2);
        row("herd: child watches are never listed", "herd-0000000001 s1\nherd-0000000002 s2", 0);
        row("textbook: may watch the children", "a-W-0000000001 s1\nb-W-0000000002 s2", 0);
        row("nobody's names: may poll", "lock-0000000001 s1\nlock-0000000002 s2", 0);
        row("two nodes of one session", "{h1}__lock__0000000001 s1\n{h2}__lock__0000000002 s1", 0);
        row("persistent", "{h1}__lock__0000000001 s1\n{h2}__lock__0000000002 -", 0);
    }
    void lostWakeupOnlyWhereItCanBeSeen()
    {
        QFETCH(QByteArray, nodes);
        QFETCH(int, suspects);
        Input input("/l", nodes);
        const auto lock = input.locks()[0];
        QCOMPARE(static_cast<int>(watchingNothing(lock, input.context).size()), suspects);
        input.evidence.answers["wchp"].members = 2;
        QVERIFY(watchingNothing(lock, input.context).empty());
        input.evidence.answers["wchp"].members = 1;
        input.evidence.askedAt = {}; // older than their wait
        QVERIFY(watchingNothing(lock, input.context).empty());
    }

    void aWaiterCutOffHasNoWatches()
    {
        Input input("/l", three);
        input.evidence.connections.erase(zk::SessionId{sessionNumber(2)});
        QCOMPARE(watchingNothing(input.locks()[0], input.context),
                 std::vector<QByteArray>{expand("{h3}__lock__0000000003")});
    }

    void herd()
    {
        const Input input("/locks", "job s1\ns2 > job\ns3 > job\ns4 > job");
        const auto lock = input.locks()[0];
        QCOMPARE(lock.find(FindingCode::Herd)->message, QStringLiteral("1 release wakes 3"));
        QCOMPARE(lock.contenders[1].endpoint, QStringLiteral("10.0.0.2:1000"));
        QVERIFY(lock.waitersKnown);
        Input partial("/locks", "job s1\ns2 > job");
        partial.evidence.answers["wchp"].members = 3;
        QVERIFY(!partial.locks()[0].waitersKnown);
    }

    void directoriesWorthReading_data()
    {
        addColumns<QByteArray, QByteArray>("parent", "ephemerals");
        QTest::addColumn<QByteArray>("directory"); // empty: none
        const auto row = [](const char *parent, const char *ephemerals, const char *directory) {
            QTest::addRow("%s %s", parent, ephemerals)
                << QByteArray(parent) << QByteArray(ephemerals) << QByteArray(directory);
        };
        row("/l/orders", "_c_{u1}-lock-0000000001", "/l/orders");
        row("/l/sem/locks", "_c_{u1}-lock-0000000001", "/l/sem");
        row("/l/sem/leases", "_c_{u1}-lease-0000000001", "/l/sem");
        row("/locks", "_c_{u1}-lock-0000000001", "/locks");
        row("/app/locks", "{h1}__lock__0000000001", "/app/locks");
        row("/l/pool-__lock__", "{h1}__lock__0000000001", "/l/pool");
        row("/l/pool", "{h1} {h2}", "/l/pool");
        row("/hadoop-ha/ns1", "ActiveStandbyElectorLock", "/hadoop-ha/ns1");
        row("/", "controller", "/");
        row("/locks", "job-a job-b", "/locks");
        row("/app", "orders-lock other", "/app");
        row("/shedlock", "job-a job-b", "/shedlock");
        row("/main/LOCK/PARTICIPANT", "host-a host-b", "/main/LOCK/PARTICIPANT");
        row("/services/api", "host-a", "/services/api");
        row("/services/api", "host-a host-b", "");
        row("/brokers/ids", "1", "");
        row("/hbase/rs", "a,1,2", "");
        row("/ch/block_numbers/all", "block-0000000001", "");
        row("/ch/replicas/r", "is_active", "");
        row("/live_nodes", "a:1_solr", "");
        row("/empty", "ready", "");
    }
    void directoriesWorthReading()
    {
        QFETCH(QByteArray, parent);
        QFETCH(QByteArray, ephemerals);
        QFETCH(QByteArray, directory);
        QCOMPARE(candidateDirectory(ZPath(parent), names(ephemerals)).value_or(ZPath()).bytes(), directory);
    }

    // A node that is written anew by each holder: no id comes to mean another one.
    void aLeaseIsKnownByWhenItWasWritten()
    {
        Input input("/shedlock", "job - 1970-01-01T00:20:00Z");
        const auto first = input.locks().at(0).contenders.at(0).id;
        QCOMPARE(input.locks().at(0).contenders.at(0).id, first);
        input.directory.children.front().stat.mzxid += 2;
        QVERIFY(input.locks().at(0).contenders.at(0).id != first);
    }

    void partsWorthReading()
    {
        const Input composite("/l/sem", "locks - \nleases - ");
        QCOMPARE(partsToRead(composite.directory),
                 (std::vector<ZPath>{ZPath("/l/sem/locks"), ZPath("/l/sem/leases")}));
        const Input pool("/l/pool", "{h1} s1", "3");
        QCOMPARE(partsToRead(pool.directory), (std::vector<ZPath>{ZPath("/l/pool-__lock__")}));
        const Input queue("/l/q", three);
        QVERIFY(partsToRead(queue.directory).empty());
    }

    void turnsInALongQueueAreThoseOfTheWholeQueue()
    {
        // Each turn is decided on a shortened queue; it must be the one of the whole.
        for (const auto watches : {recipes::ReaderWatches::LowestWriter, recipes::ReaderWatches::NearestWriter}) {
            const bool curator = watches == recipes::ReaderWatches::LowestWriter;
            std::vector<recipes::Queued> whole;
            QByteArray text;
            for (int i = 0; i < 40; ++i) {
                const bool reads = i < 3 || i * 7 % 5 > 1;
                const QByteArray base =
                    curator ? (reads ? "-__READ__" : "-__WRIT__") : (reads ? "__rlock__" : "__lock__");
                const QByteArray name =
                    expand(QByteArray(curator ? "_c_{u" : "{h") + QByteArray::number(9 - i % 9) + '}') + base
                    + QByteArray::number(i).rightJustified(10, '0');
                text += name + " s" + QByteArray::number(i % 9 + 1) + '\n';
                whole.push_back({*recipes::readSequence(NodeName(name)),
                                 reads ? recipes::Access::Shared : recipes::Access::Exclusive});
            }
            const auto lock = Input("/l", text).locks()[0];
            QCOMPARE(lock.contenders.size(), size_t(40));
            for (const auto &contender : lock.contenders) {
                const auto turn = recipes::turnInReadWriteQueue(whole, NodeName(contender.id), watches);
                QCOMPARE(contender.role == Role::Holder, turn.isMine());
                if (!turn.isMine())
                    QCOMPARE(contender.watches[0].target, turn.predecessor->bytes());
            }
        }
    }

    void namesAreNotTrusted()
    {
        // Bytes that are no UTF-8, numbers that are no numbers, a megabyte of data.
        Input input("/l", "");
        for (const auto &name :
             {QByteArray("\xff\xfe"), QByteArray("_c_"), QByteArray("_c_-lock-"), QByteArray("x-"),
              QByteArray("0000000001"), QByteArray("__lock__99999999999"), QByteArray(5000, '-'), QByteArray("{\n}"),
              QByteArray("-W-"), QByteArray("lock-"), QByteArray("_lock_0000000001")}) {
            ZnodeView node{.name = NodeName(name)};
            node.stat.ephemeralOwner = zk::SessionId{sessionNumber(1)};
            node.data = QByteArray(1024 * 1024, '\x1b');
            input.directory.children.push_back(node);
        }
        for (const auto &lock : input.locks()) {
            for (const auto &one : lock.contenders)
                QVERIFY(!one.identity || one.identity->size() <= 256);
        }
    }
};

LOCKSCOPE_TEST(TestRecogniseEvidence)
#include "tst_recognise_evidence.moc"
