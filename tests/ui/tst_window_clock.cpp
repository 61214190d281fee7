// SPDX-License-Identifier: Apache-2.0
// Every number on the screen is of one moment: rows, banners, queue and picture count by one clock and go on
// together.
#include "tests/support/setclock.h"
#include "tests/support/testmain.h"
#include "tests/ui/windowfixture.h"
#include "ui/models/screenclock.h"
#include "ui/pages/lockdetail.h"
#include "ui/parts/notices.h"
#include "ui/views/lockstable.h"
#include "ui/views/queuetable.h"

#include <QLabel>
#include <QSignalSpy>

using inspect::ChangeKind;
using inspect::FindingCode;

class TestWindowClock : public testing::WindowFixture {
    Q_OBJECT

    QString note()
    {
        QString note;
        page().detail().withNote([&note](const QString &made) { note = made; });
        (void)QTest::qWaitFor([&note] { return !note.isEmpty(); }, 30'000);
        return note;
    }
    void tick()
    {
        page().setClock([this] { return m_now; });
    }
    void show(inspect::LockSnapshot lock)
    {
        notifyConnected();
        const auto name = lock.lock;
        m_backend->notifyLocks({change(ChangeKind::Added, std::move(lock))});
        m_window->selectLock(name);
    }
    QString cell(int column) { return page().table().model()->index(0, column).data().toString(); }
    QString banner()
    {
        for (const auto *banner : page().detail().findChildren<ui::Banner *>()) {
            if (banner->isVisible())
                return banner->sentence();
        }
        return {};
    }
    QString queueAge(int row)
    {
        auto *queue = page().detail().findChild<ui::QueueTable *>(u"queueTable"_s);
        return queue->model()->index(row, ui::QueueModel::Age).data().toString();
    }

private slots:
    void init()
    {
        m_now = testing::present;
        openWindow();
    }

    void aBannerCountsDownWithItsRow()
    {
        auto lock = queueLock("zk", "/locks/a", 1, testing::serverTime(m_now));
        lock.contenders[0].expiresAt = lock.observed + 44s;
        inspect::Wording message = u"session 0x1 has been silent for "_s;
        message.since(lock.observed - 9s) << u"; it expires "_s;
        message.until(*lock.contenders[0].expiresAt);
        addFinding(lock, FindingCode::HolderDisconnected, message, {lock.contenders[0].id});
        show(lock);
        QCOMPARE(cell(ui::LockRow::FindingColumn), u"session ends in 44 s"_s);
        QTRY_VERIFY(!page().incidents().empty()); // its banner says what the finding says
        QTRY_VERIFY2(banner().startsWith(u"session 0x1 has been silent for 9.0 s; it expires in 44 s."_s),
                     qPrintable(banner()));
        m_now += 41400ms;
        tick();
        QCOMPARE(cell(ui::LockRow::FindingColumn), u"session ends in 2.6 s"_s);
        QVERIFY2(banner().startsWith(u"session 0x1 has been silent for 50 s; it expires in 2.6 s."_s),
                 qPrintable(banner()));
        QVERIFY(note().contains(u"it expires in 2.6 s"_s));
        m_now += 1min;
        tick();
        QCOMPARE(cell(ui::LockRow::FindingColumn), u"session should be over"_s);
        QVERIFY(banner().contains(u"it expires now."_s));
    }

    void theRowSaysTheFindingOfNow()
    {
        auto lock = queueLock("zk", "/locks/a", 1, testing::serverTime(m_now));
        lock.contenders[1].waitingSince = lock.observed - 3min;
        addAgeFindings(lock, {});
        show(lock);
        QCOMPARE(cell(ui::LockRow::FindingColumn), u"has waited for 3 m 00 s"_s);
        m_now += 65s;
        tick();
        QCOMPARE(cell(ui::LockRow::FindingColumn), u"has waited for 4 m 05 s"_s);
        QCOMPARE(cell(ui::LockRow::OldestWait), u"4 m 05 s"_s);
        QCOMPARE(queueAge(1), u"4 m 05 s"_s);
        QTRY_VERIFY(!page().incidents().empty());
        QTRY_VERIFY(banner().contains(u"holds zk:/locks/a and blocks 1 client."_s));
    }

    // Who held it held it no longer than it was there: the queue and the note say so.
    void removedLockGetsNoOlder()
    {
        const auto lock = queueLock("zk", "/locks/a", 1, testing::serverTime(m_now));
        show(lock);
        m_now += 5s;
        tick();
        const QString held = cell(ui::LockRow::Held);
        const QString waits = queueAge(1);
        QCOMPARE(queueAge(0), held);
        m_backend->notifyLocks({change(ChangeKind::Removed, lock)});
        m_now += 1min;
        tick();
        QCOMPARE(queueAge(0), held);
        QCOMPARE(queueAge(1), waits);
        const auto made = note();
        QVERIFY2(made.contains(u"`/locks/a is not there at 2023-11-14T22:14:25.000Z; as of 2023-11-14T22:13:25.000Z: "
                               "/locks/a is held by 10.0.3.7 for "_s
                               + held),
                 qPrintable(made));
        m_backend->notifyLocks({change(ChangeKind::Added, lock)});
        QVERIFY(queueAge(0) != held);
        QVERIFY2(!note().contains(u"is not there"_s), "it is again");
    }

    // A row that is painted for another reason, between two ticks, says what its neighbours say.
    void betweenTwoTicksTimeStands()
    {
        show(queueLock("zk", "/locks/a", 1, testing::serverTime(m_now)));
        const QString held = cell(ui::LockRow::Held);
        QCOMPARE(queueAge(0), held);
        m_now += 10s;
        QCOMPARE(cell(ui::LockRow::Held), held);
        QCOMPARE(queueAge(0), held);
        QTRY_VERIFY(cell(ui::LockRow::Held) != held); // by itself
        QCOMPARE(queueAge(0), cell(ui::LockRow::Held));
    }

    void somebodySetsTheMachinesClock_data()
    {
        const Rows<int, QString> row("hours", "said");
        row("forward", 2, u"This machine's clock was set 2 h 00 m forward at %1;"_s);
        row("back", -2, u"This machine's clock was set 2 h 00 m back at %1;"_s);
    }
    // No age changes; what is a time of day is the clock's of now; and it is said, once.
    void somebodySetsTheMachinesClock()
    {
        QFETCH(const int, hours);
        QFETCH(const QString, said);
        const auto timeAt = [](ui::SystemTime moment) {
            return QDateTime::fromSecsSinceEpoch(moment.time_since_epoch() / 1s).toString(u"HH:mm:ss"_s);
        };
        testing::SetClock machine(m_now);
        show(queueLock("zk", "/locks/orders", 2, testing::serverTime(testing::present)));
        const auto held = cell(ui::LockRow::Held);
        auto *asOf = part<QLabel>("asOf");
        QCOMPARE(asOf->text(), u"as of "_s + timeAt(testing::present));
        machine.set(std::chrono::hours(hours));
        auto *notice = part<QLabel>("notice");
        QTRY_VERIFY(notice->isVisible());
        QVERIFY2(notice->toolTip().contains(said.arg(timeAt(testing::present))), qPrintable(notice->toolTip()));
        QCOMPARE(cell(ui::LockRow::Held), held);
        QCOMPARE(asOf->text(), u"as of "_s + timeAt(testing::present + std::chrono::hours(hours)));
        notice->hide();
        QVERIFY(!programClock().takeJump()); // who tells it has it
    }

    void frozenItDoesNotTick()
    {
        ui::ScreenClock clock;
        clock.setSource([this] { return m_now; });
        QSignalSpy ticks(&clock, &ui::ScreenClock::ticked);
        clock.setFrozen(true);
        m_now += 5s;
        clock.catchUp();
        QCOMPARE(clock.now(), testing::present);
        QCOMPARE(clock.present(), m_now); // what is done is done now
        QCOMPARE(ticks.count(), 0);
        clock.setFrozen(false);
        QCOMPARE(clock.now(), m_now);
        QCOMPARE(ticks.count(), 1);
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestWindowClock)
#include "tst_window_clock.moc"
