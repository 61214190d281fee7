// SPDX-License-Identifier: Apache-2.0
#include "core/contention/round.h"

#include "core/contention/mutants/mutants.h"
#include "core/rules/turn.h"
#include "core/base/text.h"

namespace lockscope::contention {

namespace {

QByteArray reason(recipes::Loss loss)
{
    switch (loss) {
    case recipes::Loss::SessionOver: return QByteArrayLiteral("its session is over");
    case recipes::Loss::CutOff: return QByteArrayLiteral("cut off for so long that its session may be over");
    case recipes::Loss::TakenAway: return QByteArrayLiteral("it was removed or replaced");
    case recipes::Loss::LeaseOver: break;
    }
    return QByteArrayLiteral("its lease is over");
}

// Completes with true when the span is over, with false when the lock is lost before.
Completion<bool> spanOrLoss(Loop &loop, Duration span, const Completion<bool> &lost)
{
    Completion<bool> over(loop);
    lost.then([over](bool) { over.complete(false); });
    over.completeAt(Deadline::at(loop.now() + span), true);
    return over;
}

} // namespace

void Resource::write(int contender, qint64 grant, std::optional<qint64> token, bool isShared)
{
    const bool isOld = m_checksTokens && token && *token < m_highestToken;
    if (token)
        m_highestToken = std::max(m_highestToken, *token);
    m_trace.add({{},
                 contender,
                 Mark::Writes,
                 false,
                 token.value_or(0),
                 isOld ? QByteArrayLiteral("refused") : QByteArrayLiteral("accepted"),
                 {}});
    if (isOld || isShared)
        return;
    auto &newestGrant = m_newestGrant[std::size_t(contender) % m_newestGrant.size()];
    if (grant < newestGrant)
        m_trace.breaks("effect", contender, u"a write of a former holder was accepted after one of its successor"_s);
    newestGrant = std::max(newestGrant, grant);
}

void Resource::writeAfter(int contender, qint64 version)
{
    m_trace.add({{}, contender, Mark::Writes, false, version, "accepted", {}});
    if (!m_succeeded.insert(version).second)
        m_trace.breaks("effect", contender,
                       u"a second write was accepted as the successor of version %1"_s.arg(version));
}

ContenderActor::ContenderActor(Loop &loop, std::unique_ptr<recipes::Lock> lock, ContenderPlan plan, Trace &trace,
                               Resource &resource, WhenDone whenDone)
    : m_loop(loop), m_plan(std::move(plan)), m_trace(trace), m_resource(resource), m_whenDone(std::move(whenDone)),
      m_lock(std::move(lock))
{
}

ContenderActor::~ContenderActor() = default;

Task<void> ContenderActor::play()
{
    m_trace.add({{}, m_plan.number, Mark::Joins, false, 0, m_plan.reads ? "read" : "write", {}});
    const auto limit = [this] { return m_plan.wait ? Deadline::after(m_loop, *m_plan.wait) : Deadline::never(); };
    auto deadline = limit();
    int triesLeft = m_plan.tries - 1;
    for (;;) {
        // Of 100,000 who wait each has this frame: what it waits for stays where it comes.
        auto acquiring = m_lock->acquire(deadline);
        co_await acquiring.finish();
        const auto &granted = acquiring.value();
        if (granted) {
            const auto &grant = *granted;
            const bool isDone = co_await work(grant);
            if (isDone)
                break;
        } else {
            m_trace.add({{}, m_plan.number, Mark::GivesUp, false, 0, granted.error().message.toUtf8(), {}});
            if (!granted.error().retryable)
                break;
            if (granted.error().code == ErrorCode::TimedOut && triesLeft > 0) {
                // An acquire of its own: it queues anew.
                --triesLeft;
                deadline = limit();
                m_trace.add({{}, m_plan.number, Mark::Joins, false, 0, "again", {}});
                continue;
            }
        }
        if (deadline.hasPassed(m_loop))
            break;
        // As a program would: a moment later, once more.
        co_await sleepFor(m_loop, 20ms);
        if (deadline.hasPassed(m_loop))
            break;
        m_trace.add({{}, m_plan.number, Mark::Joins, false, 0, "again", {}});
    }
    if (!m_isStopped)
        m_whenDone();
}

void ContenderActor::write(const recipes::Grant &grant)
{
    if (!m_holds || m_plan.isOptimistic || m_plan.reads)
        return;
    m_resource.write(m_plan.number, m_grant, grant.fencingToken, m_plan.isShared);
}

// What was written is in the row the version is of: accepted with it, or not at all.
bool ContenderActor::isWritten(const recipes::Grant &grant, const Result<void> &released)
{
    if (released) {
        m_resource.writeAfter(m_plan.number, grant.fencingToken.value_or(0));
        return true;
    }
    const auto &why = released.error();
    const auto message = why.message.toUtf8();
    m_trace.add({{},
                 m_plan.number,
                 Mark::GivesUp,
                 false,
                 0,
                 why.code == ErrorCode::BadVersion ? "conflict: " + message : message,
                 {}});
    // Who does not know whether it was written must not write it twice.
    const bool isInVain = why.code == ErrorCode::BadVersion || why.code == ErrorCode::NotConnected
                          || why.code == ErrorCode::TimedOut || why.code == ErrorCode::Cancelled;
    return !isInVain;
}

Task<bool> ContenderActor::work(const recipes::Grant &grant)
{
    m_holds = true;
    // What stands for the hold on the server: a node's name has its place in the queue in it.
    const auto name = grant.node.isEmpty() ? grant.id : grant.node.name().bytes();
    m_trace.add({{}, m_plan.number, Mark::Holds, false, grant.fencingToken.value_or(0), name, {}});
    m_grant = m_trace.grants();
    Completion<bool> lost(m_loop); // false: lost; listened to more than once
    const auto losing = m_lock->lost();
    losing.then([this, lost](const recipes::Loss &loss) {
        if (!std::exchange(m_holds, false))
            return;
        m_trace.add({{}, m_plan.number, Mark::Loses, false, 0, reason(loss), {}});
        lost.complete(false);
    });
    write(grant);
    if (m_mayRelease) {
        const auto gate = *m_mayRelease;
        co_await gate;
    }
    const auto half = std::chrono::duration_cast<Duration>(m_plan.hold) / 2;
    for (int i = 0; i < 2 && m_holds; ++i) {
        co_await spanOrLoss(m_loop, half, lost);
        if (m_isStopped) {
            const Completion<bool> never(m_loop);
            co_await never;
        }
        write(grant);
    }
    if (!std::exchange(m_holds, false))
        co_return true;
    m_trace.add({{}, m_plan.number, Mark::Releases, false, 0, {}, {}});
    const auto patience = Deadline::after(m_loop, 10s);
    const auto released = co_await m_lock->release(patience);
    if (m_plan.isOptimistic)
        co_return isWritten(grant, released);
    if (!released && released.error().code == ErrorCode::NotHeld)
        m_trace.add({{}, m_plan.number, Mark::Loses, false, 0, "it was no longer ours when we released it", {}});
    co_return true;
}

namespace {

// The same lock once more.
class Again final : public recipes::Lock {
public:
    explicit Again(std::shared_ptr<recipes::Lock> lock) : m_lock(std::move(lock)) {}
    Task<Result<recipes::Grant>> acquire(Deadline deadline) override { return m_lock->acquire(deadline); }
    Task<Result<void>> release(Deadline deadline) override { return m_lock->release(deadline); }
    [[nodiscard]] int holdCount() const override { return m_lock->holdCount(); }
    Task<Result<bool>> isStillMine(Deadline deadline) override { return m_lock->isStillMine(deadline); }
    [[nodiscard]] Completion<recipes::Loss> lost() const override { return m_lock->lost(); }

private:
    std::shared_ptr<recipes::Lock> m_lock;
};

} // namespace

Result<std::unique_ptr<recipes::MultiLock>> nestedLock(
    Loop &loop, int times, bool isReentrant, const std::function<Result<std::unique_ptr<recipes::Lock>>()> &make)
{
    std::vector<std::unique_ptr<recipes::Lock>> all;
    std::shared_ptr<recipes::Lock> same;
    for (int i = 0; i < times; ++i) {
        if (!isReentrant || !same) {
            TRY(auto &made, make());
            same = std::move(made);
        }
        all.push_back(std::make_unique<Again>(same));
    }
    return std::make_unique<recipes::MultiLock>(loop, std::move(all));
}

bool isReader(const Scenario &scenario, int contender)
{
    // Spread evenly, and the same for every seed; the first writes.
    return contender > 0
           && contender * scenario.readersPercent / 100 != (contender - 1) * scenario.readersPercent / 100;
}

Round::Round(Loop &loop, const Scenario &scenario, Trace &trace, Resource &resource, Pace pace)
    : m_loop(loop), m_scenario(scenario), m_trace(trace), m_resource(resource), m_pace(pace), m_allDone(loop),
      m_notDone(scenario.contenders), m_isDone(std::size_t(scenario.contenders)),
      m_contenders(std::size_t(scenario.contenders))
{
    m_trace.beginRound();
}

void Round::add(int number, Loop &loop, std::unique_ptr<recipes::Lock> lock)
{
    ContenderPlan plan;
    plan.number = number;
    plan.reads = isReader(m_scenario, number);
    plan.isShared = plan.reads || m_scenario.limit > 1;
    plan.isOptimistic = isOptimistic(m_scenario.recipe);
    plan.hold = m_scenario.hold;
    plan.wait = m_scenario.wait;
    plan.tries = m_scenario.tries;
    m_contenders[std::size_t(number)] = std::make_unique<ContenderActor>(
        loop, std::move(lock), plan, m_trace, m_resource, [this, number] { done(number); });
}

void Round::remove(int number)
{
    m_contenders[std::size_t(number)].reset();
    done(number);
}

void Round::done(int number)
{
    if (m_isDone[std::size_t(number)])
        return;
    m_isDone[std::size_t(number)] = true;
    if (--m_notDone == 0)
        m_allDone.complete(true);
}

bool Round::holds(int number) const
{
    const auto &contender = m_contenders[std::size_t(number)];
    return contender && contender->holds();
}

void Round::stopWorking(int number)
{
    if (auto &contender = m_contenders[std::size_t(number)])
        contender->stopWorking();
    done(number); // it asks for nothing any more
}

Task<void> Round::join(Random random)
{
    if (m_scenario.arrival == Arrival::Queued)
        co_await joinQueued();
    else
        co_await joinSpread(random);
}

Task<void> Round::joinQueued()
{
    const Completion<bool> mayRelease(m_loop);
    if (auto &first = m_contenders.front()) {
        first->holdUntil(mayRelease);
        first->join();
    }
    for (int waited = 0; waited < 5000 && !isDone(0) && !holds(0); ++waited) {
        co_await sleepFor(m_loop, 1ms);
    }
    for (std::size_t i = 1; i < m_contenders.size(); ++i) {
        if (auto &contender = m_contenders[i])
            contender->join();
        co_await sleepFor(m_loop, m_pace.apart);
    }
    co_await untilQuiet();
    mayRelease.complete(true);
}

Task<void> Round::joinSpread(Random random)
{
    std::vector<std::pair<Duration, std::size_t>> arrivals;
    const auto within = std::chrono::duration_cast<Duration>(m_scenario.arriveWithin).count();
    for (std::size_t i = 0; i < m_contenders.size(); ++i)
        arrivals.emplace_back(Duration(static_cast<Duration::rep>(random.below(static_cast<quint64>(within) + 1))),
                              i);
    std::sort(arrivals.begin(), arrivals.end());
    const auto began = m_loop.now();
    for (const auto &[after, number] : arrivals) {
        co_await sleepUntil(m_loop, began + after);
        if (auto &contender = m_contenders[number])
            contender->join();
    }
}

// Nothing is asked or answered any more; or they poll, which goes on for ever.
Task<void> Round::untilQuiet()
{
    const auto began = m_trace.now();
    for (;;) {
        co_await sleepFor(m_loop, 2ms);
        const bool isQuiet = m_trace.now() - m_trace.lastTraffic() >= m_pace.quiet;
        if (isQuiet || m_trace.now() - began > 500 * std::max<Duration>(m_pace.apart, 1ms))
            co_return;
    }
}

Checkers::Checkers(const Scenario &scenario, Trace &trace)
    : m_scenario(scenario), m_trace(trace), m_isOptimistic(isOptimistic(scenario.recipe)),
      m_readers(std::size_t(scenario.contenders))
{
    const auto *recipe = playable(scenario.recipe);
    // Permits and readers may overtake each other on their way back from the server.
    // Of two locks each has numbers of its own.
    m_isFair = recipe && recipe->fair && !recipe->counted && scenario.readersPercent == 0 && scenario.locks == 1
               && scenario.rows == 1;
}

void Checkers::see(const Event &event)
{
    switch (event.mark) {
    case Mark::Joins:
        if (event.what != "again")
            m_readers[std::size_t(event.contender)] = event.what == "read";
        break;
    case Mark::Holds: begins(event); break;
    case Mark::Releases:
    case Mark::Loses:
    case Mark::Dies: ends(event); break;
    default: break;
    }
}

bool Checkers::isTooMany() const
{
    if (m_scenario.rows > 1) { // each is a lock
        std::set<int> rows;
        return std::any_of(m_believers.begin(), m_believers.end(), [&](const auto &believer) {
            return !rows.insert(believer.first % m_scenario.rows).second;
        });
    }
    if (int(m_believers.size()) <= m_scenario.limit)
        return false;
    return std::any_of(m_believers.begin(), m_believers.end(),
                       [this](const auto &believer) { return !m_readers[std::size_t(believer.first)]; });
}

void Checkers::begins(const Event &event)
{
    if (m_isOptimistic)
        return;
    m_believers[event.contender] = event.at;
    if (isTooMany() && !m_overlapSince) {
        m_overlapSince = event.at;
        QStringList names;
        for (const auto &[contender, since] : m_believers)
            names << u"%1 (for %2 ms)"_s.arg(QString::fromLatin1(contenderName(contender, m_scenario.contenders)))
                         .arg((event.at - since).count() / 1000);
        m_trace.breaks("exclusion", event.contender, u"all believe they hold it: %1"_s.arg(names.join(u", "_s)));
    }
    if (event.token != 0) {
        if (event.token <= m_highestToken && !m_readers[std::size_t(event.contender)] && m_scenario.limit == 1)
            m_trace.breaks("tokens", event.contender,
                           u"its fencing token %1 is not above %2"_s.arg(event.token).arg(m_highestToken));
        m_highestToken = std::max(m_highestToken, event.token);
    }
    // Of a queue of znodes the grant is the node's name.
    const auto place = recipes::readSequence(NodeName(event.what));
    if (!m_isFair || !place)
        return;
    if (m_lastSequence && place->sequence < *m_lastSequence)
        m_trace.breaks("order", event.contender,
                       u"number %1 was granted after number %2"_s.arg(place->sequence).arg(*m_lastSequence));
    m_lastSequence = place->sequence;
}

void Checkers::ends(const Event &event)
{
    if (m_believers.erase(event.contender) == 0 || !m_overlapSince || isTooMany())
        return;
    m_longestOverlap = std::max(m_longestOverlap, event.at - *m_overlapSince);
    m_overlapSince.reset();
}

} // namespace lockscope::contention
