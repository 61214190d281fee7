// SPDX-License-Identifier: Apache-2.0
// A lock on a node of a fixed name: its holder learns that it was taken away, and never removes its successor's node.
// The session is scripted: what the server answers, and what another client does in between.
#include "core/async/scope.h"
#include "core/recipes/make.h"
#include "core/recipes/zookeeper/queueentry.h"
#include "core/recipes/zookeeper/locks.h"
#include "tests/unit/tst_gate_fakes.h"
#include "tests/support/testmain.h"

#include <algorithm>

using namespace lockscope::recipes;

namespace {

const ZPath path("/leader");
constexpr quint64 us = 0x10, them = 0x20; // sessions

// Gives the czxids of its nodes out in order: 5, 6, …
class Server : public fakes::Session {
public:
    using fakes::Session::Session;

    void send(Request &&request) override
    {
        auto *const create = std::get_if<Asked<zk::CreateRequest>>(&request);
        if (!create)
            return fakes::Session::send(std::move(request));
        const auto reply = std::exchange(create->reply, Reply<zk::Created>(loop()));
        const auto node = create->request.path;
        const auto data = create->request.data;
        if (nodes.contains(node))
            return reply.complete(Error{ErrorCode::NodeExists, u"it exists"_s});
        fakes::Session::send(std::move(request)); // for the list of what was sent
        put(node.bytes(), m_next++, us, data);
        reply.complete(zk::Created{node, nodes[node].stat});
    }
    void succeed(qint64 czxid = 9) { put(path.bytes(), czxid, them); } // in the place of whatever stood there
    void fireDeleted() { fire(path.bytes(), zk::EventKind::Deleted); }
    [[nodiscard]] qsizetype count(const QString &request) const { return sent.count(request + u" /leader"_s); }
    [[nodiscard]] qint64 standing() const { return nodes.contains(path) ? nodes.at(path).stat.czxid : 0; }

private:
    qint64 m_next = 5;
};

Task<void> acquiring(Lock *lock, std::optional<Grant> *grant)
{
    const auto got = co_await lock->acquire(Deadline::never());
    if (got)
        *grant = *got;
}

Task<void> releasing(Lock *lock, std::optional<Result<void>> *released)
{
    const auto done = co_await lock->release(Deadline::never());
    released->emplace(done);
}

} // namespace

class TestOwnNode : public QObject {
    Q_OBJECT

    struct World {
        VirtualLoop loop;
        Server server{loop};
        std::unique_ptr<Lock> lock;
        std::optional<Grant> grant;
        std::optional<Result<void>> released;
        Scope scope{loop};

        World()
        {
            auto made = makeLock("zk-ephemeral", server, path, {}, Random(1));
            if (!made)
                qFatal("%s", qPrintable(made.error().message));
            lock = std::move(*made);
            acquire();
        }
        void acquire()
        {
            scope.launch(acquiring(lock.get(), &grant));
            loop.runReady();
            server.sent.clear();
        }
        void watch()
        {
            scope.launch(watchOwnNode(&server, lock.get(), *grant));
            loop.runReady();
        }
        void release()
        {
            scope.launch(releasing(lock.get(), &released));
            loop.runReady();
        }
        // Lets go of everything, and waits until nothing more is done about it.
        void letGo()
        {
            scope.cancelAll();
            lock.reset();
            loop.advance(1min);
        }
        [[nodiscard]] bool isTold() const
        {
            return lock->lost().isComplete() && lock->lost().value() == Loss::TakenAway && lock->holdCount() == 0;
        }
        // Why the release failed; empty if it did not.
        [[nodiscard]] std::optional<ErrorCode> code() const
        {
            return released && !*released ? std::optional(released->error().code) : std::nullopt;
        }
    };

private slots:
    // What is below a node of ShedLock's keeps nobody out of it.
    void noneIsMadeBelowANodeOfShedLocks()
    {
        VirtualLoop loop;
        Server server(loop);
        const auto made = [&](const char *lock) {
            return makeLock("zk-ephemeral", server, ZPath(lock), {}, Random(1));
        };
        QVERIFY(!made("/shedlock/report"));
        QVERIFY(!made("/app/shedlock/report"));
        QVERIFY(made("/shedlock"));
        QVERIFY(made("/shedlocks/report"));
    }

