// SPDX-License-Identifier: Apache-2.0
// A lesson's numbers are its runs': what its English text writes in digits or in words is held against the scenarios
// and the proofs, and the rest is listed here with the reason why it may be written. (What stands between braces is
// asked of the run anyway, and the other languages say the same as the English.)
#include "core/contention/scenario.h"
#include "core/lessons/lessons.h"
#include "core/rules/catalogue.h"
#include "tests/support/testmain.h"

#include <QRegularExpression>

#include <set>

using namespace lockscope::lessons;

namespace {

struct WrittenNumber {
    QByteArray lesson;
    QString words; // where the numbers stand
    const char *why;
};

constexpr auto ordinal = "the number of one of the four criteria";
constexpr auto typed = "a command as it is typed, a value that it writes or reads, a limit or an error of a server";
constexpr auto reckoned = "reckoned by hand on purpose; what was played stands beside it";
constexpr auto wrongChoice = "a choice that is wrong";
constexpr auto usual = "what a program or a server is set to, which is not what is played here";

const std::vector<WrittenNumber> &writtenNumbers()
{
    static const std::vector<WrittenNumber> all{
        {"four-criteria", u"Criterion 2"_s, ordinal},
        {"four-criteria", u"Criterion 3"_s, ordinal},
        {"four-criteria", u"Criterion 4"_s, ordinal},
        {"four-criteria", u"Three of four."_s, ordinal},
        {"four-criteria", u"keeps the first three"_s, ordinal},
        {"four-criteria", u"Ask these four"_s, ordinal},
        {"znodes", u"which makes four kinds"_s, "persistent or ephemeral, sequential or not"},
        {"watches", u"to v3"_s, typed},
        {"watches", u"of v3"_s, typed},
        {"watches", u"The limit is 1\u00a0MB"_s, typed},
        {"herd", u"90"_s, wrongChoice},
        {"herd", u"With 1,000 contenders it is 499,500."_s, "the same formula, for more than can be shown"},
        {"timeout-arithmetic", u"about 1\u00a0ms"_s, reckoned},
        {"timeout-arithmetic", u"about 11\u00a0ms"_s, reckoned},
        {"timeout-arithmetic", u"some 360"_s, reckoned},
        {"timeout-arithmetic", u"800"_s, wrongChoice},
        {"timeout-arithmetic", u"5\u00a0s"_s, wrongChoice},
        {"setnx-crash", u"EXPIRE key 60"_s, typed},
        {"unlock", u"PX 1000"_s, typed},
        {"hung-thread", u"lock(10, SECONDS)"_s, typed},
        {"redlock", u"took 0.2\u00a0s"_s, "an example"},
        {"redlock", u"1.8\u00a0s, less"_s, "the example's answer"},
        {"redlock", u"2.2\u00a0s"_s, wrongChoice},
        {"redlock", u"1\u00a0% and 2\u00a0ms"_s, usual},
        {"redlock-validity", u"0.1\u00a0ms after"_s, "when its pause is planned, counted from its requests"},
        {"redlock-validity", u"400 − 600"_s, reckoned},
        {"redlock-validity", u"9\u00a0ms"_s, reckoned},
        {"redlock-validity", u"1\u00a0% of the TTL and 2\u00a0ms"_s, usual},
        {"redlock-validity", u"800 − 791 − 10"_s, reckoned},
        {"redlock-argued", u"1\u00a0% of the TTL and 2\u00a0ms"_s, usual},
        {"index-unused", u"'3', '03' and '3.0'"_s, typed},
        {"index-unused", u"four of five cost"_s, "rows of the scenario's table: 2 to 5"},
        {"index-unused", u"Four: 2 to 5"_s, "rows of the scenario's table"},
        {"index-unused", u"Four of five"_s, "rows of the scenario's table: 2 to 5"},
        {"index-unused", u"MariaDB 10.11"_s, "the version that it was compared with"},
        {"row-wait", u"innodb_lock_wait_timeout is 50\u00a0s"_s, usual},
        {"row-wait", u"error 1205"_s, typed},
        {"sql-connection", u"8 hours"_s, usual},
        {"row-connection", u"with version 2"_s, wrongChoice},
        {"row-connection", u"innodb_lock_wait_timeout is 50\u00a0s"_s, usual},
        {"row-connection", u"after 50\u00a0s"_s, usual},
        {"row-connection", u"8 hours"_s, usual},
        {"connection", u"pg_advisory_lock(42)"_s, typed},
    };
    return all;
}

// What a text may count, and the times it may name, in ms.
struct KnownNumbers {
    std::set<double> counts, timesMs;
};

KnownNumbers knownNumbersOf(const Lesson &lesson)
{
    KnownNumbers known;
    auto &[counts, times] = known;
    counts.insert(double(lesson.runs.size()));
    for (const auto &[title, scenario] : lesson.runs) {
        constexpr int redlockNodes = 5; // unless a scenario says another number
        const int servers = scenario.servers > 0                            ? scenario.servers
                            : contention::playable(scenario.recipe)->quorum ? redlockNodes
                                                                            : 1;
        for (const int count : {scenario.contenders, scenario.rounds, servers, servers / 2 + 1, scenario.tries,
                                scenario.acquires, scenario.acquires * scenario.contenders, scenario.locks})
            counts.insert(count);
        for (int row = 1; row <= scenario.rows; ++row)
            counts.insert(row);
        for (const auto time :
             {scenario.hold, scenario.ttl, scenario.sessionTimeout, scenario.arriveWithin,
              scenario.ttl / 100 + std::chrono::milliseconds(2), scenario.wait.value_or(scenario.hold)})
            times.insert(double(time.count()));
        for (const auto &fault : scenario.planned) {
            times.insert(double(fault.lasts.count()));
            times.insert(double(fault.at.count()) / 1000);
        }
    }
    for (const auto &proof : lesson.proves)
        counts.insert(proof.number);
    return known;
}

// In digits, with their unit, and in words from three on: one and two are said of holders, and proved.
QStringList numbersIn(QString text, const KnownNumbers &known)
{
    static const QRegularExpression names(u"\\{[^}]*\\}|\\b[cs][0-9]+|lesson [0-9]+|N\\(N − 1\\)/2|1 \\+ 2 \\+ …"_s);
    static const QRegularExpression digits(u"\\b([0-9][0-9,]*(?:\\.[0-9]+)?)(?:\u00a0(ms|s|MB|%))?"_s);
    static const QRegularExpression spelt(u"\\b(three|four|five|six|seven|eight|nine|ten|eleven|twelve)\\b"_s,
                                          QRegularExpression::CaseInsensitiveOption);
    static const QStringList words{u"zero"_s,  u"one"_s,   u"two"_s,  u"three"_s, u"four"_s,   u"five"_s,  u"six"_s,
                                   u"seven"_s, u"eight"_s, u"nine"_s, u"ten"_s,   u"eleven"_s, u"twelve"_s};
    text.remove(names);
    QStringList unknown;
    for (const auto &match : digits.globalMatch(text)) {
        const double value = match.captured(1).remove(u',').toDouble();
        const auto unit = match.captured(2);
        const bool isTime = unit == u"ms"_s || unit == u"s"_s;
        const bool isKnown = isTime ? known.timesMs.contains(unit == u"s"_s ? value * 1000 : value)
                                    : unit.isEmpty() && (value < 2 || known.counts.contains(value));
        if (!isKnown)
            unknown << match.captured();
    }
    for (const auto &match : spelt.globalMatch(text)) {
        if (!known.counts.contains(double(words.indexOf(match.captured(1).toLower()))))
            unknown << match.captured();
    }
    return unknown;
}

QStringList toldBy(const Lesson &lesson)
{
    QStringList all;
    for (const auto &step : lesson.steps) {
        all << step.text.english;
        if (!step.question)
            continue;
        all << step.question->text.english << step.question->because.english;
        for (const auto &choice : step.question->choices)
            all << choice.english;
    }
    for (const auto &proof : lesson.proves)
        all << proof.text.english;
    return all;
}

} // namespace

