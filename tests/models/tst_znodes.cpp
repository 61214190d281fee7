// SPDX-License-Identifier: Apache-2.0
// The live tree of znodes: lazy, in runs, in bounded turns.
#include "tests/support/testmain.h"
#include "ui/models/znodesmodel.h"

#include "tests/models/treetext.h"
#include "tests/support/fakebackend.h"

#include <QAbstractItemModelTester>
#include <QTest>

#include <map>

using namespace lockscope;
using namespace lockscope::ui;
using namespace lockscope::testing;
using namespace Qt::StringLiterals;

namespace {

// A ZooKeeper of names: what listZnodes answers.
class Ensemble {
public:
    explicit Ensemble(FakeBackend &backend)
    {
        backend.onListZnodes = [this](const ConnectionName &, const ZPath &path) { return list(path); };
    }

    void set(const QByteArray &path, const QByteArrayList &children) { m_children[path] = children; }
    void setStat(const QByteArray &path, qint32 version) { m_versions[path] = version; }
    void forbid(const QByteArray &path)
    {
        m_errors.insert_or_assign(path, Error{ErrorCode::NoPermission, u"no READ for us"_s});
    }
    void allow(const QByteArray &path) { m_errors.erase(path); }

private:
    Result<std::vector<ZnodeRow>> list(const ZPath &path)
    {
        if (const auto error = m_errors.find(path.bytes()); error != m_errors.end())
            return error->second;
        if (!m_children.contains(path.bytes()))
            return Error{ErrorCode::NoNode, u"no such node"_s};
        std::vector<ZnodeRow> rows;
        for (const auto &name : m_children[path.bytes()]) {
            ZnodeRow row;
            row.name = NodeName(name);
            const QByteArray full = path.child(row.name).bytes();
            row.stat.czxid = 1;
            row.stat.version = m_versions[full];
            if (const auto children = m_children.find(full); children != m_children.end())
                row.stat.numChildren = static_cast<qint32>(children->second.size());
            else
                row.stat.ephemeralOwner = {0x1000009b4890001};
            rows.push_back(std::move(row));
        }
        return rows;
    }

    std::map<QByteArray, QByteArrayList> m_children;
    std::map<QByteArray, qint32> m_versions;
    std::map<QByteArray, Error> m_errors;
};

ZPath path(const char *text)
{
    return ZPath(QByteArray(text));
}

} // namespace

class TestZnodes : public QObject {
    Q_OBJECT

    struct World {
        FakeBackend backend;
        Ensemble ensemble{backend};
        ZnodesModel model;
        World()
        {
            ensemble.set("/", {"locks", "app"});
            ensemble.set("/locks", {"orders", "stock"});
            ensemble.set("/locks/orders", {"c-0000000002", "c-0000000001"});
            ensemble.set("/locks/stock", {});
            ensemble.set("/app", {});
        }
        void connectTo() { model.setConnection(&backend, ConnectionName("zk"_ba)); }
        // As a view does when a node is expanded.
        bool load(const char *text)
        {
            const auto index = model.find(path(text));
            if (!index.isValid())
                return false;
            model.fetchMore(index);
            return QTest::qWaitFor([&] { return model.isLoaded(model.find(path(text))); });
        }
    };

    // In no order, as a server's.
    static QByteArrayList shuffled(int many)
    {
        QByteArrayList names;
        for (int i = 0; i < many; ++i)
            names << numbered((i * 7919LL) % many);
        return names;
    }
    static QByteArrayList numbers(int from, int until)
    {
        QByteArrayList names;
        for (int i = from; i < until; ++i)
            names << numbered(i);
        return names;
    }
    static QByteArray numbered(qint64 number) { return "n-" + QByteArray::number(number).rightJustified(10, '0'); }
    static QByteArrayList namesIn(const ZnodesModel &model, const ZPath &folder)
    {
        QByteArrayList names;
        const auto index = model.find(folder);
        for (int row = 0; row < model.rowCount(index); ++row)
            names << model.index(row, 0, index).data(ZnodeNode::FilterRole).toString().toUtf8();
        return names;
    }

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
        world.backend.onListZnodes = [](const ConnectionName &, const ZPath &asked) -> Result<std::vector<ZnodeRow>> {
            std::vector<ZnodeRow> rows;
            if (asked.isRoot())
                rows.push_back({NodeName("leaf"_ba), {}, false, std::nullopt});
            return rows;
        };
        world.connectTo();
        QVERIFY(world.load("/"));
        const QPersistentModelIndex leaf = world.model.find(path("/leaf"));
        QVERIFY(world.model.hasChildren(leaf)); // unknown counts as yes
        QCOMPARE(leaf.sibling(leaf.row(), ZnodeNode::Version).data().toString(), QString());
        zk::Stat stat;
        stat.version = 7;
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

LOCKSCOPE_TEST(TestZnodes)
#include "tst_znodes.moc"
