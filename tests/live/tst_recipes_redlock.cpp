// SPDX-License-Identifier: Apache-2.0
// redlock on real Redis servers: every pattern of taken nodes, exact requests, nodes that die or fall mute,
// lost replies, the lease and its end.
#include "core/recipes/make.h"
#include "core/rules/turn.h"
#include "tests/support/redlockfixture.h"
#include "tests/support/testmain.h"

using recipes::Loss;
using Fault = RequestFault;

namespace {

const QByteArray redlockRelease("compare-and-delete");
const QByteArray redlockProlong("compare-and-expire");
const QByteArray redlockKey("the-lock");
constexpr int allNodes = 5;

} // namespace

class TestRecipesRedlock : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    std::vector<Node> m_nodes;
    std::vector<std::unique_ptr<SetClient>> m_clients;
    std::vector<std::unique_ptr<SetContender>> m_contenders;

    SetClient &client(std::size_t number = 0) { return *m_clients[number]; }
    bool addClient()
    {
        m_clients.push_back(std::make_unique<SetClient>(m_loop, m_nodes));
        return eventually([this] { return m_clients.back()->isConnected(); });
    }
    SetContender &add(SetClient &client, std::chrono::milliseconds ttl = 30s, int nodes = allNodes)
    {
        m_contenders.push_back(std::make_unique<SetContender>(
            m_loop, std::make_unique<recipes::RedlockLock>(client.ports(nodes), RedisKey(redlockKey), ttl,
                                                           Random(m_contenders.size()))));
        return *m_contenders.back();
    }
    // What the key holds on the nodes from one to another.
    QByteArrayList stored(int first = 0, int last = allNodes - 1)
    {
        QByteArrayList values;
        for (int i = first; i <= last; ++i)
            values << m_nodes[static_cast<std::size_t>(i)].stored(redlockKey);
        return values;
    }
    static QByteArrayList times(int count, const QByteArray &value) { return QByteArrayList(count, value); }
    void setOn(int first, int last, const QByteArray &value)
    {
        for (int i = first; i <= last; ++i)
            m_nodes[static_cast<std::size_t>(i)].ask({"SET", redlockKey, value});
    }
    void deleteOn(int first, int last)
    {
        for (int i = first; i <= last; ++i)
            m_nodes[static_cast<std::size_t>(i)].ask({"DEL", redlockKey});
    }
    sandbox::Server &server(int node) { return *m_nodes[static_cast<std::size_t>(node)].server; }

    static void faultsAsRows()
    {
        QTest::addColumn<bool>("kill");
        QTest::newRow("killed") << true;
        QTest::newRow("stopped") << false;
    }
    void fail(int first, int last, bool kill)
    {
        for (int i = first; i <= last; ++i) {
            kill ? server(i).stop() : server(i).pause();
            auto &port = *client().real[static_cast<std::size_t>(i)];
            if (kill)
                QTRY_VERIFY(port.state() != redis::ConnectionState::Connected);
        }
    }
    void recover(int first, int last, bool kill)
    {
        for (int i = first; i <= last; ++i) {
            if (!kill) {
                server(i).resume();
                continue;
            }
            const auto started = server(i).start(20s);
            QVERIFY2(started, started ? "" : qPrintable(started.error().message));
        }
        for (int i = first; i <= last; ++i)
            QVERIFY(becomes(*m_nodes[static_cast<std::size_t>(i)].admin, redis::ConnectionState::Connected));
    }

