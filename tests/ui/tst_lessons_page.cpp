// SPDX-License-Identifier: Apache-2.0
// The page of lessons as a teacher uses it: every lesson is played from its list to its end by the keys of a
// presenter's remote, and ends in the counters that prove it.
#include "tests/support/fakebackend.h"
#include "tests/support/testmain.h"
#include "tests/ui/lessonscene.h"
#include "tests/ui/themedapplication.h"
#include "tests/ui/tilecounters.h"
#include "ui/lessons/lessonview.h"
#include "ui/mainwindow.h"
#include "ui/pages/lessonspage.h"
#include "ui/shell/sidebar.h"
#include "ui/simulator/countertiles.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/runpanel.h"
#include "ui/simulator/serverstrip.h"
#include "ui/theme/theme.h"
#include "ui/workbench.h"

#include <QFile>
#include <QLabel>
#include <QListWidget>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QRegularExpression>
#include <QScopeGuard>
#include <QSignalSpy>
#include <QTemporaryDir>

#include <set>

using namespace lockscope::ui;

namespace {

// The tiles of a lesson that its texts name too: run and counter.
std::set<std::pair<std::size_t, QByteArray>> countedInTexts(const lessons::Lesson &lesson)
{
    QStringList texts;
    for (const auto &step : lesson.steps) {
        texts << step.text.english;
        if (step.question)
            texts << step.question->text.english << step.question->because.english;
    }
    for (const auto &proof : lesson.proves)
        texts << proof.text.english;
    static const QRegularExpression asked(u"\\{([A-Za-z0-9]+)(?: of run ([0-9]))?\\}"_s);
    std::set<std::pair<std::size_t, QByteArray>> all;
    for (const auto &match : asked.globalMatch(texts.join(u' '))) {
        if (const auto name = match.captured(1).toUtf8(); lesson.tiles.contains(name))
            all.emplace(match.captured(2).toULongLong(), name);
    }
    return all;
}

} // namespace

class TestLessonsPage : public QObject {
    Q_OBJECT

private slots:

    void theListTellsWhatThereIs()
    {
        LessonScene scene;
        auto &rows = scene.page.list().rows();
        QCOMPARE(std::size_t(rows.count()), scene.page.lessons().lessons.size());
        QVERIFY(rows.count() == 38);
        QVERIFY(!rows.item(0)->text().isEmpty());
        QVERIFY(scene.page.list().complaints().isEmpty());
        scene.page.setFilter(u"quorum"_s);
        int shown = 0;
        for (int row = 0; row < rows.count(); ++row)
            shown += rows.isRowHidden(row) ? 0 : 1;
        QCOMPARE(shown, 1);
    }

    void chaptersHaveHeadings()
    {
        LessonScene scene;
        auto &list = scene.page.list();
        auto &rows = list.rows();
        QCOMPARE(list.headings().size(), lessons::chapterNames().size());
        QCOMPARE(list.headings().front(), u"Why locks"_s);
        // A click on one opens nothing.
        QTest::mouseClick(rows.viewport(), Qt::LeftButton, {},
                          rows.visualItemRect(rows.item(0)).topLeft() + QPoint(20, 8));
        QVERIFY(scene.page.isListOpen());
        // Nor do keys stop at them.
        rows.setCurrentRow(0);
        press(rows, Qt::Key_Down);
        QCOMPARE(rows.currentRow(), 1);
        press(rows, Qt::Key_End);
        QCOMPARE(rows.currentRow(), rows.count() - 1);
        // Of a chapter whose first lesson does not match: above the one that does.
        scene.page.setFilter(u"quorum"_s);
        QCOMPARE(list.headings(), QStringList{u"Redis"_s});
        scene.page.setFilter({});
        scene.page.setLanguage(Language::Russian);
        QCOMPARE(list.headings().front(), u"Зачем нужны блокировки"_s);
        scene.page.setLanguage(Language::Chinese);
        QVERIFY(list.headings().contains(u"Redis 上的锁"_s));
        scene.page.setLanguage(Language::English);
    }

