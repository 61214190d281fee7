// SPDX-License-Identifier: Apache-2.0
// How a window leaves the present: by the strip of the chosen lock, by keys, by a pause; and how far back it goes.
#include "tests/support/testmain.h"
#include "tests/ui/windowtimefixture.h"
#include "ui/models/screenclock.h"

#include <QAbstractScrollArea>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>

using inspect::ChangeKind;
using testing::timeLock;

class TestWindowStrip : public testing::WindowTimeFixture {
    Q_OBJECT

    // LOCKSCOPE_SHOTS names a folder for pictures, for whoever wants to look.
    void picture(const QString &name)
    {
        const QString folder = qEnvironmentVariable("LOCKSCOPE_SHOTS");
        for (const auto choice : {ui::ThemeChoice::Light, ui::ThemeChoice::Dark}) {
            for (const auto size : {QSize(1024, 700), QSize(1440, 900)}) {
                if (folder.isEmpty())
                    continue;
                ui::Theme::instance()->setChoice(choice);
                m_window->resize(size);
                for (int turn = 0; turn < 10; ++turn)
                    QCoreApplication::processEvents();
                QVERIFY(m_window->grab().save(
                    u"%1/%2-%3-%4.png"_s.arg(folder, name, choice == ui::ThemeChoice::Dark ? u"dark"_s : u"light"_s,
                                             QString::number(size.width()))));
            }
        }
        if (!folder.isEmpty())
            ui::Theme::instance()->setChoice(ui::ThemeChoice::Light);
        m_window->resize(1366, 768);
    }

private slots:
    void init() { begin(); }
    void cleanup() { end(); }

    // With the strip of the lock on screen there is one line of time, else that of the bar.
    void aLineOfTimeIsMovedByKeys_data()
    {
        QTest::addColumn<QSize>("size");
        QTest::newRow("strip") << QSize(1366, 768);
        QTest::newRow("bar") << QSize(1024, 700);
    }
    void aLineOfTimeIsMovedByKeys()
    {
        QFETCH(QSize, size);
        m_window->resize(size);
        QVERIFY(!bar().isVisible());
        press(Qt::Key_T, Qt::ControlModifier);
        QTRY_VERIFY(m_window->time().isElsewhere());
        auto &track = bar().track();
        QTRY_COMPARE(track.isVisible(), !strip().isVisible());
        auto *line = strip().isVisible() ? static_cast<QWidget *>(&strip()) : &track;
        QTRY_COMPARE(m_window->focusWidget(), line);
        QTRY_COMPARE(track.marks().size(), 3U);
        QTRY_COMPARE(strip().isVisible() ? strip().timeline().events.size() : 6U, 6U);
        const auto goes = [&](int key, Qt::KeyboardModifiers modifiers, history::Moment moment) {
            QTest::keyClick(line, static_cast<Qt::Key>(key), modifiers);
            QTRY_COMPARE(m_window->time().moment(), moment);
            QTRY_COMPARE(line == &track ? *track.moment() : strip().shownAt(), moment);
        };
        goes(Qt::Key_Left, {}, m_now - 2min);
        goes(Qt::Key_Left, {}, m_now - 7min);
        goes(Qt::Key_Right, Qt::ShiftModifier, m_now - 7min + 1s);
        goes(Qt::Key_PageDown, {}, m_now - 2min + 1s);
        goes(Qt::Key_Home, {}, m_now - 10min);
        goes(Qt::Key_PageUp, {}, m_now - 10min); // there is nothing earlier
        goes(Qt::Key_Right, {}, m_now - 7min);
        QTest::keyClick(line, Qt::Key_End);
        QTRY_VERIFY(!m_window->time().isElsewhere());
        QVERIFY(!bar().isVisible());
        press(Qt::Key_T, Qt::ControlModifier);
        QTRY_VERIFY(m_window->time().isElsewhere());
        press(Qt::Key_T, Qt::ControlModifier);
        QVERIFY(!m_window->time().isElsewhere());
    }

