// SPDX-License-Identifier: Apache-2.0
// What pages are told so that they show another moment, and a lock's timeline as lanes.
#include "core/base/random.h"
#include "tests/support/fakedata.h"
#include "tests/support/testmain.h"
#include "ui/models/connectionbook.h"
#include "ui/models/pausablebackend.h"
#include "ui/models/screenclock.h"
#include "ui/models/timelinelanes.h"
#include "tests/support/fakebackend.h"

#include <QSignalSpy>
#include <QTest>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using namespace lockscope;
using history::Moment;
using ui::Shown;
using EventKind = history::TimelineEvent::Kind;

namespace {

const Moment shownAt{std::chrono::milliseconds(1'700'000'000'000)};

Shown someShown(Random &random)
{
    Shown shown;
    for (const QByteArray name : {"zk", "redis", "other"}) {
        if (random.below(3) == 0)
            continue;
        const ConnectionName connection(name);
        shown.statuses[connection] = testing::connectedStatus(name, Scheme::ZooKeeper, random.below(2) == 1, shownAt);
        shown.sessions[connection].resize(random.below(3));
        for (auto &session : shown.sessions[connection]) {
            session.connection = connection;
            session.session = QString::number(random.below(4));
        }
        shown.coverage[connection] = {{connection, random.below(2) == 1, {}}};
        for (auto count = random.below(4); count > 0; --count) {
            auto lock = testing::queueLock(name, "/" + QByteArray::number(random.below(5)),
                                           static_cast<int>(random.below(3)), shownAt);
            shown.locks.insert_or_assign(lock.lock, lock);
        }
    }
    return shown;
}

// As pages take it.
void takeIn(Shown &shown, const Batch &batch)
{
    for (const auto &change : batch.locks) {
        if (change.kind == inspect::ChangeKind::Removed)
            shown.locks.erase(change.lock.lock);
        else
            shown.locks.insert_or_assign(change.lock.lock, change.lock);
    }
    for (const auto &status : batch.connections)
        shown.statuses.insert_or_assign(status.name, status);
    for (const auto &seen : batch.sessions)
        shown.sessions[seen.connection] = seen.sessions;
}

history::TimelineEvent eventOf(std::chrono::seconds after, EventKind kind, const QByteArray &who)
{
    history::TimelineEvent event;
    event.at = shownAt + after;
    event.kind = kind;
    event.contender.id = who;
    return event;
}

} // namespace

class TestShown : public QObject {
    Q_OBJECT

private slots:
    void theDifferenceMakesOneOfTheOther()
    {
        Random random(3);
        for (int n = 0; n < 300; ++n) {
            const auto from = someShown(random);
            const auto to = someShown(random);
            auto shown = from;
            takeIn(shown, difference(from, to));
            QVERIFY(shown.locks == to.locks);
            for (const auto &[name, status] : to.statuses)
                QVERIFY(shown.statuses[name] == status);
            for (const auto &[name, sessions] : shown.sessions) {
                const auto wanted = to.sessions.find(name);
                QVERIFY(sessions
                        == (wanted == to.sessions.end() ? std::vector<inspect::SessionSnapshot>() : wanted->second));
            }
            const auto nothing = difference(to, to);
            QVERIFY(nothing.locks.empty() && nothing.connections.empty() && nothing.sessions.empty()
                    && nothing.coverage.empty());
        }
    }

    // Of two moments at which a connection was down its ages stand where they stood then, not where they stood last.
    void aConnectionThatWasDownStandsAtEachMoment()
    {
        testing::FakeBackend backend;
        ui::PausableBackend screen(backend);
        ui::ConnectionBook book;
        connect(&screen, &Backend::updated, &book, &ui::ConnectionBook::apply);
        const ConnectionName zk("zk");
        const auto downSince = [&](Moment since) {
            PastPicture past;
            past.at = since + 5s;
            inspect::LinkState state;
            state.name = zk;
            state.uri = u"zk://h:2181"_s;
            past.picture.connections[zk] = state;
            past.picture.confirmedAt[zk] = since;
            return past;
        };
        screen.showPast(downSince(shownAt), nullptr);
        QVERIFY(ui::ConnectionBook::isStale(*book.find(zk)));
        QSignalSpy turned(&book, &ui::ConnectionBook::staleChanged);
        screen.showPast(downSince(shownAt + 1min), nullptr);
        QCOMPARE(turned.count(), 2);
        QVERIFY(book.find(zk)->asOf == shownAt + 1min);
        QSignalSpy left(&screen, &ui::PausableBackend::connectionLeft);
        screen.leavePast();
        QCOMPARE(left.count(), 1);
    }

