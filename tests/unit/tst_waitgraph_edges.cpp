// SPDX-License-Identifier: Apache-2.0
// The wait-for graph: which edges have evidence, and between which connections a wait cannot be seen.
#include "core/inspect/json.h"
#include "core/inspect/waits/waitgraph.h"
#include "tests/support/testmain.h"
#include "tests/unit/drawnlocks.h"

using namespace lockscope::inspect;
using namespace lockscope::inspect::drawing;

class TestWaitGraphEdges : public QObject {
    Q_OBJECT
private slots:
    void unlinkedConnections_data()
    {
        const Rows<QString, QString, QString> row("picture", "labels", "unlinked");
        const auto apart = u"zk:/a kazoo-lock: A | B\nmariadb:n sql-get-lock: 7 | 8"_s;
        row("waits on two servers", apart, {}, u"mariadb zk"_s);
        row("waits on one server", u"zk:/a kazoo-lock: A | B\nmariadb:n sql-get-lock: 7 |"_s, {}, {});
        row("every waiter is linked", apart, u"A=one 8=one B=two 7=two"_s, {});
    }
    // Clients that are known on one server only may be one client: then a deadlock is not found.
    void unlinkedConnections()
    {
        QFETCH(QString, picture);
        QFETCH(QString, labels);
        QFETCH(QString, unlinked);
        const auto graph = waitGraphOf(drawnLocks(picture), drawnLabels(labels), pictureTime);
        QVERIFY(!graph.edges.empty());
        QStringList names;
        for (const auto &name : inspect::unlinkedConnections(graph))
            names << QString::fromUtf8(name.bytes());
        QCOMPARE(names.join(u' '), unlinked);
        QCOMPARE(unlinkedSentence(graph, u"link them"_s).isEmpty(), unlinked.isEmpty());
    }

    void aWatchTellsForWhomTheFirstWaits()
    {
        auto lock = drawnLock(u"zk:/rw kazoo-rwlock: | A.r B"_s);
        QVERIFY(waitGraphOf({lock}, {}, pictureTime).edges[0].behind.empty());
        lock.contenders[0].watches = {{"B", false, Evidence::Inferred}};
        QVERIFY(waitGraphOf({lock}, {}, pictureTime).edges[0].behind.empty());
        lock.contenders[0].watches = {{"B", false, Evidence::Server}};
        const auto graph = waitGraphOf({lock}, {}, pictureTime);
        QCOMPARE(graph.edges[0].behind, std::vector<int>{graph.edges[1].client});
        QCOMPARE(graph.edges[1].behind, std::vector<int>{graph.edges[0].client});
        QCOMPARE(lock.waitersGrantedWithout("B"), std::vector<const Contender *>{&lock.contenders[0]});
        QVERIFY(answerSentence(lock, lock.observed).startsWith(u"no client holds /rw; 2 wait"_s));
    }

    void waitForTheOwnHoldIsReported_data()
    {
        const Rows<QString, bool> row("picture", "isBehindItself");
        row("holder and waiter of one session", u"zk:/a curator-mutex: A | A"_s, true);
        row("another session waits", u"zk:/a curator-mutex: A | B"_s, false);
        row("a second waiter has another in its way", u"zk:/a curator-mutex: A | B A"_s, false);
    }
    void waitForTheOwnHoldIsReported()
    {
        QFETCH(QString, picture);
        QFETCH(bool, isBehindItself);
        const auto graph = waitGraphOf({drawnLock(picture)}, {}, pictureTime);
        const auto &last = graph.edges.back();
        QCOMPARE(last.kind, GraphEdge::Kind::Waits);
        QCOMPARE(last.isBehindItself, isBehindItself);
        QVERIFY(graph.cycles.empty());
        const auto json = toJson(graph).value("edges"_L1).toArray().last().toObject();
        QCOMPARE(json.value("behind"_L1).toArray().size(), 1);
    }
};

LOCKSCOPE_TEST(TestWaitGraphEdges)
#include "tst_waitgraph_edges.moc"
