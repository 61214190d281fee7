// SPDX-License-Identifier: Apache-2.0
// Every lesson as a class sees it: in each of its languages, on the screens that class rooms have, to its end. No
// words are cut, and it ends in the counters of its runs. With LOCKSCOPE_SHOTS=folder it leaves pictures, to be
// looked at; dark ones with LOCKSCOPE_DARK=1.
#include "tests/support/fakebackend.h"
#include "tests/support/testmain.h"
#include "tests/ui/cutparts.h"
#include "tests/ui/tilecounters.h"
#include "ui/parts/parts.h"
#include "ui/lessons/lessonview.h"
#include "ui/mainwindow.h"
#include "ui/pages/lessonspage.h"
#include "ui/shell/actions.h"
#include "ui/simulator/countertiles.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/runpanel.h"
#include "ui/theme/theme.h"

#include <QAction>
#include <QApplication>
#include <QDir>
#include <QLabel>
#include <QLayout>
#include <QListWidget>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>

using namespace lockscope::ui;

namespace {

struct Screen {
    const char *name;
    QSize size;
    bool isProjector;
    bool isInAllLanguages; // or in the one with the longest words
    bool isScaled = false; // its last step, which wants the most room: that of the proof
};
constexpr Screen screens[] = {{"1024x768", {1024, 768}, false, true},
                              {"1440x900", {1440, 900}, false, true},
                              {"projector-1024x768", {1024, 768}, true, false},
                              {"projector-1024x768-125%", {819, 614}, true, false, true},
                              {"projector-1280x720", {1280, 720}, true, false},
                              {"projector-1280x720-150%", {853, 480}, true, false, true},
                              {"projector-1280x720-200%", {640, 360}, true, false, true}};
const std::vector allLanguages{Language::Russian, Language::Chinese, Language::English};
const std::vector longestWords{Language::Russian};
constexpr double leastLanes = 90; // pixels that are left for the lanes, whatever stands around them

} // namespace

class TestLessonsFit : public QObject {
    Q_OBJECT

    std::unique_ptr<Theme> m_theme;
    std::unique_ptr<testing::FakeBackend> m_backend;
    std::unique_ptr<MainWindow> m_window;
    LessonsPage *m_page = nullptr;
    const Screen *m_screen = nullptr;
    bool m_isPresenting = false;

    LessonView &lesson() { return m_page->lesson(); }

