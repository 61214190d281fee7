// SPDX-License-Identifier: Apache-2.0
// Edits of a key that is a lock of Redis whose holder may let go and take it again by the same id: what was decided
// on for one hold is not done to the next. Only the lease tells them apart: nobody sees the key gone.
#include <version>

#include "core/rules/turn.h"
#include "redisalone.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::testing;
using namespace Qt::StringLiterals;
using operate::EditKind;
using operate::EditPlan;
using operate::EditRequest;

namespace {

const QByteArray threadOfRedisson = "0e7d6b1a-7c8e-4b6e-9a3e-2f5d1c4b3a29:1"; // a thread of its
const QByteArray tokenOfPython = "cHl0aG9uLXJlZGlzLWxvY2sx";                  // of one object of python-redis-lock's

} // namespace

class TestEditsLeases : public RedisAlone {
    Q_OBJECT

    QByteArray m_mode; // of a read/write lock
    QByteArray m_key;  // another one for each row: what was seen of one says nothing of the next

    Result<EditPlan> plan(const EditRequest &request)
    {
        return finish(m_loop, m_workspace->planEdit(request, soon()));
    }
    Result<operate::EditOutcome> apply(const EditPlan &plan)
    {
        return finish(m_loop, m_workspace->applyEdit(plan, u"test"_s, soon()));
    }
    [[nodiscard]] QByteArray thread() const { return threadOfRedisson + (m_mode == "write" ? ":write" : ""); }
    [[nodiscard]] bool isHash() const { return !m_key.startsWith("lock:"); }

