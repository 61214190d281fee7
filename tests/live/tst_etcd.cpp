// SPDX-License-Identifier: Apache-2.0
// etcd: our mutex queues with `etcdctl lock`, both ways; what is there is seen as it changes; and a lock is taken
// away from its holder and from nobody else.
#include "core/inspect/etcd/observer.h"
#include "core/inspect/findings.h"
#include "core/operate/etcdgate.h"
#include "core/operate/etcdlease.h"
#include "core/operate/etcdrelease.h"
#include "core/recipes/etcd/make.h"
#include "core/sandbox/etcdserver.h"
#include "tests/support/contender.h"
#include "tests/support/finish.h"
#include "tests/support/keepingsink.h"
#include "tests/support/testmain.h"
#include "tst_ctl_fixture.h"

#include <QStandardPaths>

using namespace lockscope;
using namespace lockscope::testing;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;
using inspect::Role;

namespace {

// One run of etcd's own client.
class EtcdCtl {
public:
    EtcdCtl(const HostPort &server, const QStringList &arguments)
    {
        auto variables = QProcessEnvironment::systemEnvironment();
        variables.insert(u"ETCDCTL_API"_s, u"3"_s);
        m_process.setProcessEnvironment(variables);
        m_process.start(u"etcdctl"_s,
                        QStringList{u"--endpoints=http://%1:%2"_s.arg(server.host).arg(server.port)} + arguments);
    }
    ~EtcdCtl()
    {
        m_process.kill();
        m_process.waitForFinished();
    }
    // The next line; empty when none came.
    QByteArray line()
    {
        const QDeadlineTimer limit(patienceMs);
        while (!m_process.canReadLine() && !limit.hasExpired() && m_process.state() != QProcess::NotRunning)
            m_process.waitForReadyRead(50);
        return m_process.readLine().trimmed();
    }
    void interrupt() const { ::kill(static_cast<pid_t>(m_process.processId()), SIGINT); }
    QByteArray finish()
    {
        m_process.waitForFinished(patienceMs);
        return m_process.readAllStandardOutput() + m_process.readAllStandardError();
    }

private:
    QProcess m_process;
};

etcd::Transaction transactionOf(etcd::Operation::Kind kind, const QByteArray &key, etcd::LeaseId lease = 0)
{
    etcd::Operation operation;
    operation.kind = kind;
    operation.range.key = key;
    operation.lease = lease;
    etcd::Transaction transaction;
    transaction.then.push_back(operation);
    return transaction;
}

Task<Result<operate::ForceReleasePlan>> named(operate::ForceReleasePlan plan, etcd::Client *client, Deadline deadline)
{
    auto naming = operate::withLeaseKeys(std::move(plan), client, deadline);
    auto full = co_await naming;
    co_return full;
}

QStringList idsOf(const QJsonObject &lock)
{
    QStringList ids;
    const auto contenders = lock.value("contenders"_L1).toArray();
    for (const auto &one : contenders)
        ids << one.toObject().value("id"_L1).toString();
    return ids;
}

} // namespace

