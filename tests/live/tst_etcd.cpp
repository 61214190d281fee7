// SPDX-License-Identifier: Apache-2.0
// etcd: our mutex queues with `etcdctl lock`, both ways; what is there is seen as it changes.
#include "core/inspect/findings.h"
#include "etcdfixture.h"
#include "tests/support/testmain.h"

#include <QStandardPaths>

using inspect::Role;

class TestEtcd : public EtcdFixture {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        OK_OR_SKIP(m_server, startServer());
        QVERIFY(m_client->serverVersion().startsWith("3."));
    }
    void cleanupTestCase() { endServer(); }

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

    void changesAreReportedAsTheyHappen()
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

    void otherKeysOfALeaseAreShown()
    {
        if (QStandardPaths::findExecutable(u"etcdctl"_s).isEmpty())
            QSKIP("etcdctl is not installed; Debian's package is etcd-client");
        const auto lock = freshName();
        EtcdCtl holder(m_server->address(), {u"lock"_s, QString::fromUtf8(lock), u"--ttl=20"_s});
        const auto lease = QString::fromLatin1(holder.line().mid(lock.size() + 1));
        const auto key = u"seen-by-"_s + lease;
        etcdctl({u"put"_s, u"--lease="_s + lease, key, u"x"_s});
        QJsonArray others;
        const auto listed = run(connect() + QStringList{u"sessions"_s, u"--json"_s});
        for (const auto one : listed.json()["sessions"_L1].toArray()) {
            if (one["session"_L1] == lease)
                others = one["alsoEnds"_L1].toArray();
        }
        QCOMPARE(others, QJsonArray{key});
        const auto table = run(connect() + QStringList{u"sessions"_s});
        QVERIFY2(table.out.contains("; with it ends " + key.toLatin1()), table.what());
        holder.interrupt();
        holder.finish();
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

    // `etcdctl put "$ETCD_LOCK_KEY" host-1` under the lock: who waits goes on waiting for that key.
    void claimThatLosesItsLeaseHoldsUntilItIsReleased()
    {
        if (QStandardPaths::findExecutable(u"etcdctl"_s).isEmpty())
            QSKIP("etcdctl is not installed; Debian's package is etcd-client");
        const auto lock = freshName();
        KeepingSink sink;
        const auto looks = observer(sink);
        looks->start();
        QVERIFY(eventually([&] { return looks->firstSnapshot().isComplete(); }));
        auto holder = contender(lock), waiter = contender(lock);
        QVERIFY(holder->takes());
        waiter->acquire();
        QVERIFY(eventually([&] { return sink.find(lock) && sink.find(lock)->waiterCount() == 1; }));
        const auto id = holder->id();
        const auto key = QString::fromUtf8(lock + '/' + id.left(id.indexOf('@')));
        etcdctl({u"put"_s, key, u"host-1"_s});
        QVERIFY(eventually([&] { return sink.find(lock)->find(inspect::FindingCode::NoTtl) != nullptr; }));
        const auto *seen = sink.find(lock);
        QVERIFY(seen->contenders[0].role == Role::Holder && seen->contenders[0].id == id);
        QVERIFY(seen->contenders[0].identity == "host-1" && !seen->contenders[0].session);
        // A single look tells the same.
        QCOMPARE(idsOf(shown(lock)).value(0), QString::fromUtf8(id));
        const auto sessions = looks->sessions();
        QVERIFY(
            std::ranges::all_of(sessions, [&](const auto &one) { return std::ranges::count(one.holds, lock) == 0; }));
        const auto released = forced(lock, QString::fromUtf8(id), {u"--yes"_s, u"--json"_s});
        QVERIFY2(released.status == 0 && released.json().value("released"_L1).toBool(), released.what());
        QVERIFY(eventually([&] { return waiter->holds(); }));
        QVERIFY(waiter->givesBack());
    }

    void fixedKeyWithALeaseKeepsAcquireOut()
    {
        const auto lock = freshName();
        constexpr etcd::LeaseId lease = 0x7001;
        QVERIFY(answerOf(m_gated->grant(lease, 60s, Deadline::after(m_loop, 10s))));
        QVERIFY(putWithLease(lock, lease));
        const auto refused = run(acquiring(lock));
        QVERIFY2(refused.status == 4 && refused.err.contains("KEY#" + lock + " is held by 7001@"), refused.what());
        QCOMPARE(keysBelow(lock), 0);
        const auto listed = run(connect() + QStringList{u"locks"_s});
        QVERIFY2(listed.out.contains("KEY#" + lock) && listed.out.contains("etcd-key-lock"), listed.what());
        const auto queued = run(connect() + QStringList{u"show"_s, u"etcd:"_s + QString::fromUtf8(lock)});
        QVERIFY2(queued.err.contains("is a lock by itself, KEY#" + lock), queued.what());
        KeepingSink sink;
        const auto looks = observer(sink);
        looks->start();
        QVERIFY(eventually([&] { return looks->firstSnapshot().isComplete(); }));
        QVERIFY(std::ranges::all_of(looks->coverage(), &inspect::Coverage::complete) && sink.find("KEY#" + lock));
        QVERIFY(removeKey(lock));
        QVERIFY(eventually([&] { return !sink.find("KEY#" + lock); }));
        const auto held = run(acquiring(lock, {u"--hold"_s, u"0s"_s}));
        QVERIFY2(held.status == 0, held.what());
    }

    // Neither the holder's end nor its release lets the waiter in: it waits for that key.
    void keyBetweenHolderAndWaiterComesNext()
    {
        const auto lock = freshName();
        KeepingSink sink;
        const auto looks = observer(sink);
        looks->start();
        QVERIFY(eventually([&] { return looks->firstSnapshot().isComplete(); }));
        auto holder = contender(lock), waiter = contender(lock);
        QVERIFY(holder->takes());
        QVERIFY(putWithLease(lock + "/config", 0));
        waiter->acquire();
        QVERIFY(eventually([&] {
            const auto *seen = sink.find(lock);
            return seen && seen->waiterCount() == 1 && seen->worst() == inspect::Severity::Warning;
        }));
        QCOMPARE(sink.find(lock)->contenders[1].watches.front().target, lock + "/config");
        QVERIFY(!sink.find(lock)->nextAfter(holder->id()));
        const auto released = forced(lock, QString::fromUtf8(holder->id()), {u"--yes"_s});
        QVERIFY2(released.status == 0 && released.out.contains("waits for " + lock + "/config"), released.what());
        QVERIFY(!waiter->holds());
        QVERIFY(removeKey(lock + "/config"));
        QVERIFY(eventually([&] { return waiter->holds(); }));
        QVERIFY(waiter->givesBack());
    }

    void waiterOfTheLockAboveIsReportedBeforeARelease()
    {
        const auto above = freshName();
        const auto lock = above + "/part";
        auto holder = contender(lock), waiter = contender(above);
        QVERIFY(holder->takes());
        waiter->acquire();
        QVERIFY(eventually([&] { return keysBelow(above) == 2; }));
        const auto planned = forced(lock, QString::fromUtf8(holder->id()), {u"--dry-run"_s});
        QVERIFY2(planned.out.contains("a client that waits for the lock " + above), planned.what());
        QVERIFY(holder->givesBack());
        QVERIFY(eventually([&] { return waiter->holds(); }));
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
    void holderWithoutRepliesLosesLockAtLeaseEnd()
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
        const auto recipe = recipes::recipeOf("etcd-mutex");
        auto first = contender(lock), second = contender(lock);
        auto before = m_gate.requestsSent();
        QVERIFY(first->takes());
        QCOMPARE(QString::number(m_gate.requestsSent() - before), recipe.counts.acquireFree);
        before = m_gate.requestsSent();
        second->acquire();
        QVERIFY(eventually([&] { return m_gate.requestsSent() - before == 4; })); // and no more until it is its turn
        QVERIFY(first->givesBack());
        const auto ofRelease = recipe.counts.release.toLongLong();
        QVERIFY(eventually([&] { return second->holds(); }));
        QCOMPARE(QString::number(m_gate.requestsSent() - before - ofRelease), recipe.counts.acquireQueued);
        before = m_gate.requestsSent();
        QVERIFY(second->givesBack());
        QCOMPARE(QString::number(m_gate.requestsSent() - before), recipe.counts.release);
    }

    void contendersOfARunKeepEachOtherOut()
    {
        const auto ran = run(connect()
                             + QStringList{u"simulate"_s, u"--recipe"_s, u"etcd-mutex"_s, u"--contenders"_s, u"8"_s,
                                           u"--hold"_s, u"1ms"_s, u"--json"_s});
        QVERIFY2(ran.status == 0, ran.what());
        QCOMPARE(keysBelow("lockscope-simulate"), 0);
    }

    void cancelledWaiterLeavesNoKey()
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
        const auto before = run({u"--connect"_s, uri({}), u"test"_s});
        QVERIFY2(before.out.contains("authentication is off: every client that connects may do everything"),
                 before.what());
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
        const std::vector<QStringList> steps{
            {u"user"_s, u"add"_s, u"bob:pw"_s},
            {u"role"_s, u"add"_s, u"app"_s},
            {u"role"_s, u"grant-permission"_s, u"app"_s, u"--prefix=true"_s, u"readwrite"_s, u"app/"_s},
            {u"user"_s, u"grant-role"_s, u"bob"_s, u"app"_s}};
        for (const auto &step : steps)
            etcdctl(QStringList{u"--user=root:secret"_s} + step);
        const auto tried = [this](const QString &credentials) {
            return run({u"--connect"_s, uri(credentials), u"test"_s}).out;
        };
        QVERIFY(tried(u"root:secret@"_s).contains("user root has the role root, and may do everything"));
        const auto some = tried(u"bob:pw@"_s);
        QVERIFY2(some.contains("user bob may read and write the keys that begin with app/"), some.constData());
        // The URI names no prefix: of one that the user may read it is looked at, of several it says so.
        Ctl below({u"--connect"_s, uri(u"root:secret@"_s), u"--json"_s, u"acquire"_s, u"etcd:app/nightly"_s,
                   u"--recipe"_s, u"etcd-mutex"_s});
        QVERIFY(below.jsonLine().value("acquired"_L1).toBool());
        const auto bobs = asked(u"bob:pw@"_s);
        QVERIFY2(bobs.out.contains("\"etcd:app/nightly\""), bobs.what());
        QVERIFY2(bobs.out.contains("only keys that begin with app/ are read: the user may not read others"),
                 bobs.what());
        // Who looks on is shown more once the user may read more, without connecting anew.
        Ctl outside({u"--connect"_s, uri(u"root:secret@"_s), u"--json"_s, u"acquire"_s, u"etcd:elsewhere"_s,
                     u"--recipe"_s, u"etcd-mutex"_s});
        QVERIFY(outside.jsonLine().value("acquired"_L1).toBool());
        Ctl watch({u"--connect"_s, uri(u"bob:pw@"_s), u"locks"_s, u"--watch"_s});
        QCOMPARE(watch.jsonLine()["lock"_L1]["lock"_L1].toString(), u"etcd:app/nightly"_s);
        const QString asRoot = u"--user=root:secret"_s;
        etcdctl({asRoot, u"role"_s, u"add"_s, u"all"_s});
        etcdctl({asRoot, u"role"_s, u"grant-permission"_s, u"all"_s, u"--prefix=true"_s, u"read"_s, QString()});
        etcdctl({asRoot, u"user"_s, u"grant-role"_s, u"bob"_s, u"all"_s});
        QJsonObject change;
        do
            change = watch.jsonLine();
        while (!change.isEmpty() && change["lock"_L1]["lock"_L1] != "etcd:elsewhere"_L1);
        QVERIFY(!change.isEmpty());
        outside.signal(SIGTERM);
        QCOMPARE(outside.finish().status, 0);
        etcdctl({asRoot, u"user"_s, u"revoke-role"_s, u"bob"_s, u"all"_s});
        etcdctl({u"--user=root:secret"_s, u"role"_s, u"grant-permission"_s, u"app"_s, u"--prefix=true"_s, u"read"_s,
                 u"/jobs/"_s});
        const auto several = asked(u"bob:pw@"_s);
        QVERIFY2((several.out + several.err).contains("end its URI with //jobs/ or /app/"), several.what());
        const auto chosen = run({u"--connect"_s, uri(u"bob:pw@"_s) + u"/app/"_s, u"locks"_s, u"--json"_s});
        QVERIFY2(chosen.status == 0 && chosen.out.contains("\"etcd:app/nightly\""), chosen.what());
        below.signal(SIGTERM);
        QCOMPARE(below.finish().status, 0);
        const auto lock = QString::fromUtf8(freshName());
        const auto held = run({u"--connect"_s, uri(u"root:secret@"_s), u"acquire"_s, u"etcd:"_s + lock, u"--recipe"_s,
                               u"etcd-mutex"_s, u"--hold"_s, u"1ms"_s});
        QVERIFY2(held.status == 0, held.what());
    }
};

LOCKSCOPE_TEST(TestEtcd)
#include "tst_etcd.moc"
