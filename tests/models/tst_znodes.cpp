// SPDX-License-Identifier: Apache-2.0
// The live tree of znodes: lazy, in runs, in bounded turns.
#include "tests/models/znodesfixture.h"
#include "tests/support/testmain.h"

#include "tests/models/treetext.h"

#include <QAbstractItemModelTester>

using namespace lockscope::ui;

class TestZnodes : public ZnodesFixture {
    Q_OBJECT

private slots:
    void isEmptyWithoutAConnection()
    {
        World world;
        world.model.setConnection(nullptr, {});
        QAbstractItemModelTester tester(&world.model);
        QCOMPARE(world.model.rowCount(), 0);
        QVERIFY(!world.model.find(path("/")).isValid());
    }

    void growsAsItIsExpanded()
    {
        World world;
        world.connectTo();
        QCOMPARE(treeText(world.model, {0}), u"/\n"_s);
        QVERIFY(world.backend.calls.isEmpty());
        QVERIFY(world.load("/"));
        // The tester itself fetches what it meets when it starts.
        QAbstractItemModelTester tester(&world.model);
        tester.setUseFetchMore(false);
        QVERIFY(world.load("/locks"));
        QVERIFY(world.load("/locks/orders"));
        QCOMPARE(treeText(world.model, {0, 1, 3}), u"/|2|\n"
                                                   "  app|0|\n"
                                                   "  locks|2|\n"
                                                   "    orders|2|\n"
                                                   "      c-0000000001|0|0x1000009b4890001\n"
                                                   "      c-0000000002|0|0x1000009b4890001\n"
                                                   "    stock|0|\n"_s);
        QCOMPARE(world.backend.calls,
                 QStringList({u"listZnodes zk /"_s, u"listZnodes zk /locks"_s, u"listZnodes zk /locks/orders"_s}));
        QCOMPARE(world.model.loadedCount(), 7);
    }

    void knowsWhatCanBeExpandedBeforeListing()
    {
        World world;
        world.connectTo();
        QVERIFY(world.model.hasChildren(world.model.find(path("/")))); // unknown counts as yes
        QVERIFY(world.load("/"));
        QVERIFY(world.model.hasChildren(world.model.find(path("/locks"))));
        QVERIFY(!world.model.hasChildren(world.model.find(path("/app"))));
        QVERIFY(!world.model.canFetchMore(world.model.find(path("/app"))));
        const auto locks = world.model.find(path("/locks"));
        QVERIFY(world.model.canFetchMore(locks));
        world.model.fetchMore(locks);
        QVERIFY(!world.model.canFetchMore(locks)); // asked once
        world.model.fetchMore(locks);
        QCOMPARE(world.backend.calls.count(u"listZnodes zk /locks"_s), 1);
    }

    void tellsChangesInRuns()
    {
        World world;
        world.connectTo();
        world.ensemble.set("/", {"b", "c", "d", "f", "g", "k"});
        QVERIFY(world.load("/"));
        QAbstractItemModelTester tester(&world.model);
        tester.setUseFetchMore(false);
        SignalWords signalWords(world.model);
        const QPersistentModelIndex kept = world.model.find(path("/f"));

        world.ensemble.set("/", {"m", "l", "k", "a", "f", "b", "e"});
        world.ensemble.setStat("/f", 3);
        world.ensemble.setStat("/k", 4);
        world.model.refresh(path("/"));
        QTRY_COMPARE(world.model.rowCount(world.model.find(path("/"))), 7);
        QCOMPARE(signalWords.take(), QStringList({
                                         u"-/ 4-4"_s, // g
                                         u"-/ 1-2"_s, // c, d
                                         u"+/ 0-0"_s, // a
                                         u"+/ 2-2"_s, // e
                                         u"+/ 5-6"_s, // l, m
                                         u"~/ 3-4"_s, // f, k: one range
                                         u"~ 0-0"_s,  // the count of "/"
                                     }));
        QCOMPARE(treeText(world.model, {0, 4}), u"/|\n  a|0\n  b|0\n  e|0\n  f|3\n  k|4\n  l|0\n  m|0\n"_s);
        QVERIFY(kept.isValid());
        QCOMPARE(kept.row(), 3);
        QCOMPARE(kept.data().toString(), u"f"_s);
    }

    void tellsNothingWhenNothingChanged()
    {
        World world;
        world.connectTo();
        QVERIFY(world.load("/"));
        SignalWords signalWords(world.model);
        world.model.refresh(path("/"));
        QTRY_COMPARE(world.backend.calls.size(), 2);
        QTRY_COMPARE(signalWords.words, QStringList({u"~ 0-0"_s})); // it has been listed again
    }

    void mergesRefreshesWhileAsked()
    {
        World world;
        world.connectTo();
        QVERIFY(world.load("/"));
        world.backend.holdAnswers = true;
        for (int i = 0; i < 5; ++i)
            world.model.refresh(path("/"));
        QCOMPARE(world.backend.waitingAnswers(), 1);
        world.backend.deliverAnswers();
        QTRY_COMPARE(world.backend.waitingAnswers(), 1); // once more for the four
        world.backend.deliverAnswers();
        QTRY_VERIFY(world.model.isLoaded(world.model.find(path("/"))));
        QCOMPARE(world.backend.calls.size(), 3);
    }

