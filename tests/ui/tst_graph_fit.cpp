// SPDX-License-Identifier: Apache-2.0
// The graph of several locks on a small screen, 1366 × 768: it can be read, and stands still while little changes.
#include "tests/support/testmain.h"
#include "tests/ui/graphscene.h"
#include "ui/graph/graphview.h"
#include "ui/pages/graphpage.h"
#include "ui/theme/theme.h"

#include <QLabel>
#include <QPushButton>
#include <QScrollBar>

using inspect::ChangeKind;
using inspect::LockSnapshot;

namespace {

constexpr qreal leastLetters = 9, smallestLetters = 11; // pixels: on the screen, and drawn at 100 %

QByteArray nameOfLock(int number)
{
    return "/locks/orders-" + QByteArray::number(number);
}

std::vector<LockSnapshot> waitedForLocks(int count, int waiters)
{
    std::vector<LockSnapshot> locks;
    for (int i = 0; i < count; ++i) {
        QByteArrayList sessions;
        for (int j = 0; j <= waiters; ++j)
            sessions << QByteArray::number(i * 100 + j) + "-host.example.com";
        locks.push_back(kazooLock(nameOfLock(i), sessions));
    }
    return locks;
}

ui::GraphPicture pictureOfLocks(const std::vector<LockSnapshot> &locks)
{
    return graphPictureOf(ui::graphFactsOf(locks, {}, testing::present), {});
}

// Of the boxes of locks, by name.
std::map<QString, QPointF> placesOfLocks(const ui::GraphPicture &picture, const ui::GraphLayout &layout)
{
    std::map<QString, QPointF> all;
    for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
        if (picture.nodes[i].kind == ui::GraphNode::Kind::Lock)
            all[picture.nodes[i].title] = layout.boxes[i].topLeft();
    }
    return all;
}

} // namespace

class TestGraphFit : public testing::WindowFixture {
    Q_OBJECT

    ui::GraphPage &graph() { return *m_window->findChild<ui::GraphPage *>(); }
    void tell(const std::vector<LockSnapshot> &locks)
    {
        std::vector<inspect::SnapshotChange> changes;
        for (const auto &lock : locks)
            changes.push_back(testing::change(ChangeKind::Added, lock));
        m_backend->notifyLocks(std::move(changes));
    }
    bool isDrawn(int lock)
    {
        const auto key = ui::keyOfLock({ConnectionName("zk"), nameOfLock(lock)});
        return graph().sight().picture.find(key) >= 0;
    }
    bool isSubjectSeen()
    {
        const int subject = graph().sight().subject;
        auto &view = graph().view();
        return subject >= 0 && view.viewport()->rect().contains(view.boxOnScreen(subject).toAlignedRect());
    }

private slots:
    void init()
    {
        openWindow();
        m_window->resize(1366, 720); // below a panel
        m_window->showPage(u"graph"_s);
        notifyConnected();
    }

    void itsLettersCanBeRead_data()
    {
        const Rows<int, int, bool> row("locks", "waiters", "isWhole");
        row("one", 1, 3, true);
        row("two", 2, 3, true);
        row("four", 4, 3, true);
        row("four with long queues", 4, 20, true);
        row("twelve", 12, 3, false);
    }
    void itsLettersCanBeRead()
    {
        QFETCH(const int, locks);
        QFETCH(const int, waiters);
        QFETCH(const bool, isWhole);
        tell(waitedForLocks(locks, waiters));
        QTRY_VERIFY(isDrawn(locks - 1));
        auto &view = graph().view();
        view.fit();
        QVERIFY2(view.zoom() * smallestLetters >= leastLetters - 1e-6, qPrintable(QString::number(view.zoom())));
        QTRY_COMPARE(view.isAllInSight(), isWhole); // laid out anew for the size that the window has now
        QVERIFY(view.horizontalScrollBar()->maximum() == 0);
        QVERIFY(isSubjectSeen());
        const auto &boxes = graph().sight().layout.boxes;
        for (std::size_t i = 0; i < boxes.size(); ++i) {
            for (std::size_t j = i + 1; j < boxes.size(); ++j)
                QVERIFY(!boxes[i].intersects(boxes[j]));
        }
    }

    // Scrolled away, or another zoom: Fit goes back to what is chosen, else to what the heading speaks of; and where
    // not all can be read at once it is said.
    void fitReturnsToTheSubject()
    {
        tell(waitedForLocks(14, 3));
        QTRY_VERIFY(isDrawn(13));
        auto &view = graph().view();
        const auto *words = graph().findChild<QLabel *>(u"graphChosen"_s);
        QTRY_VERIFY2(words->toolTip().contains(u"Not all is in sight"_s), qPrintable(words->toolTip()));
        view.zoomBy(8);
        view.verticalScrollBar()->setValue(view.verticalScrollBar()->maximum());
        QVERIFY(!isSubjectSeen());
        view.fit();
        QVERIFY(isSubjectSeen());
        m_backend->notifyLocks({testing::change(ChangeKind::Removed, kazooLock(nameOfLock(13), {}))});
        for (int i = 2; i < 13; ++i)
            m_backend->notifyLocks({testing::change(ChangeKind::Removed, kazooLock(nameOfLock(i), {}))});
        QTRY_VERIFY(!isDrawn(13) && view.isAllInSight());
        QTRY_VERIFY2(words->toolTip().contains(u"Arrows walk"_s), qPrintable(words->toolTip()));
    }

