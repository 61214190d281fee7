// SPDX-License-Identifier: Apache-2.0
// Every lesson is played: it loads in three languages, its picture comes to each of its steps, and its numbers prove
// what it says. What a lesson's file may say is tst_lesson_files.
#include "core/contention/guarantees.h"
#include "core/contention/simulation.h"
#include "core/lessons/lessons.h"
#include "tests/simulate/smallestlesson.h"
#include "tests/support/testmain.h"

#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>

using namespace lockscope::contention;
using namespace lockscope::lessons;

namespace {

QStringList missing(const Text &text)
{
    QStringList languages;
    for (const auto &[name, words] :
         {std::pair{u"en"_s, text.english}, {u"zh_CN"_s, text.chinese}, {u"ru"_s, text.russian}}) {
        if (words.trimmed().isEmpty())
            languages << name;
    }
    return languages;
}

std::vector<std::pair<QString, Text>> textsOf(const Lesson &lesson)
{
    std::vector<std::pair<QString, Text>> texts{{u"title"_s, lesson.title}, {u"summary"_s, lesson.summary}};
    for (const auto &run : lesson.runs)
        texts.emplace_back(u"run"_s, run.title);
    for (const auto &step : lesson.steps) {
        texts.emplace_back(u"step"_s, step.text);
        if (!step.question)
            continue;
        texts.emplace_back(u"question"_s, step.question->text);
        texts.emplace_back(u"because"_s, step.question->because);
        for (const auto &choice : step.question->choices)
            texts.emplace_back(u"choice"_s, choice);
    }
    for (const auto &proof : lesson.proves)
        texts.emplace_back(u"proof"_s, proof.text);
    return texts;
}

bool hasCjk(const QString &text)
{
    return std::any_of(text.begin(), text.end(), [](QChar c) { return c.script() == QChar::Script_Han; });
}

bool hasCyrillic(const QString &text)
{
    return std::any_of(text.begin(), text.end(), [](QChar c) { return c.script() == QChar::Script_Cyrillic; });
}

} // namespace

class TestLessons : public QObject {
    Q_OBJECT

    Lessons m_all;

    void everyLesson()
    {
        QTest::addColumn<std::size_t>("number");
        for (std::size_t i = 0; i < m_all.lessons.size(); ++i)
            QTest::newRow(m_all.lessons[i].id) << i;
    }

private slots:
    void initTestCase()
    {
        m_all = loadLessons({lessonFolders().front()});
        for (const auto &error : m_all.refused)
            QFAIL(qPrintable(error.message));
        // No file is forgotten in the list of resources.
        const auto files = QDir(QStringLiteral(LOCKSCOPE_LESSONS)).entryList({u"*.json"_s});
        QCOMPARE(qsizetype(m_all.lessons.size()), files.size());
        QVERIFY(files.size() > 0);
    }

    void everyTextIsThereInThreeLanguages_data() { everyLesson(); }
    void everyTextIsThereInThreeLanguages()
    {
        QFETCH(std::size_t, number);
        const auto &lesson = m_all.lessons[number];
        for (const auto &[where, text] : textsOf(lesson)) {
            const auto lacks = missing(text);
            QVERIFY2(lacks.isEmpty(), qPrintable(u"%1 \"%2\": %3"_s.arg(where, text.english, lacks.join(u' '))));
            QVERIFY2(!hasCjk(text.english) && !hasCyrillic(text.english), qPrintable(text.english));
            QVERIFY2(!hasCyrillic(text.chinese), qPrintable(text.chinese));
            QVERIFY2(!hasCjk(text.russian), qPrintable(text.russian));
        }
        // Not the English words three times.
        QVERIFY(hasCjk(lesson.title.chinese) && hasCyrillic(lesson.title.russian));
        for (const auto &step : lesson.steps)
            QVERIFY2(hasCjk(step.text.chinese) && hasCyrillic(step.text.russian), qPrintable(step.text.english));
    }