    bool isLegendWhole()
    {
        const auto *legend = lesson().findChild<Legend *>();
        return legend->isHidden() || legend->height() >= legend->heightForWidth(legend->width());
    }
    // A layout that has changed asks for another; none of them is painted. Most take two turns.
    void settle()
    {
        const auto isSettled = [this] { return testing::cutParts(*m_page).isEmpty() && isLegendWhole(); };
        for (int turn = 0; turn < 6 && (turn < 3 || !isSettled()); ++turn) {
            QCoreApplication::sendPostedEvents(nullptr, QEvent::MetaCall);
            QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
        }
    }
    void turnTo(const Screen &screen)
    {
        if (m_screen == &screen)
            return;
        m_screen = &screen;
        if (std::exchange(m_isPresenting, screen.isProjector) != screen.isProjector)
            m_window->actions().find(u"present"_s)->trigger();
        m_window->setWindowState(Qt::WindowNoState); // the size is said here
        m_window->resize(screen.size);
        for (int turn = 0; turn < 3; ++turn)
            QCoreApplication::processEvents();
    }
    void shoot(const Screen &screen, Language language)
    {
        const QString folder = qEnvironmentVariable("LOCKSCOPE_SHOTS");
        if (folder.isEmpty())
            return;
        QVERIFY(QDir().mkpath(folder));
        const auto name = u"%1/lesson-%2-%3-%4-%5.png"_s.arg(folder, QString::fromLatin1(lesson().lesson().id))
                              .arg(lesson().step() + 1)
                              .arg(QString::fromLatin1(screen.name))
                              .arg(static_cast<int>(language));
        QVERIFY(m_window->grab().save(name));
    }
    void fits(const Screen &screen)
    {
        const QString where = u"%1, step %2, %3: "_s.arg(QString::fromLatin1(screen.name))
                                  .arg(lesson().step() + 1)
                                  .arg(lesson().text().left(30));
        QVERIFY2(m_window->size() == screen.size,
                 qPrintable(where + u"%1x%2"_s.arg(m_window->width()).arg(m_window->height())));
        const auto cut = testing::cutParts(*m_page);
        QVERIFY2(cut.isEmpty(), qPrintable(where + cut.join(u"; "_s)));
        QVERIFY2(isLegendWhole(),
                 qPrintable(where + u"legend of %1"_s.arg(lesson().findChild<Legend *>()->height())));
        for (std::size_t run = 0; run < lesson().picture().runs().size(); ++run) {
            auto &lanes = lesson().picture().lanes(run);
            const double wanted = std::max(std::min(leastLanes, lanes.run()->lanes() * 26.0),
                                           lanes.stageRows() * QFontMetricsF(monoFont(12)).height());
            QVERIFY2(lanes.frame().lanes.height() >= wanted,
                     qPrintable(where + u"lanes of %1"_s.arg(lanes.frame().lanes.height())));
            // Beside each other: the words say left and right.
            if (run > 0) {
                const auto &first = lesson().picture().lanes(0);
                QCOMPARE(lanes.mapTo(m_window.get(), QPoint()).y(), first.mapTo(m_window.get(), QPoint()).y());
                QVERIFY2(lanes.height() == first.height(),
                         qPrintable(where + u"lanes of %1 and %2"_s.arg(lanes.height()).arg(first.height())));
            }
        }
        isReachable(where);
        const auto *title = lesson().findChild<QLabel *>(u"lessonTitleLabel"_s);
        QVERIFY2(title->isHidden() || title->height() <= 2 * title->fontMetrics().lineSpacing() + 10,
                 qPrintable(where + u"title of %1"_s.arg(title->height())));
    }
    // Nothing lies over anything else. What is between heading and foot scrolls where it has to; they never do.
    void isReachable(const QString &where)
    {
        const auto *stage = lesson().findChild<QScrollArea *>(u"lessonStage"_s);
        const auto placeIn = [](const QWidget *part, const QWidget *whole) {
            return QRect(part->mapTo(whole, QPoint()), part->size());
        };
        for (std::size_t run = 0; run < lesson().picture().runs().size(); ++run) {
            const auto *card = lesson().picture().lanes(run).parentWidget();
            const int needs = card->layout()->totalMinimumHeightForWidth(card->width());
            QVERIFY2(card->height() >= needs, qPrintable(where + u"%1 of %2"_s.arg(card->height()).arg(needs)));
            QVERIFY(stage->widget()->rect().contains(placeIn(card, stage->widget())));
        }
        QVERIFY2(stage->widget()->width() <= stage->viewport()->width(),
                 qPrintable(where + u"wider by %1"_s.arg(stage->widget()->width() - stage->viewport()->width())));
        const int hidden = stage->widget()->height() - stage->height();
        QVERIFY2(hidden <= 0 || stage->verticalScrollBar()->maximum() == hidden,
                 qPrintable(where + u"%1 below the stage"_s.arg(hidden)));
        const bool isMuch = lesson().isAtProof() || lesson().picture().runs().size() > 2;
        QVERIFY2(hidden <= 0 || m_screen->isProjector || isMuch, qPrintable(where + u"scrolls by %1"_s.arg(hidden)));
        const auto &question = lesson().question();
        QVERIFY2(question.isHidden() || placeIn(&question, stage).bottom() < stage->height(),
                 qPrintable(where + u"the answer is not in sight"_s));
        const auto *story = lesson().findChild<QLabel *>(u"lessonText"_s);
        const int shown = story->parentWidget()->parentWidget()->height();
        QVERIFY2(shown >= std::min(story->height(), 3 * story->fontMetrics().lineSpacing()),
                 qPrintable(where + u"story of %1"_s.arg(shown)));
        for (const auto &name : {u"lessonTitleLabel"_s, u"lessonNext"_s}) {
            const auto *part = lesson().findChild<QWidget *>(name);
            QVERIFY(part->isVisible() && m_window->rect().contains(placeIn(part, m_window.get())));
        }
    }
    void toLastStep()
    {
        while (lesson().step() + 1 < lesson().lesson().steps.size())
            lesson().next();
    }
    void playThrough(const Screen &screen, Language language)
    {
        ui::speak(language); // as their page does
        QCoreApplication::sendPostedEvents(nullptr, QEvent::LanguageChange);
        lesson().setLanguage(language);
        while (lesson().step() > 0)
            lesson().back();
        QCoreApplication::processEvents(); // all words are others
        if (screen.isScaled)
            toLastStep();
        for (;;) {
            if (!lesson().question().isHidden())
                lesson().next(); // and the answer to it
            settle();
            shoot(screen, language);
            fits(screen);
            if (QTest::currentTestFailed() || lesson().isAtProof())
                return;
            lesson().next();
        }
    }

private slots:
    void initTestCase()
    {
        const bool isDark = qEnvironmentVariableIsSet("LOCKSCOPE_DARK");
        m_theme = std::make_unique<Theme>(*qApp, isDark ? ThemeChoice::Dark : ThemeChoice::Light);
        m_backend = std::make_unique<testing::FakeBackend>();
        m_window = std::make_unique<MainWindow>(*m_backend);
        QVERIFY(m_window->showPage(u"lessons"_s));
        m_page = m_window->findChild<LessonsPage *>();
        m_window->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
    }
    void cleanupTestCase()
    {
        m_window.reset();
        m_backend.reset();
        m_theme.reset();
    }