class TestLessonNumbers : public QObject {
    Q_OBJECT

    Lessons m_all;

private slots:
    void initTestCase()
    {
        m_all = loadLessons({lessonFolders().front()});
        QVERIFY(m_all.refused.empty() && !m_all.lessons.empty());
    }

    void aNumberIsOfTheRunOrHasAReason_data()
    {
        const Rows<std::size_t> row("number");
        for (std::size_t i = 0; i < m_all.lessons.size(); ++i)
            row(m_all.lessons[i].id, i);
    }
    void aNumberIsOfTheRunOrHasAReason()
    {
        QFETCH(std::size_t, number);
        const auto &lesson = m_all.lessons[number];
        const auto known = knownNumbersOf(lesson);
        std::set<QString> met;
        for (auto text : toldBy(lesson)) {
            const auto whole = text;
            for (const auto &one : writtenNumbers()) {
                if (one.lesson != lesson.id || !text.contains(one.words))
                    continue;
                met.insert(one.words);
                text.remove(one.words);
            }
            const auto unknown = numbersIn(text, known);
            QVERIFY2(unknown.isEmpty(), qPrintable(unknown.join(u", "_s) + u" in: "_s + whole));
        }
        for (const auto &one : writtenNumbers())
            QVERIFY2(one.lesson != lesson.id || met.contains(one.words),
                     qPrintable(u"no longer there: "_s + one.words));
    }