    void marksWhatIsForbidden()
    {
        World world;
        world.ensemble.forbid("/locks");
        world.connectTo();
        QVERIFY(world.load("/"));
        const QPersistentModelIndex locks = world.model.find(path("/locks"));
        world.model.fetchMore(locks);
        QTRY_VERIFY(locks.data(ZnodeNode::ForbiddenRole).toBool());
        QCOMPARE(locks.data(ZnodeNode::ErrorRole).toString(), u"no READ for us"_s);
        QCOMPARE(locks.sibling(locks.row(), ZnodeNode::Children).data().toString(), u"no access"_s);
        QVERIFY(!world.model.canFetchMore(locks));                      // views would ask for ever
        QCOMPARE(world.model.rowCount(world.model.find(path("/"))), 2); // the rest works
        world.ensemble.allow("/locks");
        world.model.refresh(path("/locks"));
        QTRY_COMPARE(world.model.rowCount(locks), 2);
        QVERIFY(!locks.data(ZnodeNode::ForbiddenRole).toBool());
    }

    void dropsAFolderThatVanished()
    {
        World world;
        world.connectTo();
        QVERIFY(world.load("/"));
        QVERIFY(world.load("/locks"));
        world.ensemble.set("/", {"app"});
        world.backend.holdAnswers = true;
        world.model.refresh(path("/locks")); // will answer, but after the node has left
        world.model.refresh(path("/"));
        world.backend.deliverAnswers();
        QTRY_COMPARE(treeText(world.model, {0}), u"/\n  app\n"_s);
        QCOMPARE(world.model.loadedCount(), 2);
    }

    void ignoresAnswersForTheOldConnection()
    {
        World world;
        world.connectTo();
        world.backend.holdAnswers = true;
        world.model.fetchMore(world.model.index(0, 0));
        SignalWords signalWords(world.model);
        world.model.setConnection(&world.backend, ConnectionName("other"_ba));
        world.backend.deliverAnswers();
        QCoreApplication::processEvents();
        QCOMPARE(signalWords.take(), QStringList({u"reset"_s}));
        QCOMPARE(treeText(world.model, {0}), u"/\n"_s);
    }

    void showsHostileNamesSafely()
    {
        World world;
        world.ensemble.set("/", {"<b>bold</b>", "esc\x1b[31m", "tail ", QByteArray(1000, 'x')});
        world.connectTo();
        QVERIFY(world.load("/"));
        const QString long60(60, u'x');
        QCOMPARE(treeText(world.model, {0}), u"/\n  <b>bold</b>\n  esc\\x1B[31m\n  \"tail \"\n  "_s + long60
                                                 + u" … "_s + long60 + u" (1,000 bytes)\n"_s);
        const auto tip = world.model.index(0, 0, world.model.index(0, 0)).data(Qt::ToolTipRole).toString();
        QVERIFY2(tip.contains(u"&lt;b&gt;"_s), qPrintable(tip));
    }

    void revealsAPathThroughUnloadedFolders()
    {
        World world;
        world.connectTo();
        QByteArray found;
        connect(&world.model, &ZnodesModel::revealed, this,
                [&](const QModelIndex &index) { found = index.data(ZnodeNode::PathRole).toByteArray(); });
        world.model.reveal(path("/locks/orders/c-0000000002"));
        QTRY_COMPARE(found, "/locks/orders/c-0000000002"_ba);
    }

    void saysWhyAPathCannotBeRevealed()
    {
        World world;
        world.connectTo();
        QString why;
        connect(&world.model, &ZnodesModel::revealFailed, this,
                [&](const ZPath &, const QString &text) { why = text; });
        world.model.reveal(path("/locks/nothing/here"));
        QTRY_COMPARE(why, u"/locks has no child nothing"_s);
        why.clear();
        world.ensemble.forbid("/locks/orders");
        world.model.reveal(path("/locks/orders/x"));
        QTRY_COMPARE(why, u"no READ for us"_s);
    }

    void learnsStatsThatAListWasTooLongToTell()
    {
        World world;
        world.backend.on<ListZnodes>() = [](const ListZnodes &query) -> Result<std::vector<ZnodeRow>> {
            std::vector<ZnodeRow> rows;
            if (query.path.isRoot())
                rows.push_back({NodeName("leaf"_ba), {}, false, std::nullopt});
            return rows;
        };
        world.connectTo();
        QVERIFY(world.load("/"));
        const QPersistentModelIndex leaf = world.model.find(path("/leaf"));
        QVERIFY(world.model.hasChildren(leaf)); // unknown counts as yes
        QCOMPARE(leaf.sibling(leaf.row(), ZnodeNode::Version).data().toString(), QString());
        zk::Stat stat{.version = 7};
        QSignalSpy expandability(&world.model, &ZnodesModel::expandabilityChanged);
        world.model.learn(path("/leaf"), stat);
        QCOMPARE(leaf.sibling(leaf.row(), ZnodeNode::Version).data().toString(), u"7"_s);
        QVERIFY(!world.model.hasChildren(leaf));
        QCOMPARE(expandability.count(), 1);
        world.model.refresh(path("/"));
        QTRY_COMPARE(world.backend.calls.size(), 2);
        QTRY_VERIFY(world.model.isLoaded(world.model.find(path("/"))));
        QCOMPARE(leaf.sibling(leaf.row(), ZnodeNode::Version).data().toString(), u"7"_s); // not forgotten
    }
};

LOCKSCOPE_TEST(TestZnodes)
#include "tst_znodes.moc"
