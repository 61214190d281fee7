// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/setobserver.h"

namespace lockscope::inspect {

// One acquire changes the key on every node: a moment later all of them have told.
constexpr auto mergeAfter = 50ms;
constexpr auto readNodeWithin = 2s;
// When a majority has been looked through, this long for the others.
constexpr auto patienceWithOthers = 5s;
constexpr auto wavering = 50ms;
constexpr auto heardEvery = 2s; // each node is, while it answers

// One node: its observer, and how that goes on.
class RedisSetObserver::Part : public ObserverSink {
public:
    Part(RedisSetObserver &set, Node node, const ObserverOptions &options)
        : m_set(set), m_node(std::move(node)),
          m_observer(*m_node.connection, set.m_name, options, *this, m_node.database)
    {
    }

    void start()
    {
        m_isConnected = isConnected();
        m_states = m_node.connection->onState([this](redis::ConnectionState) { m_set.connectionChanged(*this); });
        m_observer.firstSnapshot().then([this](bool) {
            m_set.dirtyAll();
            m_set.judgeFirstSnapshot();
        });
        m_observer.start();
    }

    void take(Change::What change) override
    {
        std::visit(Overloaded{[this](const SnapshotChange &news) { m_set.dirty(news.lock.lock.name); },
                              [this](const SessionsSeen &) { m_set.m_reporter.tell(m_set.sessions()); },
                              [this](const CoverageSeen &) { m_set.notifyCoverage(); },
                              [this](const Progress &progress) {
                                  m_progress = progress;
                                  m_set.notifyProgress();
                              },
                              [this](const Cost &cost) {
                                  m_cost = cost;
                                  m_set.notifyCost();
                              },
                              [this](const Confirmation &) {
                                  m_lookedAt = m_set.m_loop.now();
                                  m_set.notifyLooked();
                              },
                              [](const auto &) {}}, // which no observer tells
                   change);
    }

