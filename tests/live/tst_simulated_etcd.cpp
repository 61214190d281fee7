// SPDX-License-Identifier: Apache-2.0
// The simulated etcd against a real one: the same requests, drawn by a seed, must have the same answers, and whoever
// watches must hear the same. Revisions count from where each seed begins.
#include "core/base/random.h"
#include "core/sandbox/server.h"
#include "core/simservers/etcd/server.h"
#include "core/async/qtloop.h"
#include "tests/support/patience.h"
#include "tests/support/startedserver.h"
#include "tests/support/testmain.h"

#include <set>

using etcd::LeaseId;
using etcd::Operation;
using etcd::Revision;

namespace {

constexpr int etcdSeeds = 8, etcdSteps = 120;

// What is asked, with revisions as counted from the seed's beginning.
struct EtcdStep {
    enum class Kind { Range, Commit, Grant, KeepAlive, Revoke, TimeToLive };
    Kind kind = Kind::Range;
    etcd::RangeRequest range;
    etcd::Transaction transaction;
    LeaseId lease = 0;
};

class EtcdScript {
public:
    EtcdScript(quint64 seed, QByteArray prefix) : m_random(seed), m_prefix(std::move(prefix)) {}

    EtcdStep next(Revision newest)
    {
        EtcdStep step{.lease = lease()};
        switch (m_random.below(10)) {
        case 0: step.kind = EtcdStep::Kind::Grant; break;
        case 1: step.kind = EtcdStep::Kind::KeepAlive; break;
        case 2: step.kind = EtcdStep::Kind::Revoke; break;
        case 3: step.kind = EtcdStep::Kind::TimeToLive; break;
        case 4: step.range = range(newest); break;
        default: step.kind = EtcdStep::Kind::Commit; step.transaction = transaction(newest);
        }
        return step;
    }

private:
    QByteArray key() { return m_prefix + char('a' + m_random.below(4)); }
    LeaseId lease() { return LeaseId(0x11 + m_random.below(3)); }
    Revision revision(Revision newest) { return Revision(m_random.below(quint64(newest) + 1)); }
    etcd::RangeRequest range(Revision newest)
    {
        etcd::RangeRequest request{.key = m_random.below(3) == 0 ? key() : m_prefix};
        if (request.key == m_prefix)
            request.end = etcd::endOfPrefix(m_prefix);
        request.limit = qint64(m_random.below(3));
        request.order = static_cast<etcd::Order>(m_random.below(3));
        request.keysOnly = m_random.below(2) == 0;
        if (m_random.below(2) == 0)
            request.createdUpTo = revision(newest);
        return request;
    }
    std::vector<Operation> operations(Revision newest)
    {
        std::vector<Operation> all(m_random.below(4));
        std::set<QByteArray> touched; // what puts and deletes one key at once is refused, in words of its own
        for (auto &one : all) {
            one.range.key = key();
            const auto kind = touched.insert(one.range.key).second ? m_random.below(3) : 2;
            one.kind = static_cast<Operation::Kind>(kind);
            if (one.kind == Operation::Kind::Range)
                one.range = range(newest);
            if (one.kind != Operation::Kind::Put)
                continue;
            one.value = QByteArray::number(m_random.below(100));
            one.lease = m_random.below(3) == 0 ? lease() : 0;
        }
        return all;
    }
    etcd::Transaction transaction(Revision newest)
    {
        etcd::Transaction transaction;
        for (quint64 i = m_random.below(3); i > 0; --i) {
            etcd::Condition condition{.key = key(),
                                      .created = m_random.below(2) == 0 ? 0 : revision(newest),
                                      .lease = m_random.below(4) == 0 ? lease() : 0};
            transaction.conditions.push_back(condition);
        }
        transaction.then = operations(newest);
        transaction.otherwise = operations(newest);
        return transaction;
    }

    Random m_random;
    const QByteArray m_prefix;
};

// One of the two servers, seen from where a seed begins.
class EtcdSide {
public:
    Revision base = 0;

