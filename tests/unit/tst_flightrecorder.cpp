// SPDX-License-Identifier: Apache-2.0
// The recorder that is always on: bounded in time and bytes, its files are one recording, they go with the run, and
// those of a run that crashed are found.
#include "core/async/qtloop.h"
#include "core/history/flightrecorder.h"
#include "core/history/recording.h"
#include "core/history/timeline.h"
#include "tests/support/filelimit.h"
#include "tests/support/testmain.h"

#include <QDateTime>
#include <QDir>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace lockscope;
using namespace lockscope::history;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using inspect::ChangeKind;

namespace {

const Moment flightBegin{std::chrono::milliseconds(1'700'000'000'000)};
const ConnectionName flownName("zk");

inspect::SnapshotChange flown(const QByteArray &name, const QByteArray &holder)
{
    inspect::LockSnapshot lock;
    lock.lock = {flownName, name};
    lock.recipe = "zk-mutex";
    inspect::Contender one;
    one.id = holder;
    one.role = inspect::Role::Holder;
    lock.contenders = {one};
    lock.state = inspect::LockState::Held;
    return {ChangeKind::Changed, lock};
}

QByteArray holderAt(const FlightRecording &recording, const QByteArray &name, Moment moment)
{
    const auto picture = recording.at(moment);
    if (!picture)
        return "?" + picture.error().message.toUtf8();
    const auto at = picture->locks.find({flownName, name});
    return at == picture->locks.end() ? QByteArray() : at->second.contenders.front().id;
}

qint64 bytesOf(const QStringList &files)
{
    qint64 sum = 0;
    for (const auto &file : files)
        sum += QFileInfo(file).size();
    return sum;
}

constexpr QFileDevice::Permissions ofOthers = QFileDevice::ReadGroup | QFileDevice::WriteGroup | QFileDevice::ExeGroup
                                              | QFileDevice::ReadOther | QFileDevice::WriteOther
                                              | QFileDevice::ExeOther;

} // namespace

class TestFlightRecorder : public QObject {
    Q_OBJECT
    QTemporaryDir m_folder;
    int m_count = 0;
    QString freshFolder()
    {
        const auto path = m_folder.filePath(QString::number(++m_count));
        return QDir().mkpath(path) ? path : QString();
    }
    static constexpr RecordingBounds bounds{80s, 100'000'000};
    // As a run of the program.
    static void recordFor5s(const QString &folder, Moment at, const QByteArray &lock, const QByteArray &holder)
    {
        auto writer = RotatingWriter::create(folder, bounds, at);
        QVERIFY(writer);
        LinkState open;
        open.name = flownName;
        open.isConnected = open.isLookedThrough = true;
        QVERIFY((*writer)->add({at, open}));
        QVERIFY((*writer)->add({at, flown(lock, holder)}));
        QVERIFY((*writer)->flush(at + 5s));
    }

private slots:
    void theOldestGoesAndWhatIsLeftIsWhole()
    {
        auto writer = RotatingWriter::create(freshFolder(), {80s, 100'000'000}, flightBegin);
        QVERIFY(writer);
        QVERIFY((*writer)->add({flightBegin, flown("/quiet", "first")}));
        auto now = flightBegin;
        for (int n = 1; n <= 400; ++n) {
            now = flightBegin + std::chrono::seconds(n);
            QVERIFY((*writer)->add({now, flown("/busy", QByteArray::number(n))}));
            QVERIFY((*writer)->flush(now));
        }
        const auto files = (*writer)->files();
        QVERIFY2(files.size() >= 8 && files.size() <= 10, QByteArray::number(files.size()));
        QCOMPARE(QDir(QFileInfo(files.first()).path()).entryList(QDir::Files).size(), files.size());
        const auto recording = FlightRecording::open(files);
        QVERIFY(recording && recording->damage().isEmpty());
        QCOMPARE(recording->end(), now);
        QVERIFY(recording->begin() <= now - 80s && recording->begin() >= now - 92s);
        for (const auto back : {80s, 33s, 1s, 0s})
            QCOMPARE(holderAt(*recording, "/busy", now - back), QByteArray::number(400 - back.count()));
        QCOMPARE(holderAt(*recording, "/quiet", recording->begin()), "first"); // from a picture
    }