    void ownerOfADeletedNodeIsNotifiedAtOnce()
    {
        World world;
        QCOMPARE(world.grant->fencingToken, 5);
        world.watch();
        QCOMPARE(world.server.count(u"get"_s), 1);
        QVERIFY(!world.isTold());
        world.server.succeed(); // whoever reads now reads 9
        world.server.fireDeleted();
        world.loop.runReady();
        QVERIFY(world.isTold());
        QCOMPARE(world.server.sent, QStringList{u"get /leader"_s}); // nothing to ask, nothing to remove
        world.letGo();
        QCOMPARE(world.server.count(u"remove"_s), 0);
        QCOMPARE(world.server.standing(), 9);
    }

    void anothersNode_ownerIsNotifiedWithoutAnEvent()
    {
        World world;
        world.server.succeed(); // before the first look
        world.watch();
        QVERIFY(world.isTold());
        world.letGo();
        QCOMPARE(world.server.count(u"remove"_s), 0);
        QCOMPARE(world.server.standing(), 9);
    }

    // After a reconnect the server tells of a node that was made anew as of one whose data changed.
    void anothersNodeAfterAChange_ownerIsNotified()
    {
        World world;
        world.watch();
        world.server.succeed();
        world.server.fire(path.bytes(), zk::EventKind::DataChanged);
        world.loop.runReady();
        QCOMPARE(world.server.count(u"get"_s), 2);
        QVERIFY(world.isTold());
        world.letGo();
        QCOMPARE(world.server.count(u"remove"_s), 0);
        QCOMPARE(world.server.standing(), 9);
    }

    void missingNode_ownerIsNotified()
    {
        World world;
        world.server.nodes.clear();
        world.watch();
        QVERIFY(world.isTold());
        world.letGo();
        QCOMPARE(world.server.count(u"remove"_s), 0);
    }

    void changedDataIsNoLoss()
    {
        World world;
        world.watch();
        for (int i = 2; i < 5; ++i) {
            world.server.fire(path.bytes(), zk::EventKind::DataChanged);
            world.loop.runReady();
            QCOMPARE(world.server.count(u"get"_s), i); // watched again
            QCOMPARE(world.lock->holdCount(), 1);
        }
        world.release();
        QVERIFY(*world.released);
        QCOMPARE(world.server.standing(), 0);
    }

    void aReadThatFailsIsTriedAgain()
    {
        World world;
        world.server.fails[u"get"_s] = Error{ErrorCode::UnknownOutcome, u"lost"_s};
        world.watch();
        world.loop.advance(1s);
        QVERIFY(world.server.count(u"get"_s) > 1);
        QCOMPARE(world.lock->holdCount(), 1);
        world.server.fails.clear();
        world.server.succeed();
        world.loop.advance(1s);
        QVERIFY(world.isTold());
    }

    // Its own delete is no loss, and an old notice says nothing about a new grant.
    void aNoticeOfAFormerGrantSaysNothing()
    {
        World world;
        const Grant former = *world.grant;
        world.watch();
        world.release();
        QVERIFY(*world.released);
        world.server.fireDeleted();
        world.loop.runReady();
        QVERIFY(!world.lock->lost().isComplete());
        world.acquire();
        QCOMPARE(world.grant->fencingToken, 6);
        world.lock->noteTakenAway(former);
        world.loop.runReady();
        QCOMPARE(world.lock->holdCount(), 1);
        QVERIFY(!world.lock->lost().isComplete());
    }

    void aReleaseLooksFirstAndRemovesItsOwn()
    {
        World world;
        world.release();
        QVERIFY(*world.released);
        QCOMPARE(world.server.sent, (QStringList{u"sync /leader"_s, u"exists /leader"_s, u"remove /leader"_s}));
        QCOMPARE(world.server.standing(), 0);
    }