    // The list, too: rows are as high as their words.
    void theListCutsNothing()
    {
        for (const auto &screen : screens) {
            turnTo(screen);
            m_page->openList();
            const auto *rows = m_page->findChild<QListWidget *>(u"lessonRows"_s);
            for (const auto language : allLanguages) {
                m_page->setLanguage(language);
                QCoreApplication::processEvents();
                const int room = rows->viewport()->width() - 90; // the number, and what is left free beside it
                const auto needs = [&](const QString &text, const QFont &font) {
                    return QFontMetrics(font).boundingRect(0, 0, room, 500, Qt::TextWordWrap, text).height();
                };
                for (int row = 0; row < rows->count(); ++row) {
                    const auto *item = rows->item(row);
                    const int height = rows->visualItemRect(item).height();
                    const int least = needs(item->text(), textFont(16, QFont::DemiBold))
                                      + needs(item->data(Qt::UserRole).toString(), textFont(13));
                    QVERIFY2(height >= least, qPrintable(item->text()));
                }
            }
        }
        m_page->setLanguage(Language::English);
    }

    void everyWordOfEveryStepIsThere_data()
    {
        addColumns<std::size_t, std::size_t>("number", "screen");
        const auto all = lessons::loadLessons({lessons::lessonFolders().front()});
        QVERIFY(!all.lessons.empty());
        // To turn to another screen takes longer than a lesson.
        for (std::size_t screen = 0; screen < std::size(screens); ++screen) {
            for (std::size_t i = 0; i < all.lessons.size(); ++i)
                QTest::addRow("%s, %s", all.lessons[i].id.constData(), screens[screen].name) << i << screen;
        }
    }
    void everyWordOfEveryStepIsThere()
    {
        QFETCH(std::size_t, number);
        QFETCH(std::size_t, screen);
        turnTo(screens[screen]);
        lesson().picture().setPace(0ms);
        m_page->openLesson(number);
        QTRY_VERIFY_WITH_TIMEOUT(lesson().isPlayed(), 60'000);
        const bool isLookedAt = qEnvironmentVariableIsSet("LOCKSCOPE_SHOTS"); // by somebody who reads one of them
        for (const auto language : screens[screen].isInAllLanguages || isLookedAt ? allLanguages : longestWords) {
            playThrough(screens[screen], language);
            if (QTest::currentTestFailed())
                return;
        }
        for (const auto &line : lesson().proof().lines())
            QVERIFY2(line.startsWith(u'✓'), qPrintable(line));
        for (std::size_t run = 0; run < lesson().picture().runs().size(); ++run) {
            testing::saysItsCounters(lesson().picture().tiles(run), lesson().lesson().tiles,
                                     lesson().picture().runs()[run]->recording());
            if (QTest::currentTestFailed())
                return;
        }
    }
};

LOCKSCOPE_GUI_TEST(TestLessonsFit)
#include "tst_lessons_fit.moc"
