// SPDX-License-Identifier: Apache-2.0
// The simulator's page in another language, and its legend in a narrow window.
#include "tests/support/fakerecording.h"
#include "tests/support/testmain.h"
#include "tests/ui/cutparts.h"
#include "ui/pages/simulatorpage.h"
#include "ui/parts/parts.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/simulatortext.h"
#include "ui/theme/theme.h"

#include <QApplication>
#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QRegularExpression>
#include <QScopeGuard>

class TestSimulatorWords : public QObject {
    Q_OBJECT

    std::unique_ptr<ui::Theme> m_theme;
    std::unique_ptr<ui::SimulatorPage> m_page;

    void open()
    {
        m_page = std::make_unique<ui::SimulatorPage>(nullptr, testing::fakeSimulate);
        m_page->resize(1200, 820);
        m_page->play(ui::presets().front().comparison);
        m_page->show();
        QVERIFY(QTest::qWaitFor([&] { return m_page->isSettled() && m_page->panels() == 2; }, 30'000));
    }

private slots:
    void init() { m_theme = std::make_unique<ui::Theme>(*qApp, ui::ThemeChoice::Light); }
    void cleanup()
    {
        m_page.reset();
        m_theme.reset();
    }

    // Also where the runs stand above each other, and most of the page is below the fold.
    void theLegendIsInSight()
    {
        open();
        const auto *legend = m_page->findChild<ui::Legend *>();
        for (const QSize size : {QSize(764, 680), QSize(1200, 860)}) {
            m_page->window()->resize(m_page->window()->size() + size - m_page->size());
            const auto isInSight = [&] {
                return legend->visibleRegion().boundingRect() == legend->rect() && legend->height() > 15;
            };
            QTRY_VERIFY2(isInSight(), qPrintable(u"%1"_s.arg(m_page->width())));
        }
    }

    // As a class sees it: the page alone, on a projector unscaled and scaled, where there is room with large text.
    void onAProjectorNothingIsCut_data()
    {
        const Rows<QSize, bool> row("size", "isLarge");
        row("1024x768", QSize(1024, 768), true);
        row("1280x720", QSize(1280, 720), true);
        row("1280x720, 150 %", QSize(853, 480), false);
        row("1280x720, 200 %", QSize(640, 360), false);
    }
    void onAProjectorNothingIsCut()
    {
        QFETCH(QSize, size);
        QFETCH(bool, isLarge);
        m_theme->setLarge(isLarge);
        open();
        const auto isOfThatSize = [&] {
            m_page->resize(size); // as soon as the layout says it can
            return m_page->size() == size;
        };
        const auto restore = qScopeGuard([] { ui::speak(lessons::Language::English); });
        for (const auto language :
             {lessons::Language::Russian, lessons::Language::Chinese, lessons::Language::English}) {
            ui::speak(language);
            QTRY_VERIFY2(isOfThatSize(), qPrintable(u"%1 wide"_s.arg(m_page->width())));
            const auto cut = [this] { return testing::cutParts(*m_page); };
            QTRY_VERIFY2(cut().isEmpty(), qPrintable(cut().join(u"; "_s)));
        }
    }

    // All of the page, at once, and back.
    void anotherLanguageIsSpokenWhileItIsOpen()
    {
        if (!QFile::exists(u":/lockscope/words/lockscope_ru.qm"_s))
            QSKIP("built without lrelease (Debian: qt6-l10n-tools): the pages are in English alone");
        open();
        const auto words = [this] {
            QStringList all{m_page->sentence()};
            for (const auto *label : m_page->findChildren<QLabel *>()) {
                if (label->isVisibleTo(m_page.get()))
                    all << label->text() << label->toolTip();
            }
            for (const auto *button : m_page->findChildren<QAbstractButton *>())
                all << button->text() << button->toolTip();
            static const QRegularExpression word(u"[a-z]{3}"_s), id(u"^[a-z]+-[a-z]+"_s);
            all.removeIf([](const QString &text) { return !text.contains(word) || text.contains(id); });
            all.sort();
            return all;
        };
        const auto before = words();
        QVERIFY(before.size() > 30);
        const auto restore = qScopeGuard([] { ui::speak(lessons::Language::English); });
        ui::speak(lessons::Language::Russian);
        QTRY_COMPARE(m_page->heading().left(11), u"участников:"_s);
        const auto russian = words();
        for (const auto &text : before)
            QVERIFY2(!russian.contains(text), qPrintable(text));
        ui::speak(lessons::Language::English);
        QTRY_COMPARE(words(), before);
    }

    // What broke is told in the language of the page, with its numbers; so are faults, and what servers have.
    void aViolationIsToldInRussian()
    {
        if (!QFile::exists(u":/lockscope/words/lockscope_ru.qm"_s))
            QSKIP("built without lrelease (Debian: qt6-l10n-tools): the pages are in English alone");
        contention::Scenario scenario{.recipe = "zk-mutex",
                                      .contenders = 3,
                                      .hold = 400ms,
                                      .planned = {{contention::FaultKind::Pause, 100ms, 0, 8000ms}},
                                      .sessionTimeout = 4000ms};
        const auto run = contention::simulate(scenario);
        QVERIFY(run && !run->violations.empty());
        const auto restore = qScopeGuard([] { ui::speak(lessons::Language::English); });
        ui::speak(lessons::Language::Russian);
        static const QRegularExpression english(u"[A-Za-z]{3,}"_s);
        for (const auto &violation : run->violations) {
            const auto story = contention::explain(*run, violation, lessons::localeOf(lessons::Language::Russian));
            QVERIFY2(!english.match(story).hasMatch() && story.contains(u"0,10 с"_s), qPrintable(story));
            QVERIFY2(!english.match(contention::formatViolation(violation.message)).hasMatch(),
                     qPrintable(violation.message));
        }
        for (const auto kind : contention::allFaults())
            QVERIFY2(!english.match(ui::plannedText({kind, 40ms, 0, 0ms}, u"c00"_s)).hasMatch(),
                     qPrintable(ui::plannedText({kind, 40ms, 0, 0ms}, u"c00"_s)));
        for (const auto *state : {"of c00, watched by c01 c02", "children watched by c01", "locked by c00, version 3",
                                  "by c00", "free", "created at 7, lease 1a of c00"})
            QVERIFY2(!english.match(ui::formatState(QString::fromLatin1(state))).hasMatch(), state);
    }

    // Parts that are put together are put together as the language does it.
    void theLastSentenceIsChineseToItsStops()
    {
        if (!QFile::exists(u":/lockscope/words/lockscope_zh_CN.qm"_s))
            QSKIP("built without lrelease (Debian: qt6-l10n-tools): the pages are in English alone");
        open();
        const auto restore = qScopeGuard([] { ui::speak(lessons::Language::English); });
        ui::speak(lessons::Language::Chinese);
        QTest::keyClick(m_page.get(), Qt::Key_End);
        QTRY_VERIFY(m_page->sentence().contains(u"全部结束。"_s));
        static const QRegularExpression western(u"[.:,;]( |$)|。 |秒 "_s);
        QVERIFY2(!western.match(m_page->sentence()).hasMatch(), qPrintable(m_page->sentence()));
    }
};

LOCKSCOPE_GUI_TEST(TestSimulatorWords)
#include "tst_simulator_words.moc"
