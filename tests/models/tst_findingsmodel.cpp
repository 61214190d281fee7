// SPDX-License-Identifier: Apache-2.0
// The table of findings: a row each, in an order that time does not change, kept up to date in deltas.
#include "core/inspect/findings.h"
#include "tests/support/fakedata.h"
#include "tests/support/setclock.h"
#include "tests/support/testmain.h"
#include "ui/models/findingsmodel.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>

#include <random>

using namespace lockscope::ui;
using inspect::ChangeKind;
using inspect::FindingCode;
using inspect::LockSnapshot;
using inspect::Severity;

namespace {

constexpr SystemTime findingsStart{1'700'000'000s};

LockSnapshot lockWith(const QByteArray &name, std::initializer_list<FindingCode> codes,
                      const QByteArray &connection = "zk")
{
    auto lock = queueLock(connection, name, 1, testing::serverTime(findingsStart));
    for (const auto code : codes)
        addFinding(lock, code, u"something"_s, {lock.contenders[0].id});
    return lock;
}

// "long-held /a, herd /b (muted)"
QString shownIn(const FindingsModel &model)
{
    QStringList all;
    for (int row = 0; row < model.rowCount(); ++row) {
        const auto &one = model.at(row);
        all << inspect::word(one.finding.code) + u' ' + QString::fromUtf8(one.lock.name)
                   + (one.muted ? u" (muted)"_s : QString());
    }
    return all.join(u", "_s);
}

} // namespace

class TestFindingsModel : public QObject {
    Q_OBJECT

    SystemTime m_now = findingsStart;
    std::unique_ptr<FindingsModel> m_model;
    std::unique_ptr<QAbstractItemModelTester> m_tester;

    void tell(ChangeKind kind, LockSnapshot lock) { m_model->apply({change(kind, std::move(lock))}); }
    FindingFilter filter() const { return m_model->filter(); }

private slots:
    void init()
    {
        m_now = findingsStart;
        m_model = std::make_unique<FindingsModel>([this] { return m_now; });
        m_tester = std::make_unique<QAbstractItemModelTester>(m_model.get(),
                                                              QAbstractItemModelTester::FailureReportingMode::QtTest);
    }
    void cleanup()
    {
        m_tester.reset();
        m_model.reset();
    }

    void theGravestFirst()
    {
        m_model->apply({change(ChangeKind::Added, lockWith("/b", {FindingCode::Herd, FindingCode::LongHeld})),
                        change(ChangeKind::Added, lockWith("/a", {FindingCode::LongHeld})),
                        change(ChangeKind::Added, lockWith("/fine", {})),
                        change(ChangeKind::Added, lockWith("/c", {FindingCode::LostWakeup}))});
        QCOMPARE(shownIn(*m_model), u"lost-wakeup /c, long-held /a, long-held /b, herd /b"_s);
        QCOMPARE(m_model->all().critical, 1);
        QCOMPARE(m_model->all().warning, 2);
        QCOMPARE(m_model->all().info, 1);
        m_model->sort(FindingRow::Lock, Qt::DescendingOrder);
        QCOMPARE(shownIn(*m_model), u"lost-wakeup /c, long-held /b, herd /b, long-held /a"_s);
    }

    // What is there at another moment was not first seen now, and what goes on there goes on.
    void aJumpIsAFirstLook()
    {
        tell(ChangeKind::Added, lockWith("/a", {}));
        m_now += 10s;
        tell(ChangeKind::Changed, lockWith("/a", {FindingCode::LongHeld}));
        m_now += 1min;
        m_model->apply({change(ChangeKind::Changed, lockWith("/a", {FindingCode::LongHeld, FindingCode::Herd}))},
                       true);
        QCOMPARE(m_model->at(0).since, findingsStart + 10s);
        QVERIFY(!m_model->at(0).isOlder);
        QVERIFY(m_model->at(1).isOlder);
    }

