// SPDX-License-Identifier: Apache-2.0
// What is kept of how the window looks, and its picture in a file.
#include "tests/support/testmain.h"
#include "tests/ui/windowfixture.h"
#include "ui/pages/page.h"
#include "ui/screenshot.h"

#include <QLineEdit>
#include <QSettings>
#include <QTemporaryDir>

class TestWindowView : public testing::WindowFixture {
    Q_OBJECT

private slots:
    void viewIsSavedAndRestored()
    {
        QTemporaryDir folder;
        QSettings settings(folder.filePath(u"view.ini"_s), QSettings::IniFormat);
        const QSize size(780, 600); // from Qt 6.8 on none comes back larger than the screen, which is 800x800 here
        m_window->resize(size);
        m_window->showPage(u"sessions"_s);
        m_window->saveView(settings);
        settings.sync();
        ui::MainWindow other(*m_backend);
        other.restoreView(settings);
        QCOMPARE(other.size(), size);
        QCOMPARE(ui::pageIds().at(static_cast<qsizetype>(other.pages().current())), u"sessions"_s);
    }

    // A letter is a key of the page, and Space pauses: neither is typed into the find field.
    void thePageHasTheKeyboardFirst()
    {
        closeWindow();
        for (const auto &one : {u"locks"_s, u"graph"_s, u"znodes"_s, u"log"_s}) {
            testing::FakeBackend backend;
            ui::MainWindow window(backend);
            window.showPage(one);
            window.show();
            QVERIFY(QTest::qWaitForWindowActive(&window));
            QCoreApplication::processEvents();
            const auto *find = window.findChild<QLineEdit *>(u"find"_s);
            QVERIFY2(!find->hasFocus(), qPrintable(one));
        }
        openWindow();
    }

    void screenshotWaitsForTheFirstSnapshot()
    {
        QTemporaryDir folder;
        const QString file = folder.filePath(u"window.png"_s);
        std::optional<QString> failure;
        new ui::ScreenshotTaker(*m_window, file, 60s, [&](const QString &what) { failure = what; });
        auto status = testing::connectedStatus("zk", Scheme::ZooKeeper, false, present);
        status.progress.firstSnapshotComplete = false;
        m_backend->notifyConnection(status);
        QVERIFY(!m_window->isFirstSnapshotComplete());
        status.progress.firstSnapshotComplete = true;
        m_backend->notifyConnection(status);
        const auto now = testing::serverTime(present);
        m_backend->notifyLocks({testing::change(inspect::ChangeKind::Added, testing::queueLock("zk", "/a", 3, now))});
        QTRY_VERIFY(failure.has_value());
        QCOMPARE(*failure, QString());
        QCOMPARE(QImage(file).size(), m_window->size() * m_window->devicePixelRatio());
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestWindowView)
#include "tst_window_view.moc"