    // The strip of the chosen lock is dragged in place, and its events are listed beside it.
    void theStripIsDragged()
    {
        QTRY_COMPARE(strip().lanes().lanes.size(), 3U);
        QCOMPARE(strip().timeline().forced, 1);
        QCOMPARE(strip().timeline().holds.count, 1);
        QCOMPARE(strip().timeline().waits.count, 1);
        QVERIFY2(strip().scopeText().contains(u"1 forced"_s), qPrintable(strip().scopeText()));
        QCOMPARE(strip().to() - strip().from(), std::chrono::milliseconds(5min)); // the last of them
        auto *area = strip().findChild<QAbstractScrollArea *>()->viewport();
        const QPoint whole(area->width() / 4 + 20, 8); // the line of all that is recorded
        QTest::mousePress(area, Qt::LeftButton, {}, whole);
        QTRY_VERIFY(m_window->time().isElsewhere());
        QVERIFY(*m_window->time().moment() < m_now - 9min);
        QTest::mouseMove(area, {0, 8});
        QTRY_COMPARE(*m_window->time().moment(), m_now - 10min); // no further
        QVERIFY(bar().bannerText().contains(u"Start of the recording"_s));
        QTRY_VERIFY2(strip().eventText().contains(u"already holds it"_s), qPrintable(strip().eventText()));
        QTest::mouseMove(area, {area->width(), 8});
        QTRY_VERIFY(!m_window->time().isElsewhere());
        QTest::mouseRelease(area, Qt::LeftButton);
        QVERIFY(goTo(m_now - 6min));
        auto *events = strip().events().findChild<QListWidget *>();
        QVERIFY(events->isVisible());
        QCOMPARE(events->count(), 7);
        QVERIFY(events->item(3)->text().contains(u"viewing"_s)); // one held, two came
        QTest::mouseClick(events->viewport(), Qt::LeftButton, {}, events->visualItemRect(events->item(1)).center());
        QTRY_COMPARE(m_window->time().moment(), m_now - 7min);
        QCOMPARE(contenders("/locks/orders"), 3);
        press(Qt::Key_Escape);
        QVERIFY(!events->isVisible());
    }

    void theTitleAndFootNameThePast()
    {
        QVERIFY(goTo(m_now - 6min));
        const auto time = ui::timeOfDay(m_now - 6min).toString(u"HH:mm:ss"_s);
        QVERIFY2(m_window->windowTitle().startsWith(u"viewing "_s + time), qPrintable(m_window->windowTitle()));
        const auto next = page().detail().findChild<QLabel *>(u"nextOwner"_s)->text();
        QVERIFY2(next.endsWith(u" was the first in line."_s), qPrintable(next));
        const auto *status = m_window->findChild<QWidget *>(u"statusBar"_s);
        for (const auto *label : status->findChildren<QLabel *>()) {
            if (label->isVisible())
                QVERIFY2(label->text().isEmpty() || label->text().contains(time), qPrintable(label->text()));
        }
        press(Qt::Key_F, Qt::ControlModifier | Qt::ShiftModifier); // refused
        QVERIFY(bar().bannerText().contains(u"not available"_s));
        press(Qt::Key_Escape);
        QVERIFY2(!m_window->windowTitle().contains(u"viewing"_s), qPrintable(m_window->windowTitle()));
        QVERIFY(goTo(m_now - 6min));
        QVERIFY(bar().bannerText().endsWith(u'.') && !bar().bannerText().contains(u"not available"_s));
    }

