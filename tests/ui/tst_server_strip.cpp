// SPDX-License-Identifier: Apache-2.0
// What the strip below the lanes says of a run's servers: what each of them has, where that differs; of two locks who
// has which; and all of it, where it is narrow, too.
#include "core/lessons/lessons.h"
#include "tests/support/testmain.h"
#include "ui/parts/parts.h"
#include "ui/simulator/serverstrip.h"
#include "ui/theme/theme.h"

#include <QApplication>
#include <QBuffer>
#include <QFile>
#include <QRegularExpression>
#include <QScopeGuard>
#include <QSvgGenerator>

using namespace lockscope::ui;

class TestServerStrip : public QObject {
    Q_OBJECT

    std::unique_ptr<Theme> m_theme;
    lessons::Lessons m_all;

    PlayedRunPtr played(const QByteArray &lesson, std::size_t run = 0)
    {
        const auto found = std::ranges::find(m_all.lessons, lesson, &lessons::Lesson::id);
        if (found == m_all.lessons.end())
            return {};
        auto simulated = contention::simulate(found->runs[run].scenario);
        return simulated ? std::make_shared<PlayedRun>(std::move(*simulated)) : PlayedRunPtr();
    }
    static QStringList at(ServerStrip &strip, Moment moment)
    {
        strip.setMoment(moment, false);
        return strip.serverWords();
    }

private slots:
    void initTestCase()
    {
        m_theme = std::make_unique<Theme>(*qApp, ThemeChoice::Light);
        m_all = lessons::loadLessons({lessons::lessonFolders().front()});
    }
    void cleanupTestCase() { m_theme.reset(); }

    // A follower that lags has the old value, and the strip says so; who is down is not empty.
    void eachServerOfAnEnsembleSaysWhatItHas()
    {
        const auto run = played("ensemble");
        QVERIFY(run);
        ServerStrip strip;
        strip.setRun(run);
        const auto lagging = at(strip, 80ms);
        QVERIFY2(lagging.contains(u"s1  /sim/config  = v2"_s) && lagging.contains(u"s2 s3  /sim/config  = v1"_s),
                 qPrintable(lagging.join(u'\n')));
        QVERIFY(lagging.filter(u"empty"_s).isEmpty());
        const auto same = at(strip, 550ms);
        QVERIFY2(same.contains(u"s1 s2 s3  /sim/config  = v2"_s), qPrintable(same.join(u'\n')));
        const auto one = at(strip, 700ms);
        QVERIFY2(one.contains(u"s2  down"_s) && one.contains(u"s1 s3  /sim/config  = v2"_s),
                 qPrintable(one.join(u'\n')));
    }

    void holdersOfBothLocksAreShown()
    {
        const auto run = played("deadlock");
        QVERIFY(run);
        ServerStrip strip;
        strip.setRun(run);
        const auto words = at(strip, 1s).join(u'\n');
        QVERIFY2(words.contains(u"A  held by c02; waiting: c01"_s), qPrintable(words));
        QVERIFY2(words.contains(u"B  held by c01; waiting: c02"_s), qPrintable(words));
        QVERIFY2(words.contains(u"a cycle: c02 holds A and waits for B; c01 holds B and waits for A"_s),
                 qPrintable(words));
        QVERIFY2(strip.beliefs().contains(u"has A, waits for B: c02"_s), qPrintable(strip.beliefs().join(u'\n')));
        QVERIFY(strip.beliefs().contains(u"has B, waits for A: c01"_s));
        // In the same order there is none.
        const auto other = played("deadlock", 1);
        strip.setRun(other);
        for (Moment moment{}; moment < other->end(); moment += 5ms)
            QVERIFY(at(strip, moment).filter(u"cycle"_s).isEmpty());
    }

    // Naming all of them in each frame took a picture of a hundred thousand 30 ms.
    void contendersWithSameBeliefAreSummarized()
    {
        contention::Scenario scenario{.recipe = "zk-mutex", .contenders = 200};
        auto simulated = contention::simulate(scenario);
        QVERIFY(simulated);
        ServerStrip strip;
        strip.setRun(std::make_shared<PlayedRun>(std::move(*simulated)));
        strip.setMoment(300ms, false);
        const auto waiting = strip.beliefs().filter(u"waits: "_s);
        QCOMPARE(waiting.size(), 1);
        QCOMPARE(waiting.front().count(u'c'), 5);
        QVERIFY2(waiting.front().contains(QRegularExpression(u"… \\(1\\d\\d\\)$"_s)), qPrintable(waiting.front()));
        QVERIFY(!strip.accessibleDescription().contains(u"c150"_s));
    }