    // The next run of the program, in the same folder.
    void aSecondRunContinuesTheFirst()
    {
        const auto folder = freshFolder();
        const auto write = [&](Moment at, const QByteArray &lock, const QByteArray &holder) {
            recordFor5s(folder, at, lock, holder);
        };
        QFile own(folder + u"/notes.lockscope"_s);
        QVERIFY(own.open(QFile::WriteOnly));
        write(flightBegin, "/first", "a");
        write(flightBegin + 60s, "/second", "b");
        const auto recording = FlightRecording::open(filesIn(folder));
        QVERIFY(recording && recording->damage().isEmpty());
        QCOMPARE(holderAt(*recording, "/first", flightBegin + 5s), "a");
        // In between nothing is known, not even that the lock was released.
        QCOMPARE(recording->at(flightBegin + 30s)->locks.size(), 0);
        QCOMPARE(recording->at(flightBegin + 65s)->locks.size(), 1);
        QCOMPARE(holderAt(*recording, "/second", flightBegin + 65s), "b");
        // What is too old goes, whichever run wrote it, and no other file.
        write(flightBegin + 120s, "/third", "c");
        const auto left = FlightRecording::open(filesIn(folder));
        QVERIFY(left && !QFile::exists(recording->files().front()) && own.exists());
        QCOMPARE(holderAt(*left, "/second", flightBegin + 65s), "b");
    }

    // As before NTP has set it: what was recorded stays, and later times are right.
    void clockThatWasAheadCostsNothing()
    {
        const auto folder = freshFolder();
        recordFor5s(folder, flightBegin, "/first", "a");
        recordFor5s(folder, flightBegin + std::chrono::years(10), "/ahead", "b");
        const auto first = filesIn(folder).first();
        QVERIFY(first.endsWith(u"/000001.lockscope"_s));
        const auto wrong = filesIn(folder).mid(1);
        recordFor5s(folder, flightBegin + 60s, "/second", "c");
        const auto later = filesIn(folder).mid(1 + wrong.size());
        const auto recording = FlightRecording::open(QStringList{first} + later);
        QVERIFY(recording && recording->damage().isEmpty());
        QCOMPARE(recording->end(), flightBegin + 65s);
        QCOMPARE(holderAt(*recording, "/first", flightBegin + 5s), "a");
        QCOMPARE(recording->at(flightBegin + 30s)->locks.size(), 0);
        QCOMPARE(holderAt(*recording, "/second", flightBegin + 65s), "c");
        // The files with wrong times do not keep the others from going.
        recordFor5s(folder, flightBegin + 120s, "/third", "d");
        QVERIFY(!QFile::exists(first) && QFile::exists(later.last()));
    }

    // A full disk takes no new file, and has room once the old ones go.
    void oldFilesGoBeforeTheNextIsBegun()
    {
        const auto folder = freshFolder();
        recordFor5s(folder, flightBegin, "/first", "a");
        recordFor5s(folder, flightBegin + 60s, "/second", "b");
        const auto files = filesIn(folder);
        const testing::FilesNoLargerThan limit(20);
        QVERIFY(!RotatingWriter::create(folder, bounds, flightBegin + 120s));
        QVERIFY(!QFile::exists(files.first()) && QFile::exists(files.last()));
        QCOMPARE(QDir(folder).entryList(QDir::Files).last(), QFileInfo(files.last()).fileName()); // no part is left
    }

    void foreignFilesAreNeitherReplacedNorRemoved()
    {
        const auto folder = freshFolder();
        const auto link = folder + u"/000001.lockscope"_s;
        QFile own(folder + u"/notes"_s);
        QVERIFY(own.open(QFile::WriteOnly) && own.link(link));
        QVERIFY(!RotatingWriter::create(folder, bounds, flightBegin));
        QVERIFY(QFileInfo(link).isSymLink() && own.size() == 0);
    }

    void numbersGoOnAfterSixDigits()
    {
        const auto folder = freshFolder();
        recordFor5s(folder, flightBegin, "/first", "a");
        QVERIFY(QFile::rename(folder + u"/000001.lockscope"_s, folder + u"/999999.lockscope"_s));
        recordFor5s(folder, flightBegin + 20s, "/second", "b");
        recordFor5s(folder, flightBegin + 40s, "/third", "c");
        const auto files = filesIn(folder);
        QVERIFY(files.first().endsWith(u"/999999.lockscope"_s) && files.at(1).endsWith(u"/1000000.lockscope"_s));
        const auto recording = FlightRecording::open(files);
        QVERIFY(recording && holderAt(*recording, "/third", flightBegin + 45s) == "c");
    }

    void itStaysWithinItsBytes()
    {
        constexpr qint64 bound = 300'000;
        auto writer = RotatingWriter::create(freshFolder(), {std::chrono::hours(9), bound}, flightBegin);
        QVERIFY(writer);
        quint64 noise = 1;
        for (int n = 0; n < 3000; ++n) {
            QByteArray holder;
            while (holder.size() < 600)
                holder += QByteArray::number(noise = noise * 6364136223846793005ULL + 1442695040888963407ULL, 36);
            const auto now = flightBegin + std::chrono::seconds(n);
            QVERIFY((*writer)->add({now, flown("/locks/" + QByteArray::number(n % 5), holder)}));
            QVERIFY((*writer)->flush(now));
            QVERIFY(bytesOf((*writer)->files()) <= bound);
        }
        QVERIFY(bytesOf((*writer)->files()) > bound / 2); // and uses them
    }