    void aClickOpensOneAndEscapeGoesBack()
    {
        LessonScene scene;
        auto &rows = scene.page.list().rows();
        const auto place = rows.visualItemRect(rows.item(1)).center();
        QTest::mouseClick(rows.viewport(), Qt::LeftButton, {}, place);
        QVERIFY(!scene.page.isListOpen());
        QTRY_VERIFY(scene.lesson().isPlayed());
        QCOMPARE(scene.lesson().lesson().id, scene.page.lessons().lessons[1].id);
        press(scene.lesson(), Qt::Key_Escape);
        QVERIFY(scene.page.isListOpen());
        QCOMPARE(rows.currentRow(), 1);
        press(rows, Qt::Key_Return);
        QVERIFY(!scene.page.isListOpen());
    }

    void everyLessonRunsToItsEndAndProvesItsPoint_data()
    {
        const Rows<std::size_t> row("number");
        const auto all = lessons::loadLessons({lessons::lessonFolders().front()});
        QVERIFY(!all.lessons.empty());
        for (std::size_t i = 0; i < all.lessons.size(); ++i)
            row(all.lessons[i].id, i);
    }
    void everyLessonRunsToItsEndAndProvesItsPoint()
    {
        QFETCH(std::size_t, number);
        LessonScene scene;
        QVERIFY(scene.open(number));
        auto &lesson = scene.lesson();
        const auto steps = lesson.lesson().steps.size();
        Moment before = lesson.picture().at();
        for (std::size_t step = 0; step < steps; ++step) {
            QCOMPARE(lesson.step(), step);
            QCOMPARE(lesson.text(), lesson.lesson().steps[step].text.english);
            QVERIFY(lesson.picture().at() >= before);
            before = lesson.picture().at();
            if (lesson.lesson().steps[step].question) {
                // The remote's key shows the answer first.
                QVERIFY(!lesson.question().isHidden() && !lesson.question().isAnswered());
                press(lesson, Qt::Key_PageDown);
                QCOMPARE(lesson.step(), step);
                QVERIFY(lesson.question().isAnswered());
            }
            press(lesson, Qt::Key_PageDown);
        }
        QVERIFY(lesson.isAtProof());
        QCOMPARE(lesson.picture().at(), lesson.picture().end());
        const auto &lines = lesson.proof().lines();
        QCOMPARE(std::size_t(lines.size()), lesson.lesson().proves.size());
        for (const auto &line : lines)
            QVERIFY2(line.startsWith(u'✓'), qPrintable(line));
        // And the counters beside the picture are those of the recordings.
        for (std::size_t run = 0; run < lesson.picture().runs().size(); ++run) {
            testing::saysItsCounters(lesson.picture().tiles(run), lesson.lesson().tiles,
                                     lesson.picture().runs()[run]->recording());
            if (QTest::currentTestFailed())
                return;
        }
        press(lesson, Qt::Key_PageDown);
        QVERIFY(scene.page.isListOpen());
    }

    void backGoesBack()
    {
        LessonScene scene;
        QVERIFY(scene.open("herd"));
        auto &lesson = scene.lesson();
        press(lesson, Qt::Key_PageUp);
        QCOMPARE(lesson.step(), std::size_t(0));
        const auto first = lesson.picture().at();
        const auto text = lesson.text();
        press(lesson, Qt::Key_PageDown);
        QVERIFY(lesson.picture().at() > first);
        press(lesson, Qt::Key_PageUp);
        QCOMPARE(lesson.picture().at(), first);
        QCOMPARE(lesson.text(), text);
    }