    // Nobody told it: it finds out by itself.
    void aLateReleaseRemovesNothing_data()
    {
        const Rows<qint64, quint64> row("czxid", "owner");
        row("another node", 9, quint64(them));
        row("another node of our own session", 9, quint64(us));
        row("another owner", 5, quint64(them));
        row("no node", 0, 0);
    }
    void aLateReleaseRemovesNothing()
    {
        QFETCH(qint64, czxid);
        QFETCH(quint64, owner);
        World world;
        if (czxid == 0)
            world.server.nodes.clear();
        else
            world.server.put(path.bytes(), czxid, owner);
        world.release();
        QVERIFY(world.code() == ErrorCode::NotHeld);
        QCOMPARE(world.lock->holdCount(), 0);
        world.letGo();
        QCOMPARE(world.server.count(u"remove"_s), 0);
        QCOMPARE(world.server.standing(), czxid);
    }

    void aHoldThatIsDroppedRemovesNothingButItsOwn_data()
    {
        addRows<bool>("isReplaced", {{"ours", false}, {"a successor's", true}});
    }
    void aHoldThatIsDroppedRemovesNothingButItsOwn()
    {
        QFETCH(bool, isReplaced);
        World world;
        if (isReplaced)
            world.server.succeed();
        world.letGo();
        QCOMPARE(world.server.count(u"remove"_s), isReplaced ? 0 : 1);
        QCOMPARE(world.server.standing(), isReplaced ? 9 : 0);
    }

    // Neither while the release itself is still looking, nor by whoever follows it up.
    void releaseAfterALostReadRemovesOnlyItsOwnNode_data() { aHoldThatIsDroppedRemovesNothingButItsOwn_data(); }
    void releaseAfterALostReadRemovesOnlyItsOwnNode()
    {
        QFETCH(bool, isReplaced);
        World world;
        world.server.fails[u"exists"_s] = Error{ErrorCode::UnknownOutcome, u"lost"_s};
        world.release();
        QVERIFY(world.code() == ErrorCode::UnknownOutcome);
        QCOMPARE(world.server.count(u"remove"_s), 0);
        if (isReplaced)
            world.server.succeed();
        world.server.fails.clear();
        world.letGo();
        QCOMPARE(world.server.count(u"remove"_s), isReplaced ? 0 : 1);
        QCOMPARE(world.server.standing(), isReplaced ? 9 : 0);
    }

    // A follower that did not hear of the leader's state cannot say that a node is still ours.
    void withoutTheSyncNothingIsRemoved()
    {
        World world;
        world.server.fails[u"sync"_s] = Error{ErrorCode::UnknownOutcome, u"lost"_s};
        world.release();
        QVERIFY(world.code() == ErrorCode::UnknownOutcome);
        QCOMPARE(world.server.count(u"remove"_s), 0);
    }

    // What no request of ZooKeeper's can close, and the catalogue admits: the moment between the look and the delete.
    void oneRoundTripRemains()
    {
        World world;
        world.server.before[u"remove"_s] = [&world] { world.server.succeed(); };
        world.release();
        QVERIFY(*world.released);
        QCOMPARE(world.server.standing(), 0);
        const auto &flaws = findRecipe("zk-ephemeral")->flaws;
        QVERIFY(std::any_of(flaws.begin(), flaws.end(), [](const QString &flaw) {
            return flaw.contains(u"between that read and its delete"_s);
        }));
    }

    void whichNamesComeAgain()
    {
        NodeClaim fixed{.path = path, .sequential = false};
        QVERIFY(fixed.nameComesAgain());
        NodeClaim numbered = fixed;
        numbered.sequential = true;
        QVERIFY(!numbered.nameComesAgain());
        Random random(1);
        auto beside = protectedClaim(path, "__READ__0000000007", random);
        beside.sequential = false;
        QVERIFY(!beside.nameComesAgain());
    }
};

LOCKSCOPE_TEST(TestOwnNode)
#include "tst_ownnode.moc"