    // One more waiter, one less, a lock that nobody waits for any longer: no lock goes to the other side.
    void oneMoreWaiterMovesNoLockSideways()
    {
        auto locks = waitedForLocks(7, 3);
        ui::GraphLayouter layouter;
        const auto placesNow = [&] {
            const auto picture = pictureOfLocks(locks);
            return placesOfLocks(picture, *layouter.layOut(picture, 1130, 520));
        };
        const auto before = placesNow();
        QVERIFY(std::ranges::any_of(before, [](const auto &one) { return one.second.x() > 565; })); // side by side
        for (int i = 0; i < 7; ++i) {
            const auto number = static_cast<std::size_t>((i * 3) % 7);
            QByteArrayList sessions;
            for (const auto &contender : locks[number].contenders)
                sessions << contender.session->mid(2).toLatin1();
            if (i % 3 == 2)
                sessions.removeLast();
            else
                sessions << QByteArray::number(900 + i) + "-host.example.com";
            locks[number] = kazooLock(locks[number].lock.name, sessions);
            for (const auto &[name, place] : placesNow())
                QVERIFY2(std::abs(place.x() - before.at(name).x()) < 12, qPrintable(name));
        }
        locks.erase(locks.begin());
        for (const auto &[name, place] : placesNow())
            QVERIFY2(std::abs(place.x() - before.at(name).x()) < 12, qPrintable(name));
    }

    // Beside what is too wide for two of it there may be room for another.
    void narrowPartIsPlacedNextToAWidePart()
    {
        std::vector<LockSnapshot> locks;
        for (int i = 0; i < 3; ++i) {
            QByteArrayList sessions;
            for (int j = 0; j < 4; ++j)
                sessions << QByteArray::number(i * 100 + j) + "-host.example.com";
            locks.push_back(kazooLock("/locks/eu-west/warehouse/stock-of-today-" + QByteArray::number(i), sessions));
        }
        locks.push_back(kazooLock("/z", {"1", "2", "3"}));
        ui::GraphLayouter layouter;
        const auto picture = pictureOfLocks(locks);
        const auto layout = layouter.layOut(picture, 1130, 520);
        QVERIFY(layout);
        QVERIFY2(layout->size.height() * ui::leastReadableZoom <= 520,
                 qPrintable(QString::number(layout->size.height())));
        const auto places = placesOfLocks(picture, *layout);
        QCOMPARE(places.size(), std::size_t(4));
        QVERIFY(places.at(u"/z"_s).y() < places.at(u"/locks/eu-west/warehouse/stock-of-today-2"_s).y());
        for (std::size_t i = 0; i < layout->boxes.size(); ++i) {
            for (std::size_t j = i + 1; j < layout->boxes.size(); ++j)
                QVERIFY(!layout->boxes[i].intersects(layout->boxes[j]));
        }
    }

    // "/locks/invoices" in a deadlock was "/locks…voices": the cross before it had no room.
    void aNameIsWhole_data()
    {
        const Rows<ui::GraphNode::Kind, QString> row("kind", "title");
        for (const auto *name : {"/locks/invoices", "zk:/locks/invoices", "/locks/payment-batches/eu-west",
                                 "mariadb:shop.stock#id=1", "redis:orders"})
            row(name, ui::GraphNode::Kind::Lock, QString::fromLatin1(name));
        for (const auto *name : {"billing-1", "payments-worker-12", "10.0.3.17:56332"})
            row(name, ui::GraphNode::Kind::Client, QString::fromLatin1(name));
    }
    void aNameIsWhole()
    {
        QFETCH(const ui::GraphNode::Kind, kind);
        QFETCH(const QString, title);
        using Mark = ui::GraphNode::Mark;
        const bool isLock = kind == ui::GraphNode::Kind::Lock;
        const auto font = isLock ? ui::monoFont(12, QFont::DemiBold) : ui::textFont(13, QFont::DemiBold);
        for (const auto mark : {Mark::None, Mark::Cycle, Mark::Root}) {
            ui::GraphNode node{.kind = kind, .mark = mark, .title = title};
            // As paintGraphNode() has it: what is round at its ends, and a cross or a disc before the name.
            const qreal beside = (isLock ? 20 : 36) + (mark == Mark::None ? 0 : 16);
            for (const bool isAlone : {false, true}) {
                const auto room = boxSizeOf(node, isAlone).width() - beside;
                QVERIFY2(QFontMetricsF(font).horizontalAdvance(title) <= room, qPrintable(QString::number(room)));
            }
        }
    }

    void headingBreaksAtClauses()
    {
        tell(waitedForLocks(3, 2));
        auto *more = graph().findChild<QLabel *>(u"graphMore"_s);
        QTRY_VERIFY(isDrawn(2) && more->isVisible());
        m_window->resize(900, 720);
        QTRY_VERIFY2(more->text().contains(u'\n'), qPrintable(more->text()));
        for (const auto &line : more->text().split(u'\n'))
            QVERIFY2(!line.endsWith(u"/locks/"_s) && !line.startsWith(u"it,"_s), qPrintable(more->text()));
        QVERIFY(more->height() >= 2 * more->fontMetrics().lineSpacing() - 1);
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestGraphFit)
#include "tst_graph_fit.moc"
