// SPDX-License-Identifier: Apache-2.0
// Recordings: what is written is read again, the state at any moment is the state then, a torn end costs what was
// not written yet, and a file that somebody made up is refused, never believed.
#include "core/async/virtualloop.h"
#include "core/base/random.h"
#include "core/history/encoding.h"
#include "core/history/recorder.h"
#include "core/history/recording.h"
#include "core/inspect/findings.h"
#include "core/inspect/waits/waitgraph.h"
#include "tests/support/testmain.h"

#include <QTemporaryDir>
#include <QTest>

using namespace lockscope;
using namespace lockscope::history;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using inspect::ChangeKind;
using inspect::LockName;
using inspect::LockSnapshot;
using inspect::Role;

namespace {

const Moment recordedFrom{std::chrono::milliseconds(1'700'000'000'000)};
const ConnectionName zkName("zk");

QByteArray someBytes(Random &random)
{
    return random.bytes(static_cast<qsizetype>(random.below(12)));
}

template <class T>
std::optional<T> perhaps(Random &random, T value)
{
    return random.below(2) ? std::optional<T>(std::move(value)) : std::nullopt;
}

inspect::Contender someContender(Random &random, int position)
{
    inspect::Contender one;
    one.id = someBytes(random);
    one.role = random.below(2) ? Role::Holder : Role::Waiter;
    one.mode = static_cast<inspect::Mode>(random.below(4));
    one.position = perhaps(random, position);
    one.session = perhaps(random, QString::fromLatin1(someBytes(random)));
    one.endpoint = perhaps(random, u"10.0.3.7:%1"_s.arg(random.below(60'000)));
    one.identity = perhaps(random, someBytes(random));
    one.reentry = static_cast<int>(random.below(5));
    one.heldSince = perhaps(random, recordedFrom - std::chrono::milliseconds(random.below(1000)));
    one.heldAtMost = random.below(2) == 1;
    one.waitingSince = perhaps(random, recordedFrom);
    one.expiresAt = perhaps(random, recordedFrom + 5s);
    one.watches = {{someBytes(random), random.below(2) == 1, inspect::Evidence::Server}};
    one.guard.path = someBytes(random);
    one.guard.czxid = static_cast<qint64>(random.next());
    one.guard.expiryMs = perhaps(random, static_cast<qint64>(random.next()));
    if (random.below(2))
        one.limits = {{"lock_timeout", std::chrono::milliseconds(random.below(60'000)), random.below(2) == 1}};
    return one;
}

LockSnapshot someLock(Random &random)
{
    LockSnapshot lock;
    lock.lock = {random.below(3) ? zkName : ConnectionName("redis"), "/locks/" + QByteArray::number(random.below(8))};
    lock.backend = lock.lock.connection == zkName ? BackendKind::ZooKeeper : BackendKind::Redis;
    lock.recipe = "kazoo-lock";
    lock.client = perhaps(random, u"kazoo\u00e9"_s);
    lock.why = QString::fromLatin1(someBytes(random));
    lock.confidence = static_cast<inspect::Confidence>(random.below(3));
    lock.state = static_cast<inspect::LockState>(random.below(3));
    for (auto count = random.below(4); count > 0; --count)
        lock.contenders.push_back(someContender(random, static_cast<int>(count)));
    lock.waitersKnown = random.below(2) == 1;
    const auto kinds = inspect::findingKinds();
    lock.findings = {{kinds[random.below(kinds.size())].code, inspect::Severity::Warning, u"a message"_s, {"a"}}};
    lock.companions = {someBytes(random)};
    lock.nodes = {{u"h:1"_s, true, perhaps(random, someBytes(random)), perhaps(random, recordedFrom)}};
    lock.observed = recordedFrom;
    lock.serverAhead = std::chrono::milliseconds(random.below(500)) - 250ms;
    return lock;
}

LinkState someConnection(Random &random)
{
    LinkState state;
    state.name = random.below(3) ? zkName : ConnectionName("redis");
    state.uri = u"zk://h:2181"_s;
    state.production = random.below(2) == 1;
    state.isConnected = random.below(3) > 0;
    state.isLookedThrough = random.below(2) == 1;
    state.isGone = random.below(20) == 0;
    state.problem = state.isConnected ? QString() : u"refused"_s;
    return state;
}

Change someChange(Random &random, Moment at)
{
    switch (random.below(10)) {
    case 0: return {at, someConnection(random)};
    case 1: return {at, CoverageSeen{zkName, {{zkName, false, QString::fromLatin1(someBytes(random))}}}};
    case 2:
        return {at, SessionsSeen{zkName,
                                 {{zkName,
                                   u"0x1"_s,
                                   u"h:1"_s,
                                   {},
                                   {someBytes(random)},
                                   {},
                                   perhaps(random, recordedFrom),
                                   0ms,
                                   {someBytes(random)},
                                   static_cast<qint64>(random.below(9))}}}};
    case 3:
        return {
            at,
            Act{recordedFrom, u"ann@host"_s, u"force-release"_s, "zk:/locks/1", "a", {}, u"result"_s, {}, {}, {}}};
    default:
        return {at, inspect::SnapshotChange{random.below(4) ? ChangeKind::Changed : ChangeKind::Removed,
                                            someLock(random)}};
    }
}

LockSnapshot heldLock(const QByteArray &name, Moment since)
{
    Random random(1);
    auto lock = someLock(random);
    lock.lock = {zkName, name};
    lock.findings.clear();
    auto holder = someContender(random, 0);
    holder.role = Role::Holder;
    holder.heldSince = since;
    holder.heldAtMost = false;
    lock.contenders = {holder};
    lock.serverAhead = 0ms;
    lock.observed = since;
    return lock;
}

LinkState standing()
{
    LinkState state;
    state.name = zkName;
    state.isConnected = state.isLookedThrough = true;
    return state;
}

QByteArray contentsOf(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

class TestHistory : public QObject {
    Q_OBJECT
    QTemporaryDir m_folder;
    int m_count = 0;
    QString freshPath() { return m_folder.filePath(u"%1.lockscope"_s.arg(++m_count)); }
    QString fileOf(const QByteArray &bytes)
    {
        QFile file(freshPath());
        return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() ? file.fileName() : QString();
    }
    // A recording of random changes; what there was after each of them.
    struct Played {
        QString path;
        std::vector<std::pair<Moment, Picture>> after;
        std::vector<qint64> bytes; // of the file then
    };
    Played play(quint64 seed, int changes)
    {
        Random random(seed);
        Played played;
        played.path = freshPath();
        auto writer = RecordingWriter::create(played.path, recordedFrom);
        auto at = recordedFrom;
        Picture truth;
        for (int n = 0; n < changes; ++n) {
            at += std::chrono::milliseconds(random.below(400));
            const auto change = someChange(random, at);
            truth.apply(change);
            const auto added = (*writer)->add(change);
            const auto flushed = random.below(5) ? Result<void>() : (*writer)->flush(at);
            if (!added || !flushed)
                return {};
            played.after.emplace_back(at, truth);
        }
        return (*writer)->flush(at) ? played : Played{};
    }

private slots:
    void everyFieldIsReadAgain()
    {
        Random random(4);
        for (int n = 0; n < 2000; ++n) {
            const auto written = someChange(random, recordedFrom + std::chrono::milliseconds(n));
            QByteArray bytes;
            encode(written, bytes);
            ChangeReader reader(bytes);
            const auto read = reader.next();
            QVERIFY2(read, read ? "" : qPrintable(read.error().message));
            QVERIFY(reader.atEnd());
            QCOMPARE(read->at, written.at);
            QByteArray again;
            encode(*read, again);
            QCOMPARE(again, bytes);
            Picture before;
            Picture after;
            before.apply(written);
            after.apply(*read);
            QVERIFY(before == after);
        }
    }

    void theStateAtAnyMomentIsTheStateThen_data()
    {
        QTest::addColumn<int>("changes");
        QTest::newRow("none") << 0;
        QTest::newRow("a few") << 40;
        QTest::newRow("several pictures") << 3000;
    }
    void theStateAtAnyMomentIsTheStateThen()
    {
        QFETCH(int, changes);
        const auto played = play(7, changes);
        const auto recording = FlightRecording::open({played.path});
        QVERIFY2(recording, recording ? "" : qPrintable(recording.error().message));
        QVERIFY2(recording->damage().isEmpty(), qPrintable(recording->damage().join(u' ')));
        QCOMPARE(recording->begin(), recordedFrom);
        for (std::size_t i = 0; i < played.after.size(); i += 1 + played.after.size() / 60) {
            // Of several changes in one millisecond the last counts.
            while (i + 1 < played.after.size() && played.after[i + 1].first == played.after[i].first)
                ++i;
            const auto picture = recording->at(played.after[i].first);
            QVERIFY2(picture, picture ? "" : qPrintable(picture.error().message));
            QVERIFY(*picture == played.after[i].second);
        }
        int walked = 0;
        const auto all = recording->walk(recordedFrom - 1ms, recording->end(), [&walked](const Change &) {
            ++walked;
            return true;
        });
        QVERIFY(all);
        QCOMPARE(walked, changes);
    }

    // Cut at any byte: all that had been written before is there, and what is left out is said.
    void aTornEndIsLeftOutAndSaid()
    {
        const auto whole = contentsOf(play(3, 200).path);
        const auto complete = FlightRecording::open({fileOf(whole)});
        QVERIFY(complete);
        auto last = recordedFrom;
        int torn = 0;
        for (qsizetype size = 400; size < whole.size(); size += 97) {
            const auto cut = FlightRecording::open({fileOf(whole.first(size))});
            if (!cut)
                continue; // not even its first picture
            QVERIFY(cut->end() >= last && cut->end() <= complete->end());
            last = cut->end();
            torn += cut->damage().isEmpty() ? 0 : 1;
            QVERIFY(cut->at(cut->end()));
        }
        QVERIFY(torn > 10);
        const auto zeros = FlightRecording::open({fileOf(whole.first(whole.size() - 50) + QByteArray(50, '\0'))});
        QVERIFY(zeros && zeros->damage().size() == 1);
    }

    // Whatever the file holds: an answer or an error, in a bounded time and space, never a crash.
    void madeUpFilesAreRefused()
    {
        const auto whole = contentsOf(play(5, 120).path);
        Random random(11);
        int refused = 0;
        for (int n = 0; n < 800; ++n) {
            auto bytes = whole;
            for (auto times = 1 + random.below(4); times > 0; --times) {
                const auto at = static_cast<qsizetype>(random.below(static_cast<quint64>(bytes.size())));
                switch (random.below(3)) {
                case 0: bytes[at] = static_cast<char>(random.next()); break;
                case 1: bytes.remove(at, static_cast<qsizetype>(random.below(40))); break;
                default: bytes.insert(at, random.bytes(static_cast<qsizetype>(random.below(20)))); break;
                }
            }
            const auto recording = FlightRecording::open({fileOf(bytes)});
            const auto walked =
                recording ? recording->walk(recordedFrom, recording->end(), [](const Change &) { return true; })
                          : Result<void>(recording.error());
            refused += walked && recording->damage().isEmpty() ? 0 : 1;
            QFile::remove(m_folder.filePath(u"%1.lockscope"_s.arg(m_count)));
        }
        QVERIFY(refused > 700);
    }

    // Behind the checksum: what somebody packed rightly, with nonsense in it.
    void madeUpChangesAreRefused()
    {
        Random random(12);
        int refused = 0;
        for (int n = 0; n < 30'000; ++n) {
            QByteArray bytes;
            encode(someChange(random, recordedFrom), bytes);
            for (auto times = 1 + random.below(3); times > 0; --times)
                bytes[static_cast<qsizetype>(random.below(static_cast<quint64>(bytes.size())))] =
                    static_cast<char>(random.next());
            ChangeReader reader(bytes);
            const auto change = reader.next();
            refused += change ? 0 : 1;
            if (change) { // and what it became can be shown
                Picture picture;
                picture.apply(*change);
                (void)locksAsOf(picture, recordedFrom);
            }
        }
        QVERIFY(refused > 1000);
    }

    void anErrorSaysWhere()
    {
        auto bytes = contentsOf(play(5, 400).path);
        bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
        const auto recording = FlightRecording::open({fileOf(bytes)});
        QVERIFY(recording);
        const auto whole = recording->walk(recordedFrom, recording->end(), [](const Change &) { return true; });
        const auto said = whole ? recording->damage().join(u' ') : whole.error().message;
        QVERIFY2(said.contains(u" at byte "_s), qPrintable(said));
    }

    void anotherVersionIsRefused()
    {
        auto bytes = contentsOf(play(5, 3).path);
        QVERIFY(bytes.startsWith(fileHeader()));
        for (const int version : {oldestFormat - 1, formatVersion + 1}) {
            bytes.replace(0, fileHeader().size(), fileHeader(version));
            const auto other = FlightRecording::open({fileOf(bytes)});
            QVERIFY(!other);
            QCOMPARE(other.error().code, ErrorCode::Unsupported);
            const auto said = other.error().message;
            QVERIFY2(said.contains(u"in format %1,"_s.arg(version)), qPrintable(said));
            QCOMPARE(said.contains(u"newer"_s), version > formatVersion);
        }
        for (const auto &other : {QByteArray(), QByteArray("lockscope recording x\n"), QByteArray(300, 'a')})
            QVERIFY(!FlightRecording::open({fileOf(other)}));
    }

    // Of the version that kept no wait limits, as a program of that version wrote it. It is saved as what it is.
    void anOldRecordingReadsAsBefore()
    {
        const auto path = QFINDTESTDATA("../fuzz/corpus/recording/redis.input");
        QVERIFY(contentsOf(path).startsWith(fileHeader(2)));
        const auto old = FlightRecording::open({path});
        QVERIFY2(old, old ? "" : qPrintable(old.error().message));
        QVERIFY(old->damage().isEmpty());
        const auto then = old->at(old->end());
        QVERIFY2(then, then ? "" : qPrintable(then.error().message));
        QCOMPARE(then->locks.size(), 2U);
        const auto &held = then->locks.at({ConnectionName("redis"), "other-lock"});
        QCOMPARE(held.contenders.front().id, QByteArray("1f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11"));
        QVERIFY(held.contenders.front().limits.empty());
        QCOMPARE(then->locks.at({ConnectionName("redis"), "orders"}).contenders.size(), 1U);
        const auto saved = freshPath();
        QVERIFY(old->saveTo(saved));
        QVERIFY(contentsOf(saved) == contentsOf(path));
        const auto together = FlightRecording::open({path, play(5, 3).path});
        QVERIFY(!together);
        QCOMPARE(together.error().code, ErrorCode::Unsupported);
    }

    // What breaks a cycle by itself is said of a recorded one as it was of the servers.
    void aWaitersLimitIsSaidInAReplay()
    {
        std::vector<LockSnapshot> live;
        for (const int n : {0, 1}) {
            LockSnapshot lock;
            lock.lock = {ConnectionName("sql"), "app.orders:" + QByteArray::number(n)};
            lock.backend = BackendKind::MariaDb;
            lock.recipe = "sql-for-update";
            lock.state = inspect::LockState::Contended;
            inspect::Contender holder, waiter;
            holder.id = QByteArray::number(n);
            holder.session = QString::number(n);
            holder.role = Role::Holder;
            waiter.id = QByteArray::number(1 - n);
            waiter.session = QString::number(1 - n);
            waiter.limits = {{"innodb_lock_wait_timeout", 5s, true}};
            lock.contenders = {holder, waiter};
            live.push_back(lock);
        }
        const auto path = freshPath();
        auto writer = RecordingWriter::create(path, recordedFrom);
        QVERIFY(writer);
        for (const auto &lock : live)
            QVERIFY((*writer)->add({recordedFrom, inspect::SnapshotChange{ChangeKind::Added, lock}}));
        QVERIFY((*writer)->flush(recordedFrom));
        const auto recording = FlightRecording::open({path});
        QVERIFY(recording);
        const auto then = recording->at(recordedFrom);
        QVERIFY(then);
        const auto said = inspect::waitGraphOf(locksAsOf(*then, recordedFrom), {}, recordedFrom);
        const auto told = inspect::waitGraphOf(live, {}, recordedFrom);
        QCOMPARE(told.cycles.size(), 1U);
        QCOMPARE(said.cycles.size(), 1U);
        QCOMPARE(said.cycles.front().ends, told.cycles.front().ends);
        QVERIFY2(said.cycles.front().ends->contains(u"its innodb_lock_wait_timeout of 5"_s),
                 qPrintable(*said.cycles.front().ends));
    }

    // A finding that a later version knows: it is not shown, and that is said for as long as it stands.
    void aFindingOfAnotherVersionIsLeftOutAndSaid()
    {
        Random random(4);
        auto lock = someLock(random);
        lock.findings = {{inspect::FindingCode::Herd, inspect::Severity::Info, {}, {}}};
        QByteArray bytes;
        encode({recordedFrom, inspect::SnapshotChange{ChangeKind::Added, lock}}, bytes);
        QVERIFY(bytes.contains("herd"));
        bytes.replace("herd", "horo");
        ChangeReader reader(bytes);
        const auto change = reader.next();
        QVERIFY(change);
        QCOMPARE(change->unknownFindings, std::vector<QByteArray>{"horo"});
        QVERIFY(std::get<inspect::SnapshotChange>(change->what).lock.findings.empty());

        Picture picture;
        auto state = standing();
        state.name = lock.lock.connection;
        picture.apply({recordedFrom, state});
        QVERIFY(coverageAsOf(picture).empty());
        picture.apply(*change);
        Picture copy;
        for (const auto &one : picture.asChanges(recordedFrom))
            copy.apply(one);
        QVERIFY(copy == picture);
        const std::vector<inspect::Coverage> expected{
            {state.name, false, u"1 finding of a newer version is not shown: horo"_s}};
        QCOMPARE(coverageAsOf(copy), expected);
        auto second = *change; // of another lock
        std::get<inspect::SnapshotChange>(second.what).lock.lock.name += "-2";
        second.unknownFindings = {"auro", "horo"};
        picture.apply(second);
        QCOMPARE(coverageAsOf(picture).front().message, u"3 findings of a newer version are not shown: auro, horo"_s);
        second.unknownFindings.clear(); // it has them no more
        picture.apply(second);
        QCOMPARE(coverageAsOf(picture), expected);
        picture.apply({recordedFrom, inspect::SnapshotChange{ChangeKind::Removed, lock}});
        QVERIFY(coverageAsOf(picture).empty());
    }

    void aFileIsNeverWrittenOverAndClosedToOthers()
    {
        const auto path = play(1, 5).path;
        QVERIFY(!RecordingWriter::create(path, recordedFrom));
        QVERIFY(!(QFile::permissions(path) & (QFile::ReadGroup | QFile::ReadOther | QFile::WriteOther)));
    }

    // Nothing changed for minutes: ages count to the moment that is asked for, while its connection stood.
    void agesCountToTheMoment()
    {
        Picture picture;
        picture.apply({recordedFrom, standing()});
        auto lock = heldLock("/locks/a", recordedFrom);
        lock.observed = recordedFrom + 11min;
        inspect::addAgeFindings(lock, {});
        picture.apply({recordedFrom + 11min, inspect::SnapshotChange{ChangeKind::Added, lock}});
        auto then = locksAsOf(picture, recordedFrom + 20min).front();
        QCOMPARE(then.observed, recordedFrom + 20min);
        QVERIFY2(then.findings.front().message.contains(u"20 m"_s), qPrintable(then.findings.front().message));
        auto broken = standing();
        broken.isConnected = false;
        picture.apply({recordedFrom + 15min, broken});
        QCOMPARE(locksAsOf(picture, recordedFrom + 20min).front().observed, recordedFrom + 15min);
        QVERIFY(!coverageAsOf(picture).front().complete);
        Picture copy;
        for (const auto &change : picture.asChanges(recordedFrom + 20min))
            copy.apply(change);
        QVERIFY(copy == picture);
    }

    // Each second what came goes to the file; after a crash it is there.
    void aCrashCostsASecond()
    {
        VirtualLoop loop;
        const auto path = freshPath();
        const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(loop.wallNow());
        auto writer = RecordingWriter::create(path, now);
        QVERIFY(writer);
        Recorder recorder(loop, std::move(*writer), {});
        recorder.connectionIs(standing());
        recorder.locksChanged({{ChangeKind::Added, heldLock("/locks/a", now)}});
        loop.advance(1s);
        auto recording = FlightRecording::open({path});
        QVERIFY(recording);
        QCOMPARE(recording->at(recording->end())->locks.size(), 1U);
        // Nothing happens: it says that it was there.
        loop.advance(60s);
        recording = FlightRecording::open({path});
        QCOMPARE(recording->end(), now + 61s);
        QCOMPARE(recording->at(recording->end())->locks.size(), 1U);
    }

    void aMomentIsReadAsPeopleWriteIt()
    {
        const auto recording = FlightRecording::open({play(7, 3000).path});
        QVERIFY(recording);
        QCOMPARE(*momentIn(*recording, u"-30s"_s), recording->end() - 30s);
        QCOMPARE(*momentIn(*recording, u"2023-11-14T22:13:30Z"_s), recordedFrom + 10s);
        QVERIFY(!momentIn(*recording, u"-9h"_s));
        QVERIFY(!momentIn(*recording, u"2024-11-14T22:13:30Z"_s));
        QVERIFY(!momentIn(*recording, u"yesterday"_s));
    }

    void theHistoryOfALockIsItsOwn()
    {
        const auto played = play(9, 500);
        const auto recording = FlightRecording::open({played.path});
        QVERIFY(recording);
        const LockName lock{zkName, "/locks/1"};
        const auto history = recording->historyOf(lock, recording->end());
        QVERIFY(history);
        QVERIFY(history->moments.size() > 5);
        for (const auto &moment : history->moments)
            QVERIFY(!moment.lock || moment.lock->lock == lock);
        QVERIFY(!history->acts.empty());
    }
};

LOCKSCOPE_TEST(TestHistory)
#include "tst_history.moc"