    // A deadlock is told when it was seen twice: a window opened on one does not say that it began then.
    void lateFindingIsMarkedAsOlder()
    {
        const auto closed = [](SystemTime at) {
            auto lock = lockWith("/a", {FindingCode::Deadlock});
            lock.contenders[0].waitingSince = testing::serverTime(at);
            lock.contenders[0].heldSince.reset();
            return lock;
        };
        tell(ChangeKind::Added, lockWith("/a", {}));
        m_now += 1s;
        tell(ChangeKind::Changed, closed(findingsStart - 1min));
        QVERIFY(m_model->at(0).isOlder);
        tell(ChangeKind::Changed, lockWith("/a", {}));
        m_now += 1min;
        tell(ChangeKind::Changed, closed(findingsStart + 1min));
        QVERIFY(!m_model->at(0).isOlder);
    }

    // A finding goes on in its row: chosen it stays chosen, and since when it is seen stays.
    void aFindingGoesOn()
    {
        tell(ChangeKind::Added, lockWith("/a", {FindingCode::LongHeld}));
        QVERIFY(m_model->at(0).isOlder);
        QSignalSpy inserted(m_model.get(), &QAbstractItemModel::rowsInserted);
        QSignalSpy removed(m_model.get(), &QAbstractItemModel::rowsRemoved);
        const QPersistentModelIndex chosen = m_model->index(0, 0);
        m_now += 1min;
        tell(ChangeKind::Changed, lockWith("/a", {FindingCode::LongHeld}));
        QVERIFY(chosen.isValid() && inserted.isEmpty() && removed.isEmpty());
        QCOMPARE(m_model->at(0).since, findingsStart);
        tell(ChangeKind::Changed, lockWith("/a", {FindingCode::LongHeld, FindingCode::Herd}));
        QVERIFY(chosen.isValid());
        QCOMPARE(m_model->at(1).since, m_now);
        QVERIFY(!m_model->at(1).isOlder);
        tell(ChangeKind::Changed, lockWith("/a", {}));
        QCOMPARE(m_model->rowCount(), 0);
        QCOMPARE(m_model->all(), FindingCounts());
    }

    // Its message counts on by the screen's clock, and stands still with a connection that broke.
    void messagesGoOnCounting()
    {
        auto lock = queueLock("zk", "/a", 1, testing::serverTime(findingsStart));
        inspect::Wording message = u"held for "_s;
        message.since(lock.observed - 11min);
        addFinding(lock, FindingCode::LongHeld, message, {lock.contenders[0].id});
        tell(ChangeKind::Added, lock);
        const auto says = [&] { return m_model->index(0, FindingRow::Message).data().toString(); };
        QCOMPARE(says(), u"held for 11 m 00 s"_s);
        m_now += 1min;
        QSignalSpy changed(m_model.get(), &QAbstractItemModel::dataChanged);
        m_model->tick(0, 0);
        QCOMPARE(changed.size(), 1);
        QCOMPARE(says(), u"held for 12 m 00 s"_s);
        m_model->setFrozen(ConnectionName("zk"), m_now);
        m_now += 1h;
        QCOMPARE(says(), u"held for 12 m 00 s"_s);
    }

