// SPDX-License-Identifier: Apache-2.0
// What is kept of how the window looks, and its picture in a file.
#include "tests/support/fakebackend.h"
#include "tests/support/fakedata.h"
#include "tests/support/testmain.h"
#include "ui/mainwindow.h"
#include "ui/pages/lockspage.h"
#include "ui/screenshot.h"
#include "ui/theme/theme.h"

#include <QApplication>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using namespace lockscope;

class TestWindowView : public QObject {
    Q_OBJECT

    const ui::SystemTime present = ui::SystemTime(1'700'000'000s);
    std::unique_ptr<ui::Theme> m_theme;
    std::unique_ptr<testing::FakeBackend> m_backend;
    std::unique_ptr<ui::MainWindow> m_window;

private slots:
    void initTestCase() { m_theme = std::make_unique<ui::Theme>(*qApp, ui::ThemeChoice::Light); }
    void cleanupTestCase() { m_theme.reset(); }
    void init()
    {
        m_backend = std::make_unique<testing::FakeBackend>();
        m_window = std::make_unique<ui::MainWindow>(*m_backend);
        m_window->locksPage().setClock([this] { return present; });
        m_window->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
    }
    void cleanup()
    {
        m_window.reset();
        m_backend.reset();
    }

    void viewIsSavedAndRestored()
    {
        QTemporaryDir folder;
        QSettings settings(folder.filePath(u"view.ini"_s), QSettings::IniFormat);
        m_window->resize(1000, 700);
        m_window->showPage(u"sessions"_s);
        m_window->saveView(settings);
        settings.sync();
        ui::MainWindow other(*m_backend);
        other.restoreView(settings);
        QCOMPARE(other.size(), QSize(1000, 700));
    }

    void screenshotIsTakenOnceTheFirstSnapshotIsComplete()
    {
        QTemporaryDir folder;
        const QString file = folder.filePath(u"window.png"_s);
        std::optional<QString> failure;
        new ui::ScreenshotTaker(*m_window, file, 60s, [&](const QString &what) { failure = what; });
        auto status = testing::connectedStatus("zk", Scheme::ZooKeeper, false, present);
        status.progress.firstSnapshotComplete = false;
        m_backend->tellConnection(status);
        QVERIFY(!m_window->isFirstSnapshotComplete());
        status.progress.firstSnapshotComplete = true;
        m_backend->tellConnection(status);
        const auto now = testing::serverTime(present);
        m_backend->tellLocks({testing::change(inspect::ChangeKind::Added, testing::queueLock("zk", "/a", 3, now))});
        QTRY_VERIFY(failure.has_value());
        QCOMPARE(*failure, QString());
        QCOMPARE(QImage(file).size(), m_window->size() * m_window->devicePixelRatio());
    }
};

LOCKSCOPE_GUI_TEST(TestWindowView)
#include "tst_window_view.moc"