    void anAnswerIsJudgedOnce()
    {
        LessonScene scene;
        QVERIFY(scene.open("herd"));
        auto &lesson = scene.lesson();
        while (lesson.question().isHidden())
            press(lesson, Qt::Key_PageDown);
        const auto &question = *lesson.lesson().steps[lesson.step()].question;
        const auto wrong = question.right == 0 ? 1 : 0;
        QTest::mouseClick(lesson.question().choices()[std::size_t(wrong)], Qt::LeftButton);
        QVERIFY(lesson.question().verdict().startsWith("Not so."_L1));
        QVERIFY(lesson.question().verdict().contains(question.because.english));
        press(lesson, Qt::Key(Qt::Key_1 + int(question.right)));
        QVERIFY(lesson.question().verdict().startsWith("Not so."_L1));
        press(lesson, Qt::Key_PageUp);
        press(lesson, Qt::Key_PageDown);
        QVERIFY(!lesson.question().isAnswered());
        press(lesson, Qt::Key(Qt::Key_1 + int(question.right)));
        QVERIFY(lesson.question().verdict().startsWith("Right."_L1));
    }

    void thePictureRunsThere()
    {
        LessonScene scene;
        QVERIFY(scene.open("herd"));
        auto &picture = scene.lesson().picture();
        QSignalSpy arrived(&picture, &LessonPicture::arrived);
        picture.setPace(200ms);
        const auto from = picture.at();
        press(scene.lesson(), Qt::Key_PageDown);
        QVERIFY(picture.isRunning());
        QTRY_VERIFY(picture.at() > from);
        QTRY_COMPARE(arrived.size(), 1);
        QVERIFY(!picture.isRunning());
    }

    // On a projector: the wake-ups of the herd from the server's event to the ten clients, each of them in sight.
    void herdFillsAThirdOfThePicture()
    {
        LessonScene scene;
        scene.page.resize(1280, 720);
        QVERIFY(scene.open("predecessor"));
        auto &lesson = scene.lesson();
        while (lesson.step() < 2)
            lesson.next();
        QCoreApplication::processEvents();
        auto &lanes = lesson.picture().lanes(0);
        const auto frame = lanes.frame();
        QCOMPARE(frame.wakeUps.size(), std::size_t(9));
        QCOMPARE(std::ranges::count(frame.wakeUps, true, &WakeUp::isWasted), 8);
        QRectF herd;
        for (const auto &wakeUp : frame.wakeUps) {
            const QLineF ray = frame.rayOf(wakeUp, 1);
            QCOMPARE(ray.p1(), frame.rayOf(frame.wakeUps.front(), 1).p1()); // they leave together
            herd |= QRectF(ray.p1(), ray.p2()).normalized();
        }
        const QRectF picture(QPointF(), QSizeF(lanes.viewport()->size()));
        QVERIFY(picture.contains(herd));
        const double share = herd.width() * herd.height() / (picture.width() * picture.height());
        QVERIFY2(share >= 1 / 3.0, qPrintable(QString::number(share)));
        QVERIFY2(frame.laneHeight >= 24 && frame.rectOf(9).bottom() <= frame.lanes.bottom() + 0.5,
                 qPrintable(QString::number(frame.laneHeight)));
        // On the other side one is woken, and it holds.
        const auto other = lesson.picture().lanes(1).frame();
        QCOMPARE(other.wakeUps.size(), std::size_t(1));
        QVERIFY(!other.wakeUps.front().isWasted && other.wakeUps.front().lane == 1);
        QCOMPARE(other.from, frame.from);
    }