    // Of four in a ring each lock has two: the row names all four, each once, and no longer who is not in it any
    // more.
    void aDeadlockNamesAllThatAreInIt()
    {
        const QByteArray names[] = {"/a", "/b", "/c", "/d"};
        std::vector<LockSnapshot> ring;
        for (int i = 0; i < 4; ++i) {
            auto lock = lockWith(names[i], {FindingCode::Deadlock});
            lock.findings.front().contenders = {lock.contenders[0].id, lock.contenders[1].id};
            for (int j = 0; j < 2; ++j) { // each holds one, and waits for the one before
                auto &one = lock.contenders[static_cast<std::size_t>(j)];
                one.session = u"0x10000000000%1"_s.arg((i + j) % 4);
                one.endpoint = u"10.0.3.%1:5000"_s.arg((i + j) % 4);
                one.identity.reset();
            }
            for (const auto &other : names) {
                if (other != names[i])
                    lock.findings.front().also.push_back({lock.lock.connection, other});
            }
            ring.push_back(lock);
        }
        for (const int i : {2, 0, 3, 1})
            tell(ChangeKind::Added, ring[static_cast<std::size_t>(i)]);
        QCOMPARE(m_model->rowCount(), 1);
        const auto who = [this] { return m_model->at(0).cell(ui::FindingRow::Who, m_now); };
        QVERIFY2(who().endsWith(u" +3"_s), qPrintable(who()));
        QStringList sessions;
        for (const auto &one : m_model->at(0).everybody())
            sessions << one.session.value_or(QString());
        QCOMPARE(sessions.size(), 4);
        QCOMPARE(sessions.removeDuplicates(), 0);
        tell(ChangeKind::Changed, ring[0]); // it goes on
        QVERIFY2(who().endsWith(u" +3"_s), qPrintable(who()));
        ring[2].findings.clear();
        tell(ChangeKind::Changed, ring[2]);
        QCOMPARE(m_model->at(0).everybody().size(), std::size_t(4)); // of /b and /d
        ring[1].findings.clear();
        ring[3].findings.clear();
        tell(ChangeKind::Changed, ring[1]);
        tell(ChangeKind::Changed, ring[3]);
        QVERIFY2(who().endsWith(u" +1"_s), qPrintable(who()));
    }

    // A deadlock is found on each of its locks, whichever is told first, and is one finding.
    void aDeadlockIsOneRow()
    {
        auto one = lockWith("/b", {FindingCode::Deadlock, FindingCode::LongHeld});
        auto other = lockWith("/b", {FindingCode::Deadlock}, "redis");
        one.findings.front().also = {other.lock};
        other.findings.front().also = {one.lock};
        tell(ChangeKind::Added, one);
        tell(ChangeKind::Added, other);
        QCOMPARE(shownIn(*m_model), u"deadlock /b, long-held /b"_s);
        QCOMPARE(m_model->all().critical, 1);
        const auto &row = m_model->at(0);
        QCOMPARE(row.locks, (std::vector<inspect::LockName>{other.lock, one.lock}));
        QCOMPARE(row.cell(ui::FindingRow::Connection, m_now), u"redis, zk"_s);
        QCOMPARE(row.cell(ui::FindingRow::Lock, m_now), u"/b, /b"_s);
        auto narrow = filter();
        for (const char *connection : {"zk", "redis"}) {
            narrow.connection = ConnectionName(connection);
            m_model->setFilter(narrow);
            QVERIFY2(shownIn(*m_model).startsWith(u"deadlock"_s), connection);
        }
        m_model->setFilter({});
        // Muted with all of its locks only.
        Mute mute{.lock = u"zk:/b"_s,
                  .code = FindingCode::Deadlock,
                  .reason = u"known"_s,
                  .until = std::chrono::floor<std::chrono::seconds>(m_now) + 1h};
        auto second = mute;
        second.lock = u"redis:/b"_s;
        m_model->setMutes({mute});
        QCOMPARE(m_model->all().critical, 1);
        m_model->setMutes({mute, second});
        QCOMPARE(m_model->all().critical, 0);
        m_model->setMutes({});
        other.findings.clear();
        tell(ChangeKind::Changed, other);
        one.findings.erase(one.findings.begin());
        tell(ChangeKind::Changed, one);
        QCOMPARE(shownIn(*m_model), u"long-held /b"_s);
    }

    // By what it calls itself, and in the detail by its address, too.
    void contenderOfAFindingIsNamed()
    {
        auto lock = lockWith("/a", {});
        lock.contenders[0].endpoint = u"10.0.3.7:56332"_s;
        lock.contenders[0].identity = "app-9";
        addFinding(lock, FindingCode::LongHeld, u"something"_s, {lock.contenders[0].id});
        tell(ChangeKind::Added, lock);
        const auto &row = m_model->at(0);
        QCOMPARE(row.cell(ui::FindingRow::Who, m_now), u"app-9"_s);
        QVERIFY2(row.parties.front().words.startsWith(u"holder app-9 · 10.0.3.7:56332 · 0x"_s),
                 qPrintable(row.parties.front().words));
    }

