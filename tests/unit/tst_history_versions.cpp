// SPDX-License-Identifier: Apache-2.0
// Recordings of other versions, and what came with this one: what a replay says is what was said then.
#include "core/inspect/waits/waitgraph.h"
#include "tests/support/testmain.h"
#include "tests/unit/recordingsfixture.h"

#include <QDataStream>
#include <QTest>

using namespace lockscope;
using namespace lockscope::history;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using inspect::ChangeKind;
using inspect::LockSnapshot;
using inspect::Role;

class TestHistoryVersions : public RecordingsFixture {
    Q_OBJECT
private slots:
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
        // What `simulate --save` writes has the same ending.
        const auto ofSimulator = FlightRecording::open({fileOf(R"({"events":[],"format":2})")});
        QVERIFY(!ofSimulator && ofSimulator.error().message.contains(u"a run of the simulator, not a recording"));
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

    // A file has the fields of all backends, in this order from the first version on.
    void identityKeepsItsBytes_data()
    {
        QTest::addColumn<BackendKind>("backend");
        QTest::addColumn<QByteArray>("recipe");
        QTest::addColumn<inspect::Identity>("identity");
        QTest::addColumn<QByteArray>("bytes");
        const QByteArray none;
        const auto bytes = [](const QByteArray &path, qint64 number, quint64 owner, qint32 version,
                              const QByteArray &text, std::optional<qint64> ends, bool comesAgain,
                              const QByteArray &second) {
            QByteArray written;
            QDataStream out(&written, QIODevice::WriteOnly);
            out.setVersion(QDataStream::Qt_6_4);
            out << path << number << owner << version << text << ends.has_value();
            if (ends)
                out << *ends;
            out << comesAgain << second;
            return written;
        };
        QTest::newRow("znode") << BackendKind::ZooKeeper << QByteArray("kazoo-lock")
                               << inspect::Identity(
                                      inspect::ZnodeIdentity{.path = "/l/a", .czxid = 7, .owner = 8, .version = 9})
                               << bytes("/l/a", 7, 8, 9, none, {}, false, none);
        QTest::newRow("key") << BackendKind::Redis << QByteArray("redis-setnx-expire")
                             << inspect::Identity(inspect::RedisIdentity{
                                    .value = "1", .counterpart = "field", .expiryMs = 5, .comesAgain = true})
                             << bytes(none, 0, 0, 0, "1", 5, true, "field");
        QTest::newRow("key without a value")
            << BackendKind::Redis << QByteArray("redis-setnx-expire")
            << inspect::Identity(inspect::RedisIdentity{.value = ""}) << bytes(none, 0, 0, 0, "", {}, false, none);
        QTest::newRow("transaction") << BackendKind::MariaDb << QByteArray("sql-for-update")
                                     << inspect::Identity(inspect::SqlIdentity{"trx 4711"})
                                     << bytes(none, 0, 0, 0, "trx 4711", {}, false, none);
        QTest::newRow("row") << BackendKind::MariaDb << QByteArray("sql-shedlock")
                             << inspect::Identity(inspect::RowIdentity{.lockedBy = "host", .stamp = "2026-11-28"})
                             << bytes(none, 0, 0, 0, "host", {}, false, "2026-11-28");
        QTest::newRow("etcd") << BackendKind::Etcd << QByteArray("etcd-mutex")
                              << inspect::Identity(
                                     inspect::EtcdIdentity{.key = "l/1a", .createRevision = 7, .lease = 26})
                              << bytes(none, 7, 26, 0, "l/1a", {}, false, none);
        QTest::newRow("none") << BackendKind::PostgreSql << QByteArray("pg-advisory") << inspect::Identity()
                              << bytes(none, 0, 0, 0, none, {}, false, none);
    }
    void identityKeepsItsBytes()
    {
        QFETCH(BackendKind, backend);
        QFETCH(QByteArray, recipe);
        QFETCH(inspect::Identity, identity);
        QFETCH(QByteArray, bytes);
        LockSnapshot lock;
        lock.backend = backend;
        lock.recipe = recipe;
        lock.contenders.emplace_back().guard = identity;
        QByteArray written;
        encode({recordedFrom, inspect::SnapshotChange{ChangeKind::Added, lock}}, written);
        QVERIFY(written.contains(bytes));
        const auto read = ChangeReader(written).next();
        QVERIFY(read);
        const auto &guard = std::get<inspect::SnapshotChange>(read->what).lock.contenders.front().guard;
        QCOMPARE(guard, identity);
        QCOMPARE(guard.text().isNull(), identity.text().isNull());
    }

    // Format 7 added the deadlocks that servers ended, at the end of a coverage.
    void coverageOfFormat6IsRead()
    {
        inspect::Coverage coverage{ConnectionName("db"), true, u"all"_s};
        coverage.unexplained.push_back({2, u"2 connections wait"_s, "connection 7", true});
        QByteArray bytes;
        encode({recordedFrom, inspect::CoverageSeen{coverage.connection, {coverage}}}, bytes);
        constexpr int emptyList = 4;
        ChangeReader reader(bytes.chopped(emptyList), 6);
        const auto change = reader.next();
        QVERIFY(change && reader.atEnd());
        QCOMPARE(std::get<inspect::CoverageSeen>(change->what).coverage.front(), coverage);
        QVERIFY(!ChangeReader(bytes.chopped(emptyList), 7).next());
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
            waiter.watches = {{holder.id, false, inspect::Evidence::Server}};
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

        StateSnapshot picture;
        auto state = standing();
        state.name = lock.lock.connection;
        picture.apply({recordedFrom, state});
        QVERIFY(coverageAsOf(picture).empty());
        picture.apply(*change);
        StateSnapshot copy;
        for (const auto &one : inspect::difference({}, picture, recordedFrom))
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
};

LOCKSCOPE_TEST(TestHistoryVersions)
#include "tst_history_versions.moc"