    // It goes by the room alone: what it was before does not matter.
    void stageIsTheSameInTheSameRoom()
    {
        LessonScene scene;
        QVERIFY(scene.open("predecessor"));
        const auto heightsIn = [&](const QSize &room) {
            scene.page.resize(room);
            for (int turn = 0; turn < 3; ++turn)
                QCoreApplication::processEvents();
            const auto &picture = scene.lesson().picture();
            return std::tuple(picture.height(), picture.lanes(0).height(), picture.servers(0).isHidden(),
                              picture.tiles(0).height(), scene.lesson().findChild<Legend *>()->height());
        };
        const QSize rooms[] = {{640, 360}, {1024, 600}, {1280, 720}, {1440, 900}};
        std::vector<decltype(heightsIn(rooms[0]))> growing;
        for (const auto &room : rooms)
            growing.push_back(heightsIn(room));
        for (std::size_t i = std::size(rooms); i-- > 0;)
            QVERIFY(heightsIn(rooms[i]) == growing[i]);
        QVERIFY(std::get<2>(growing.front()) && !std::get<2>(growing.back())); // the servers' state gives way first
    }

    void foldedLegendOpensToAll()
    {
        LessonScene scene;
        scene.page.resize(640, 360);
        QVERIFY(scene.open("predecessor"));
        auto *legend = scene.lesson().findChild<Legend *>();
        QTest::mouseClick(legend, Qt::LeftButton);
        const auto *menu = legend->findChild<QMenu *>(u"legendMenu"_s);
        QVERIFY(menu && menu->isVisible() && menu->findChild<Legend *>()->height() > legend->height());
    }

    void bandHoldsAllBehindTheNinthLane()
    {
        LessonScene scene;
        QVERIFY(scene.open("shared"));
        const auto frame = scene.lesson().picture().lanes(0).frame();
        QCOMPARE(frame.rows, 9);
        QCOMPARE(frame.laneAt(frame.lanes.bottom() - 0.1), 11);
        QCOMPARE(frame.laneAt(frame.middleOf(8)), 8);
        QCOMPARE(frame.laneAt(frame.middleOf(10)), 10);
    }

    // Together for 1.5 s; then it is quiet, and only then something is asked.
    void wakeUpsFlyBeforeTheQuestion()
    {
        LessonScene scene;
        QVERIFY(scene.open("children-watch"));
        auto &lesson = scene.lesson();
        auto &picture = lesson.picture();
        while (lesson.step() < 2)
            lesson.next();
        QCOMPARE(picture.lanes(0).frame().flight, 1.0); // without motion it is at its end at once
        picture.setPace(50ms);
        QElapsedTimer since;
        since.start();
        lesson.next();
        if (lesson.step() == 2)
            lesson.next();
        const auto folder = qEnvironmentVariable("LOCKSCOPE_SHOTS");
        std::set<double> flights;
        while (picture.isRunning() && since.elapsed() < 20'000) {
            QVERIFY(lesson.question().isHidden());
            if (flights.insert(picture.lanes(0).frame().flight).second && !folder.isEmpty()) // to be looked at
                QVERIFY(picture.grab().save(u"%1/flight-%2.png"_s.arg(folder).arg(since.elapsed())));
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
        }
        QVERIFY2(flights.size() >= 20, qPrintable(QString::number(flights.size())));
        QVERIFY(since.elapsed() >= 2700);
        const auto frame = picture.lanes(0).frame();
        QVERIFY(frame.flight == 1 && frame.fall == 1 && !frame.wakeUps.empty());
    }

    // What a title would answer is a letter until then; and right answers are counted.
    void titlesAndScoreFollowTheAnswer()
    {
        LessonScene scene;
        QVERIFY(scene.open("look-again"));
        auto &lesson = scene.lesson();
        QCOMPARE(lesson.picture().title(0), u"A"_s);
        lesson.next();
        QVERIFY(!lesson.question().isHidden() && lesson.score().isEmpty());
        QCOMPARE(lesson.picture().title(1), u"B"_s);
        for (const auto *label : lesson.picture().findChildren<QLabel *>())
            QVERIFY2(!label->text().contains("forgets"_L1), qPrintable(label->text()));
        press(lesson, Qt::Key_3);
        QCOMPARE(lesson.picture().title(0), lesson.lesson().runs[0].title.english);
        QCOMPARE(lesson.score(), u"1 of 1 right"_s);
        lesson.back();
        lesson.next();
        press(lesson, Qt::Key_1); // the first answer counts
        QCOMPARE(lesson.score(), u"1 of 1 right"_s);
    }

