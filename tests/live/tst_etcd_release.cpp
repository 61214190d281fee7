// SPDX-License-Identifier: Apache-2.0
// etcd: a lock is taken away from its holder and from nobody else, by its key or by the lease with all that hangs on
// it.
#include "etcdfixture.h"
#include "tests/support/testmain.h"

#include <QStandardPaths>

using inspect::Role;

class TestEtcdRelease : public EtcdFixture {
    Q_OBJECT
private slots:
    void initTestCase() { OK_OR_SKIP(m_server, startServer()); }
    void cleanupTestCase() { endServer(); }

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
        const auto out = operate::planWay(*before, before->contenders[1].id, operate::ReleaseAction::KillWaiter);
        QVERIFY2(out, out ? "" : qPrintable(out.error().message));
        QVERIFY(finish(m_loop, operate::sendRelease(*out, m_gated.get(), Deadline::after(m_loop, 10s))));
        QVERIFY(first->saysItIsMine());
        // Who waits now may hold then: the same plan does nothing any more.
        const auto last = operate::planWay(*before, before->contenders[2].id, operate::ReleaseAction::KillWaiter);
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
        const QStringList byLease{u"--method"_s, u"end-lease"_s, u"--json"_s};
        const auto planned = forced(lock, id, byLease + QStringList{u"--dry-run"_s});
        QVERIFY2(planned.status == 0, planned.what());
        QCOMPARE(planned.json().value("leaseKeys"_L1).toArray(), (QJsonArray{key, u"services/web"_s}));
        QVERIFY2(planned.json().value("otherLosses"_L1).toString().contains("services/web"_L1), planned.what());
        QCOMPARE(planned.json().value("otherLocksLost"_L1).toArray(), QJsonArray());
        QCOMPARE(planned.json().value("methods"_L1).toArray(), (QJsonArray{u"release"_s, u"end-lease"_s}));
        QVERIFY(!planned.json().value("exact"_L1).toBool());
        QVERIFY(!planned.json().value("alternatives"_L1).toVariant().toStringList().join(u' ').contains(lease));
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
        QVERIFY2(!again && again.error().message.contains("re-created"_L1),
                 again ? "" : qPrintable(again.error().message));
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
    void clientReleasingMeanwhileKeepsItsLease()
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
};

LOCKSCOPE_TEST(TestEtcdRelease)
#include "tst_etcd_release.moc"
