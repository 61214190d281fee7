// SPDX-License-Identifier: Apache-2.0
// The page of who waits for whom: what it draws of which locks, that it stays steady, and the way through it by keys.
#include "tests/support/testmain.h"
#include "tests/ui/graphscene.h"
#include "tests/ui/windowfixture.h"
#include "ui/graph/graphview.h"
#include "ui/pages/graphpage.h"
#include "ui/parts/notices.h"

#include <QLabel>
#include <QPushButton>
#include <QScrollBar>

using inspect::ChangeKind;
using inspect::LockSnapshot;
using ui::GraphChoice;
using ui::GraphNode;
using NodeMark = GraphNode::Mark;

namespace {

std::vector<LockSnapshot> aDeadlock(bool isSaid)
{
    std::vector<LockSnapshot> locks{kazooLock("/a", {"1", "3", "2"}), kazooLock("/b", {"2", "1"})};
    const auto graph = inspect::waitGraphOf(locks, {}, present);
    for (auto &lock : locks) {
        if (isSaid)
            inspect::addDeadlocks(lock, graph, graph.cycles);
    }
    return locks;
}

GraphChoice allOfThem()
{
    return GraphChoice{.all = true};
}

ui::GraphPicture pictureOf(const std::vector<LockSnapshot> &locks, const GraphChoice &choice = {})
{
    return graphPictureOf(ui::graphFactsOf(locks, {}, present), choice);
}

QStringList titles(const ui::GraphPicture &picture, NodeMark mark)
{
    QStringList all;
    for (const auto &node : picture.nodes) {
        if (node.mark == mark)
            all << node.title;
    }
    all.sort();
    return all;
}

const GraphNode &nodeOf(const ui::GraphPicture &picture, const QString &title)
{
    static const GraphNode none;
    const auto at = std::ranges::find(picture.nodes, title, &GraphNode::title);
    return at == picture.nodes.end() ? none : *at;
}

// The locks of a layout by column, from top to bottom.
std::map<int, QStringList> columns(const ui::GraphPicture &picture, const ui::GraphLayout &layout)
{
    std::map<int, std::map<qreal, QString>> byPlace;
    for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
        if (picture.nodes[i].kind == GraphNode::Kind::Lock)
            byPlace[qRound(layout.boxes[i].center().x())][layout.boxes[i].center().y()] = picture.nodes[i].title;
    }
    std::map<int, QStringList> all;
    for (const auto &[x, column] : byPlace) {
        for (const auto &[y, title] : column)
            all[x] << title;
    }
    return all;
}

} // namespace

class TestGraph : public testing::WindowFixture {
    Q_OBJECT

    ui::GraphPage &page() { return *m_window->findChild<ui::GraphPage *>(); }
    template <class T>
    T *part(const char *name)
    {
        return page().findChild<T *>(QString::fromLatin1(name));
    }
    void tell(const std::vector<LockSnapshot> &locks)
    {
        std::vector<inspect::SnapshotChange> changes;
        for (const auto &lock : locks)
            changes.push_back(change(ChangeKind::Added, lock));
        m_backend->notifyLocks(std::move(changes));
    }
    bool isThere(const QString &title) { return !nodeOf(page().sight().picture, title).key.isEmpty(); }

private slots:
    void init()
    {
        openWindow();
        m_window->showPage(u"graph"_s);
        notifyConnected();
    }

    void aDeadlockIsMarkedAndNobodyBesideIt()
    {
        const auto picture = pictureOf(aDeadlock(true));
        QCOMPARE(titles(picture, NodeMark::Cycle), QStringList({u"/a"_s, u"/b"_s, u"app-1"_s, u"app-2"_s}));
        QCOMPARE(nodeOf(picture, u"app-3"_s).mark, NodeMark::None);
        QCOMPARE(std::ranges::count_if(picture.arcs, &ui::GraphArc::isCycle), 4);
        const auto spoken = nodeOf(picture, u"/a"_s).spoken;
        QVERIFY2(spoken.contains(u"deadlock"_s) && spoken.contains(u"held by app-1"_s), qPrintable(spoken));
        const auto heading = headingOf(ui::graphFactsOf(aDeadlock(true), {}, present));
        QVERIFY2(heading.sentence.startsWith(u"2 clients block each other: app-1"_s), qPrintable(heading.sentence));
        QVERIFY(heading.sentence.endsWith(u"over /a and /b"_s));
    }