    void queueStandsInItsOrder()
    {
        LessonScene scene;
        for (const char *id : {"predecessor", "etcd"}) {
            QVERIFY(scene.open(id));
            while (scene.lesson().step() < 2)
                scene.lesson().next();
            const auto words = scene.lesson().picture().servers(1).serverWords().join(u'\n');
            static const QRegularExpression places(u"(?:lock-0{6,}|created at )(\\d+)"_s);
            QList<int> order;
            for (const auto &match : places.globalMatch(words))
                order << match.captured(1).toInt();
            QVERIFY2(order.size() >= 4 && std::ranges::is_sorted(order), qPrintable(words));
        }
        // The chain is in the picture, too: each watches the one before.
        QVERIFY(scene.open("predecessor"));
        scene.lesson().next();
        for (const auto &[watcher, owner] : scene.lesson().picture().lanes(1).frame().watches)
            QCOMPARE(watcher, owner + 1);
        QCOMPARE(scene.lesson().picture().lanes(1).frame().watches.size(), std::size_t(9));
    }

    void aLectureReadsItFromTheLastRow()
    {
        LessonScene scene;
        scene.page.resize(1280, 720);
        QVERIFY(scene.open("predecessor"));
        Theme::instance()->setLarge(true);
        const auto small = qScopeGuard([] { Theme::instance()->setLarge(false); });
        for (int turn = 0; turn < 3; ++turn)
            QCoreApplication::processEvents();
        for (const auto *label : scene.lesson().findChildren<QLabel *>())
            QVERIFY2(!label->isVisible() || label->text().isEmpty() || label->fontInfo().pixelSize() >= 18,
                     qPrintable(u"%1: %2"_s.arg(label->text()).arg(label->fontInfo().pixelSize())));
        QVERIFY(monoFont(scene.lesson().picture().lanes(0).frame().fontSize).pixelSize() >= 18);
    }

    void itSpeaksThreeLanguages()
    {
        LessonScene scene;
        QVERIFY(scene.open("znodes"));
        for (const auto &[language, next] : {std::pair{Language::Chinese, u"下一步"_s},
                                             {Language::Russian, u"Дальше"_s},
                                             {Language::English, u"Next"_s}}) {
            scene.page.setLanguage(language);
            QTRY_VERIFY(scene.lesson().isPlayed());
            const auto &lesson = scene.lesson();
            QCOMPARE(lesson.text(), lesson.lesson().steps.front().text.in(language));
            QCOMPARE(lesson.findChild<QPushButton *>(u"lessonNext"_s)->text(), next);
            const auto titles =
                scene.page.list().rows().findItems(lesson.lesson().title.in(language), Qt::MatchExactly);
            QCOMPARE(titles.size(), 1);
        }
    }

    void aWrongFileIsSaidAndATeachersOwnIsThere()
    {
        QTemporaryDir folder;
        QFile good(folder.filePath(u"90-mine.json"_s));
        QFile builtIn(u":/lockscope/lessons/02-herd.json"_s);
        QVERIFY(builtIn.open(QIODevice::ReadOnly) && good.open(QIODevice::WriteOnly));
        auto text = builtIn.readAll();
        text.replace("\"id\": \"herd\"", "\"id\": \"mine\"").replace("\"contenders\": 10", "\"contenders\": 12");
        good.write(text);
        good.close();
        QFile bad(folder.filePath(u"91-bad.json"_s));
        QVERIFY(bad.open(QIODevice::WriteOnly));
        bad.write("{\"schema\": \"lockscope-lesson/1\", \"id\": \"<b>x\"}");
        bad.close();
        LessonsPage page(nullptr, {folder.path()});
        page.lesson().picture().setPace(0ms);
        page.show();
        QCOMPARE(page.lessons().lessons.size(), std::size_t(1));
        QCOMPARE(page.list().complaints().size(), 1);
        QVERIFY(page.list().complaints().front().contains("91-bad.json"_L1));
        QVERIFY(page.list().complaints().front().contains("\"id\""_L1));
        // Twelve contenders are not ten: what it says is not so, and is shown as that.
        page.openLesson(0);
        QTRY_VERIFY(page.lesson().isPlayed());
        while (!page.lesson().isAtProof())
            page.lesson().next();
        QVERIFY(page.lesson().proof().lines().front().startsWith(u'✗'));
        // Corrected, and read again.
        QVERIFY(QFile::remove(bad.fileName()));
        page.refresh();
        QVERIFY(page.list().complaints().isEmpty());
    }