class TestEtcd : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    QTemporaryDir m_state;
    std::unique_ptr<sandbox::Server> m_server;
    std::unique_ptr<etcd::Client> m_client;
    operate::CommandLog m_log;
    operate::Gate m_gate{ConnectionName("etcd"), false, false, m_log};
    std::unique_ptr<etcd::Client> m_gated;
    int m_names = 0;

    [[nodiscard]] QByteArray freshName() { return "locks/orders-" + QByteArray::number(++m_names); }
    [[nodiscard]] QString uri(const QString &credentials = {}) const
    {
        return u"etcd://"_s + credentials + u"127.0.0.1:"_s + QString::number(m_server->address().port);
    }
    [[nodiscard]] QStringList connect() const { return {u"--connect"_s, uri()}; }
    [[nodiscard]] QStringList acquiring(const QByteArray &lock, const QStringList &more = {}) const
    {
        return connect()
               + QStringList{u"acquire"_s, u"etcd:"_s + QString::fromUtf8(lock), u"--recipe"_s, u"etcd-mutex"_s,
                             u"--json"_s}
               + more;
    }
    [[nodiscard]] QJsonObject shown(const QByteArray &lock) const
    {
        return run(connect() + QStringList{u"show"_s, u"etcd:"_s + QString::fromUtf8(lock), u"--json"_s})
            .json()
            .value("lock"_L1)
            .toObject();
    }
    [[nodiscard]] Ran forced(const QByteArray &lock, const QString &holder, const QStringList &more) const
    {
        return run(connect()
                   + QStringList{u"force-release"_s, u"etcd:"_s + QString::fromUtf8(lock), u"--holder"_s, holder}
                   + more);
    }
    void etcdctl(const QStringList &arguments) const
    {
        EtcdCtl ctl(m_server->address(), arguments);
        ctl.finish();
    }
    [[nodiscard]] std::unique_ptr<Contender> contender(const QByteArray &lock, std::chrono::milliseconds ttl = 30s)
    {
        recipes::AcquireOptions options;
        options.ttl = ttl;
        auto made = recipes::makeLock("etcd-mutex", *m_gated, lock, options, Random::fromSystem());
        return std::make_unique<Contender>(m_loop, std::move(*made));
    }
    [[nodiscard]] std::unique_ptr<inspect::EtcdObserver> observer(KeepingSink &sink, bool follow = true)
    {
        inspect::ObserverOptions options;
        options.follow = follow;
        return std::make_unique<inspect::EtcdObserver>(*m_gated, ConnectionName("etcd"), "locks/", options, sink);
    }
    [[nodiscard]] qsizetype keysBelow(const QByteArray &lock)
    {
        etcd::RangeRequest request;
        request.key = lock + '/';
        request.end = etcd::endOfPrefix(request.key);
        const auto answer = answerOf(m_gated->range(request, Deadline::after(m_loop, 10s)));
        return answer ? static_cast<qsizetype>(answer->entries.size()) : -1;
    }

    bool putWithLease(const QByteArray &key, etcd::LeaseId lease)
    {
        const auto putting = transactionOf(etcd::Operation::Kind::Put, key, lease);
        return bool(answerOf(m_gated->commit(putting, Deadline::after(m_loop, 10s))));
    }
    bool removeKey(const QByteArray &key)
    {
        const auto removing = transactionOf(etcd::Operation::Kind::Remove, key);
        return bool(answerOf(m_gated->commit(removing, Deadline::after(m_loop, 10s))));
    }
    [[nodiscard]] bool leaseIsThere(etcd::LeaseId lease)
    {
        const auto answer = answerOf(m_gated->timeToLive(lease, false, Deadline::after(m_loop, 10s)));
        return answer && answer->ttl > 0s;
    }
    Result<operate::ForceReleasePlan> endingTheLease(const QByteArray &lock, etcd::LeaseId lease)
    {
        KeepingSink sink;
        const auto looks = observer(sink, false);
        const auto before = finish(m_loop, looks->readNow(lock, Deadline::after(m_loop, 10s)));
        if (!before)
            return before.error();
        const auto &holder = before->contenders.front();
        if (holder.guard.owner != static_cast<quint64>(lease))
            return Error{ErrorCode::Refused, u"another holds it"_s};
        const auto plan = operate::planWay(*before, holder.id, operate::Way::EndLease);
        if (!plan)
            return plan.error();
        return finish(m_loop, named(*plan, m_gated.get(), Deadline::after(m_loop, 10s)));
    }
    Result<operate::Sent> sent(const operate::ForceReleasePlan &plan)
    {
        return finish(m_loop, operate::sendRelease(plan, m_gated.get(), Deadline::after(m_loop, 10s)));
    }

