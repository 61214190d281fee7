// SPDX-License-Identifier: Apache-2.0
// The program's clock goes on evenly when somebody sets the machine's, and so does all that is dated by it.
#include "core/async/loop.h"
#include "core/async/virtualloop.h"
#include "core/history/flightrecorder.h"
#include "core/history/recording.h"
#include "core/inspect/zookeeper/observerjudge.h"
#include "core/workspace/newsfeed.h"
#include "tests/support/setclock.h"
#include "tests/support/testmain.h"

#include <QTemporaryDir>

namespace {

constexpr WallTime clockBegin{1'700'000'000s};

// Its wall clock is the machine's.
class MachineLoop : public VirtualLoop {
public:
    testing::SetClock machine{clockBegin};
    [[nodiscard]] WallTime wallNow() const override { return machine.wall(); }
    void pass(std::chrono::milliseconds span)
    {
        machine.pass(span);
        advance(span);
    }
};

history::Moment momentOf(WallTime time)
{
    return std::chrono::floor<std::chrono::milliseconds>(time);
}

inspect::SnapshotChange seenLock(const QByteArray &name)
{
    inspect::LockSnapshot lock{.lock = {ConnectionName("zk"), name}, .recipe = "zk-mutex"};
    return {inspect::ChangeKind::Added, lock};
}

} // namespace

class TestClock : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

private slots:
    void agesDoNotFollowTheWall_data()
    {
        addColumns<qint64, QString>("setBy", "said");
        const auto begun = u"%1; ages are not changed by it"_s;
        const auto at = QDateTime::fromSecsSinceEpoch(1'700'000'090).toString(u"yyyy-MM-dd HH:mm:ss"_s);
        const auto row = [&](const char *name, std::chrono::milliseconds by, const QString &how) {
            QTest::newRow(name) << qint64(by.count())
                                << (how.isEmpty()
                                        ? QString()
                                        : begun.arg(u"this machine's clock was set %1 at %2"_s.arg(how, at)));
        };
        row("not at all", 0ms, {});
        row("corrected", 60ms, {});
        row("by less than a second", -900ms, {});
        row("2 h forward", 2h, u"2 h 00 m forward"_s);
        row("2 h back", -2h, u"2 h 00 m back"_s);
        row("years back", -24h * 1000, u"1000 d back"_s);
    }
    void agesDoNotFollowTheWall()
    {
        QFETCH(const qint64, setBy);
        QFETCH(const QString, said);
        MachineLoop loop;
        auto &clock = programClock();
        const auto began = datedNow(loop);
        QCOMPARE(clock.now(), clockBegin);
        loop.pass(90s);
        loop.machine.set(std::chrono::milliseconds(setBy));
        QCOMPARE(clock.now() - clockBegin, WallTime::duration(90s));
        const auto off = std::chrono::abs((datedNow(loop) - began) - WallTime::duration(90s));
        QVERIFY(off < 100ms); // a correction is followed
        QVERIFY(std::chrono::abs(clock.wallOf(clock.now()) - loop.wallNow()) < 100ms);
        QVERIFY(std::chrono::abs(clock.ofWall(loop.wallNow()) - clock.now()) < 100ms);
        const auto jump = clock.takeJump();
        QCOMPARE(jump ? wordsOf(*jump) : QString(), said);
        QVERIFY(!clock.takeJump()); // once
    }

    // Each is said as it happens, at the time that the clock said before it.
    void twoJumpsAreTwo()
    {
        MachineLoop loop;
        auto &clock = programClock();
        loop.machine.set(2h);
        QCOMPARE(clock.takeJump()->by, std::chrono::milliseconds(2h));
        loop.pass(1min);
        loop.machine.set(-2h);
        const auto back = clock.takeJump();
        QCOMPARE(back->by, std::chrono::milliseconds(-2h));
        QCOMPARE(back->at, clockBegin + 2h + 1min);
        QCOMPARE(clock.setBy(), 0ms);
        QCOMPARE(datedNow(loop), clockBegin + 1min);
    }

    void theMachinesClocksAreOfOneMoment()
    {
        Clock clock;
        QVERIFY(std::chrono::abs(clock.now() - std::chrono::system_clock::now()) < 60s);
        QVERIFY(std::chrono::abs(clock.setBy()) < 60s);
    }

    // A node that came between two looks says what its server's clock is; those before it are dated as they were.
    void aServersClockIsSet_data()
    {
        const Rows<qint64> row("setBy");
        row("not at all", 0);
        row("corrected", 900);
        row("2 h forward", qint64(std::chrono::milliseconds(2h).count()));
        row("2 h back", qint64(std::chrono::milliseconds(-2h).count()));
    }
    void aServersClockIsSet()
    {
        QFETCH(const qint64, setBy);
        const std::chrono::milliseconds by(setBy);
        const bool isStep = std::chrono::abs(by) > 5s;
        const inspect::ServerTime begun{std::chrono::milliseconds(1'700'000'000'000)};
        inspect::ClockSteps clock;
        QVERIFY(!clock.isCompared());
        QVERIFY(!clock.saw(10, begun - 1s, begun - 3s, begun));
        QVERIFY(clock.isCompared() && !clock.wasSet());
        const auto later = begun + 10min;
        QCOMPARE(clock.saw(20, later + by, later - 1s, later), isStep);
        QCOMPARE(clock.made(10, begun - 1s), begun - 1s);
        QCOMPARE(clock.made(19, begun), begun); // of before, though read only now
        QCOMPARE(clock.made(20, later + by), isStep ? later : later + by);
        QCOMPARE(clock.made(21, later + by + 1min), isStep ? later + 1min : later + by + 1min);
        QVERIFY(!clock.saw(21, later + by + 1min, later + 59s, later + 1min)); // it is known by now
        // And set right again.
        QCOMPARE(clock.saw(30, later + 2min, later + 2min - 1s, later + 2min), isStep);
        QCOMPARE(clock.made(30, later + 2min), later + 2min);
        QCOMPARE(clock.made(20, later + by), isStep ? later : later + by);
        QCOMPARE(clock.setBy(), 0ms);
    }

    // In their order, a second apart, whatever the wall clock does; and what comes later is later.
    void aRecordingGoesOn_data()
    {
        const Rows<qint64> row("setBy");
        row("forward", qint64(std::chrono::milliseconds(2h).count()));
        row("back", qint64(std::chrono::milliseconds(-2h).count()));
    }
    void aRecordingGoesOn()
    {
        QFETCH(const qint64, setBy);
        MachineLoop loop;
        const auto path = m_folder.filePath(u"%1.lockscope"_s.arg(setBy));
        auto writer = history::RecordingWriter::create(path, momentOf(datedNow(loop)));
        QVERIFY(writer);
        history::Recorder recorder(loop, std::move(*writer), {});
        inspect::LinkState state;
        state.name = ConnectionName("zk");
        state.isConnected = state.isLookedThrough = true;
        recorder.take(state);
        recorder.takeAll({seenLock("/a")});
        loop.pass(1s);
        loop.machine.set(std::chrono::milliseconds(setBy));
        recorder.takeAll({seenLock("/b")});
        loop.pass(1s);
        const auto recording = history::FlightRecording::open({path});
        QVERIFY(recording);
        const auto begin = momentOf(clockBegin);
        QCOMPARE(recording->begin(), begin);
        QCOMPARE(recording->end(), begin + 2s);
        QCOMPARE(recording->at(begin + 999ms)->locks.size(), 1U);
        QCOMPARE(recording->at(begin + 1s)->locks.size(), 2U);
    }

    // What is recorded by force is found by its place in the file, and dated as all that is recorded.
    void actsAreFollowedOverAClockSetBack()
    {
        MachineLoop loop;
        operate::AuditFile file(m_folder.filePath(u"audit.jsonl"_s));
        operate::AuditRecord record{
            .time = clockBegin - 1h, .action = u"force-release"_s, .lock = "zk:/old", .phase = u"intent"_s};
        QVERIFY(file.append(record));
        AuditFollower follower(file);
        QVERIFY(follower.news().empty());
        loop.pass(1min);
        loop.machine.set(-2h);
        record.lock = "zk:/new";
        record.time = loop.wallNow();
        QVERIFY(file.append(record));
        const auto news = follower.news();
        QCOMPARE(news.size(), 1U);
        QCOMPARE(news[0].lock, QByteArray("zk:/new"));
        QCOMPARE(news[0].time, momentOf(clockBegin + 1min));
        QVERIFY(follower.news().empty());
    }
    // Before the first record there is no file.
    void actsOfAFreshFileAreAllNews()
    {
        operate::AuditFile file(m_folder.filePath(u"fresh.jsonl"_s));
        AuditFollower follower(file);
        QVERIFY(follower.news().empty());
        operate::AuditRecord record{.action = u"force-release"_s, .phase = u"intent"_s};
        QVERIFY(file.append(record));
        QCOMPARE(follower.news().size(), 1U);
    }
};

LOCKSCOPE_TEST(TestClock)
#include "tst_clock.moc"