    void aRunThatCannotBePlayedIsSaid()
    {
        LessonsPage page(nullptr, {lessons::lessonFolders().front()},
                         [](const contention::Scenario &, const contention::OnProgress &) {
                             return Result<contention::Recording>(Error{ErrorCode::Unsupported, u"no such world"_s});
                         });
        page.show();
        page.openLesson(0);
        QTRY_VERIFY(!page.lesson().complaint().isEmpty());
        QVERIFY(page.lesson().complaint().contains("no such world"_L1));
        page.lesson().next();
        QCOMPARE(page.lesson().step(), std::size_t(0));
        page.openList();
        QVERIFY(page.isListOpen());
    }

    // What is said beside the picture is what the picture says; and the line below counts what the tiles do not.
    void theTextAndTheCountersAgree()
    {
        LessonScene scene;
        QVERIFY(scene.open("children-watch")); // everybody watches the children
        auto &lesson = scene.lesson();
        while (lesson.step() < 2)
            lesson.next();
        QVERIFY2(lesson.text().contains("36 times"_L1), qPrintable(lesson.text()));
        const auto &tiles = lesson.picture().tiles(0);
        QCOMPARE(tiles.watchEvents(), u"–"_s); // before the first release
        QVERIFY2(tiles.wholeRun().contains("36 wake-ups"_L1), qPrintable(tiles.wholeRun()));
    }