    void narrowing()
    {
        m_model->apply({change(ChangeKind::Added, lockWith("/a", {FindingCode::LongHeld, FindingCode::Herd})),
                        change(ChangeKind::Added, lockWith("/b", {FindingCode::LongHeld}, "zk2"))});
        auto narrow = filter();
        narrow.connection = ConnectionName("zk");
        m_model->setFilter(narrow);
        QCOMPARE(shownIn(*m_model), u"long-held /a, herd /a"_s);
        narrow.severity = Severity::Info;
        m_model->setFilter(narrow);
        QCOMPARE(shownIn(*m_model), u"herd /a"_s);
        QCOMPARE(m_model->found().warning, 1); // what a click on the other chip shows
        QCOMPARE(m_model->all().warning, 2);
        narrow = {};
        narrow.code = FindingCode::LongHeld;
        narrow.text = u"zk2"_s;
        m_model->setFilter(narrow);
        QCOMPARE(shownIn(*m_model), u"long-held /b"_s);
        m_model->setFilter({});
        QCOMPARE(m_model->rowCount(), 3);
        m_model->removeConnection(ConnectionName("zk"));
        QCOMPARE(shownIn(*m_model), u"long-held /b"_s);
    }

    void mutedIsNotCountedAndNotGone()
    {
        const auto now = std::chrono::floor<std::chrono::seconds>(findingsStart);
        m_model->apply({change(ChangeKind::Added, lockWith("/a", {FindingCode::LongHeld, FindingCode::LostWakeup})),
                        change(ChangeKind::Added, lockWith("/b", {FindingCode::LongHeld}))});
        m_model->setMutes({{{}, u"*"_s, {}, u"a migration"_s, now, now + 1h}});
        QCOMPARE(shownIn(*m_model), u"lost-wakeup /a"_s); // which no pattern mutes
        QCOMPARE(m_model->all().muted, 2);
        QCOMPARE(m_model->all().warning, 0);
        auto all = filter();
        all.showMuted = true;
        m_model->setFilter(all);
        QCOMPARE(shownIn(*m_model), u"lost-wakeup /a, long-held /a (muted), long-held /b (muted)"_s);
        QVERIFY(m_model->index(1, FindingRow::Message).data().toString().startsWith(u"muted · "_s));
        // A change does not unmute it; the end does.
        tell(ChangeKind::Changed, lockWith("/b", {FindingCode::LongHeld}));
        QCOMPARE(m_model->all().muted, 2);
        m_now += 1h;
        m_model->tick(0, 2);
        QCOMPARE(m_model->all().muted, 0);
        QCOMPARE(shownIn(*m_model), u"lost-wakeup /a, long-held /a, long-held /b"_s);
    }

    // It ends by the wall clock, which others read it by, also when somebody sets that.
    void aMuteEndsByTheWallClock()
    {
        testing::SetClock machine(findingsStart);
        const auto now = std::chrono::floor<std::chrono::seconds>(findingsStart);
        m_model->apply({change(ChangeKind::Added, lockWith("/a", {FindingCode::LongHeld}))});
        m_model->setMutes({{{}, u"*"_s, {}, u"a migration"_s, now, now + 1h}});
        machine.set(-2h);
        m_now += 59min;
        m_model->tick(0, 0);
        QCOMPARE(m_model->all().muted, 1);
        machine.set(3h);
        m_model->tick(0, 0);
        QCOMPARE(m_model->all().muted, 0);
    }