private slots:
    void initTestCase()
    {
        qputenv("XDG_STATE_HOME", m_state.path().toUtf8());
        auto made = sandbox::makeEtcd();
        if (!made)
            QSKIP(qPrintable(made.error().message));
        m_server = std::move(*made);
        const auto started = m_server->start(60s);
        QVERIFY2(started, started ? "" : qPrintable(started.error().message));
        etcd::ClientOptions options;
        options.hosts = {m_server->address()};
        m_client = etcd::openClient(m_loop, options);
        m_gated = operate::gated(*m_client, m_gate);
        QVERIFY2(eventually([&] { return m_client->state() == etcd::ClientState::Connected; }),
                 qPrintable(m_client->lastError()));
        QVERIFY(m_client->serverVersion().startsWith("3."));
    }
    void cleanupTestCase()
    {
        m_gated.reset();
        m_client.reset();
        m_server.reset();
    }

    void etcdctlWaitsForUs()
    {
        if (QStandardPaths::findExecutable(u"etcdctl"_s).isEmpty())
            QSKIP("etcdctl is not installed; Debian's package is etcd-client");
        const auto lock = freshName();
        Ctl holder(acquiring(lock));
        const auto had = holder.jsonLine();
        QVERIFY(had.value("acquired"_L1).toBool());
        const auto id = had.value("id"_L1).toString();
        QCOMPARE(id.section(u'@', 1), had.value("fencingToken"_L1).toString());
        EtcdCtl waiter(m_server->address(), {u"lock"_s, QString::fromUtf8(lock), u"--ttl=20"_s});
        QTRY_COMPARE_WITH_TIMEOUT(idsOf(shown(lock)).size(), 2, patienceMs);
        const auto seen = shown(lock);
        QCOMPARE(seen.value("recipe"_L1).toString(), u"etcd-mutex"_s);
        QCOMPARE(seen.value("backend"_L1).toString(), u"etcd"_s);
        QCOMPARE(seen.value("state"_L1).toString(), u"contended"_s);
        QCOMPARE(idsOf(seen).front(), id);
        const auto second = seen.value("contenders"_L1).toArray().at(1).toObject();
        const auto watch = second.value("watches"_L1).toArray().at(0).toObject();
        QCOMPARE(watch.value("target"_L1).toString(), id);
        QCOMPARE(watch.value("evidence"_L1).toString(), u"inferred"_s);
        holder.signal(SIGTERM);
        const auto key = waiter.line();
        QCOMPARE(key, lock + '/' + second.value("session"_L1).toString().toLatin1());
        const auto ended = holder.finish();
        QVERIFY2(ended.status == 0 && ended.out.contains("\"interrupted\""), ended.what());
        const auto listed = run(connect() + QStringList{u"sessions"_s, u"--json"_s});
        QVERIFY2(listed.out.contains(second.value("session"_L1).toString().toLatin1()), listed.what());
        waiter.interrupt();
        waiter.finish();
        QTRY_COMPARE_WITH_TIMEOUT(keysBelow(lock), 0, patienceMs);
    }

    void weWaitForEtcdctl()
    {
        if (QStandardPaths::findExecutable(u"etcdctl"_s).isEmpty())
            QSKIP("etcdctl is not installed; Debian's package is etcd-client");
        const auto lock = freshName();
        EtcdCtl holder(m_server->address(), {u"lock"_s, QString::fromUtf8(lock), u"--ttl=20"_s});
        const auto key = holder.line();
        QVERIFY2(key.startsWith(lock + '/'), key);
        const auto late = run(acquiring(lock, {u"--wait"_s, u"200ms"_s}));
        QVERIFY2(late.status == 5, late.what());
        QCOMPARE(keysBelow(lock), 1); // nothing of ours is left
        Ctl waiter(acquiring(lock, {u"--hold"_s, u"1ms"_s}));
        QTRY_COMPARE_WITH_TIMEOUT(idsOf(shown(lock)).size(), 2, patienceMs);
        QCOMPARE(idsOf(shown(lock)).front().section(u'@', 0, 0).toLatin1(), key.mid(lock.size() + 1));
        holder.interrupt();
        const auto entered = waiter.finish();
        QVERIFY2(entered.status == 0 && entered.out.contains("\"done\""), entered.what());
        holder.finish();
    }

    void aHolderIsTakenAwayAndTheNextGetsIt()
    {
        const auto lock = freshName();
        Ctl holder(acquiring(lock));
        const auto id = holder.jsonLine().value("id"_L1).toString();
        QVERIFY(!id.isEmpty());
        Ctl waiter(acquiring(lock));
        QTRY_COMPARE_WITH_TIMEOUT(idsOf(shown(lock)).size(), 2, patienceMs);
        const auto bare = forced(lock, id.section(u'@', 0, 0), {u"--yes"_s});
        QVERIFY2(bare.status == 4 && bare.err.contains(id.toLatin1()), bare.what());
        const auto readOnly = forced(lock, id, {u"--yes"_s, u"--read-only"_s});
        QVERIFY2(readOnly.status == 4, readOnly.what());
        const auto planned = forced(lock, id, {u"--dry-run"_s, u"--json"_s});
        QVERIFY2(planned.status == 0 && planned.json().value("exact"_L1).toBool(), planned.what());
        QCOMPARE(planned.json().value("nextHolder"_L1).toString(), idsOf(shown(lock)).at(1));
        const auto released = forced(lock, id, {u"--yes"_s, u"--json"_s});
        QVERIFY2(released.status == 0 && released.json().value("released"_L1).toBool(), released.what());
        QVERIFY(waiter.jsonLine().value("acquired"_L1).toBool());
        const auto lost = holder.finish();
        QVERIFY2(lost.status == 1 && lost.out.contains("\"lost\""), lost.what());
        const auto again = forced(lock, id, {u"--yes"_s});
        QVERIFY2(again.status == 4, again.what());
        waiter.signal(SIGTERM);
        QCOMPARE(waiter.finish().status, 0);
        QCOMPARE(keysBelow(lock), 0);
    }

    void aWaiterIsTakenOutOfTheQueue()
    {
        const auto lock = freshName();
        auto first = contender(lock), second = contender(lock), third = contender(lock);
        QVERIFY(first->takes());
        second->acquire();
        QVERIFY(eventually([&] { return keysBelow(lock) == 2; }));
        third->acquire();
        QVERIFY(eventually([&] { return keysBelow(lock) == 3; }));
        KeepingSink sink;
        const auto looks = observer(sink, false);
        const auto before = finish(m_loop, looks->readNow(lock, Deadline::after(m_loop, 10s)));
        QVERIFY(before && before->contenders.size() == 3);
        const auto out = operate::planWay(*before, before->contenders[1].id, operate::Way::KillWaiter);
        QVERIFY2(out, out ? "" : qPrintable(out.error().message));
        QVERIFY(finish(m_loop, operate::sendRelease(*out, m_gated.get(), Deadline::after(m_loop, 10s))));
        QVERIFY(first->saysItIsMine());
        // Who waits now may hold then: the same plan does nothing any more.
        const auto last = operate::planWay(*before, before->contenders[2].id, operate::Way::KillWaiter);
        QVERIFY(first->givesBack());
        QVERIFY(eventually([&] { return third->holds(); }));
        const auto refused = finish(m_loop, operate::sendRelease(*last, m_gated.get(), Deadline::after(m_loop, 10s)));
        QVERIFY(!refused && refused.error().code == ErrorCode::Refused);
        QVERIFY(third->saysItIsMine());
    }

    // The holder lets go while it is taken away: whoever comes next loses nothing.
    void theNextHolderKeepsIt()
    {
        const auto lock = freshName();
        KeepingSink sink;
        const auto looks = observer(sink, false);
        int taken = 0, late = 0;
        for (int i = 0; i < 40; ++i) {
            auto holder = contender(lock), next = contender(lock);
            QVERIFY2(holder->takes(), qPrintable(holder->error()));
            const bool queues = i % 2 == 0;
            if (queues)
                next->acquire();
            const auto before = finish(m_loop, looks->readNow(lock, Deadline::after(m_loop, 10s)));
            QVERIFY(before);
            const auto plan = operate::planForceRelease(*before, holder->id());
            QVERIFY(plan);
            holder->release();
            if (!queues)
                next->acquire();
            const auto sent =
                finish(m_loop, operate::sendRelease(*plan, m_gated.get(), Deadline::after(m_loop, 10s)));
            QVERIFY(sent || sent.error().code == ErrorCode::Refused);
            ++(sent ? taken : late);
            QVERIFY(eventually([&] { return next->holds() && holder->released.has_value(); }));
            QVERIFY2(next->saysItIsMine(), "the next holder lost it");
            QVERIFY(next->givesBack());
        }
        qInfo("taken away %d times, %d times too late", taken, late);
        QCOMPARE(keysBelow(lock), 0);
    }

    // The lease of etcd's own client, which also keeps something else alive.
    void endingTheLeaseTakesAllThatHangsOnIt()
    {
        if (QStandardPaths::findExecutable(u"etcdctl"_s).isEmpty())
            QSKIP("etcdctl is not installed; Debian's package is etcd-client");
        const auto lock = freshName();
        EtcdCtl holder(m_server->address(), {u"lock"_s, QString::fromUtf8(lock), u"--ttl=6"_s});
        const auto key = QString::fromUtf8(holder.line());
        const auto lease = key.section(u'/', -1);
        etcdctl({u"put"_s, u"--lease="_s + lease, u"services/web"_s, u"x"_s});
        Ctl waiter(acquiring(lock));
        QTRY_COMPARE_WITH_TIMEOUT(idsOf(shown(lock)).size(), 2, patienceMs);
        const auto id = idsOf(shown(lock)).front();
        const QStringList byLease{u"--way"_s, u"end-lease"_s, u"--json"_s};
        const auto planned = forced(lock, id, byLease + QStringList{u"--dry-run"_s});
        QVERIFY2(planned.status == 0, planned.what());
        QCOMPARE(planned.json().value("leaseKeys"_L1).toArray(), (QJsonArray{key, u"services/web"_s}));
        QVERIFY2(planned.json().value("alsoLost"_L1).toString().contains("services/web"_L1), planned.what());
        QCOMPARE(planned.json().value("otherLocksLost"_L1).toArray(), QJsonArray());
        QCOMPARE(planned.json().value("ways"_L1).toArray(), (QJsonArray{u"release"_s, u"end-lease"_s}));
        QVERIFY(!planned.json().value("exact"_L1).toBool());
        QVERIFY(!planned.json().value("gentler"_L1).toVariant().toStringList().join(u' ').contains(lease));
        QCOMPARE(keysBelow(lock), 2);
        const auto readOnly = forced(lock, id, byLease + QStringList{u"--yes"_s, u"--read-only"_s});
        QVERIFY2(readOnly.status == 4, readOnly.what());
        const auto done = forced(lock, id, byLease + QStringList{u"--yes"_s});
        QVERIFY2(done.status == 0 && done.json().value("released"_L1).toBool(), done.what());
        QVERIFY(waiter.jsonLine().value("acquired"_L1).toBool());
        QVERIFY(!leaseIsThere(lease.toLongLong(nullptr, 16)));
        QCOMPARE(keysBelow("services"), 0);
        const auto told = holder.finish(); // by its next keep-alive
        QVERIFY2(told.contains("session expired"), told);
        QFile audit(m_state.filePath(u"lockscope/audit.jsonl"_s));
        QVERIFY(audit.open(QIODevice::ReadOnly) && audit.readAll().contains("\"action\":\"end-lease\""));
        waiter.signal(SIGTERM);
        QCOMPARE(waiter.finish().status, 0);
    }

    void aLeaseIsEndedOnlyWithWhatThePreviewNamed()
    {
        const auto lock = freshName();
        const etcd::LeaseId lease = 0x5ea5e;
        QVERIFY(answerOf(m_gated->grant(lease, 60s, Deadline::after(m_loop, 10s))));
        QVERIFY(putWithLease(lock + "/5ea5e", lease) && putWithLease("other/5ea5e", lease));
        const auto plan = endingTheLease(lock, lease);
        QVERIFY2(plan && plan->leaseKeys, plan ? "" : qPrintable(plan.error().message));
        QCOMPARE(plan->otherLocksLost, std::vector<QByteArray>{"other"});
        // One more key.
        QVERIFY(putWithLease("services/" + lock, lease));
        const auto more = sent(*plan);
        QVERIFY2(!more && more.error().message.contains("services/"_L1),
                 more ? "" : qPrintable(more.error().message));
        // Let go and taken anew, by the same session.
        const auto second = endingTheLease(lock, lease);
        QVERIFY(removeKey(lock + "/5ea5e") && putWithLease(lock + "/5ea5e", lease));
        const auto again = sent(*second);
        QVERIFY2(!again && again.error().message.contains("anew"_L1), again ? "" : qPrintable(again.error().message));
        // The same key, on another lease now.
        const auto third = endingTheLease(lock, lease);
        QVERIFY(answerOf(m_gated->grant(lease + 1, 60s, Deadline::after(m_loop, 10s))));
        QVERIFY(putWithLease(lock + "/5ea5e", lease + 1));
        const auto moved = sent(*third);
        QVERIFY(!moved && moved.error().code == ErrorCode::Refused);
        QVERIFY(leaseIsThere(lease) && keysBelow(lock) == 1);
        // Let go.
        QVERIFY(putWithLease(lock + "/5ea5e", lease));
        const auto fourth = endingTheLease(lock, lease);
        QVERIFY(removeKey(lock + "/5ea5e"));
        const auto gone = sent(*fourth);
        QVERIFY(!gone && gone.error().code == ErrorCode::Refused && leaseIsThere(lease));
        // And its preview must have been had.
        QVERIFY(putWithLease(lock + "/5ea5e", lease));
        auto unread = *endingTheLease(lock, lease);
        unread.leaseKeys.reset();
        QVERIFY(!sent(unread) && leaseIsThere(lease));
        QVERIFY(sent(*endingTheLease(lock, lease)) && !leaseIsThere(lease));
        QCOMPARE(keysBelow("other"), 0);
    }

    // Who lets go of it at that moment keeps the lease, and what hangs on it; who comes next loses nothing.
    void whoLetsGoMeanwhileKeepsItsLease()
    {
        const auto lock = freshName();
        int ended = 0, late = 0;
        for (int i = 0; i < 40; ++i) {
            const etcd::LeaseId lease = 0x5eed00 + i;
            const auto key = lock + '/' + etcd::leaseText(lease);
            QVERIFY(answerOf(m_gated->grant(lease, 60s, Deadline::after(m_loop, 10s))));
            QVERIFY(putWithLease(key, lease) && putWithLease("services/" + key, lease));
            auto next = contender(lock);
            next->acquire();
            const auto plan = endingTheLease(lock, lease);
            QVERIFY(plan);
            const auto lettingGo = transactionOf(etcd::Operation::Kind::Remove, key);
            // Sent beside the first or the second of its requests.
            Completion<bool> mayGo(m_loop);
            mayGo.completeAt(Deadline::after(m_loop, std::chrono::milliseconds(i % 4)), true);
            bool isGone = false;
            mayGo.then([&](bool) {
                m_client->commit(lettingGo, Deadline::after(m_loop, 10s)).then([&](const auto &) { isGone = true; });
            });
            const auto done = sent(*plan);
            QVERIFY(eventually([&] { return isGone; }));
            QVERIFY(done || done.error().code == ErrorCode::Refused);
            ++(done ? ended : late);
            QCOMPARE(leaseIsThere(lease), !done);
            QCOMPARE(keysBelow("services/" + lock), done ? 0 : 1);
            QVERIFY(eventually([&] { return next->holds(); }));
            QVERIFY2(next->saysItIsMine(), "the next holder lost it");
            QVERIFY(next->givesBack());
            QVERIFY(done || answerOf(m_gated->revoke(lease, Deadline::after(m_loop, 10s))));
        }
        qInfo("ended %d leases, %d times too late", ended, late);
    }

    void whatHappensIsToldAsItHappens()
    {
        const auto lock = freshName();
        KeepingSink sink;
        const auto looks = observer(sink);
        looks->start();
        QVERIFY(eventually([&] { return looks->firstSnapshot().isComplete() && sink.looks > 1; }));
        QVERIFY2(sink.coverage.size() == 1 && sink.coverage.front().complete,
                 qPrintable(sink.coverage.empty() ? QString() : sink.coverage.front().message));
        auto first = contender(lock), second = contender(lock);
        QVERIFY(first->takes());
        second->acquire();
        QVERIFY(eventually([&] { return sink.find(lock) && sink.find(lock)->contenders.size() == 2; }));
        const auto seen = *sink.find(lock);
        QVERIFY(seen.contenders[0].id == first->id() && seen.contenders[0].heldSince);
        QVERIFY(seen.contenders[1].role == Role::Waiter && seen.contenders[1].waitingSince);
        QVERIFY(eventually([&] { return sink.find(lock)->contenders[0].expiresAt.has_value(); }));
        QVERIFY(first->givesBack());
        QVERIFY(eventually([&] { return sink.find(lock) && sink.find(lock)->contenders.size() == 1; }));
        QVERIFY(eventually([&] { return second->holds(); }));
        QCOMPARE(sink.find(lock)->contenders[0].id, second->id());
        QVERIFY(second->givesBack());
        QVERIFY(eventually([&] { return !sink.find(lock); }));
        QVERIFY(sink.isConsistent);
    }

    void aKeyThatIsNoClaimHoldsEverybodyUp()
    {
        if (QStandardPaths::findExecutable(u"etcdctl"_s).isEmpty())
            QSKIP("etcdctl is not installed; Debian's package is etcd-client");
        const auto lock = freshName();
        const auto key = QString::fromUtf8(lock) + u"/config"_s;
        etcdctl({u"put"_s, key, u"x"_s});
        KeepingSink sink;
        const auto looks = observer(sink);
        looks->start();
        QVERIFY(eventually([&] { return looks->firstSnapshot().isComplete(); }));
        auto waiter = contender(lock);
        waiter->acquire();
        QVERIFY(eventually([&] {
            const auto *seen = sink.find(lock);
            return seen && seen->holderCount() == 0 && seen->find(inspect::FindingCode::ForeignNode);
        }));
        QVERIFY(!waiter->holds());
        etcdctl({u"del"_s, key});
        QVERIFY(
            eventually([&] { return waiter->holds() && sink.find(lock) && sink.find(lock)->holderCount() == 1; }));
        QVERIFY(waiter->givesBack());
    }

    void anElectionIsSeen()
    {
        if (QStandardPaths::findExecutable(u"etcdctl"_s).isEmpty())
            QSKIP("etcdctl is not installed; Debian's package is etcd-client");
        const auto lock = freshName();
        EtcdCtl leader(m_server->address(), {u"elect"_s, QString::fromUtf8(lock), u"host-a"_s});
        QVERIFY(leader.line().startsWith(lock));
        const auto seen = shown(lock);
        QCOMPARE(seen.value("recipe"_L1).toString(), u"etcd-election"_s);
        const auto first = seen.value("contenders"_L1).toArray().at(0).toObject();
        QCOMPARE(first.value("identity"_L1).toString(), u"host-a"_s);
    }

    void aLeaseThatIsGoneIsALossThatIsSaid()
    {
        const auto lock = freshName();
        Ctl holder(acquiring(lock, {u"--ttl"_s, u"60s"_s}));
        const auto id = holder.jsonLine().value("id"_L1).toString();
        bool isNumber = false;
        const auto lease = id.section(u'@', 0, 0).toLongLong(&isNumber, 16);
        QVERIFY(isNumber);
        QVERIFY(answerOf(m_client->revoke(lease, Deadline::after(m_loop, 10s))));
        const auto lost = holder.finish();
        QVERIFY2(lost.status == 1 && lost.out.contains("\"lost\""), lost.what());
    }

    // The server is away for longer than the lease: nobody may believe in it by then.
    void whoHearsNothingStopsBelieving()
    {
        const auto lock = freshName();
        auto holder = contender(lock, 3s);
        QVERIFY(holder->takes());
        holder->heed();
        m_server->pause();
        const bool isLost = eventually([&] { return holder->loss.has_value(); });
        m_server->resume();
        QVERIFY(isLost && *holder->loss == recipes::Loss::LeaseOver);
        QCOMPARE(holder->codeOfRelease(), static_cast<int>(ErrorCode::NotHeld));
        QVERIFY(eventually([&] { return m_client->state() == etcd::ClientState::Connected; }));
        QTRY_COMPARE_WITH_TIMEOUT(keysBelow(lock), 0, patienceMs);
    }

    // As the catalogue says.
    void itsRequestsAreCounted()
    {
        const auto lock = freshName();
        const auto &recipe = recipes::recipeOf("etcd-mutex");
        auto first = contender(lock), second = contender(lock);
        auto before = m_gate.requestsSent();
        QVERIFY(first->takes());
        QCOMPARE(QString::number(m_gate.requestsSent() - before), recipe.requestsAcquireFree);
        before = m_gate.requestsSent();
        second->acquire();
        QVERIFY(eventually([&] { return m_gate.requestsSent() - before == 4; })); // and no more until it is its turn
        QVERIFY(first->givesBack());
        const auto ofRelease = recipe.requestsRelease.toLongLong();
        QVERIFY(eventually([&] { return second->holds(); }));
        QCOMPARE(QString::number(m_gate.requestsSent() - before - ofRelease), recipe.requestsAcquireQueued);
        before = m_gate.requestsSent();
        QVERIFY(second->givesBack());
        QCOMPARE(QString::number(m_gate.requestsSent() - before), recipe.requestsRelease);
    }

    void contendersOfARunKeepEachOtherOut()
    {
        const auto ran = run(connect()
                             + QStringList{u"simulate"_s, u"--recipe"_s, u"etcd-mutex"_s, u"--contenders"_s, u"8"_s,
                                           u"--hold"_s, u"1ms"_s, u"--json"_s});
        QVERIFY2(ran.status == 0, ran.what());
        QCOMPARE(keysBelow("lockscope-simulate"), 0);
    }

    void whoIsGivenUpLeavesNothing()
    {
        const auto lock = freshName();
        auto first = contender(lock);
        QVERIFY(first->takes());
        auto second = contender(lock);
        QCOMPARE(second->codeOfAcquire(Deadline::at(m_loop.now())), static_cast<int>(ErrorCode::TimedOut));
        second->acquire();
        QVERIFY(eventually([&] { return keysBelow(lock) == 2; }));
        second.reset();
        QVERIFY(eventually([&] { return keysBelow(lock) == 1; }));
        first.reset();
        QVERIFY(eventually([&] { return keysBelow(lock) == 0; }));
    }

    // Last: from here on the server wants passwords.
    void onlyWhoMayComesIn()
    {
        if (QStandardPaths::findExecutable(u"etcdctl"_s).isEmpty())
            QSKIP("etcdctl is not installed; Debian's package is etcd-client");
        etcdctl({u"user"_s, u"add"_s, u"root:secret"_s});
        etcdctl({u"user"_s, u"grant-role"_s, u"root"_s, u"root"_s});
        etcdctl({u"auth"_s, u"enable"_s});
        const auto asked = [this](const QString &credentials) {
            return run({u"--connect"_s, uri(credentials), u"locks"_s, u"--json"_s});
        };
        const auto nobody = asked({});
        QVERIFY2(nobody.status == 3, nobody.what());
        const auto wrong = asked(u"root:guess@"_s);
        QVERIFY2(wrong.status == 3 && !wrong.err.contains("guess"), wrong.what());
        const auto right = asked(u"root:secret@"_s);
        QVERIFY2(right.status == 0, right.what());
        const auto lock = QString::fromUtf8(freshName());
        const auto held = run({u"--connect"_s, uri(u"root:secret@"_s), u"acquire"_s, u"etcd:"_s + lock, u"--recipe"_s,
                               u"etcd-mutex"_s, u"--hold"_s, u"1ms"_s});
        QVERIFY2(held.status == 0, held.what());
    }
};

LOCKSCOPE_TEST(TestEtcd)
#include "tst_etcd.moc"