    // At the end a tile says of its counter what the texts say of it, to the digit.
    void countInATextEqualsItsTile_data()
    {
        const Rows<std::size_t> row("number");
        const auto all = lessons::loadLessons({lessons::lessonFolders().front()}).lessons;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (!countedInTexts(all[i]).empty())
                row(all[i].id, i);
        }
    }
    void countInATextEqualsItsTile()
    {
        QFETCH(std::size_t, number);
        LessonScene scene;
        QVERIFY(scene.open(number));
        auto &lesson = scene.lesson();
        while (!lesson.isAtProof())
            lesson.next();
        for (const auto &[run, name] : countedInTexts(scene.page.lessons().lessons[number])) {
            const auto counted = lessons::counterOf(name, lesson.picture().runs()[run]->recording());
            const auto said = name.endsWith("Ms") ? lessons::formatMeasuredMs(counted, lessons::Language::English)
                                                  : lessons::formatCount(qint64(counted), lessons::Language::English);
            QCOMPARE(lesson.picture().tiles(run).figure(name).replace(u' ', QChar::Nbsp), said);
        }
    }

    // Nothing of what comes is to be seen before the cursor was there: not in the lanes, and not in the totals.
    void laterEventsAreNotGivenAway()
    {
        LessonScene scene;
        QVERIFY(scene.open("redlock")); // the violation is what the question is about
        auto &lesson = scene.lesson();
        auto &picture = lesson.picture();
        while (lesson.question().isHidden()) {
            QCOMPARE(picture.lanes(0).frame().seen, std::optional(picture.at()));
            lesson.next();
        }
        QCOMPARE(picture.lanes(0).frame().seen, std::optional(picture.at()));
        QVERIFY2(!picture.tiles(0).wholeRun().contains("longest"_L1), qPrintable(picture.tiles(0).wholeRun()));
        while (!lesson.isAtProof())
            lesson.next();
        QVERIFY(picture.tiles(0).wholeRun().contains("longest"_L1));
        // Whoever goes back has been there.
        const auto seen = picture.lanes(0).frame().seen;
        lesson.back();
        lesson.back();
        QCOMPARE(picture.lanes(0).frame().seen, seen);
    }

    void theServersAndWhatIsBelievedAreShown()
    {
        LessonScene scene;
        QVERIFY(scene.open("znodes"));
        auto &lesson = scene.lesson();
        QVERIFY(lesson.picture().servers(0).beliefs().isEmpty()); // before everything
        lesson.next();
        const auto words = lesson.picture().servers(0).serverWords();
        QVERIFY2(words.filter(u"/sim/lock  of c00"_s).size() == 1, qPrintable(words.join(u'\n')));
        QVERIFY(lesson.picture().servers(0).beliefs().contains(u"holds: c00"_s));
    }

    void aStepThatNeverComesIsSaid()
    {
        QTemporaryDir folder;
        QFile file(folder.filePath(u"1.json"_s));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(R"({"schema": "lockscope-lesson/1", "id": "never", "title": {"en": "T"}, "summary": {"en": "S"},
            "runs": [{"title": {"en": "R"}, "scenario": {"recipe": "zk-mutex", "contenders": 2}}],
            "steps": [{"text": {"en": "one"}, "until": {"mark": "holds"}},
                      {"text": {"en": "two"}, "until": {"mark": "dies"}},
                      {"text": {"en": "three"}, "until": {"end": true}}],
            "proves": [{"counter": "grants", "is": "== 2", "text": {"en": "P"}}]})");
        file.close();
        LessonsPage page(nullptr, {folder.path()});
        page.lesson().picture().setPace(0ms);
        page.show();
        page.openLesson(0);
        QTRY_VERIFY(page.lesson().isPlayed());
        QVERIFY(page.lesson().complaint().isEmpty());
        page.lesson().next();
        QVERIFY2(page.lesson().complaint().contains("never happens"_L1), qPrintable(page.lesson().complaint()));
        page.lesson().next();
        QVERIFY(page.lesson().complaint().isEmpty());
    }

    void aHandoutHasItsWordsAndPictures()
    {
        LessonScene scene;
        QVERIFY(scene.open("predecessor"));
        QTemporaryDir folder;
        const QString file = folder.filePath(u"page.md"_s);
        scene.lesson().saveHandout(file, {scene.lesson().lesson()}, true);
        QTRY_COMPARE(scene.lesson().complaint(), u"Saved page.md"_s);
        QFile written(file);
        QVERIFY(written.open(QIODevice::ReadOnly));
        const auto text = QString::fromUtf8(written.readAll());
        QVERIFY(text.startsWith(u"# "_s) && text.contains(u"✓"_s) && text.contains("![2](<page-2.png>)"_L1));
        QVERIFY(text.contains("`zk-mutex`, contenders: 10, seed 1"_L1));
        QVERIFY(QFile::exists(folder.filePath(u"page-2.png"_s)));
        QVERIFY(!QFile::exists(folder.filePath(u"page-1.png"_s))); // nothing had happened yet
        // Without answers nothing is marked, and no proof is given.
        scene.lesson().saveHandout(folder.filePath(u"asked.md"_s), {scene.lesson().lesson()}, false);
        QTRY_COMPARE(scene.lesson().complaint(), u"Saved asked.md"_s);
        QFile asked(folder.filePath(u"asked.md"_s));
        QVERIFY(asked.open(QIODevice::ReadOnly));
        const auto questions = QString::fromUtf8(asked.readAll());
        const auto &question = *scene.lesson().lesson().steps[1].question;
        QVERIFY(questions.contains(question.text.english) && questions.contains("3. 1\n"_L1));
        QVERIFY(!questions.contains(u'✓') && !questions.contains(question.because.english));
        // A chapter is one file, with its pictures inside.
        const auto &all = scene.page.lessons().lessons;
        scene.lesson().saveHandout(folder.filePath(u"chapter.html"_s), {all[0], all[1]}, true);
        QTRY_COMPARE(scene.lesson().complaint(), u"Saved chapter.html"_s);
        QFile chapter(folder.filePath(u"chapter.html"_s));
        QVERIFY(chapter.open(QIODevice::ReadOnly));
        const auto html = QString::fromUtf8(chapter.readAll());
        QVERIFY(html.contains(all[0].title.english) && html.contains(all[1].title.english));
        QVERIFY(html.count("data:image/png;base64,"_L1) >= 4 && !html.contains(".png\""_L1));
        // Twice the same recipe: what the text calls left and right is told apart by the runs' own titles.
        const auto pictures = scene.lesson().picture().picturesAt({}, scene.lesson().picture().end());
        for (std::size_t i = 0; i < pictures.size(); ++i)
            QCOMPARE(pictures[i].title, scene.lesson().lesson().runs[i].title.english);
    }

    // Two tries of 2 s are a wait of 4 s, on the tile as beside the run that waits 4 s at once; and none in vain is
    // no praise where nobody is told.
    void aWaitIsCountedFromItsFirstTry()
    {
        LessonScene scene;
        QVERIFY(scene.open("timeout-arithmetic"));
        const auto runs = scene.lesson().picture().runs();
        const auto p99 = [&](std::size_t run, std::size_t events, Moment at) {
            return runs[run]->waitP99After(events, at);
        };
        const auto atEnd = [&](std::size_t run) { return p99(run, runs[run]->eventCount(), runs[run]->end()); };
        QVERIFY(atEnd(0) >= 4s && atEnd(0) < 4010ms && atEnd(2) >= 4s && atEnd(2) < 4010ms);
        const Moment late = 3900ms;
        QCOMPARE(p99(2, runs[2]->countUntil(late), late), p99(0, runs[0]->countUntil(late), late));
        QVERIFY(scene.open("redisson"));
        scene.lesson().picture().runTo(scene.lesson().picture().end());
        QCOMPARE(scene.lesson().picture().tiles(1).wasted(), u"–"_s);
    }

    void theWindowCountsThem()
    {
        testing::FakeBackend backend;
        MainWindow window(backend);
        QVERIFY(window.showPage(u"lessons"_s));
        window.show();
        const auto *lessons = window.findChild<LessonsPage *>();
        QTRY_VERIFY(lessons->isSettled());
        QVERIFY(window.isInitialScanComplete());
        QVERIFY(lessons->lessons().lessons.size() == std::size_t(38));
    }

    void aLinkOpensALesson()
    {
        testing::FakeBackend backend;
        MainWindow window(backend);
        window.show();
        window.workbench().openLink(u"lockscope://lesson/redlock"_s);
        LessonsPage *page = nullptr;
        QTRY_VERIFY((page = window.findChild<LessonsPage *>()) && page->isVisible() && page->lesson().isPlayed());
        QCOMPARE(page->lesson().lesson().id, QByteArray("redlock"));
        window.workbench().openLink(u"lockscope://lesson/no-such"_s);
        QVERIFY(window.findChild<QMessageBox *>(u"workbenchSays"_s)->text().contains("\"no-such\""_L1));
    }

    // On another page, too: the side bar says how many there are.
    void lessonsLoadWithoutOpeningThePage()
    {
        testing::FakeBackend backend;
        MainWindow window(backend);
        window.show();
        const LessonsPage *lessons = nullptr;
        QTRY_VERIFY((lessons = window.findChild<LessonsPage *>()) && lessons->isSettled());
        QVERIFY(!lessons->isVisible() && !lessons->lessons().lessons.empty());
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestLessonsPage)
#include "tst_lessons_page.moc"