    // When it was found is told by the wall clock of now.
    void sinceIsToldByTheWallClock()
    {
        testing::SetClock machine(findingsStart);
        m_model->apply({change(ChangeKind::Changed, lockWith("/a", {FindingCode::LongHeld}))});
        machine.set(2h);
        const auto found = QDateTime::fromSecsSinceEpoch((findingsStart + 2h).time_since_epoch() / 1s);
        QCOMPARE(m_model->index(0, FindingRow::Since).data().toString(), found.toString(u"HH:mm:ss"_s));
    }

    // Among 50,000 a batch costs its own rows: what is not told of is neither reset nor said to have changed.
    void aBatchCostsWhatItChanges()
    {
        m_tester.reset(); // it looks at all of them, each time
        std::vector<inspect::SnapshotChange> all;
        for (int i = 0; i < 50'000; ++i)
            all.push_back(change(ChangeKind::Added, lockWith("/l" + QByteArray::number(i), {FindingCode::LongHeld})));
        m_model->apply(all);
        QCOMPARE(m_model->rowCount(), 50'000);
        QSignalSpy changed(m_model.get(), &QAbstractItemModel::dataChanged);
        QSignalSpy layouts(m_model.get(), &QAbstractItemModel::layoutChanged);
        QSignalSpy resets(m_model.get(), &QAbstractItemModel::modelReset);
        std::vector<inspect::SnapshotChange> few;
        for (int i = 0; i < 50'000; i += 10'000)
            few.push_back(change(ChangeKind::Changed, all[static_cast<std::size_t>(i)].lock));
        m_model->apply(few);
        int said = 0;
        for (const auto &one : changed)
            said += one[1].toModelIndex().row() - one[0].toModelIndex().row() + 1;
        QVERIFY(said >= 5 && said <= 5 * 10);
        QVERIFY(layouts.isEmpty() && resets.isEmpty());
    }

    // Whatever comes, the rows are those of the last word of each lock, in order, and the counts are theirs.
    void anyBatchesEndInTheSameRows()
    {
        std::mt19937 random(7);
        const std::vector<FindingCode> codes{FindingCode::LongHeld, FindingCode::Herd, FindingCode::LostWakeup,
                                             FindingCode::LongWait};
        std::map<QByteArray, LockSnapshot> truth;
        for (int round = 0; round < 120; ++round) {
            std::vector<inspect::SnapshotChange> batch;
            const int size = round % 10 == 0 ? 200 : 6;
            for (int i = 0; i < size; ++i) {
                const QByteArray name = "/l" + QByteArray::number(random() % 150);
                if (random() % 5 == 0) {
                    batch.push_back(change(ChangeKind::Removed, lockWith(name, {FindingCode::Herd})));
                    truth.erase(name);
                    continue;
                }
                auto lock = lockWith(name, {});
                for (const auto code : codes) {
                    if (random() % 3 == 0)
                        addFinding(lock, code, random() % 4 == 0 ? Severity::Info : Severity::Warning, u"x"_s,
                                   {lock.contenders[random() % 2].id});
                }
                batch.push_back(change(ChangeKind::Changed, lock));
                truth[name] = lock;
            }
            if (round % 17 == 0) {
                auto narrow = filter();
                narrow.severity = round % 2 ? std::optional(Severity::Warning) : std::nullopt;
                m_model->setFilter(narrow);
            }
            m_model->apply(testing::newest({.locks = batch}).locks);
            int expected = 0, warnings = 0;
            for (const auto &[name, lock] : truth) {
                for (const auto &finding : lock.findings) {
                    expected += !filter().severity || finding.severity == *filter().severity;
                    warnings += finding.severity == Severity::Warning;
                }
            }
            QCOMPARE(m_model->rowCount(), expected);
            QCOMPARE(m_model->all().warning, warnings);
            const FindingOrder order;
            for (int row = 1; row < m_model->rowCount(); ++row)
                QVERIFY(order.compare(m_model->at(row - 1), m_model->at(row)) < 0);
        }
    }
};

LOCKSCOPE_TEST(TestFindingsModel)
#include "tst_findingsmodel.moc"