private slots:
    void initTestCase()
    {
        if (!sandbox::makeRedis())
            QSKIP("redis-server is not installed");
        OK(startNodes(m_loop, allNodes, m_nodes));
    }
    void init()
    {
        for (auto &node : m_nodes)
            node.ask({"FLUSHALL"});
        QVERIFY(addClient());
    }
    void cleanup()
    {
        m_contenders.clear();
        m_clients.clear();
    }

    void quorums()
    {
        const QList<int> wanted{1, 2, 2, 3, 3, 4, 4};
        for (int nodes = 1; nodes <= wanted.size(); ++nodes)
            QCOMPARE(recipes::quorumOf(nodes), wanted[nodes - 1]);
        using recipes::quorumUntil;
        QCOMPARE(quorumUntil<int>({5, 1, 3}, 5), std::optional(1));
        QCOMPARE(quorumUntil<int>({5, 1, 3, 2}, 5), std::optional(2));
        QCOMPARE(quorumUntil<int>({5, 1}, 5), std::optional<int>());
        QCOMPARE(quorumUntil<int>({7}, 1), std::optional(7));
    }

    // The whole of it: for every pattern of nodes that are somebody else's, odd and even sets.
    void everySubset_data()
    {
        addColumns<int, int>("nodes", "mask");
        for (int nodes = 1; nodes <= allNodes; ++nodes) {
            for (int mask = 0; mask < 1 << nodes; ++mask)
                QTest::addRow("%d nodes, taken %s", nodes, qPrintable(QString::number(mask, 2))) << nodes << mask;
        }
    }
    void everySubset()
    {
        QFETCH(int, nodes);
        QFETCH(int, mask);
        QByteArrayList others;
        for (int i = 0; i < nodes; ++i) {
            const bool taken = (mask >> i & 1) != 0;
            if (taken)
                setOn(i, i, "other");
            others << (taken ? QByteArray("other") : QByteArray());
        }
        const int free = static_cast<int>(others.count(QByteArray()));
        auto &one = add(client(), 30s, nodes);
        one.tryOnce();
        QTRY_VERIFY(one.granted);
        QCOMPARE(one.holds(), free >= nodes / 2 + 1);
        QTRY_COMPARE(client().counts("SET", nodes), QList<int>(nodes, 1));
        if (one.holds()) {
            auto wanted = others;
            std::replace(wanted.begin(), wanted.end(), QByteArray(), one.id());
            QTRY_COMPARE(stored(0, nodes - 1), wanted);
            QVERIFY(one.givesBack());
        } else {
            QCOMPARE(one.granted->error().code, ErrorCode::TimedOut);
        }
        QTRY_COMPARE(client().counts(redlockRelease, nodes), QList<int>(nodes, 1));
        QCOMPARE(client().requests(), 2 * nodes);
        QTRY_COMPARE(stored(0, nodes - 1), others);
    }

    void aFailedRoundIsGoneWhenItsErrorIsTold()
    {
        setOn(0, 2, "other");
        auto &one = add(client());
        one.tryOnce();
        QTRY_VERIFY(one.granted);
        QVERIFY(!one.holds());
        QCOMPARE(stored(3, 4), times(2, {}));
        QCOMPARE(client().counts(redlockRelease, allNodes), QList<int>(allNodes, 1));
    }

    void freeAcquireAndRelease()
    {
        // All five are out before one answer is in: one round trip.
        client().plan(0, 4, "SET", Fault::HoldReply);
        auto &one = add(client());
        one.acquire();
        QTRY_COMPARE(client().counts("SET", allNodes), QList<int>(allNodes, 1));
        QTRY_COMPARE(stored().count(QByteArray()), 0);
        QVERIFY(!one.granted);
        client().letThrough();
        QTRY_VERIFY(one.holds());
        QCOMPARE(one.id().size(), 36);
        QCOMPARE(stored(), times(allNodes, one.id()));
        QVERIFY(!(*one.granted)->fencingToken);
        QCOMPARE(one.lock->holdCount(), 1);
        QCOMPARE(client().requests(), allNodes);
        client().reset();
        one.release();
        QCOMPARE(client().counts(redlockRelease, allNodes), QList<int>(allNodes, 1));
        QTRY_VERIFY(one.released);
        QVERIFY(*one.released);
        QCOMPARE(client().requests(), allNodes);
        QCOMPARE(stored(), times(allNodes, {}));
        QCOMPARE(one.redlock.validity(), Duration::zero());
        QCOMPARE(one.lock->holdCount(), 0);
    }

    void aQuorumOfAnswersIsEnough()
    {
        client().plan(3, 4, "SET", Fault::HoldReply);
        auto &one = add(client(), 6s);
        QVERIFY(one.takes());
        // The late ones count when they come: the lock then stands the loss of two others.
        client().letThrough();
        deleteOn(0, 1);
        client().reset();
        QTRY_VERIFY(client().counts(redlockProlong, allNodes).last() > 0);
        QCOMPARE(one.lock->holdCount(), 1);
    }

    void validityIsTheTtlLessDrift()
    {
        auto &one = add(client(), 10s);
        QVERIFY(one.takes());
        QVERIFY(one.redlock.validity() > 0ms);
        QVERIFY(one.redlock.validity() <= 10s - 100ms - 2ms);
    }

    void tooLateIsNotHeld()
    {
        // OK from everybody, but when the answers are in there is no time left.
        client().plan(0, 4, "SET", Fault::HoldReply);
        auto &one = add(client(), 100ms);
        one.tryOnce();
        QTRY_COMPARE(stored(), times(allNodes, {})); // expired
        client().letThrough();
        QTRY_VERIFY(one.granted);
        QVERIFY(!one.holds());
    }

    void lostRepliesOfAMinority()
    {
        client().plan(0, 1, "SET", Fault::LoseReply);
        auto &one = add(client());
        QVERIFY(one.takes());
        QTRY_COMPARE(client().counts("SET", allNodes), QList<int>(allNodes, 1));
        QVERIFY(one.givesBack());
        QTRY_COMPARE(stored(), times(allNodes, {})); // also where nobody knew
    }
    void lostRepliesOfAMajority()
    {
        client().plan(0, 2, "SET", Fault::LoseReply);
        auto &one = add(client());
        QVERIFY(one.takes());
        QTRY_COMPARE(client().counts("SET", allNodes), QList<int>(allNodes, 2)); // a majority is enough to go on
        QTRY_COMPARE(stored(), times(allNodes, one.id()));
    }
    void lostReleases_data()
    {
        const Rows<int, bool> row("lost", "known");
        row("minority", 2, true);
        row("majority", 3, false);
    }
    void lostReleases()
    {
        QFETCH(int, lost);
        QFETCH(bool, known);
        auto &one = add(client());
        one.acquire();
        QTRY_COMPARE(stored(), times(allNodes, one.holds() ? one.id() : QByteArray("nobody")));
        client().plan(0, lost - 1, redlockRelease, Fault::LoseRequest);
        one.release();
        QTRY_VERIFY(one.released);
        QCOMPARE(bool(*one.released), known);
        if (!known)
            QCOMPARE(one.released->error().code, ErrorCode::UnknownOutcome);
        QTRY_COMPARE(stored(), times(allNodes, {}));
    }

    void aFailingMinorityIsNoMatter_data() { faultsAsRows(); }
    void aFailingMinorityIsNoMatter()
    {
        QFETCH(bool, kill);
        fail(0, 1, kill);
        auto &one = add(client());
        one.acquire(Deadline::after(m_loop, 10s));
        QTRY_VERIFY(one.granted);
        QVERIFY2(one.holds(), one.holds() ? "" : qPrintable(one.granted->error().message));
        QCOMPARE(stored(2, 4), times(3, one.id()));
        QVERIFY(one.saysItIsMine());
        QVERIFY(one.givesBack());
        QCOMPARE(stored(2, 4), times(3, {}));
        recover(0, 1, kill);
        // A node that was stopped has our SET in its buffer, and what takes it away behind it.
        QTRY_COMPARE(stored(), times(allNodes, {}));
    }

    void aFailingMajorityIsAnError_data() { faultsAsRows(); }
    void aFailingMajorityIsAnError()
    {
        QFETCH(bool, kill);
        fail(0, 2, kill);
        auto &one = add(client());
        one.acquire(Deadline::after(m_loop, 300ms));
        QTRY_VERIFY(one.granted);
        QVERIFY(!one.holds());
        QCOMPARE(one.granted->error().code, ErrorCode::NotConnected); // not that it was taken
        QTRY_COMPARE(stored(3, 4), times(2, {}));
        recover(0, 2, kill);
        QTRY_COMPARE(stored(), times(allNodes, {}));
    }

    // Who asked and was told that it is taken waited for its holder, whatever became of the last round.
    void nodesFailingDuringAWaitAreNotItsCause_data() { faultsAsRows(); }
    void nodesFailingDuringAWaitAreNotItsCause()
    {
        QFETCH(bool, kill);
        setOn(0, 4, "other");
        auto &one = add(client());
        one.acquire(Deadline::after(m_loop, 3s));
        QTRY_VERIFY(client().counting[4]->count("SET") >= 5); // each but the last was answered
        fail(0, 2, kill);
        QTRY_VERIFY(one.granted);
        QVERIFY(!one.holds());
        const auto &why = one.granted->error();
        recover(0, 2, kill);
        // A node that was stopped has our SET in its buffer.
        QCOMPARE(why.code, kill ? ErrorCode::TimedOut : ErrorCode::UnknownOutcome);
        // Two, or none of them where the last round began too late.
        QVERIFY2(why.message.contains(QStringLiteral("of 5 nodes answered in time")), qPrintable(why.message));
        QTRY_COMPARE(stored(), times(3, kill ? QByteArray() : "other") + times(2, "other"));
    }

    void aMuteMajorityEndsTheLease()
    {
        auto &one = add(client(), 500ms);
        one.heed();
        QVERIFY(one.takes());
        fail(0, 2, false);
        QTRY_VERIFY(one.loss);
        QCOMPARE(*one.loss, Loss::LeaseOver);
        QCOMPARE(one.lock->holdCount(), 0);
        QCOMPARE(one.redlock.validity(), Duration::zero());
        one.askWhether();
        QTRY_VERIFY(one.mine);
        QCOMPARE(one.mine->error().code, ErrorCode::NotConnected);
        recover(0, 2, false);
    }

    void theLeaseIsProlonged()
    {
        auto &one = add(client(), 1s); // a busy machine may be late by half of it
        one.heed();
        QVERIFY(one.takes());
        QTRY_VERIFY(client().counting[4]->count(redlockProlong) >= 6); // twice the TTL
        QVERIFY(!one.loss);
        QCOMPARE(one.lock->holdCount(), 1);
        QCOMPARE(stored(), times(allNodes, one.id()));
        // A minority may go; nobody puts it back.
        deleteOn(0, 1);
        const int before = client().counting[4]->count(redlockProlong);
        QTRY_VERIFY(client().counting[4]->count(redlockProlong) >= before + 4);
        QVERIFY(!one.loss);
        QCOMPARE(stored(), times(2, {}) + times(3, one.id()));
        setOn(2, 2, "other");
        QTRY_VERIFY(one.loss);
        QCOMPARE(*one.loss, Loss::TakenAway);
        QCOMPARE(one.lock->holdCount(), 0);
        // What is left of it goes with the release.
        QCOMPARE(one.codeOfRelease(), int(ErrorCode::NotHeld));
        QTRY_COMPARE(stored(), (times(2, {}) + QByteArrayList{"other", {}, {}}));
    }

    void stillMineAsksAQuorum()
    {
        auto &one = add(client());
        one.acquire();
        QTRY_COMPARE(stored(), times(allNodes, one.holds() ? one.id() : QByteArray("nobody")));
        client().reset();
        deleteOn(0, 1);
        QVERIFY(one.saysItIsMine());
        QCOMPARE(client().counts("GET", allNodes), QList<int>(allNodes, 1));
        setOn(2, 2, "other");
        QVERIFY(one.saysItIsNotMine());
        QCOMPARE(one.codeOfRelease(), int(ErrorCode::NotHeld));
        QTRY_COMPARE(stored(), (times(2, {}) + QByteArrayList{"other", {}, {}}));
    }

    void refusesWhatItCannotDo()
    {
        recipes::AcquireOptions options;
        const auto codeWith = [&](const QByteArray &recipe, const recipes::RedisNodes &nodes, const RedisKey &name) {
            const auto made = recipes::makeLock(recipe, nodes, name, options, Random(1));
            return made ? -1 : code(made.error().code);
        };
        const auto nodes = client().ports(3);
        const RedisKey name("k");
        QCOMPARE(codeWith("redlock", nodes, name), -1);
        QCOMPARE(codeWith("redlock", client().ports(1), name), -1);
        QCOMPARE(codeWith("redlock", {}, name), code(ErrorCode::BadInput));
        QCOMPARE(codeWith("redlock", nodes, RedisKey()), code(ErrorCode::BadInput));
        QCOMPARE(codeWith("redis-set-nx", nodes, name), code(ErrorCode::BadInput));
        QCOMPARE(codeWith("zk-mutex", nodes, name), code(ErrorCode::BadInput));
        options.readMode = true;
        QCOMPARE(codeWith("redlock", nodes, name), code(ErrorCode::BadInput));
        options = {};
        options.ttl = 0ms;
        QCOMPARE(codeWith("redlock", nodes, name), code(ErrorCode::BadInput));
    }
};

LOCKSCOPE_TEST(TestRecipesRedlock)
#include "tst_recipes_redlock.moc"