    // A second line of the same words had no room, and seven that waited were two.
    void readersAndWritersThatWaitAreOneGroup()
    {
        const auto run = played("shared");
        QVERIFY(run);
        ServerStrip strip;
        strip.setRun(run);
        strip.setMoment(150ms, false);
        QCOMPARE(strip.beliefs(),
                 (QStringList{u"holds to read: c02 c03 c04"_s, u"waits: c05 c06 c07 c08 c09 … (7)"_s}));
    }

    // "持有: c00" had an English colon.
    void itsColonIsTheLanguagesOwn()
    {
        if (!QFile::exists(u":/lockscope/words/lockscope_zh_CN.qm"_s))
            QSKIP("built without lrelease (Debian: qt6-l10n-tools): the pages are in English alone");
        const auto run = played("shared");
        QVERIFY(run);
        const auto restore = qScopeGuard([] { speak(lessons::Language::English); });
        speak(lessons::Language::Chinese);
        ServerStrip strip;
        strip.setRun(run);
        strip.setMoment(150ms, false);
        QCOMPARE(strip.beliefs(),
                 (QStringList{u"持有（读）：c02 c03 c04"_s, u"等待：c05 c06 c07 c08 c09 …（共 7 个）"_s}));
    }

    // What has no room in the strip's last lines was left out without a word.
    void linesWithoutRoomAreCounted()
    {
        contention::Scenario scenario{
            .recipe = "zk-mutex",
            .contenders = 6,
            .hold = 2s,
            .planned = {{contention::FaultKind::Pause, 300ms, 0, 4s}, {contention::FaultKind::Pause, 300ms, 4, 4s}}};
        auto simulated = contention::simulate(scenario);
        QVERIFY(simulated);
        ServerStrip strip;
        strip.setRun(std::make_shared<PlayedRun>(std::move(*simulated)));
        qsizetype believed = 0;
        for (Moment moment = 50ms; believed < 3 && moment < 5s; moment += 50ms) {
            strip.setMoment(moment, false);
            believed = strip.beliefs().size();
        }
        QCOMPARE(believed, 3);
        strip.resize(150, strip.heightFor(150));
        QByteArray svg;
        QBuffer buffer(&svg);
        QSvgGenerator generator;
        generator.setOutputDevice(&buffer);
        generator.setSize(strip.size());
        strip.render(&generator);
        // Two lines of them have room: the first takes both.
        const auto there = QString::fromUtf8(svg).section(u"They believe"_s, 1);
        QVERIFY2(there.contains(u"holds: c00"_s) && !there.contains(u"waits"_s), qPrintable(there));
        QVERIFY2(there.contains(u"and 2 more"_s), qPrintable(there));
    }

    void rowsOfOneTableAreCalledByTheirKey()
    {
        const auto run = played("row-index");
        QVERIFY(run);
        ServerStrip strip;
        strip.setRun(run);
        QVERIFY2(at(strip, 100ms).filter(u"sim.row"_s).isEmpty(), qPrintable(strip.serverWords().join(u'\n')));
        QCOMPARE(strip.serverWords().filter(u"id="_s).size(), 4);
    }

    // Beside two others it is 190 pixels wide: what a lease has left is in the picture there.
    void longTextContinuesInTheNextLine()
    {
        const auto run = played("append-only-file");
        QVERIFY(run);
        ServerStrip strip;
        strip.setRun(run);
        strip.setMoment(600ms, false);
        QVERIFY(strip.serverWords().join(u' ').contains(u"s left"_s));
        const int line = QFontMetrics(monoFont(12)).height();
        // Two headings, two of beliefs, and the lock's in two lines or more.
        QVERIFY2(strip.heightFor(190) >= 6 * line, qPrintable(QString::number(strip.heightFor(190))));
        QVERIFY(strip.heightFor(600) < strip.heightFor(190));
        strip.resize(190, strip.heightFor(190));
        const auto isInked = [&](int row) { // the strip's line of that number
            const QImage image = strip.grab().toImage();
            for (int x = 0; x < 188; ++x) {
                for (int y = 6 + row * line; y < 5 + (row + 1) * line; ++y) {
                    if (image.pixelColor(x, y).lightness() < 150)
                        return true;
                }
            }
            return false;
        };
        QVERIFY(isInked(1) && isInked(2));
    }
};

LOCKSCOPE_GUI_TEST(TestServerStrip)
#include "tst_server_strip.moc"