    // In one step: whoever looks sees it held before and after.
    void take(qint64 left, const QByteArray &count = "1")
    {
        const QByteArray script = isHash()
                                      ? "redis.call('DEL', KEYS[1]) redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) "
                                        "if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], 'mode', ARGV[4]) end "
                                        "return redis.call('PEXPIRE', KEYS[1], ARGV[2])"
                                      : "return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])";
        const auto id = isHash() ? thread() : tokenOfPython;
        QVERIFY(!send({"EVAL", script, "1", m_key, id, QByteArray::number(left), count, m_mode}).isError());
    }
    EditRequest request(EditKind kind, const QByteArray &value = {})
    {
        EditRequest made;
        made.kind = kind;
        made.connection = ConnectionName("redis");
        made.name = m_key;
        made.value = value;
        if (kind == EditKind::FieldSet || kind == EditKind::FieldDelete)
            made.field = thread();
        if (kind == EditKind::KeyExpire)
            made.ttl = std::chrono::milliseconds(600'000);
        return made;
    }
    // Once its lock is seen there.
    std::optional<EditPlan> planOfHeld(const EditRequest &wanted)
    {
        std::optional<EditPlan> made;
        const auto isSeen = [&] {
            const auto planned = plan(wanted);
            if (planned && planned->touchesHeld())
                made = *planned;
            return made.has_value();
        };
        [&] { QTRY_VERIFY_WITH_TIMEOUT(isSeen(), patienceMs); }();
        if (made)
            made->areLocksAccepted = true;
        return made;
    }

private slots:
    void initTestCase()
    {
        if (const auto why = startServer(); !why.isEmpty())
            QSKIP(qPrintable(why));
        if (send({"PEXPIRETIME", "none"}).isError())
            QSKIP("this Redis does not say when a key ends");
        openWorkspace({});
    }
    void init()
    {
        static int row = 0;
        m_mode.clear();
        const bool isString = QByteArray(QTest::currentDataTag()).startsWith("token");
        m_key = (isString ? "lock:orders-" : "orders-") + QByteArray::number(++row);
        if (isString)
            send({"RPUSH", "lock-signal:" + m_key.mid(5), "1"});
    }
    void cleanupTestCase() { stopServer(); }

    void newHoldByTheSameIdIsNotEdited_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<qint64>("left"); // of the lease, when it was looked at
        QTest::addColumn<qint64>("then"); // nothing: it is not written anew
        QTest::addColumn<bool>("isDone");
        const std::vector<std::pair<const char *, EditKind>> kinds{
            {"thread: expire", EditKind::KeyExpire},      {"thread: delete", EditKind::KeyDelete},
            {"thread: rename", EditKind::KeyRename},      {"thread: set its field", EditKind::FieldSet},
            {"thread: delete it", EditKind::FieldDelete}, {"token: set", EditKind::KeySet},
            {"token: expire", EditKind::KeyExpire},       {"token: delete", EditKind::KeyDelete}};
        for (const auto &[name, kind] : kinds) {
            QTest::addRow("%s, nothing happened", name) << int(kind) << qint64(27'000) << qint64(0) << true;
            QTest::addRow("%s, taken again", name) << int(kind) << qint64(27'000) << qint64(30'000) << false;
            QTest::addRow("%s, taken again for less", name) << int(kind) << qint64(27'000) << qint64(5'000) << false;
            QTest::addRow("%s, renewed after a third", name) << int(kind) << qint64(19'000) << qint64(30'000) << true;
        }
    }
    void newHoldByTheSameIdIsNotEdited()
    {
        QFETCH(const int, kind);
        QFETCH(const qint64, left);
        QFETCH(const qint64, then);
        QFETCH(const bool, isDone);
        take(left);
        const auto value = m_key + (kind == int(EditKind::KeyRename) ? "-aside" : "2");
        const auto made = planOfHeld(request(static_cast<EditKind>(kind), value));
        QVERIFY(made && made->endTellsHolds());
        QVERIFY2(operate::previewOf(*made).guard.contains(u"its lease must be unchanged since the last check"_s),
                 qPrintable(operate::previewOf(*made).guard));
        if (then > 0)
            take(then);
        const auto before = send({"DUMP", m_key}).text;
        const auto ends = send({"PEXPIRETIME", m_key}).integer;
        const auto outcome = apply(*made);
        QVERIFY2(bool(outcome) == isDone, outcome ? "" : qPrintable(outcome.error().message));
        if (isDone)
            return;
        QCOMPARE(outcome.error().code, ErrorCode::Refused);
        QCOMPARE(send({"DUMP", m_key}).text, before);
        QCOMPARE(send({"PEXPIRETIME", m_key}).integer, ends);
    }

    // Between the last look and the act the server itself compares, to the millisecond.
    void newHoldRightBeforeTheEditIsNotEdited()
    {
        take(30'000);
        auto made = planOfHeld(request(EditKind::FieldDelete));
        QVERIFY(made);
        made->leaseEnds = made->before.expiryMs;
        take(30'000);
        send({"PEXPIREAT", m_key, QByteArray::number(*made->leaseEnds + 1)});
        const auto sent = [&] {
            return finish(m_loop, m_workspace->find(ConnectionName("redis"))->sendEdit(*made, soon()));
        };
        const auto refused = sent();
        QVERIFY(!refused);
        QVERIFY2(refused.error().message.contains(u"its lease was just rewritten"_s),
                 qPrintable(refused.error().message));
        QCOMPARE(send({"EXISTS", m_key}).integer, 1);
        ++*made->leaseEnds;
        QVERIFY(sent());
        QCOMPARE(send({"EXISTS", m_key}).integer, 0);
    }

    // As late as a renewal comes, when the lease tells nothing: its unlock is heard.
    void reacquireAtRenewalTimeIsDetectedByPublish_data()
    {
        QTest::addColumn<QByteArray>("mode");
        QTest::addColumn<bool>("isReleased"); // by what Redisson's unlock publishes
        for (const QByteArray mode : {"", "read", "write"}) {
            QTest::addRow("%s renewed", mode.constData()) << mode << false;
            QTest::addRow("%s taken again", mode.constData()) << mode << true;
        }
    }
    void reacquireAtRenewalTimeIsDetectedByPublish()
    {
        QFETCH(const bool, isReleased);
        QFETCH(const QByteArray, mode);
        m_mode = mode;
        take(19'000);
        const auto made = planOfHeld(request(EditKind::FieldDelete));
        QVERIFY(made);
        const inspect::LockName name{ConnectionName("redis"), m_key};
        const auto release = finish(m_loop, m_workspace->planForceRelease(name, thread(), soon()));
        QVERIFY2(release, release ? "" : qPrintable(release.error().message));
        const auto toldApart = m_loop.now() + 2ms; // since when it is held is told to the millisecond
        while (m_loop.now() < toldApart)
            QCoreApplication::processEvents();
        QTRY_COMPARE_WITH_TIMEOUT(send({"PUBSUB", "NUMPAT"}).integer, 2, patienceMs);
        const auto shown = [&]() -> std::optional<inspect::LockSnapshot> {
            for (auto &lock : m_workspace->find(name.connection)->observer().snapshots()) {
                if (lock.lock == name)
                    return std::move(lock);
            }
            return std::nullopt;
        };
        const auto ends = shown()->contenders.front().expiresAt;
        const redis::RedissonKeys keys(m_key);
        if (isReleased)
            send({"PUBLISH", mode.isEmpty() ? keys.channel() : keys.readWriteChannel(), mode == "write" ? "1" : "0"});
        take(30'000);
        QTRY_VERIFY_WITH_TIMEOUT(shown() && shown()->contenders.front().expiresAt > ends, patienceMs);
        QCOMPARE(shown()->waiterCount(), 0); // who listens so is no waiter
        const auto edited = apply(*made);
        QCOMPARE(bool(edited), !isReleased);
        if (!isReleased)
            return;
        QVERIFY2(edited.error().message.contains(u"acquired it again"_s), qPrintable(edited.error().message));
        const auto released = finish(m_loop, m_workspace->forceRelease(*release, u"test"_s, soon()));
        QVERIFY(!released);
        QVERIFY2(released.error().message.contains(u"acquired it again"_s), qPrintable(released.error().message));
        QCOMPARE(send({"EXISTS", m_key}).integer, 1);
    }

    // What is there is by its value what the edit left.
    void anEditIsNotTakenBackOverTheNextHold_data()
    {
        QTest::addColumn<bool>("isTakenAgain");
        QTest::newRow("the same hold") << false;
        QTest::newRow("the next") << true;
    }
    void anEditIsNotTakenBackOverTheNextHold()
    {
        QFETCH(const bool, isTakenAgain);
        take(27'000);
        const auto made = planOfHeld(request(EditKind::FieldSet, "2"));
        QVERIFY(made);
        const auto edited = apply(*made);
        QVERIFY2(edited && edited->undo, edited ? "" : qPrintable(edited.error().message));
        if (isTakenAgain)
            take(30'000, "2");
        const auto undo = plan(*edited->undo);
        QCOMPARE(bool(undo), !isTakenAgain);
        if (!undo)
            QVERIFY2(undo.error().message.contains(u"its lease was rewritten"_s), qPrintable(undo.error().message));
    }
};

LOCKSCOPE_TEST(TestEditsLeases)
#include "tst_edits_leases.moc"