    void itsRunsComeToEachStepAndProveItsPoint_data() { everyLesson(); }
    void itsRunsComeToEachStepAndProveItsPoint()
    {
        QFETCH(std::size_t, number);
        const auto &lesson = m_all.lessons[number];
        std::vector<Recording> runs;
        for (const auto &run : lesson.runs) {
            auto recording = contention::simulate(run.scenario);
            QVERIFY2(recording, recording ? "" : qPrintable(recording.error().message));
            QVERIFY(!recording->isCut);
            runs.push_back(*std::move(recording));
        }
        PlayedRuns played;
        for (const auto &run : runs)
            played.push_back(&run);
        Moment before{};
        for (const auto &step : lesson.steps) {
            if (!step.until)
                continue;
            const auto moment = momentOf(*step.until, played);
            QVERIFY2(moment, qPrintable(u"never comes to: "_s + step.text.english));
            QVERIFY2(*moment >= before, qPrintable(u"goes back at: "_s + step.text.english));
            before = *moment;
        }
        QVERIFY(lesson.steps.back().until && lesson.steps.back().until->isEnd);
        for (const auto &[where, text] : textsOf(withNumbers(lesson, played))) {
            QVERIFY2(!text.english.contains(u'{') && !text.chinese.contains(u'{') && !text.russian.contains(u'{'),
                     qPrintable(where));
            // A moment that was filled in ends in a Chinese unit: "3 秒时".
            static const QRegularExpression torn(u"\\p{Han} \\p{Han}"_s);
            QVERIFY2(!torn.match(text.chinese).hasMatch(), qPrintable(text.chinese));
        }
        for (const auto &proof : lesson.proves) {
            const auto proven = prove(proof, played);
            QVERIFY2(proven.holds, qPrintable(proof.text.english + u": it is "_s + proven.measured));
        }
    }

    void aProofThatIsWrongDoesNotHold_data()
    {
        const Rows<QByteArray, bool> row("proof", "holds");
        row("==", QByteArray(R"("counter": "grants", "is": "== 3")"), true);
        row("== not", QByteArray(R"("counter": "grants", "is": "== 4")"), false);
        row("!=", QByteArray(R"("counter": "grants", "is": "!= 3")"), false);
        row("<", QByteArray(R"("counter": "grants", "is": "< 3")"), false);
        row("<=", QByteArray(R"("counter": "grants", "is": "<= 3")"), true);
        row(">", QByteArray(R"("counter": "grants", "is": "> 2.5")"), true);
        row(">=", QByteArray(R"("counter": "grants", "is": ">= 3.5")"), false);
        row("the other run", QByteArray(R"("counter": "grants", "is": "== run 0")"), true);
        row("times the other run", QByteArray(R"("counter": "grants", "is": "> 0.5 * run 0")"), true);
        row("absent", QByteArray(R"("violation": "exclusion", "is": "absent")"), true);
        row("present", QByteArray(R"("violation": "exclusion", "is": "present")"), false);
        row("events", QByteArray(R"("events": {"mark": "holds", "contender": 1}, "is": "== 1")"), true);
        row("other events", QByteArray(R"("events": {"mark": "dies"}, "is": ">= 1")"), false);
    }
    void aProofThatIsWrongDoesNotHold()
    {
        QFETCH(QByteArray, proof);
        QFETCH(bool, holds);
        const auto lesson = readLesson(broken(R"("counter": "grants", "is": "== 3")", proof), u"x.json"_s);
        QVERIFY2(lesson, lesson ? "" : qPrintable(lesson.error().message));
        const auto run = contention::simulate(lesson->runs.front().scenario);
        QVERIFY(run);
        QCOMPARE(prove(lesson->proves.front(), {&*run}).holds, holds);
    }