    [[nodiscard]] EtcdStep shifted(EtcdStep step) const
    {
        shift(step.range);
        for (auto &condition : step.transaction.conditions)
            condition.created += condition.created == 0 ? 0 : base;
        for (auto *all : {&step.transaction.then, &step.transaction.otherwise}) {
            for (auto &one : *all)
                shift(one.range);
        }
        return step;
    }
    [[nodiscard]] QByteArray words(const etcd::KeyValue &entry) const
    {
        const auto created = entry.created == 0 ? Revision(0) : entry.created - base;
        return entry.key + '=' + entry.value + " c" + QByteArray::number(created) + " m"
               + QByteArray::number(entry.modified - base) + " l" + etcd::leaseText(entry.lease);
    }
    [[nodiscard]] QByteArray words(const etcd::RangeAnswer &answer) const
    {
        QByteArray text = '[' + QByteArray::number(answer.revision - base) + (answer.more ? "+" : "");
        for (const auto &entry : answer.entries)
            text += ' ' + words(entry);
        return text + ']';
    }
    [[nodiscard]] QByteArray words(const etcd::TransactionAnswer &answer) const
    {
        QByteArray text = (answer.held ? "held " : "else ") + QByteArray::number(answer.revision - base);
        for (const auto &range : answer.ranges)
            text += ' ' + words(range);
        return text;
    }
    // The time left is not compared, only whether there is any.
    [[nodiscard]] QByteArray words(const etcd::LeaseAnswer &answer) const
    {
        auto keys = answer.keys;
        std::ranges::sort(keys);
        return (answer.ttl > 0s ? "lease " : "no lease ") + QByteArray::number(answer.granted.count()) + ' '
               + QByteArrayList(keys.begin(), keys.end()).join(',');
    }
    [[nodiscard]] QByteArray words(bool) const { return "done"; }
    template <class T>
    [[nodiscard]] QByteArray words(const Result<T> &answer) const
    {
        return answer ? words(*answer) : "error " + QByteArray::number(int(answer.error().code));
    }
    [[nodiscard]] QByteArray words(const etcd::WatchEvent &event) const
    {
        return event.isRemoved ? "gone " + event.entry.key + " m" + QByteArray::number(event.entry.modified - base)
                               : words(event.entry);
    }

private:
    void shift(etcd::RangeRequest &request) const { request.createdUpTo += request.createdUpTo == 0 ? 0 : base; }
};

} // namespace

class TestSimulatedEtcd : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    std::unique_ptr<sandbox::Server> m_server;
    std::unique_ptr<etcd::Client> m_client;
    VirtualLoop m_world;
    sim::EtcdServer m_sim{m_world};
    EtcdSide m_real, m_simulated;
    std::map<QByteArray, int> m_seen; // answers of all seeds, by their first word

    [[nodiscard]] Deadline soon() const { return Deadline::after(m_loop, 20s); }

    QByteArray askReal(const EtcdStep &plain)
    {
        const auto step = m_real.shifted(plain);
        switch (step.kind) {
        case EtcdStep::Kind::Range: return m_real.words(answerOf(m_client->range(step.range, soon())));
        case EtcdStep::Kind::Commit: return m_real.words(answerOf(m_client->commit(step.transaction, soon())));
        case EtcdStep::Kind::Grant: return m_real.words(answerOf(m_client->grant(step.lease, 60s, soon())));
        case EtcdStep::Kind::KeepAlive: return m_real.words(answerOf(m_client->keepAlive(step.lease, soon())));
        case EtcdStep::Kind::Revoke: return m_real.words(answerOf(m_client->revoke(step.lease, soon())));
        case EtcdStep::Kind::TimeToLive: break;
        }
        return m_real.words(answerOf(m_client->timeToLive(step.lease, true, soon())));
    }
    QByteArray askSimulated(const EtcdStep &plain)
    {
        const auto step = m_simulated.shifted(plain);
        switch (step.kind) {
        case EtcdStep::Kind::Range: return m_simulated.words(m_sim.answer(step.range));
        case EtcdStep::Kind::Commit: return m_simulated.words(m_sim.answer(step.transaction));
        case EtcdStep::Kind::Grant: return m_simulated.words(m_sim.answer(etcd::GrantRequest{step.lease, 60s}));
        case EtcdStep::Kind::KeepAlive: return m_simulated.words(m_sim.answer(etcd::KeepAliveRequest{step.lease}));
        case EtcdStep::Kind::Revoke: return m_simulated.words(m_sim.answer(etcd::RevokeRequest{step.lease}));
        case EtcdStep::Kind::TimeToLive: break;
        }
        return m_simulated.words(m_sim.answer(etcd::TimeToLiveRequest{step.lease, true}));
    }