    void itIsSavedAsOneFile()
    {
        auto writer = RotatingWriter::create(freshFolder(), {40s, 100'000'000}, flightBegin);
        QVERIFY(writer);
        auto now = flightBegin;
        for (int n = 1; n <= 60; ++n) {
            now = flightBegin + std::chrono::seconds(n);
            QVERIFY((*writer)->add({now, flown("/busy", QByteArray::number(n))}));
            QVERIFY((*writer)->flush(now));
        }
        const auto several = FlightRecording::open((*writer)->files());
        QVERIFY(several && several->files().size() > 3);
        const auto path = m_folder.filePath(u"saved.lockscope"_s);
        QVERIFY(several->saveTo(path));
        QCOMPARE(QFile::permissions(path) & ofOthers, QFileDevice::Permissions());
        const auto one = FlightRecording::open({path});
        QVERIFY(one && one->damage().isEmpty());
        QCOMPARE(one->begin(), several->begin());
        QCOMPARE(one->end(), several->end());
        for (auto at = one->begin(); at <= one->end(); at += 700ms)
            QVERIFY(*one->at(at) == *several->at(at));
        QVERIFY(!several->saveTo(u"/nowhere/at-all"_s));
    }

    void recordingIsOnDiskSoonAndEndsWithTheRun()
    {
        QtLoop loop;
        const auto folder = freshFolder() + u"/recorder"_s;
        const auto files = std::make_shared<RecordedFiles>();
        const auto others = std::make_shared<RecordedFiles>();
        {
            FlightRecorder recorder(loop, {folder, {}}, files, {});
            FlightRecorder other(loop, {folder, {}}, others, {}); // another window
            recorder.takeAll({flown("/a", "me")});
            other.takeAll({flown("/a", "you")});
            const auto holderIn = [](const RecordedFiles &of) {
                const auto recording = FlightRecording::open(of.list());
                return recording ? holderAt(*recording, "/a", recording->end()) : QByteArray();
            };
            QTRY_COMPARE(holderIn(*files), "me");
            QTRY_COMPARE(holderIn(*others), "you");
            QCOMPARE(QFile::permissions(folder) & ofOthers, QFileDevice::Permissions());
            const QFileInfo file(files->list().first());
            QCOMPARE(file.permissions() & ofOthers, QFileDevice::Permissions());
            QCOMPARE(QFile::permissions(file.path()) & ofOthers, QFileDevice::Permissions());
        }
        QVERIFY(files->list().isEmpty());
        QVERIFY(QDir(folder).isEmpty());
    }

    void unwritableFolderIsReportedOnce()
    {
        QFile inTheWay(m_folder.filePath(u"a-file"_s));
        QVERIFY(inTheWay.open(QIODevice::WriteOnly));
        QtLoop loop;
        QStringList said;
        FlightRecorder recorder(loop, {inTheWay.fileName() + u"/recorder"_s, {}}, std::make_shared<RecordedFiles>(),
                                {[&said](const Error &error) { said << error.message; }, {}});
        QTRY_COMPARE(said.size(), 1);
        QVERIFY2(said.first().contains(u"a-file/recorder"_s), qPrintable(said.first()));
        recorder.takeAll({flown("/a", "me")}); // nobody is hurt
    }