    // "One at a time (absent)" would say the opposite, and a number alone does not say of what.
    void measuredValuesAreStatedInEachLanguage_data()
    {
        QTest::addColumn<QByteArray>("proof");
        QTest::addColumn<QStringList>("said"); // in English, Chinese, Russian
        const auto row = [](const char *proof, const QStringList &said) {
            QTest::newRow(proof) << QByteArray(proof) << said;
        };
        row(R"("violation": "exclusion", "is": "absent")",
            {u"two at once: never"_s, u"两个同时持有：从未"_s, u"двое сразу: ни разу"_s});
        row(R"("events": {"mark": "holds"}, "is": "== 3")", {u"3 times"_s, u"3 次"_s, u"3 раза"_s});
        row(R"("events": {"mark": "holds", "contender": 1}, "is": "== 1")", {u"once"_s, u"1 次"_s, u"1 раз"_s});
        row(R"("counter": "grants", "is": "== 3")", {u"3 grants"_s, u"3 次授予"_s, u"выдач: 3"_s});
        row(R"("counter": "watchEvents", "is": "== run 0")",
            {u"2 / 2 wake-ups"_s, u"2 / 2 次唤醒"_s, u"пробуждений: 2 / 2"_s});
        row(R"("counter": "leftBehind", "is": "== 0")", {u"0 left"_s, u"遗留 0 个"_s, u"осталось: 0"_s});
    }
    void measuredValuesAreStatedInEachLanguage()
    {
        QFETCH(QByteArray, proof);
        QFETCH(QStringList, said);
        const auto lesson = readLesson(broken(R"("counter": "grants", "is": "== 3")", proof), u"x.json"_s);
        QVERIFY2(lesson, lesson ? "" : qPrintable(lesson.error().message));
        const auto run = contention::simulate(lesson->runs.front().scenario);
        QVERIFY(run);
        QStringList spoken;
        for (const auto language : {Language::English, Language::Chinese, Language::Russian})
            spoken << prove(lesson->proves.front(), {&*run}, language).spoken;
        QCOMPARE(spoken, said);
    }

    // Each counter of a proof has a unit: all but a share, which has none. And each invariant has words.
    void everyCounterHasAUnit()
    {
        static const QRegularExpression digits(u"^[0-9.,]+$"_s);
        for (const auto &name : counterNames()) {
            Proof proof{.name = name};
            for (const auto language : {Language::English, Language::Chinese, Language::Russian})
                QCOMPARE(digits.match(formatMeasure(proof, 7, {}, language)).hasMatch(), name == "fairness");
        }
        Proof proof{.of = Proof::Of::Violation};
        for (const auto &invariant : contention::invariants()) {
            proof.name = invariant.name;
            QVERIFY(formatMeasure(proof, 0, {}, Language::English).endsWith(u": never"_s));
            QVERIFY(formatMeasure(proof, 1, {}, Language::English).endsWith(u": 1 time"_s));
        }
    }

    // "8" at the end of a line, and "s" at the beginning of the next one.
    void aNumberIsNotPartedFromItsUnit()
    {
        static const QRegularExpression parted(u"[0-9] (s|ms|MB|с|мс|МБ|秒|毫秒|%)(?![\\p{L}])"_s,
                                               QRegularExpression::UseUnicodePropertiesOption);
        for (const auto &lesson : m_all.lessons) {
            for (const auto &[where, text] : textsOf(lesson)) {
                for (const auto *words : {&text.english, &text.chinese, &text.russian})
                    QVERIFY2(!parted.match(*words).hasMatch(), qPrintable(*words));
            }
        }
        for (const auto language : {Language::English, Language::Chinese, Language::Russian})
            QVERIFY(!formatMs(1500, language).contains(u' '));
    }

    // 45 пробуждений, but 21 пробуждение and 22 пробуждения: in Russian no noun follows a count that is filled in.
    // Prepositions and verbs of the third person plural do not agree with it.
    void inRussianNoNounFollowsACount()
    {
        static const QRegularExpression noun(
            u"\\{(?!at\\}|lesson |token |[A-Za-z0-9]+Ms\\b)[^}]*\\}\\s(?!из\\b|на\\b|\\p{L}+[аяую]т\\b)\\p{L}"_s,
            QRegularExpression::UseUnicodePropertiesOption);
        for (const auto &lesson : m_all.lessons) {
            for (const auto &[where, text] : textsOf(lesson))
                QVERIFY2(!noun.match(text.russian).hasMatch(), qPrintable(text.russian));
        }
    }

