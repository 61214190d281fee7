// SPDX-License-Identifier: Apache-2.0
// Where the boxes and arrows of "who watches whom" stand.
#include "tests/support/fakedata.h"
#include "tests/support/testmain.h"
#include "ui/views/watchchainview.h"

#include <QApplication>

using namespace lockscope::ui;
using inspect::Evidence;
using inspect::LockSnapshot;

namespace {

const SystemTime chainPresent = SystemTime(1'700'000'000s);
constexpr QSizeF chainView(700, 300);

LockSnapshot queue(int waiters)
{
    return testing::queueLock("zk", "/locks/a", waiters, testing::serverTime(chainPresent));
}

bool overlap(const ChainPicture &chain)
{
    for (std::size_t i = 0; i < chain.boxes.size(); ++i) {
        for (std::size_t j = i + 1; j < chain.boxes.size(); ++j) {
            if (chain.boxes[i].box.intersects(chain.boxes[j].box))
                return true;
        }
    }
    return false;
}

} // namespace

class TestWatchChain : public QObject {
    Q_OBJECT

private slots:
    void chainPointsFromEachWaiterToTheOneBefore()
    {
        const auto chain = layOutChain(queue(3), chainFactsOf(queue(3)), chainPresent, chainView, false);
        QCOMPARE(chain.boxes.size(), 4u);
        QCOMPARE(chain.arrows.size(), 3u);
        QCOMPARE(chain.boxes[0].title, u"…0041"_s);
        QCOMPARE(chain.boxes[0].age, u"holds 4 m 12 s"_s);
        QVERIFY(chain.arrows[0].seen);
        QVERIFY(!chain.arrows[1].seen); // inferred
        QVERIFY(chain.arrows[0].tip.x() >= chain.boxes[0].box.right());
        QVERIFY(chain.arrows[0].tip.x() < chain.boxes[1].box.left());
        QVERIFY(!overlap(chain));
        QVERIFY(chain.caption.endsWith(u"One release wakes 1."_s));
    }

    void longQueueFoldsItsMiddleUnlessAskedForWhole()
    {
        const auto folded = layOutChain(queue(59), chainFactsOf(queue(59)), chainPresent, chainView, false);
        QCOMPARE(folded.hidden, 60 - 15);
        QCOMPARE(folded.boxes.size(), 16u);
        QCOMPARE(folded.boxes[11].kind, ChainBox::Kind::More);
        QCOMPARE(folded.boxes[11].title, u"… 45 more …"_s);
        QVERIFY(folded.size.width() <= chainView.width()); // wraps
        QVERIFY(!overlap(folded));
        const auto whole = layOutChain(queue(59), chainFactsOf(queue(59)), chainPresent, chainView, true);
        QCOMPARE(whole.boxes.size(), 60u);
        QCOMPARE(whole.arrows.size(), 59u);
        QCOMPARE(whole.hidden, 0);
        QVERIFY(!overlap(whole));
    }

    // At 1366 × 768 70 to 160 pixels are left, less below a banner: nothing is cut through there.
    void aLowViewShowsWholeBoxes_data()
    {
        addColumns<int, bool, int>("waiters", "isHerd", "height");
        for (const int waiters : {0, 1, 3, 5, 59}) {
            for (const int height : {68, 92, 160, 200}) {
                QTest::addRow("%d in %d", waiters, height) << waiters << false << height;
                QTest::addRow("herd of %d in %d", waiters, height) << waiters << true << height;
            }
        }
    }
    void aLowViewShowsWholeBoxes()
    {
        QFETCH(int, waiters);
        QFETCH(bool, isHerd);
        QFETCH(int, height);
        const QSizeF low(645, height);
        auto lock = queue(waiters);
        for (std::size_t i = 1; isHerd && i < lock.contenders.size(); ++i)
            lock.contenders[i].watches = {{{}, true, Evidence::Inferred}};
        const auto chain = layOutChain(lock, chainFactsOf(lock), chainPresent, low, false);
        QVERIFY2(chain.size.height() <= low.height() && chain.size.width() <= low.width(),
                 qPrintable(u"%1x%2"_s.arg(chain.size.width()).arg(chain.size.height())));
        QVERIFY(!overlap(chain));
        const auto drawn = std::ranges::count(chain.boxes, ChainBox::Kind::Contender, &ChainBox::kind);
        QCOMPARE(drawn + chain.hidden, waiters + 1);
        QCOMPARE(chain.boxes.front().compact || chain.boxes.front().box.height() >= 3 * 15, true); // lines of 12 px
        for (const auto &arrow : chain.arrows) {
            const QRectF word(arrow.wordAt - QPointF(22, 7), QSizeF(44, 14)); // "inferred"
            for (const auto &box : chain.boxes)
                QVERIFY(!arrow.showWord || !word.intersects(box.box));
        }
        if (waiters > 0) // who is next is there, whoever is not
            QVERIFY(std::ranges::find(chain.boxes, lock.contenders[1].id, &ChainBox::contender) != chain.boxes.end());
        const auto whole = layOutChain(lock, chainFactsOf(lock), chainPresent, low, true);
        QCOMPARE(whole.hidden, 0);
        QVERIFY(!overlap(whole));
    }

