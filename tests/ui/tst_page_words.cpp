// SPDX-License-Identifier: Apache-2.0
// The two pages that are projected speak the language chosen for the lessons; the others stay English. That every
// word is there in each language is looked at by tests/lint/words.py.
#include "ui/parts/parts.h"
#include "ui/simulator/countertiles.h"
#include "ui/simulator/runpanel.h"
#include "ui/simulator/simulatortext.h"
#include "tests/support/testmain.h"

#include <QCoreApplication>
#include <QFile>
#include <QLabel>

using lessons::Language;

class TestPageWords : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        if (!QFile::exists(QStringLiteral(":/lockscope/words/lockscope_ru.qm")))
            QSKIP("built without lrelease (Debian: qt6-l10n-tools): the pages are in English alone");
    }
    void cleanup() { ui::speak(Language::English); }

    void shownTextFollowsTheLanguage()
    {
        ui::CounterTiles tiles;
        const auto says = [&](const QString &word) {
            const auto labels = tiles.findChildren<QLabel *>();
            return std::ranges::any_of(labels, [&](const QLabel *label) { return label->text() == word; });
        };
        QVERIFY(says(QStringLiteral("requests")));
        ui::speak(Language::Russian);
        QTRY_VERIFY(says(QStringLiteral("запросы")));
        ui::speak(Language::Chinese);
        QTRY_VERIFY(says(QStringLiteral("请求")));
        ui::speak(Language::English);
        QTRY_VERIFY(says(QStringLiteral("requests")));
    }

    // As the lessons' texts beside them say them.
    void numbersHaveItsUnits()
    {
        const auto all = [] {
            using namespace std::chrono_literals;
            const QStringList said{ui::momentText(5010ms),    ui::momentText(317'800us), ui::momentText(640us),
                                   ui::momentText(252s),      ui::axisText(2500ms),      ui::durationText(50ms),
                                   ui::formatCount(4747),     ui::formatCount(499'500),  ui::formatNumber(50, 1),
                                   ui::formatSize(13'107'200)};
            return said.join(QLatin1Char('|')).replace(QChar(0xa0), QLatin1Char(' ')); // between thousands
        };
        QCOMPARE(all(), QStringLiteral("5.01 s|317.8 ms|640 µs|4 m 12 s|2.5 s|50 ms|4,747|499,500|50.0|12.5 MiB"));
        ui::speak(Language::Russian);
        QCOMPARE(all(), QStringLiteral("5,01 с|317,8 мс|640 мкс|4 мин 12 с|2,5 с|50 мс|4747|499 500|50,0|12,5 МиБ"));
        ui::speak(Language::Chinese);
        QCOMPARE(all(),
                 QStringLiteral("5.01 秒|317.8 毫秒|640 微秒|4 分 12 秒|2.5 秒|50 毫秒|4747|499,500|50.0|12.5 MiB"));
        QCOMPARE(lessons::formatMs(1210, Language::Chinese).replace(QChar::Nbsp, u' '), // an axis has no line ends
                 ui::axisText(std::chrono::milliseconds(1210)));
    }

    void brokenRecipesHaveTitles()
    {
        for (const auto &mutant : contention::mutants()) {
            QVERIFY(ui::recipeTitle(mutant.id).startsWith(QStringLiteral("Broken: ")));
            ui::speak(Language::Russian);
            QVERIFY(ui::recipeTitle(mutant.id).startsWith(QStringLiteral("С ошибкой: ")));
            ui::speak(Language::English);
        }
        QCOMPARE(ui::recipeTitle("curator-mutex"), QStringLiteral("curator-mutex"));
    }

    void faultsAreSaidInItToo()
    {
        ui::speak(Language::Russian);
        QCOMPARE(ui::faultSummary(contention::FaultKind::ClockJump), QStringLiteral("часы прыгают"));
    }

    void otherPagesStayEnglish()
    {
        ui::speak(Language::Russian);
        QCOMPARE(QCoreApplication::translate("lockscope::ui::LocksPage", "requests"), QStringLiteral("requests"));
    }

    void numbersHaveTheirForm_data()
    {
        const Rows<int, int> row("number", "like");
        row("21 as 1", 21, 1);
        row("22 as 2", 22, 2);
        row("11 as 5", 11, 5);
        row("112 as 5", 112, 5);
    }
    void numbersHaveTheirForm()
    {
        QFETCH(int, number);
        QFETCH(int, like);
        ui::speak(Language::Russian);
        const auto said = [](int count) {
            return ui::CounterTiles::tr("%n gave up", nullptr, count).remove(QString::number(count));
        };
        QCOMPARE(said(number), said(like));
        QVERIFY(said(1) != said(2) || said(2) != said(5)); // or all of this says nothing
    }
};

LOCKSCOPE_GUI_TEST(TestPageWords)
#include "tst_page_words.moc"