    // The Chinese of a course is written in many sittings: what one of them calls a thing, all call it.
    void inChineseOneThingHasOneWord_data()
    {
        const Rows<QString> row("other");
        row("a watch is set", u"(留下|不留|白留)[^。，]*监视"_s);
        row("servers are counted", u"[一两三四五几]个(独立的|失忆的)?服务器"_s);
        row("a thread hangs", u"挂死"_s);
        row("machines, clients, processes", u"死亡|死掉"_s);
        row("a recipe", u"配方"_s);
        row("to the end", u"看到结束"_s);
    }
    void inChineseOneThingHasOneWord()
    {
        QFETCH(QString, other);
        const QRegularExpression word(other);
        for (const auto &lesson : m_all.lessons) {
            for (const auto &[where, text] : textsOf(lesson))
                QVERIFY2(!word.match(text.chinese).hasMatch(), qPrintable(text.chinese));
        }
    }

    // One rule: a space between Chinese and what is Latin or a number. A time that is filled in ends in Chinese.
    void inChineseLatinAndNumbersStandApart()
    {
        // Not \p{Han}: that takes in 。 and 、 with the signs.
        static const QRegularExpression joined(
            u"[一-鿿][A-Za-z0-9{]|[A-Za-z0-9][一-鿿]|\\{(?!at\\}|[A-Za-z0-9]+Ms\\b)[^}]*\\}[一-鿿]"_s);
        for (const auto &lesson : m_all.lessons) {
            for (const auto &[where, text] : textsOf(lesson))
                QVERIFY2(!joined.match(text.chinese).hasMatch(), qPrintable(text.chinese));
        }
    }

    void numbersInTextsAreThoseOfTheRuns_data()
    {
        addColumns<QByteArray, QString, QString>("words", "english", "russian");
        const auto row = [](const char *words, const QString &english, const QString &russian) {
            QTest::newRow(words) << QByteArray(words) << english << russian;
        };
        row("{grants} of {contenders}", u"3 of 3"_s, u"3 of 3"_s);
        row("{grants of run 0}", u"3"_s, u"3"_s);
        row("{joins} {releases in the drain}", u"3 3"_s, u"3 3"_s);
        row("{holds so far}, {holds}", u"2, 3"_s, u"2, 3"_s); // it stops when c01 holds
        row("{request delete so far}", u"1"_s, u"1"_s);
        row("{contenders - 1} {holds - 1 so far} {holds - 2 of run 0}", u"2 1 1"_s, u"2 1 1"_s); // all but so many
        row("{releases in the drain so far} {joins in the drain so far}", u"1 0"_s, u"1 0"_s);
        row("{holdMs}, {ttlMs}", u"50\u00a0ms, 30\u00a0s"_s, u"50\u00a0мс, 30\u00a0с"_s);
        row("{waitMs}", u"2.5\u00a0s"_s, u"2,5\u00a0с"_s);
    }
    void numbersInTextsAreThoseOfTheRuns()
    {
        QFETCH(QByteArray, words);
        QFETCH(QString, english);
        QFETCH(QString, russian);
        const auto text = [](const QByteArray &told) {
            return "{\"en\": \"" + told + "\", \"ru\": \"" + told + "\"}";
        };
        QByteArray json = smallestLesson;
        json.replace("\"contenders\": 3", "\"contenders\": 3, \"waitMs\": 2500");
        json.replace("{\"en\": \"one\"}", text(words)).replace("{\"en\": \"A\"}", text("{grants}"));
        json.replace("{\"en\": \"P\"}", text("{grants}!"));
        const auto lesson = readLesson(json, u"x.json"_s);
        QVERIFY2(lesson, lesson ? "" : qPrintable(lesson.error().message));
        const auto run = contention::simulate(lesson->runs.front().scenario);
        QVERIFY(run);
        const auto told = withNumbers(*lesson, {&*run});
        QCOMPARE(told.steps.front().text.english, english);
        QCOMPARE(told.steps.front().text.russian, russian);
        QCOMPARE(told.steps.front().question->choices.front().english, u"3"_s);
        QCOMPARE(told.proves.front().text.english, u"3!"_s);
    }