private slots:
    void initTestCase()
    {
        START_OR_SKIP(m_server, sandbox::makeEtcd());
        m_client = etcd::openClient(m_loop, {.hosts = {m_server->address()}});
        QVERIFY2(eventually([&] { return m_client->state() == etcd::ClientState::Connected; }),
                 qPrintable(m_client->lastError()));
    }
    void cleanupTestCase()
    {
        m_client.reset();
        m_server.reset();
    }

    void theSameRequestsHaveTheSameAnswers_data()
    {
        QTest::addColumn<int>("seed");
        for (int seed = 1; seed <= etcdSeeds; ++seed)
            QTest::addRow("seed %d", seed) << seed;
    }
    void theSameRequestsHaveTheSameAnswers()
    {
        QFETCH(int, seed);
        const QByteArray prefix = "d" + QByteArray::number(seed) + '/';
        etcd::RangeRequest now{.key = prefix};
        const auto real = answerOf(m_client->range(now, soon()));
        QVERIFY(real);
        m_real.base = real->revision;
        m_simulated.base = m_sim.answer(now)->revision;
        EtcdScript script(quint64(seed), prefix);
        QByteArrayList log;
        const auto newest = [this, &now] { return m_sim.answer(now)->revision - m_simulated.base; };
        for (int i = 0; i < etcdSteps; ++i) {
            const auto step = script.next(newest());
            const auto expected = askSimulated(step), answered = askReal(step);
            log << expected;
            ++m_seen[expected.startsWith('[') ? QByteArray("range") : expected.split(' ').front()];
            QVERIFY2(expected == answered, log.join('\n') + "\nbut the real one: " + answered + " (kind "
                                               + QByteArray::number(int(step.kind)) + ')');
        }
        // All of it, as somebody is told who watches from the beginning.
        QByteArrayList heard, expected;
        etcd::WatchRequest request{prefix, etcd::endOfPrefix(prefix), m_simulated.base + 1};
        const auto number = m_sim.newWatch();
        m_sim.watch(number, request, [&](const etcd::WatchNews &news) {
            for (const auto &event : news.events)
                expected << m_simulated.words(event);
        });
        m_sim.unwatch(number);
        request.from = m_real.base + 1;
        const auto watching = m_client->watch(request, [&](const etcd::WatchNews &news) {
            for (const auto &event : news.events)
                heard << m_real.words(event);
        });
        QVERIFY(expected.size() > 10);
        QVERIFY(eventually([&] { return heard.size() >= expected.size(); }));
        QCOMPARE(heard, expected);
        for (LeaseId lease = 0x11; lease < 0x14; ++lease) {
            static_cast<void>(answerOf(m_client->revoke(lease, soon())));
            static_cast<void>(m_sim.answer(etcd::RevokeRequest{lease}));
        }
    }
    // Last: that all of it was compared.
    void everyKindOfAnswerWasSeen()
    {
        for (const auto *word : {"range", "held", "else", "lease", "no", "done", "error"})
            QVERIFY2(m_seen[word] > 5, word);
    }
};

LOCKSCOPE_TEST(TestSimulatedEtcd)
#include "tst_simulated_etcd.moc"
