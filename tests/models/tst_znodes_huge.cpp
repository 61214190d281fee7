// SPDX-License-Identifier: Apache-2.0
// A folder of very many znodes: a part of it is in the tree, in bounded turns, and what is said of the rest is so.
#include "tests/models/znodesfixture.h"
#include "tests/support/testmain.h"

#include "tests/models/treetext.h"

#include <QAbstractItemModelTester>

using namespace lockscope::ui;

class TestZnodesHuge : public ZnodesFixture {
    Q_OBJECT

private slots:
    void fillsAHugeFolderInBoundedTurns()
    {
        constexpr int many = 300'000;
        World world;
        world.ensemble.set("/app", shuffled(many));
        world.connectTo();
        QVERIFY(world.load("/"));

        int inTurn = 0;
        int mostInTurn = 0;
        int inserted = 0;
        bool isInsideTurn = false;
        connect(&world.model, &ZnodesModel::turnBegins, this, [&] {
            inTurn = 0;
            isInsideTurn = true;
        });
        connect(&world.model, &ZnodesModel::turnEnds, this, [&] { isInsideTurn = false; });
        connect(&world.model, &ZnodesModel::rowsInserted, this, [&](const QModelIndex &, int first, int last) {
            QVERIFY(isInsideTurn);
            inTurn += last - first + 1;
            inserted += last - first + 1;
            mostInTurn = std::max(mostInTurn, inTurn);
        });
        const ZPath app = path("/app");
        world.model.fetchMore(world.model.find(app));
        QTRY_VERIFY_WITH_TIMEOUT(world.model.isLoaded(world.model.find(app)), 60'000);
        QCOMPARE(inserted, ZnodesModel::rowsAtFirst);
        QCOMPARE(world.model.heldBack(app), many - ZnodesModel::rowsAtFirst);
        QCOMPARE(world.model.find(app, ZnodeNode::Children).data().toString(), u"300,000"_s);

        QVERIFY2(mostInTurn <= ZnodesModel::rowsPerTurn, qPrintable(QString::number(mostInTurn)));
        const auto part = *world.model.part(app);
        QCOMPARE(QList<int>({part.before, part.shown, part.after, part.total}),
                 QList<int>({0, ZnodesModel::rowsAtFirst, many - ZnodesModel::rowsAtFirst, many}));
        QCOMPARE(namesIn(world.model, app), numbers(0, ZnodesModel::rowsAtFirst));
    }

    // The tree never has more than a part of it, whatever one looks at.
    void slidesThroughAHugeFolder()
    {
        constexpr int many = 60'000;
        World world;
        world.ensemble.set("/app", shuffled(many));
        world.connectTo();
        const ZPath app = path("/app");
        QVERIFY(world.load("/"));
        QVERIFY(world.load("/app"));
        int most = 0;
        connect(&world.model, &ZnodesModel::turnEnds, this,
                [&] { most = std::max(most, world.model.rowCount(world.model.find(app))); });
        bool isSaidGone = false;
        connect(&world.model, &ZnodesModel::rowsAboutToBeRemoved, this,
                [&] { isSaidGone |= !world.model.isSliding(); });
        const auto settle = [&] {
            return QTest::qWaitFor([&] { return world.model.isLoaded(world.model.find(app)); }, 60'000);
        };
        const QPersistentModelIndex kept = world.model.find(path("/app/n-0000019999"));
        world.model.showMore(app);
        QVERIFY(settle());
        QCOMPARE(namesIn(world.model, app), numbers(10'000, 30'000));
        QVERIFY(kept.isValid());
        QCOMPARE(kept.row(), 9'999);
        world.model.showEarlier(app);
        QVERIFY(settle());
        QCOMPARE(namesIn(world.model, app), numbers(0, 20'000));
        QVERIFY(kept.isValid());

        QSignalSpy revealed(&world.model, &ZnodesModel::revealed);
        world.model.reveal(path("/app/n-0000040000"));
        QTRY_COMPARE_WITH_TIMEOUT(revealed.count(), 1, 60'000);
        QCOMPARE(namesIn(world.model, app), numbers(30'000, 50'000));
        world.model.reveal(path("/app/n-0000059999")); // little comes after it
        QTRY_COMPARE_WITH_TIMEOUT(revealed.count(), 2, 60'000);
        QCOMPARE(namesIn(world.model, app), numbers(40'000, 60'000));
        QSignalSpy failed(&world.model, &ZnodesModel::revealFailed);
        world.model.reveal(path("/app/n-0000000001-not"));
        QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, 60'000);
        QVERIFY(settle());
        QCOMPARE(namesIn(world.model, app), numbers(40'000, 60'000)); // nothing to go to
        QCOMPARE(world.model.find(app, ZnodeNode::Children).data().toString(), u"60,000"_s);
        QVERIFY2(most <= ZnodeFilling::mostRows, qPrintable(QString::number(most)));
        QVERIFY(!isSaidGone);
    }

    void revealsWithinAHugeFolderAtOnce()
    {
        World world;
        world.ensemble.set("/app", shuffled(60'000));
        world.connectTo();
        QSignalSpy revealed(&world.model, &ZnodesModel::revealed);
        int inserted = 0;
        connect(&world.model, &ZnodesModel::rowsInserted, this,
                [&](const QModelIndex &, int first, int last) { inserted += last - first + 1; });
        world.model.reveal(path("/app/n-0000040000"));
        QTRY_COMPARE_WITH_TIMEOUT(revealed.count(), 1, 60'000);
        QCOMPARE(namesIn(world.model, path("/app")), numbers(30'000, 50'000));
        QCOMPARE(inserted, 2 + ZnodesModel::rowsAtFirst); // not the first ones before
        QCOMPARE(world.backend.calls.count(u"listZnodes zk /app"_s), 1);
    }

    void keepsThePartWhenAHugeFolderChanges()
    {
        constexpr int many = 60'000;
        World world;
        auto names = shuffled(many);
        world.ensemble.set("/app", names);
        world.connectTo();
        const ZPath app = path("/app");
        QSignalSpy revealed(&world.model, &ZnodesModel::revealed);
        world.model.reveal(path("/app/n-0000040000"));
        QTRY_COMPARE_WITH_TIMEOUT(revealed.count(), 1, 60'000);
        const QPersistentModelIndex kept = world.model.find(path("/app/n-0000049999"));
        names.removeOne("n-0000040000");
        names << "a" // before the part, in it, after it
              << "n-0000040000-new"
              << "n-0000059999-new";
        world.ensemble.set("/app", names);
        world.model.refresh(app); // rests after a big list, then asks
        QTRY_VERIFY_WITH_TIMEOUT(world.model.find(path("/app/n-0000040000-new")).isValid(), 30'000);
        QTRY_VERIFY_WITH_TIMEOUT(world.model.isLoaded(world.model.find(app)), 30'000);
        QVERIFY(!world.model.find(path("/app/n-0000040000")).isValid());
        QCOMPARE(world.model.index(0, 0, world.model.find(app)).data().toString(), u"n-0000030000"_s);
        QVERIFY(kept.isValid());
        const auto part = *world.model.part(app);
        QCOMPARE(part.before, 30'001);
        QCOMPARE(part.matching(), many + 2);
    }

    // A view's filter sees what is in the tree; of a big folder the model lets through what matches of all.
    void filtersAllOfAHugeFolder()
    {
        World world;
        world.ensemble.set("/app", shuffled(60'000));
        world.connectTo();
        const ZPath app = path("/app");
        QVERIFY(world.load("/"));
        QVERIFY(world.load("/app"));
        const auto isShown = [&](const QByteArrayList &expected) {
            return QTest::qWaitFor(
                [&] { return world.model.isLoaded(world.model.find(app)) && namesIn(world.model, app) == expected; },
                60'000);
        };
        world.model.setFilter(u"N-000005123"_s);
        QVERIFY(isShown(numbers(51'230, 51'240)));
        QCOMPARE(world.model.find(app, ZnodeNode::Children).data().toString(), u"60,000"_s);
        QCOMPARE(world.model.part(app)->total, 60'000);
        QCOMPARE(world.model.heldBack(app), 0);
        world.model.setFilter(u"nothing is named so"_s);
        QVERIFY(isShown({}));
        world.model.setFilter(u"APP"_s); // the folder itself: all that is in it
        QVERIFY(isShown(numbers(0, ZnodesModel::rowsAtFirst)));
        world.model.setFilter({});
        QVERIFY(isShown(numbers(0, ZnodesModel::rowsAtFirst)));
    }

    void listsAHugeFolderAgain()
    {
        constexpr int many = 30'000;
        World world;
        QByteArrayList names;
        for (int i = 0; i < many; ++i)
            names << QByteArray::number(100'000 + i);
        world.ensemble.set("/app", names);
        world.connectTo();
        QVERIFY(world.load("/"));
        QVERIFY(world.load("/app"));
        const QPersistentModelIndex kept = world.model.find(path("/app/119999")); // the last of those shown
        QVERIFY(kept.isValid());
        // Ten new ones before all others, and the first of the old ones gone.
        names.removeFirst();
        for (int i = 0; i < 10; ++i)
            names << "0-" + QByteArray::number(i);
        world.ensemble.set("/app", names);
        world.model.refresh(path("/app")); // rests after a big list, then asks
        QTRY_VERIFY_WITH_TIMEOUT(world.model.find(path("/app/0-9")).isValid(), 30'000);
        QTRY_VERIFY_WITH_TIMEOUT(world.model.isLoaded(world.model.find(path("/app"))), 30'000);
        QVERIFY(!world.model.find(path("/app/100000")).isValid());
        QVERIFY(kept.isValid());
        QCOMPARE(kept.row(), 20'008);
        const int shown = world.model.rowCount(world.model.find(path("/app")));
        QCOMPARE(shown + world.model.heldBack(path("/app")), many + 9);
    }

    void emptiesAHugeFolderInBoundedTurns()
    {
        constexpr int many = 50'000;
        World world;
        QByteArrayList names;
        for (int i = 0; i < many; ++i)
            names << QByteArray::number(i);
        world.ensemble.set("/app", names);
        world.connectTo();
        QVERIFY(world.load("/"));
        QVERIFY(world.load("/app"));
        world.ensemble.set("/app", {});
        int most = 0;
        connect(&world.model, &ZnodesModel::rowsRemoved, this,
                [&](const QModelIndex &, int first, int last) { most = std::max(most, last - first + 1); });
        world.model.refresh(path("/app")); // rests after a big list, then asks
        QTRY_COMPARE_WITH_TIMEOUT(world.model.rowCount(world.model.find(path("/app"))), 0, 30'000);
        QVERIFY2(most <= 4 * ZnodesModel::rowsPerTurn, qPrintable(QString::number(most)));
        QVERIFY(!world.model.hasChildren(world.model.find(path("/app"))));
    }
};

LOCKSCOPE_TEST(TestZnodesHuge)
#include "tst_znodes_huge.moc"