    // With other numbers of contenders the lessons of the herd say what is so then.
    void aTextFollowsItsRun()
    {
        const auto toldOfTwelve = [this](const QByteArray &id) {
            const auto lesson = std::ranges::find(m_all.lessons, id, &Lesson::id);
            if (lesson == m_all.lessons.end())
                return Lesson{};
            std::vector<Recording> runs;
            for (auto run : lesson->runs) {
                run.scenario.contenders = 12;
                if (auto recording = contention::simulate(run.scenario))
                    runs.push_back(*std::move(recording));
            }
            PlayedRuns played;
            for (const auto &run : runs)
                played.push_back(&run);
            return withNumbers(*lesson, played);
        };
        const auto herd = toldOfTwelve("herd");
        QCOMPARE(herd.proves.front().text.english, u"66 wake-ups for 12 grants"_s);
        QVERIFY(herd.steps[0].text.english.endsWith(u"12 contenders."_s));
        const auto says = [](const Lesson &lesson, std::size_t step, const QString &words) {
            const auto &text = lesson.steps[step].text;
            return text.english.contains(words) ? QByteArray() : text.english.toUtf8();
        };
        QCOMPARE(says(herd, 2, u"11 wake-ups, one new holder, 10 wasted"_s), QByteArray());
        QCOMPARE(says(toldOfTwelve("children-watch"), 3, u"11 are woken"_s), QByteArray());
        QCOMPARE(says(toldOfTwelve("predecessor"), 2, u"Left, 11 were woken"_s), QByteArray());
    }

    // The broken side of lesson 7 is not praised with zeros, in the terminal as under the picture.
    void runWithoutReleasesHasNoCounts()
    {
        const auto crash = std::ranges::find(m_all.lessons, QByteArray("setnx-crash"), &Lesson::id);
        QVERIFY(crash != m_all.lessons.end());
        const auto twoCommands = contention::simulate(crash->runs[0].scenario);
        const auto oneCommand = contention::simulate(crash->runs[1].scenario);
        QVERIFY(twoCommands && oneCommand);
        for (const auto *counter : {"requests", "watchEvents", "wastedWakeups", "fairness"})
            QCOMPARE(counterText(counter, *twoCommands, Language::English), u"–"_s);
        QVERIFY(counterText("requestsWaiting", *twoCommands, Language::English).toInt() > 100);
        QVERIFY(counterText("requests", *oneCommand, Language::English).toInt() > 0);
    }

    // Two that take over within a millisecond write the same time: the lesson needs a run in which they do not.
    void theLoserOfTheRaceWritesAnotherTime()
    {
        const auto race = std::ranges::find(m_all.lessons, QByteArray("getset-race"), &Lesson::id);
        QVERIFY(race != m_all.lessons.end());
        const auto run = contention::simulate(race->runs.front().scenario);
        QVERIFY(run && run->history.changes.size() > 3);
        const auto &changes = run->history.changes;
        QVERIFY(!changes[1].isGone && !changes[2].isGone);
        QVERIFY(changes[1].line.text != changes[2].line.text);
    }

    void aStopThatNeverComesIsNone()
    {
        const auto lesson = readLesson(broken(R"("contender": 1)", R"("contender": 1, "count": 2)"), u"x.json"_s);
        QVERIFY(lesson);
        const auto run = contention::simulate(lesson->runs.front().scenario);
        QVERIFY(run);
        QVERIFY(!momentOf(*lesson->steps.front().until, {&*run}));
    }

    void countersHaveNamesInEachLanguage()
    {
        for (const auto &name : counterNames()) {
            QCOMPARE(counterTitle(name, Language::English), QString::fromLatin1(name));
            QVERIFY2(hasCjk(counterTitle(name, Language::Chinese)), name);
            QVERIFY2(hasCyrillic(counterTitle(name, Language::Russian)), name);
        }
    }