    // Seen once, it may be a hand-off.
    void cycleSeenOnceIsNotADeadlock()
    {
        const auto facts = ui::graphFactsOf(aDeadlock(false), {}, present);
        QVERIFY(facts.isCycleOpen);
        QCOMPARE(titles(graphPictureOf(facts, {}), NodeMark::Cycle), QStringList());
        QVERIFY(!headingOf(facts).sentence.contains(u"block each other"_s));
    }

    void aRootBlockerIsNamedWithWhatItCosts()
    {
        const std::vector locks{kazooLock("/orders", {"1", "2", "3"}), kazooLock("/quiet", {"4"})};
        const auto facts = ui::graphFactsOf(locks, {}, present);
        const auto sentence = headingOf(facts).sentence;
        QVERIFY2(sentence.startsWith(u"root blocker app-1 (10.0.0.7:"_s)
                     && sentence.endsWith(u"holds /orders, 2 wait behind it, together 3 m 00 s"_s),
                 qPrintable(sentence));
        const auto picture = graphPictureOf(facts, {});
        QCOMPARE(titles(picture, NodeMark::Root), QStringList(u"app-1"_s));
        QVERIFY(nodeOf(picture, u"/quiet"_s).key.isEmpty()); // it is in nobody's way
        QCOMPARE(picture.hiddenLocks, 1);
        QVERIFY(!nodeOf(pictureOf(locks, allOfThem()), u"/quiet"_s).key.isEmpty());
    }

    // Where there is no lock at all, the pill does not say that one is held.
    void noLockIsNotHeld()
    {
        const auto heading = headingOf(ui::graphFactsOf({}, {}, present));
        QCOMPARE(heading.pill.word, u"none held"_s);
        QVERIFY(heading.sentence.startsWith(u"no client is seen waiting"_s));
        QCOMPARE(headingOf(ui::graphFactsOf({kazooLock("/quiet", {"1"})}, {}, present)).pill.word, u"held"_s);
    }

    // Who stands by for an election is not held up.
    void anElectionBlocksNobody()
    {
        auto election = kazooLock("/leader", {"1", "2"});
        election.recipe = "zk-election";
        QVERIFY(recipes::recipeOf(election.recipe).electsLeader);
        const auto facts = ui::graphFactsOf({election}, {}, present);
        QVERIFY(headingOf(facts).sentence.startsWith(u"no client is seen waiting"_s));
        QVERIFY(graphPictureOf(facts, {}).nodes.empty());
        QCOMPARE(graphPictureOf(facts, allOfThem()).nodes.size(), std::size_t(3));
    }

    void manyAreFoldedButNoDeadlockAndNoBlocker()
    {
        auto locks = aDeadlock(true);
        for (int i = 0; i < 60; ++i) {
            QByteArrayList sessions;
            for (int j = 0; j < 9; ++j)
                sessions << "c" + QByteArray::number(i * 100 + j);
            locks.push_back(kazooLock("/busy-" + QByteArray::number(i), sessions));
        }
        for (int i = 0; i < 300; ++i)
            locks.push_back(kazooLock("/quiet-" + QByteArray::number(i), {"q" + QByteArray::number(i)}));
        auto choice = allOfThem();
        const auto picture = pictureOf(locks, choice);
        QVERIFY2(picture.nodes.size() <= 200, qPrintable(QString::number(picture.nodes.size())));
        QCOMPARE(titles(picture, NodeMark::Cycle).size(), 4);
        QCOMPARE(titles(picture, NodeMark::Root).size(), 60);
        QCOMPARE(nodeOf(picture, u"300 locks without waiters"_s).kind, GraphNode::Kind::Locks);
        const auto waiters = std::ranges::find(picture.nodes, GraphNode::Kind::Waiters, &GraphNode::kind);
        QVERIFY(waiters != picture.nodes.end());
        choice.unfolded.insert(waiters->key);
        QCOMPARE(pictureOf(locks, choice).find(waiters->key), -1);
    }