    // So that what is held against the run in English is so in the others.
    void eachLanguageAsksTheRunTheSame()
    {
        const auto asked = [](const QString &words) {
            static const QRegularExpression braces(u"\\{[^}]*\\}"_s);
            std::set<QString> all;
            for (const auto &match : braces.globalMatch(words))
                all.insert(match.captured());
            return all;
        };
        const auto same = [&](const Text &text) {
            return asked(text.english) == asked(text.chinese) && asked(text.english) == asked(text.russian);
        };
        for (const auto &lesson : m_all.lessons) {
            for (const auto &step : lesson.steps) {
                QVERIFY2(same(step.text), qPrintable(step.text.english));
                if (!step.question)
                    continue;
                QVERIFY2(same(step.question->text), qPrintable(step.question->text.english));
                QVERIFY2(same(step.question->because), qPrintable(step.question->because.english));
                for (const auto &choice : step.question->choices)
                    QVERIFY2(same(choice), qPrintable(choice.english));
            }
            for (const auto &proof : lesson.proves)
                QVERIFY2(same(proof.text), qPrintable(proof.text.english));
        }
    }

    void numberOfNoRunIsFound_data()
    {
        const Rows<QString, QStringList> row("text", "unknown");
        row("of the run", u"Ten wait 50\u00a0ms, c11 too: {grants} of 10, one after the other"_s, {});
        row("in words", u"Nine were told"_s, {u"Nine"_s});
        row("in digits", u"1,001 were told"_s, {u"1,001"_s});
        row("another time", u"after 3\u00a0s"_s, {u"3\u00a0s"_s});
        row("a time is no count", u"10\u00a0ms"_s, {u"10\u00a0ms"_s});
    }
    void numberOfNoRunIsFound()
    {
        QFETCH(QString, text);
        QFETCH(QStringList, unknown);
        Lesson lesson;
        lesson.runs.emplace_back();
        QCOMPARE(numbersIn(text, knownNumbersOf(lesson)), unknown);
    }
};

LOCKSCOPE_TEST(TestLessonNumbers)
#include "tst_lesson_numbers.moc"