    // Each stands below one heading, and no heading comes twice.
    void chaptersAreWholeAndInOrder()
    {
        QList<QByteArray> met;
        for (const auto &lesson : m_all.lessons) {
            QVERIFY2(!lesson.chapter.isEmpty(), lesson.id);
            if (met.isEmpty() || met.back() != lesson.chapter)
                met << lesson.chapter;
        }
        QCOMPARE(met, chapterNames());
        for (const auto &name : chapterNames()) {
            QVERIFY(missing(chapterTitle(name)).isEmpty());
            QVERIFY(hasCjk(chapterTitle(name).chinese));
        }
        QCOMPARE(chapterTitle({}).english, u"More lessons"_s);
    }

    // As a course: why first, and what a lock is made of before the locks. A text names another lesson by its place.
    void lessonsAreInTheirOrderAndNameEachOther()
    {
        QCOMPARE(m_all.lessons.front().id, QByteArray("four-criteria"));
        QStringList ids;
        for (const auto &lesson : m_all.lessons)
            ids << QString::fromUtf8(lesson.id);
        QVERIFY(ids.indexOf(u"watches"_s) < ids.indexOf(u"herd"_s));
        QVERIFY(ids.indexOf(u"ensemble"_s) < ids.indexOf(u"herd"_s));
        QVERIFY(ids.indexOf(u"getset-clocks"_s) < ids.indexOf(u"getset-race"_s));
        const auto &race = m_all.lessons[std::size_t(ids.indexOf(u"getset-race"_s))];
        const auto number = QString::number(ids.indexOf(u"getset-clocks"_s) + 1);
        QVERIFY2(race.steps.front().text.english.startsWith(u"The lock of lesson %1:"_s.arg(number)),
                 qPrintable(race.steps.front().text.english));

        QTemporaryDir folder;
        const auto put = [&](const QString &name, const QByteArray &json) {
            QFile file(folder.filePath(name));
            return file.open(QIODevice::WriteOnly) && file.write(json) == json.size();
        };
        auto late = broken("\"small\"", "\"late\", \"order\": 20");
        QVERIFY(put(u"a.json"_s, late.replace("{\"en\": \"one\"}", "{\"en\": \"see {lesson early}\"}")));
        QVERIFY(put(u"b.json"_s,
                    broken("\"small\"", "\"none\"").replace("{\"en\": \"one\"}", "{\"en\": \"{lesson nowhere}\"}")));
        QVERIFY(put(u"c.json"_s, broken("\"small\"", "\"early\", \"order\": 10")));
        const auto all = loadLessons({folder.path()});
        QCOMPARE(all.lessons.size(), 3U);
        QCOMPARE(all.lessons[0].id, QByteArray("early"));
        QCOMPARE(all.lessons[1].steps.front().text.english, u"see 1"_s);
        QCOMPARE(all.lessons[2].id, QByteArray("none"));
        QCOMPARE(all.refused.size(), 1U);
        QVERIFY(all.refused.front().message.contains(u"\"nowhere\""_s));
    }

    // tests/claims.md: what pages about locks say, and where it is played.
    void theTableOfClaimsIsThatOfTheLessons()
    {
        const auto table = claimsTable(m_all.lessons);
        QFile file(QStringLiteral(LOCKSCOPE_LESSONS "/../../tests/claims.md"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const auto page = QString::fromUtf8(file.readAll());
        QVERIFY2(page.contains(table), qPrintable(u"tests/claims.md has to have this table:\n"_s + table));
        for (const auto *seed : {"000", "001", "002", "003", "004"})
            QVERIFY2(table.contains(u"| %1 |"_s.arg(QLatin1StringView(seed))), seed);
    }

    void textsFallBack()
    {
        const Text all{u"e"_s, u"z"_s, u"r"_s};
        QCOMPARE(all.in(Language::Chinese), u"z"_s);
        QCOMPARE(all.in(Language::Russian), u"r"_s);
        const Text english{u"e"_s, {}, {}};
        QCOMPARE(english.in(Language::Chinese), u"e"_s);
        const Text russian{{}, {}, u"r"_s};
        QCOMPARE(russian.in(Language::English), u"r"_s);
        QVERIFY(languageByName("zh_CN") == Language::Chinese && !languageByName("zh"));
        QCOMPARE(nameOf(Language::Russian), QByteArray("ru"));
    }
};

LOCKSCOPE_TEST(TestLessons)
#include "tst_lessons.moc"