    // Its first ones, and one node for the others: nobody reads a column of 150. Where many locks are waited for
    // less is enough of each.
    void longQueue_onlyFirstWaitersAreDrawn()
    {
        const auto queue = [](const QByteArray &name, int waiters) {
            QByteArrayList sessions{name + "-h"};
            for (int i = 0; i < waiters; ++i)
                sessions << name + "-" + QByteArray::number(i);
            return kazooLock('/' + name, sessions);
        };
        const auto picture = pictureOf({queue("a", 150)});
        QCOMPARE(picture.nodes.size(), std::size_t(11));
        QVERIFY(!nodeOf(picture, u"142 more waiters"_s).key.isEmpty());
        for (int i = 0; i < 8; ++i)
            QVERIFY(!nodeOf(picture, u"app-a-%1"_s.arg(i)).key.isEmpty());
        QVERIFY(nodeOf(picture, u"/a"_s).note.contains(u"150 wait"_s));
        QCOMPARE(pictureOf({queue("a", 12)}).nodes.size(), std::size_t(14)); // not for four
        // One of those behind that holds something others wait for is no leaf.
        QVERIFY(
            !nodeOf(pictureOf({queue("a", 150), kazooLock("/b", {"a-140", "b-1"})}), u"app-a-140"_s).key.isEmpty());
        std::vector<LockSnapshot> many;
        for (int i = 0; i < 20; ++i)
            many.push_back(queue("l" + QByteArray::number(i), 10));
        QCOMPARE(pictureOf(many).nodes.size(), std::size_t(80));
        GraphChoice choice;
        choice.unfolded.insert("waiters " + many[3].lock.text());
        QCOMPARE(pictureOf(many, choice).nodes.size(), std::size_t(88));
    }