    // What a client calls itself stands before its address, on a line of its own where there is room for one.
    void clientsAreNamed()
    {
        auto lock = queue(3);
        const auto plain = layOutChain(lock, chainFactsOf(lock), chainPresent, chainView, false);
        QCOMPARE(plain.boxes[1].name, QString());
        lock.recipe = "kazoo-lock";
        lock.contenders[1].identity = "app-9";
        auto chain = layOutChain(lock, chainFactsOf(lock), chainPresent, chainView, false);
        QCOMPARE(chain.boxes[1].name, u"app-9"_s);
        QCOMPARE(chain.boxes[1].who, plain.boxes[1].who);
        QVERIFY(chain.boxes[1].box.height() > plain.boxes[1].box.height());
        QCOMPARE(chain.boxes[0].box.height(), chain.boxes[1].box.height());
        QVERIFY(!overlap(chain));
        lock = queue(5);
        for (std::size_t i = 1; i < lock.contenders.size(); ++i)
            lock.contenders[i].watches = {{{}, true, Evidence::Inferred}};
        lock.contenders[1].identity = "app-9";
        chain = layOutChain(lock, chainFactsOf(lock), chainPresent, chainView, false);
        const auto waiter = std::ranges::find(chain.boxes, lock.contenders[1].id, &ChainBox::contender);
        QVERIFY(waiter != chain.boxes.end());
        QCOMPARE(waiter->who, u"app-9 · "_s + *lock.contenders[1].endpoint);
        QVERIFY(!overlap(chain));
    }

    void herdPointsAtOneThing()
    {
        auto lock = queue(48);
        for (std::size_t i = 1; i < lock.contenders.size(); ++i)
            lock.contenders[i].watches = {{{}, true, Evidence::Inferred}};
        const auto chain = layOutChain(lock, chainFactsOf(lock), chainPresent, chainView, false);
        QVERIFY(chain.hidden > 0);
        QVERIFY(!overlap(chain));
        for (const auto &arrow : chain.arrows)
            QCOMPARE(arrow.tip, chain.arrows.front().tip);
        QCOMPARE(std::count_if(chain.boxes.begin(), chain.boxes.end(),
                               [](const ChainBox &box) { return box.kind == ChainBox::Kind::Children; }),
                 1);
        QVERIFY(chain.caption.contains(u"One release wakes 48"_s));

        for (std::size_t i = 1; i < lock.contenders.size(); ++i)
            lock.contenders[i].watches = {{lock.contenders[0].id, false, Evidence::Server}};
        const auto atHolder = layOutChain(lock, chainFactsOf(lock), chainPresent, chainView, true);
        QCOMPARE(atHolder.arrows.size(), 48u);
        QVERIFY(atHolder.caption.contains(u"every waiter watches the holder"_s));
    }

    void readersShowTheirModeAndArrowsMayPassOver()
    {
        auto lock = queue(3);
        using inspect::Mode;
        lock.contenders[0].mode = Mode::Write;
        for (std::size_t i = 1; i < 4; ++i) {
            lock.contenders[i].mode = Mode::Read;
            lock.contenders[i].watches = {{lock.contenders[0].id, false, Evidence::Server}};
        }
        const auto chain = layOutChain(lock, chainFactsOf(lock), chainPresent, chainView, false);
        QCOMPARE(chain.boxes[0].title, u"…0041 W"_s);
        QCOMPARE(chain.boxes[1].title, u"…0042 R"_s);
        QCOMPARE(chain.arrows.size(), 3u);
        QVERIFY(chain.arrows[2].path.boundingRect().top() >= 0); // over the boxes, inside the view
    }

    void databasesHaveNoWatches()
    {
        auto lock = queue(3);
        lock.recipe = "sql-get-lock";
        const auto caption = layOutChain(lock, chainFactsOf(lock), chainPresent, chainView, false).caption;
        QVERIFY2(!caption.contains(u"watch"_s) && !caption.contains(u"wakes"_s), qPrintable(caption));
    }

    void everythingElseSaysWhyThereAreNoArrows()
    {
        const auto redis = testing::redisLock("redis", "k", 10s, testing::serverTime(chainPresent));
        QCOMPARE(layOutChain(redis, chainFactsOf(redis), chainPresent, chainView, false).caption,
                 u"No server knows who waits: clients of this recipe ask again and again."_s);
        QCOMPARE(layOutChain(queue(0), chainFactsOf(queue(0)), chainPresent, chainView, false).caption,
                 u"No client waits. A release wakes no client."_s);
        auto free = queue(0);
        free.contenders.clear();
        const auto chain = layOutChain(free, chainFactsOf(free), chainPresent, chainView, false);
        QVERIFY(chain.boxes.empty());
        QVERIFY(chain.caption.startsWith(u"Free"_s));
    }
};

LOCKSCOPE_GUI_TEST(TestWatchChain)
#include "tst_watchchain.moc"
