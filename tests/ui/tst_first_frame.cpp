// SPDX-License-Identifier: Apache-2.0
// How much is made before the window's first frame, counted; and that the pages which are made after it know all that
// they would know had they been there from the start.
#include "core/workspace/mutes.h"
#include "tests/support/fakebackend.h"
#include "tests/support/fakedata.h"
#include "tests/support/testmain.h"
#include "tests/ui/themedapplication.h"
#include "ui/mainwindow.h"
#include "ui/pages/findingspage.h"
#include "ui/pages/livetree.h"
#include "ui/pages/lockspage.h"
#include "ui/pages/logpage.h"
#include "ui/pages/page.h"
#include "ui/pages/sessionspage.h"

#include <QHeaderView>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>

namespace {

// How many pages there are when the window, or anything on it, is painted first.
class FirstPaint : public QObject {
public:
    explicit FirstPaint(ui::MainWindow &window) : m_window(window) { qApp->installEventFilter(this); }
    std::optional<qsizetype> pages;

protected:
    bool eventFilter(QObject *watched, QEvent *event) override
    {
        if (!pages && event->type() == QEvent::Paint && watched->isWidgetType())
            pages = m_window.findChildren<ui::Page *>().size();
        return QObject::eventFilter(watched, event);
    }

private:
    ui::MainWindow &m_window;
};

Batch everything()
{
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    auto lock = testing::queueLock("zk", "/locks/a", 1, testing::serverTime(now));
    inspect::Wording message = u"held for "_s;
    message.since(lock.observed - 11min);
    addFinding(lock, inspect::FindingCode::LongHeld, message, {lock.contenders[0].id});
    inspect::SessionSnapshot session{.connection = ConnectionName("zk")};
    session.session = *lock.contenders[0].session;
    operate::LogEntry entry;
    entry.number = 1;
    entry.connection = session.connection;
    entry.text = u"getChildren /locks"_s;
    Batch batch;
    batch.connections = {testing::connectedStatus("zk", Scheme::ZooKeeper, false, now)};
    batch.locks = {testing::change(inspect::ChangeKind::Added, lock)};
    batch.sessions = {{session.connection, {session}}};
    batch.log = {entry};
    return batch;
}

} // namespace

class TestFirstFrame : public QObject {
    Q_OBJECT

    testing::FakeBackend m_backend;

    static qsizetype pagesOf(const ui::MainWindow &window) { return window.findChildren<ui::Page *>().size(); }
    static qsizetype allOfThem() { return static_cast<qsizetype>(ui::allPages().size()); }

private slots:
    void itWaitsForOnePage_data()
    {
        const Rows<QString, qsizetype> row("page", "made");
        row("the locks", u"locks"_s, 1);
        row("another, and the locks", u"log"_s, 2);
    }
    void itWaitsForOnePage()
    {
        QFETCH(const QString, page);
        QFETCH(const qsizetype, made);
        ui::MainWindow window(m_backend);
        const FirstPaint first(window);
        window.showPage(page);
        QSignalSpy completed(&window.pages(), &ui::PageStack::completed);
        window.show();
        QTRY_VERIFY(first.pages.has_value());
        QCOMPARE(*first.pages, made);
        QTRY_COMPARE(completed.count(), 1);
        QCOMPARE(pagesOf(window), allOfThem());
        QVERIFY(window.pages().isComplete());
        QCOMPARE(ui::allPages()[window.pages().current()].id, page);
    }

    // A server may answer before there is a frame.
    void noneMissesTheFirstWord()
    {
        ui::MainWindow window(m_backend);
        QCOMPARE(pagesOf(window), qsizetype(1));
        m_backend.tell(everything());
        QCOMPARE(pagesOf(window), allOfThem());
        QCOMPARE(window.locksPage().model().rowCount(), 1);
        QCOMPARE(window.findChild<ui::FindingsPage *>()->model().rowCount(), 1);
        QCOMPARE(window.findChild<ui::SessionsPage *>()->model().rowCount(), 1);
        QCOMPARE(window.findChild<ui::LogPage *>()->table()->model()->rowCount(), 1);
    }

    void aWindowThatStartsMinimisedHasItsPages()
    {
        ui::MainWindow window(m_backend);
        window.showMinimized();
        QTRY_VERIFY(window.pages().isComplete());
    }

    void pageCallbackWaitsForItsPage()
    {
        ui::MainWindow window(m_backend);
        QList<int> said;
        window.pages().whenMade<ui::FindingsPage>([&](ui::FindingsPage &) { said << 1; });
        window.pages().whenMade<ui::FindingsPage>([&](ui::FindingsPage &) { said << 2; });
        window.pages().whenMade<ui::LocksPage>([&](ui::LocksPage &) { said << 0; });
        QCOMPARE(said, QList<int>{0});
        bool isComplete = false;
        window.pages().whenComplete(this, [&] { isComplete = true; });
        window.showPage(u"findings"_s);
        QCOMPARE(said, (QList<int>{0, 1, 2}));
        window.pages().whenMade<ui::FindingsPage>([&](ui::FindingsPage &) { said << 3; });
        QCOMPARE(said.last(), 3);
        QCoreApplication::sendPostedEvents();
        QVERIFY(!isComplete);
        window.pages().all();
        QCoreApplication::sendPostedEvents();
        QVERIFY(isComplete);
        QCOMPARE(said.size(), 4);
    }

    void mutesAreKnownToAPageMadeLater()
    {
        QTemporaryDir folder;
        MuteStore mutes(folder.filePath(u"mutes.json"_s));
        Mute mute{.lock = u"zk:/locks/a"_s,
                  .reason = u"a migration"_s,
                  .since = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now())};
        mute.until = mute.since + 1h;
        QVERIFY(mutes.add(mute));
        ui::MainWindow window(m_backend);
        window.useMutes(mutes);
        QVERIFY(!window.findChild<ui::FindingsPage *>());
        m_backend.tell(everything());
        const auto &findings = window.findChild<ui::FindingsPage *>()->model();
        QCOMPARE(findings.rowCount(), 0); // it does not list what is muted
        QVERIFY(mutes.remove(mute));
        QCOMPARE(findings.rowCount(), 1);
    }

    // Each page's view is what was saved of it, whenever it is made; and closing early spoils none.
    void viewsAreRestoredToPagesThatComeLater()
    {
        QTemporaryDir folder;
        QSettings settings(folder.filePath(u"view.ini"_s), QSettings::IniFormat);
        const auto header = [](ui::MainWindow &window) {
            return window.findChild<ui::LogPage *>()->table()->header();
        };
        ui::MainWindow before(m_backend);
        before.pages().all();
        const int width = header(before)->sectionSize(0) + 37;
        header(before)->resizeSection(0, width);
        before.saveView(settings);
        for (const bool isEarly : {true, false}) {
            ui::MainWindow window(m_backend);
            window.restoreView(settings);
            QVERIFY(!window.findChild<ui::LogPage *>());
            if (isEarly) {
                window.saveView(settings);
                continue;
            }
            window.pages().all();
            QCOMPARE(header(window)->sectionSize(0), width);
        }
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestFirstFrame)
#include "tst_first_frame.moc"