    [[nodiscard]] Instant lookedAt() const { return m_lookedAt; }
    [[nodiscard]] const QString &name() const { return m_node.name; }
    [[nodiscard]] bool isConnected() const { return m_node.connection->state() == redis::ConnectionState::Connected; }
    [[nodiscard]] bool isDone() const { return m_observer.firstSnapshot().isComplete(); }
    // True if that is news.
    [[nodiscard]] bool noteConnected() { return std::exchange(m_isConnected, isConnected()) != isConnected(); }
    [[nodiscard]] RedisObserver &observer() { return m_observer; }
    [[nodiscard]] const RedisObserver &observer() const { return m_observer; }
    [[nodiscard]] const Progress &progress() const { return m_progress; }
    [[nodiscard]] const Cost &cost() const { return m_cost; }
    [[nodiscard]] NodeSight sightOf(const QByteArray &lock) const
    {
        const auto *known = m_observer.known().find(lock);
        return {name(), isConnected() && isDone(), known ? std::optional(*known) : std::nullopt};
    }
    // Why it did not answer when it was asked last; empty when it did.
    QString silence;

private:
    RedisSetObserver &m_set;
    Node m_node;
    bool m_isConnected = false;
    Progress m_progress;
    Cost m_cost;
    Instant m_lookedAt{};
    RedisObserver m_observer;
    Subscription m_states;
};

RedisSetObserver::RedisSetObserver(std::vector<Node> nodes, ConnectionName name, ObserverOptions options,
                                   ObserverSink &sink)
    : KeepingObserver(nodes.front().connection->loop(), std::move(name), options, sink, wavering)
{
    for (auto &node : nodes)
        m_parts.push_back(std::make_unique<Part>(*this, std::move(node), options));
}

RedisSetObserver::~RedisSetObserver() = default;

void RedisSetObserver::start()
{
    if (std::exchange(m_started, true))
        return;
    for (const auto &part : m_parts)
        part->start();
    judgeFirstSnapshot();
    notifyCoverage();
}

// --- reading one lock --------------------------------------------------------------------------

struct RedisSetObserver::Reading {
    std::vector<NodeSight> sights;
    QStringList reasons; // of those that did not answer
    int out = 0;
    Completion<bool> done;
};

Task<void> RedisSetObserver::readPart(Part *part, QByteArray name, Deadline deadline,
                                      std::shared_ptr<Reading> reading, std::size_t index)
{
    auto read = co_await part->observer().readNow(name, deadline);
    auto &sight = reading->sights[index];
    sight.answered = read || read.error().code == ErrorCode::NoNode;
    if (read)
        sight.snapshot = std::move(*read);
    part->silence = sight.answered ? QString() : read.error().message;
    if (!sight.answered)
        reading->reasons << u"%1: %2"_s.arg(part->name(), read.error().message);
    if (--reading->out == 0)
        reading->done.complete(true);
}

Task<Result<LockSnapshot>> RedisSetObserver::readNow(QByteArray name, Deadline deadline)
{
    const auto limit = Deadline::at(std::min<Instant>(deadline.when(), m_loop.now() + readNodeWithin));
    const auto reading = std::make_shared<Reading>(Reading{{}, {}, 1, Completion<bool>(m_loop)});
    for (const auto &part : m_parts)
        reading->sights.push_back({part->name(), false, std::nullopt});
    Scope scope(m_loop);
    for (std::size_t index = 0; index < m_parts.size(); ++index) {
        if (!m_parts[index]->isConnected()) {
            reading->reasons << u"%1: not connected"_s.arg(m_parts[index]->name());
            continue;
        }
        ++reading->out;
        scope.launch(readPart(m_parts[index].get(), name, limit, reading, index));
    }
    if (--reading->out == 0)
        reading->done.complete(true);
    co_await reading->done;
    notifyCoverage();
    const auto silent = static_cast<std::size_t>(reading->reasons.size());
    if (silent == m_parts.size())
        co_return Error{ErrorCode::NotConnected,
                        u"none of the %1 nodes answered: %2"_s.arg(silent).arg(reading->reasons.join(u"; "_s)), true};
    auto merged = mergeNodes(reading->sights);
    if (merged)
        co_return std::move(*merged);
    const auto missing = silent == 0 ? QString() : u"%1 did not answer"_s.arg(silent);
    co_return Error{ErrorCode::NoNode, u"no lock is at the key %1 on any of %2 nodes"_s.arg(
                                           label(name, 80), QString::number(m_parts.size() - silent))
                                           + clause(missing)};
}

// --- what the parts tell -----------------------------------------------------------------------

void RedisSetObserver::connectionChanged(Part &part)
{
    if (part.noteConnected()) {
        dirtyAll();
        judgeFirstSnapshot();
    }
    notifyCoverage();
}

void RedisSetObserver::dirty(const QByteArray &name)
{
    const bool isFirst = m_dirty.empty();
    m_dirty.insert(name);
    // Before the first snapshot is complete nothing is told: it would be a lock on the first of five nodes.
    if (isFirst && m_firstSnapshot.isComplete())
        m_mergeTimer = m_loop.callAt(m_loop.now() + mergeAfter, [this] { mergeDirty(); });
}

void RedisSetObserver::dirtyAll()
{
    for (const auto &[name, entry] : m_snapshots.entries())
        dirty(name);
    for (const auto &part : m_parts) {
        for (const auto &[name, entry] : part->observer().known().entries())
            dirty(name);
    }
}

void RedisSetObserver::mergeDirty()
{
    std::vector<SnapshotChange> changes;
    for (const auto &name : std::exchange(m_dirty, {})) {
        auto sights = mapped<std::vector<NodeSight>>(m_parts, [&](const auto &part) { return part->sightOf(name); });
        std::vector<LockSnapshot> seen;
        if (auto merged = mergeNodes(sights))
            seen.push_back(std::move(*merged));
        std::ranges::move(m_snapshots.replace(name, std::move(seen)), std::back_inserter(changes));
    }
    m_sink.takeAll(std::move(changes));
}

// Nodes that are not connected are not waited for, and no node for ever.
void RedisSetObserver::judgeFirstSnapshot()
{
    if (!m_started || m_firstSnapshot.isComplete())
        return;
    int done = 0;
    int busy = 0;
    for (const auto &part : m_parts) {
        done += part->isDone() ? 1 : 0;
        busy += part->isConnected() && !part->isDone() ? 1 : 0;
    }
    if (busy == 0 && done > 0)
        completeFirstSnapshot();
    else if (done >= recipes::quorumOf(static_cast<int>(m_parts.size())))
        m_patience = m_loop.callAt(m_loop.now() + patienceWithOthers, [this] { completeFirstSnapshot(); });
}

void RedisSetObserver::completeFirstSnapshot()
{
    m_patience.cancel();
    mergeDirty();
    m_firstSnapshot.complete(true);
    notifyProgress();
    notifyCoverage();
}

// --- and what we tell --------------------------------------------------------------------------

std::vector<SessionSnapshot> RedisSetObserver::sessions() const
{
    std::vector<SessionSnapshot> out;
    for (const auto &part : m_parts) {
        for (auto session : part->observer().sessions()) {
            session.session += u'@' + part->name(); // every node numbers its own clients
            out.push_back(std::move(session));
        }
    }
    return out;
}

std::vector<Coverage> RedisSetObserver::coverage() const
{
    std::vector<Coverage> out;
    std::vector<Unexplained> unexplained;
    HiddenLocks hidden; // every node has the same keys: those of the node that has most
    for (const auto &part : m_parts) {
        if (part->isConnected() && !part->silence.isEmpty())
            out.push_back({m_name, false, u"node %1 did not answer: %2"_s.arg(part->name(), part->silence)});
        for (const auto &one : part->observer().coverage()) {
            if (!one.complete)
                out.push_back({m_name, false, u"node %1: %2"_s.arg(part->name(), one.message)});
            for (const auto &entry : one.unexplained)
                unexplained.push_back({entry.count, u"node %1: %2"_s.arg(part->name(), entry.text), entry.example});
            if (one.hidden.count > hidden.count)
                hidden = one.hidden;
        }
    }
    if (out.empty())
        out.push_back({m_name, true, u"all key names were read on all %1 nodes"_s.arg(m_parts.size())});
    addUnexplained(out, std::move(unexplained));
    addHidden(out, hidden);
    return out;
}

void RedisSetObserver::notifyProgress()
{
    Progress all;
    for (const auto &part : m_parts) {
        const auto &one = part->progress();
        all.done += one.done;
        all.total += one.total;
        all.running = all.running || one.running;
        if (all.how.isEmpty() && !one.how.isEmpty())
            all.how = u"%1 nodes, %2"_s.arg(m_parts.size()).arg(one.how);
    }
    all.firstSnapshotComplete = m_firstSnapshot.isComplete();
    m_reporter.tell(std::move(all));
}

// What is merged is as true as the oldest part of it. Nodes that are not connected are said to be missing.
void RedisSetObserver::notifyLooked()
{
    const auto isOld = [this](const auto &part) {
        return part->isConnected() && m_loop.now() - part->lookedAt() > heardEvery;
    };
    const bool anyConnected = std::ranges::any_of(m_parts, [](const auto &part) { return part->isConnected(); });
    if (anyConnected && std::ranges::none_of(m_parts, isOld))
        m_sink.confirm(m_name);
}

void RedisSetObserver::notifyCost()
{
    Cost all;
    all.servedPerSecond = 0;
    for (const auto &part : m_parts) {
        all.watches += part->cost().watches;
        all.watchedBytes += part->cost().watchedBytes;
        all.watchBudgetBytes += part->cost().watchBudgetBytes;
        all.requestsPerSecond += part->cost().requestsPerSecond;
        if (const auto &served = part->cost().servedPerSecond; served && all.servedPerSecond)
            *all.servedPerSecond += *served;
        else
            all.servedPerSecond.reset();
    }
    m_reporter.tell(all);
}

void RedisSetObserver::reconsider()
{
    for (const auto &part : m_parts)
        part->observer().reconsider();
}

} // namespace lockscope::inspect