    // Of a connection that was read later nothing is shown but from when on it was.
    void aConnectionReadLaterHasNoData()
    {
        const ConnectionName redis("redis");
        PastPicture past;
        past.at = shownAt;
        past.firsts[redis] = shownAt + 10s;
        auto known = testing::connectedStatus("redis", Scheme::Redis, false, shownAt + 1min);
        const auto time = ui::timeOfDay(shownAt + 10s).toString(u"HH:mm:ss"_s);
        auto shown = ui::shownOf(past, {{redis, known}});
        QVERIFY(!shown.statuses.at(redis).isRecorded);
        QCOMPARE(shown.coverage.at(redis).front().message, u"not recorded before "_s + time);
        past.at = shownAt + 10s; // and then it was lost
        shown = ui::shownOf(past, {{redis, known}});
        QCOMPARE(shown.coverage.at(redis).front().message, u"nothing is recorded of it then"_s);
    }

    // 50,000 locks a step of the handle would be seen to jerk.
    void aPictureIsShownWithoutACopyOfItsLocks()
    {
        PastPicture past;
        past.at = shownAt;
        const auto lock = testing::queueLock("zk", "/a", 2, shownAt);
        past.picture.locks.insert_or_assign(lock.lock, lock);
        const auto *contenders = past.picture.locks.begin()->second.contenders.data();
        const auto shown = ui::shownOf(std::move(past), {});
        QCOMPARE(shown.locks.size(), std::size_t(1));
        QVERIFY(shown.locks.begin()->second.contenders.data() == contenders);
    }

    void aTimelineBecomesLanes()
    {
        history::Timeline timeline;
        timeline.events = {eventOf(0s, EventKind::HeldAtStart, "a"), eventOf(5s, EventKind::Queues, "b"),
                           eventOf(6s, EventKind::Queues, "c"),      eventOf(9s, EventKind::ForceReleased, "a"),
                           eventOf(12s, EventKind::Holds, "b"),      eventOf(15s, EventKind::GivesUp, "c"),
                           eventOf(20s, EventKind::Unseen, {}),      eventOf(30s, EventKind::SeenAgain, {})};
        const auto lanes = ui::lanesOf(timeline, shownAt + 40s, 10);
        QCOMPARE(lanes.lanes.size(), 3U);
        const auto bar = [](std::chrono::seconds from, std::chrono::seconds to, bool holds) {
            ui::TimelineBar made;
            made.from = shownAt + from;
            made.to = shownAt + to;
            made.holds = holds;
            return made;
        };
        auto held = bar(0s, 9s, true);
        held.begunBefore = held.isForced = true;
        QVERIFY(lanes.lanes[0].bars == std::vector{held});
        auto goesOn = bar(12s, 40s, true);
        goesOn.goesOn = true;
        QVERIFY(lanes.lanes[1].bars == (std::vector{bar(5s, 12s, false), goesOn}));
        QVERIFY(lanes.lanes[2].bars == std::vector{bar(6s, 15s, false)});
        QVERIFY(lanes.gaps == (std::vector{ui::TimelineSpan{shownAt + 9s, shownAt + 12s}}));
        QVERIFY(lanes.unseen == (std::vector{ui::TimelineSpan{shownAt + 20s, shownAt + 30s}}));
        const auto last = ui::lanesOf(timeline, shownAt + 40s, 2);
        QCOMPARE(last.leftOut, 1U);
        QCOMPARE(last.lanes.front().contender.id, "b");
    }

    void spansAreCountedByTheirLength()
    {
        const auto bins = ui::binsOf({1ms, 9ms, 10ms, 99ms, 5s, 100h});
        QCOMPARE(bins[0], 2);
        QCOMPARE(bins[1], 2);
        QCOMPARE(bins[3], 1);
        QCOMPARE(bins[7], 1);
    }
};

LOCKSCOPE_TEST(TestShown)
#include "tst_shown.moc"