    void aClickOnWhatIsFoldedShowsIt()
    {
        QByteArrayList sessions{"h"};
        for (int i = 0; i < 40; ++i)
            sessions << "w" + QByteArray::number(i);
        tell({kazooLock("/orders", sessions)});
        auto &view = page().view();
        QTRY_VERIFY(isThere(u"32 more waiters"_s));
        const auto &picture = page().sight().picture;
        const auto at = view.boxOnScreen(picture.find(nodeOf(picture, u"32 more waiters"_s).key)).center().toPoint();
        QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, at);
        QTRY_VERIFY(isThere(u"app-w39"_s));
    }

    void thousandsOfBlockers_worstAreDrawn()
    {
        auto locks = aDeadlock(true);
        for (int i = 0; i < 3000; ++i) {
            const auto number = QByteArray::number(i);
            QByteArrayList sessions{"h" + number, "w" + number};
            if (i == 2999)
                sessions << "x1"
                         << "x2";
            locks.push_back(kazooLock("/busy-" + number, sessions));
        }
        GraphChoice choice;
        const auto picture = pictureOf(locks, choice);
        QVERIFY2(picture.nodes.size() <= 200, qPrintable(QString::number(picture.nodes.size())));
        QVERIFY2(picture.nodes.size() >= 190, qPrintable(QString::number(picture.nodes.size())));
        QCOMPARE(titles(picture, NodeMark::Cycle).size(), 4);
        QVERIFY(!nodeOf(picture, u"/busy-2999"_s).key.isEmpty());
        const auto drawn = std::ranges::count(picture.nodes, GraphNode::Kind::Lock, &GraphNode::kind) - 2;
        QVERIFY(!nodeOf(picture, u"%1 more locks with waiters"_s.arg(3000 - drawn)).key.isEmpty());
        QCOMPARE(picture.hiddenLocks, 0);
        // Who asks for one sees it.
        choice.text = u"/busy-1234"_s;
        QVERIFY(!nodeOf(pictureOf(locks, choice), u"/busy-1234"_s).key.isEmpty());
    }

    void twoHundredAreLaidOutWithoutOverlap()
    {
        std::vector<LockSnapshot> locks;
        for (int i = 0; i < 25; ++i) {
            QByteArrayList sessions;
            for (int j = 0; j < 7; ++j)
                sessions << QByteArray::number(i * 10 + j);
            locks.push_back(kazooLock("/lock-" + QByteArray::number(i), sessions));
        }
        GraphChoice choice;
        for (const auto &lock : locks)
            choice.unfolded.insert("waiters " + lock.lock.text());
        const auto picture = pictureOf(locks, choice);
        QCOMPARE(picture.nodes.size(), std::size_t(200));
        ui::GraphLayouter layouter;
        const auto layout = layouter.layOut(picture, 1200);
        QVERIFY2(layout, layout ? "" : qPrintable(layout.error().message));
        for (std::size_t i = 0; i < layout->boxes.size(); ++i) {
            QVERIFY(QRectF(QPointF(), layout->size).contains(layout->boxes[i]));
            for (std::size_t j = i + 1; j < layout->boxes.size(); ++j)
                QVERIFY(!layout->boxes[i].intersects(layout->boxes[j]));
        }
    }

    // The program that lays it out may be missing: nothing is drawn then, and nothing chosen by "Show in graph".
    void nodeWithoutLayoutIsNotChosen()
    {
        tell({kazooLock("/orders", {"h", "w"})});
        QTRY_COMPARE(page().sight().picture.nodes.size(), std::size_t(3));
        const auto key = nodeOf(page().sight().picture, u"app-h"_s).key;
        auto failed = std::make_shared<ui::GraphSight>(page().sight());
        failed->layout = {};
        failed->failure = u"the program lockscope-graph-layout is not there"_s;
        ui::GraphView view;
        view.show(std::make_shared<ui::GraphSight>(page().sight()));
        QVERIFY(view.choose(key));
        view.show(failed);
        QVERIFY(!view.current());
        QVERIFY(!view.choose(key));
        QTest::keyClick(&view, Qt::Key_Down);
        QVERIFY(!view.current());
    }

    // However many wait for it: whom the heading names is in sight at first, and stays in sight while more come; not
    // any longer when somebody has looked elsewhere.
    void subjectOfTheHeadingIsInSight()
    {
        QByteArrayList sessions{"h"};
        for (int i = 0; i < 60; ++i)
            sessions << "w" + QByteArray::number(i);
        tell({kazooLock("/orders", sessions)});
        auto &view = page().view();
        const auto isSeen = [&] {
            const int node = page().sight().picture.find(nodeOf(page().sight().picture, u"app-h"_s).key);
            return node >= 0 && node == page().sight().subject
                   && view.viewport()->rect().contains(view.boxOnScreen(node).toAlignedRect());
        };
        const auto drawn = [this] { return page().sight().picture.nodes.size(); };
        QTRY_COMPARE(drawn(), std::size_t(11));
        emit view.activated(nodeOf(page().sight().picture, u"52 more waiters"_s));
        QTRY_COMPARE(drawn(), std::size_t(62));
        QVERIFY(view.verticalScrollBar()->maximum() > view.viewport()->height());
        QVERIFY(isSeen());
        for (int i = 60; i < 100; ++i)
            sessions << "w" + QByteArray::number(i);
        m_backend->notifyLocks({change(ChangeKind::Changed, kazooLock("/orders", sessions))});
        QTRY_COMPARE(drawn(), std::size_t(102));
        QVERIFY(isSeen());
        view.verticalScrollBar()->triggerAction(QAbstractSlider::SliderToMinimum);
        QVERIFY(!isSeen());
        sessions << "one-more";
        m_backend->notifyLocks({change(ChangeKind::Changed, kazooLock("/orders", sessions))});
        QTRY_COMPARE(drawn(), std::size_t(103));
        QVERIFY(!isSeen());
    }

    // Of locks that hang together one more waiter must not turn the picture round.
    void oneMoreWaiterMovesNoLockPastAnother()
    {
        std::vector<LockSnapshot> locks;
        const QByteArrayList names{"/d", "/b", "/e", "/a", "/c", "/f"};
        for (const auto &name : names)
            locks.push_back(kazooLock(name, {"1", "w" + name}));
        locks.push_back(kazooLock("/x", {"8", "9"})); // apart from them
        ui::GraphLayouter layouter;
        auto picture = pictureOf(locks);
        const auto before = columns(picture, *layouter.layOut(picture, 1200));
        for (int i = 0; i < 8; ++i) {
            auto &lock = locks[static_cast<std::size_t>((i * 5) % 6)];
            QByteArrayList sessions;
            for (const auto &contender : lock.contenders)
                sessions << contender.session->mid(2).toLatin1();
            // Some of them wait for several.
            sessions << (i % 2 == 0 ? "new" + QByteArray::number(i) : QByteArray("w/a"));
            lock = kazooLock(lock.lock.name, sessions);
            picture = pictureOf(locks);
            QCOMPARE(columns(picture, *layouter.layOut(picture, 1200)), before);
        }
    }

    void theWindowSaysItInASentence()
    {
        tell(aDeadlock(true));
        QTRY_VERIFY(part<QLabel>("graphSentence")->text().startsWith(u"2 clients block each other: app-1"_s));
        QVERIFY(part<QLabel>("graphMore")->text().startsWith(u"Suggested victim: app-"_s));
        QVERIFY(part<QLabel>("graphUnseen")->isHidden());
        m_backend->tell({.coverage = {{ConnectionName("zk"),
                                       {{ConnectionName("zk"), false, u"watches: 1 of 3 members answered"_s}}}}});
        QTRY_VERIFY(part<QLabel>("graphUnseen")->text().contains(u"Not all was seen: zk: watches"_s));
    }

    // What is said below the sentence has the room below the buttons as well, and how to go on is said whole.
    void inANarrowWindowWordsUseTheWidth()
    {
        m_window->resize(1024, 640);
        tell(aDeadlock(true));
        const auto *more = page().findChild<QLabel *>(u"graphMore"_s);
        const auto *all = page().findChild<QPushButton *>(u"graphAll"_s);
        const auto *chosen = page().findChild<QLabel *>(u"graphChosen"_s);
        const auto on = [this](const QWidget *one) { return QRect(one->mapTo(&page(), QPoint(0, 0)), one->size()); };
        QTRY_VERIFY(more->isVisible() && on(more).right() > page().width() - 20);
        QVERIFY(on(more).top() >= on(all).bottom());
        QVERIFY2(!chosen->text().endsWith(u'…'), qPrintable(chosen->text()));
    }

    void keysWalkAlongTheLinesAndEnterOpens()
    {
        tell({kazooLock("/orders", {"1", "2"})});
        QTRY_COMPARE(page().sight().picture.nodes.size(), std::size_t(3));
        auto &view = page().view();
        QVERIFY(view.choose(nodeOf(page().sight().picture, u"app-1"_s).key));
        QTest::keyClick(&view, Qt::Key_Right);
        QCOMPARE(view.current()->title, u"/orders"_s);
        QVERIFY(view.accessibleDescription().contains(u"held by app-1"_s));
        QTest::keyClick(&view, Qt::Key_Right);
        QCOMPARE(view.current()->title, u"app-2"_s);
        QTest::keyClick(&view, Qt::Key_Left);
        QTest::keyClick(&view, Qt::Key_Return);
        QTRY_VERIFY(m_window->locksPage().isVisible());
        QCOMPARE(m_window->locksPage().currentLock()->name, "/orders");
    }

    void itIsAskedForByItsNameOnly()
    {
        tell({kazooLock("/quiet", {"4"}), kazooLock("/orders", {"1", "2"})});
        const ui::Subject quiet{ui::Subject::Kind::Lock, ConnectionName("zk"), "/quiet"};
        QVERIFY(m_window->showSubject(quiet));
        QVERIFY(m_window->locksPage().isVisible());
        QVERIFY(m_window->showSubject(quiet, u"graph"_s));
        QVERIFY(page().isVisible());
        QTRY_VERIFY(page().view().current() && page().view().current()->title == u"/quiet"_s);
        QVERIFY(m_window->showSubject({ui::Subject::Kind::Session, ConnectionName("zk"), "0x2"}, u"graph"_s));
        QTRY_COMPARE(page().view().current()->title, u"app-2"_s);
    }

    void noWaiter_noticeOffersAllLocks()
    {
        tell({kazooLock("/quiet", {"4"})});
        auto *notice = page().findChild<ui::EmptyNotice *>();
        QTRY_VERIFY(notice->isVisible() && notice->title() == u"No client is seen waiting"_s);
        QTRY_VERIFY(!notice->findChildren<QPushButton *>().front()->isHidden());
        emit notice->actionRequested();
        QTRY_VERIFY(isThere(u"/quiet"_s));
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestGraph)
#include "tst_graph.moc"
