// SPDX-License-Identifier: Apache-2.0
// Recordings: what is written is read again, the state at any moment is the state then, a torn end costs what was
// not written yet, and a file that somebody made up is refused, never believed.
#include "core/async/virtualloop.h"
#include "core/base/random.h"
#include "core/history/flightrecorder.h"
#include "core/history/recording.h"
#include "core/inspect/findings.h"
#include "tests/support/filelimit.h"
#include "tests/support/testmain.h"
#include "tests/unit/recordingsfixture.h"

#include <QTest>

using namespace lockscope;
using namespace lockscope::history;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using inspect::ChangeKind;
using inspect::LockName;
using inspect::LockSnapshot;
using inspect::Role;

class TestHistory : public RecordingsFixture {
    Q_OBJECT

    static LockSnapshot heldLock(const QByteArray &name, Moment since)
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
            StateSnapshot before;
            StateSnapshot after;
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
                StateSnapshot picture;
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

    void aFileIsNeverWrittenOverAndClosedToOthers()
    {
        const auto path = play(1, 5).path;
        QVERIFY(!RecordingWriter::create(path, recordedFrom));
        QVERIFY(!(QFile::permissions(path) & (QFile::ReadGroup | QFile::ReadOther | QFile::WriteOther)));
    }

    // Nothing changed for minutes: ages count to the moment that is asked for, while its connection stood.
    void agesCountToTheMoment()
    {
        StateSnapshot picture;
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
        StateSnapshot copy;
        for (const auto &change : inspect::difference({}, picture, recordedFrom + 20min))
            copy.apply(change);
        QVERIFY(copy == picture);
    }

    // A connection that does not answer: ages count to the last moment at which it was confirmed.
    void agesStopAtTheLastConfirmation()
    {
        StateSnapshot picture;
        picture.apply({recordedFrom, standing()});
        auto lock = heldLock("/locks/a", recordedFrom);
        lock.observed = recordedFrom + 11min;
        picture.apply({recordedFrom + 11min, inspect::SnapshotChange{ChangeKind::Added, lock}});
        const auto seenAt = [&picture](Moment at) { return locksAsOf(picture, at).front().observed; };
        // Without any confirmation, as in older files.
        QCOMPARE(seenAt(recordedFrom + 20min), recordedFrom + 20min);
        picture.apply({recordedFrom + 12min, Confirmation{zkName, recordedFrom + 12min}});
        QCOMPARE(seenAt(recordedFrom + 20min), recordedFrom + 12min);
        picture.apply({recordedFrom + 21min, Confirmation{zkName, recordedFrom + 21min}});
        QCOMPARE(seenAt(recordedFrom + 20min), recordedFrom + 20min);
        QCOMPARE(seenAt(recordedFrom + 25min), recordedFrom + 21min);
        auto broken = standing();
        broken.isConnected = false;
        picture.apply({recordedFrom + 26min, broken}); // it did not answer before it was lost
        QCOMPARE(seenAt(recordedFrom + 30min), recordedFrom + 21min);
        StateSnapshot copy;
        for (const auto &change : inspect::difference({}, picture, recordedFrom + 30min))
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
        recorder.take(standing());
        recorder.takeAll({{ChangeKind::Added, heldLock("/locks/a", now)}});
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

    // A disk that fills up takes a part of the last chunk.
    void unwrittenPartIsNotCounted()
    {
        VirtualLoop loop;
        const auto path = freshPath();
        const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(loop.wallNow());
        auto made = RecordingWriter::create(path, now);
        QVERIFY(made);
        QString said;
        const auto &writer = **made;
        Recorder recorder(loop, std::move(*made), [&said](const Error &error) { said = error.message; });
        recorder.take(standing());
        recorder.takeAll({{ChangeKind::Added, heldLock("/locks/a", now)}});
        loop.advance(1s);
        const auto bytes = writer.bytes();
        {
            const testing::FilesNoLargerThan limit(static_cast<rlim_t>(bytes) + 40);
            recorder.takeAll({{ChangeKind::Added, heldLock("/locks/b", now)}});
            loop.advance(1s);
        }
        QVERIFY2(said.endsWith(qt_error_string(EFBIG)), qPrintable(said));
        QCOMPARE(QFileInfo(path).size(), bytes); // what was taken in part is taken back
        QCOMPARE(writer.locksSeen(), 1);
        QCOMPARE(writer.lockChanges(), 1);
        const auto recording = FlightRecording::open({path});
        QVERIFY(recording);
        QCOMPARE(writer.end(), recording->end());
        QCOMPARE(writer.end(), now + 1s);
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
        QVERIFY(history->deadlocks.empty()); // of others
    }

    // It is in the coverage for minutes: one event of each lock in it, at the first time.
    void deadlockIsInTheHistoryOfEachLock_data()
    {
        const Rows<LockName, int> row("lock", "count");
        row("one", {zkName, "/locks/1"}, 1);
        row("other", {zkName, "/locks/2"}, 1);
        row("not in it", {zkName, "/locks/3"}, 0);
        row("of another server", {ConnectionName("redis"), "/locks/1"}, 0);
    }
    void deadlockIsInTheHistoryOfEachLock()
    {
        QFETCH(LockName, lock);
        const inspect::EndedDeadlock deadlock{
            .at = recordedFrom, .parties = {{u"5"_s, {}, {}, "/locks/1", true}, {u"6"_s, {}, {}, "/locks/2", false}}};
        const inspect::Coverage seen{.connection = zkName, .complete = true, .endedDeadlocks = {deadlock}};
        auto more = seen;
        more.message = u"changed"_s;
        const auto path = freshPath();
        auto writer = RecordingWriter::create(path, recordedFrom);
        QVERIFY(writer && (*writer)->add({recordedFrom + 5s, CoverageSeen{zkName, {seen}}}));
        QVERIFY((*writer)->add({recordedFrom + 6s, CoverageSeen{zkName, {more}}}));
        QVERIFY((*writer)->flush(recordedFrom + 7s));
        const auto recording = FlightRecording::open({path});
        QVERIFY(recording);
        const auto history = recording->historyOf(lock, recording->end());
        QVERIFY(history);
        QTEST(static_cast<int>(history->deadlocks.size()), "count");
        if (!history->deadlocks.empty())
            QCOMPARE(history->deadlocks.front(), std::pair(recordedFrom + 5s, deadlock));
    }
};

LOCKSCOPE_TEST(TestHistory)
#include "tst_history.moc"