    // As on a full disk, amid an incident: what was recorded before can still be looked at and saved.
    void recordedPartStaysAfterAFailure()
    {
        QtLoop loop;
        QStringList said;
        const auto folder = freshFolder() + u"/recorder"_s;
        const auto files = std::make_shared<RecordedFiles>();
        {
            FlightRecorder recorder(loop, {folder, {std::chrono::hours(9), 80'000}}, files,
                                    {[&said](const Error &error) { said << error.message; }, {}});
            recorder.takeAll({flown("/a", "me")});
            const auto holder = [&files] {
                const auto recording = FlightRecording::open(files->list());
                return recording ? holderAt(*recording, "/a", recording->end()) : QByteArray();
            };
            QTRY_COMPARE(holder(), "me");
            // The next file cannot be begun.
            QVERIFY(QDir(QFileInfo(files->list().first()).path()).mkdir(u"000002.lockscope"_s));
            quint64 noise = 1;
            std::vector<inspect::SnapshotChange> many;
            for (int n = 0; n < 100; ++n) {
                QByteArray other;
                while (other.size() < 600)
                    other += QByteArray::number(noise = noise * 6364136223846793005ULL + 1442695040888963407ULL, 36);
                many.push_back(flown("/locks/" + QByteArray::number(n), other));
            }
            recorder.takeAll(std::move(many));
            QTRY_COMPARE(said.size(), 1);
            QCOMPARE(files->list().size(), 1);
            QCOMPARE(holder(), "me");
        }
        QVERIFY(files->list().isEmpty());
        QVERIFY(QDir(folder).isEmpty());
    }

    // And once it can write again it goes on: the gap is one in which nothing was seen, and nothing that is known now
    // is missing after it.
    void itGoesOnOnceItCanWriteAgain()
    {
        QtLoop loop;
        int failures = 0;
        int resumes = 0;
        FlightOptions options;
        options.folder = freshFolder() + u"/recorder"_s;
        options.triesAgainEvery = 50ms;
        const auto files = std::make_shared<RecordedFiles>();
        FlightRecorder::Listeners listeners;
        listeners.failed = [&failures](const Error &) { ++failures; };
        listeners.resumed = [&resumes] { ++resumes; };
        FlightRecorder recorder(loop, options, files, listeners);
        LinkState stands;
        stands.name = flownName;
        stands.isConnected = stands.isLookedThrough = true;
        recorder.take(stands);
        recorder.takeAll({flown("/a", "me"), flown("/b", "me"), flown("/gone", "me")});
        const auto held = [&files](const QByteArray &name) {
            const auto recording = FlightRecording::open(files->list());
            return recording ? holderAt(*recording, name, recording->end()) : QByteArray();
        };
        QTRY_COMPARE(held("/gone"), "me");
        {
            const testing::FilesNoLargerThan limit(20);
            auto gone = flown("/gone", "me");
            gone.kind = ChangeKind::Removed;
            recorder.takeAll({flown("/a", "you"), gone});
            QTRY_COMPARE(failures, 1);
            recorder.takeAll({flown("/b", "you")});
            QTest::qWait(120); // some tries
        }
        QTRY_COMPARE(resumes, 1);
        QCOMPARE(failures, 1);
        const auto recording = FlightRecording::open(files->list());
        QVERIFY(recording && recording->damage().isEmpty());
        QCOMPARE(files->list().size(), 2);
        for (const auto *name : {"/a", "/b"})
            QCOMPARE(holderAt(*recording, name, recording->end()), "you");
        QCOMPARE(holderAt(*recording, "/gone", recording->end()), "");
        QVERIFY(recording->at(recording->end())->connections.at(flownName) == stands);
        const auto history = recording->historyOf({flownName, "/a"}, recording->end());
        QVERIFY(history);
        QList<TimelineEvent::Kind> kinds;
        for (const auto &event : timelineOf(*history).events)
            kinds << event.kind;
        const auto broke = kinds.indexOf(TimelineEvent::Kind::Unseen);
        const auto back = kinds.indexOf(TimelineEvent::Kind::SeenAgain);
        QVERIFY2(broke >= 0 && broke < back, QByteArray::number(kinds.size()));
        QVERIFY(kinds.lastIndexOf(TimelineEvent::Kind::Holds) > broke);
        const auto gap = recording->at(history->connection.back().first - 1ms);
        QVERIFY(gap && !gap->connections.at(flownName).isConnected);
        QVERIFY(!coverageAsOf(*gap).front().complete);
    }

    void recordingOfACrashedRunIsFoundForADay()
    {
        const auto folder = freshFolder();
        const auto leave = [&folder](const QString &run) {
            (void)QDir(folder).mkpath(run);
            auto writer = RecordingWriter::create(folder + u'/' + run + u"/000001.lockscope"_s, flightBegin, {});
            return writer ? (*writer)->path() : QString();
        };
        const auto recent = leave(u"run-aaaaaa"_s);
        QFile old(leave(u"run-bbbbbb"_s));
        QVERIFY(old.open(QIODevice::ReadWrite));
        QVERIFY(old.setFileTime(QDateTime::currentDateTime().addSecs(-25 * 3600), QFileDevice::FileModificationTime));
        old.close();
        QtLoop loop;
        std::vector<LeftRecording> found;
        FlightRecorder recorder(loop, {folder, {}}, std::make_shared<RecordedFiles>(),
                                {{}, [&found](const LeftRecording &left) { found.push_back(left); }});
        QTRY_COMPARE(found.size(), 1U);
        QCOMPARE(found.front().files, QStringList{recent});
        QTRY_VERIFY(!QFile::exists(old.fileName()));
        QVERIFY(QFile::exists(recent));
        QVERIFY(FlightRecording::open(found.front().files));
    }
};

LOCKSCOPE_TEST(TestFlightRecorder)
#include "tst_flightrecorder.moc"