    // The same bar, smaller; nothing else of the window is another than before.
    void aPauseIsAsVisibleAsThePast()
    {
        press(Qt::Key_Space);
        QVERIFY2(bar().isVisible() && bar().bannerText().startsWith(u"Paused at "_s), qPrintable(bar().bannerText()));
        QVERIFY(bar().bannerText().endsWith(u"nothing changed since"_s));
        QCOMPARE(m_window->centralWidget()->property("look").toString(), u"not-now"_s);
        m_backend->notifyLocks({change(ChangeKind::Changed, orders(1, m_now + 1s))});
        QVERIFY2(bar().bannerText().endsWith(u"1 change waits"_s), qPrintable(bar().bannerText()));
        QVERIFY(goTo(m_now - 6min));
        QVERIFY(bar().bannerText().startsWith(u"Viewing "_s));
        press(Qt::Key_Escape);
        QVERIFY(bar().bannerText().startsWith(u"Paused at "_s));
        press(Qt::Key_Escape);
        QVERIFY(!bar().isVisible());
        QCOMPARE(contenders("/locks/orders"), 2);
        QCOMPARE(m_window->centralWidget()->property("look").toString(), QString());
    }

    // A window that is younger than five minutes: what is recorded before the first scan is over has no locks yet.
    void fiveMinutesAgoStopsAtTheFirstCompleteMoment()
    {
        const auto path = m_folder.filePath(u"young.lockscope"_s);
        auto writer = history::RecordingWriter::create(path, m_now - 3min);
        const auto add = [&](history::Moment at, auto what) { return bool((*writer)->add({at, std::move(what)})); };
        auto looking = standing();
        looking.isLookedThrough = false;
        auto second = looking;
        second.name = ConnectionName("redis");
        auto secondDone = second;
        secondDone.isLookedThrough = true;
        QVERIFY(add(m_now - 3min + 100ms, looking) && add(m_now - 3min + 1s, standing())
                && add(m_now - 3min + 1s, change(ChangeKind::Added, orders(2, m_now - 3min)))
                && add(m_now - 3min + 2s, second) && add(m_now - 3min + 4s, secondDone)
                && (*writer)->flush(m_now - 1s));
        m_file = path;
        m_past = std::make_unique<Past>([this] { return QStringList{m_file}; });
        m_backend->recorded = m_past.get();
        press(Qt::Key_Left, Qt::ControlModifier | Qt::ShiftModifier); // of the chosen lock's connection
        QTRY_COMPARE(m_window->time().moment(), m_now - 3min + 3s);
        QCOMPARE(contenders("/locks/orders"), 3);
        QVERIFY2(bar().bannerText().contains(u"Start of the recording"_s), qPrintable(bar().bannerText()));
        press(Qt::Key_Left, Qt::ControlModifier | Qt::ShiftModifier); // there is no earlier one
        QCoreApplication::processEvents();
        QTRY_COMPARE(m_window->time().moment(), m_now - 3min + 3s);
        // The other one was not read yet, and says from when on it was.
        const auto gaps = m_window->connections().coverageOf(ConnectionName("redis"));
        QCOMPARE(gaps.size(), 1U);
        QCOMPARE(gaps.front().message,
                 u"not recorded before "_s + ui::timeOfDay(m_now - 3min + 4s).toString(u"HH:mm:ss"_s));
        QVERIFY(goTo(m_now - 1min));
        QVERIFY2(bar().bannerText().contains(u"Recorded since "_s), qPrintable(bar().bannerText()));
        QVERIFY(m_window->connections().coverageOf(ConnectionName("redis")).empty());
        m_window->time().setLock({}); // of all connections
        press(Qt::Key_Left, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_COMPARE(m_window->time().moment(), m_now - 3min + 6s);
    }

    void pictures()
    {
        picture(u"live"_s);
        QVERIFY(goTo(m_now - 6min));
        picture(u"past"_s);
        m_window->selectLock(timeLock("/locks/now"));
        picture(u"absent"_s);
        press(Qt::Key_Escape);
        m_window->selectLock(timeLock("/locks/orders"));
        press(Qt::Key_Space);
        picture(u"paused"_s);
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestWindowStrip)
#include "tst_window_strip.moc"
