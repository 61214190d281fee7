// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/mariadb/sqlobserver.h"

#include "core/async/completion.h"
#include "core/inspect/coverage.h"
#include "core/inspect/findings.h"
#include "core/inspect/pace.h"
#include "core/rules/catalogue.h"

namespace lockscope::inspect {

void notifyBeginnings(LockSnapshot &snapshot, const LockSnapshot *before, std::optional<ServerTime> lookedBefore)
{
    if (recipes::recipeOf(snapshot.recipe).shape != recipes::Shape::NamedLock)
        return;
    for (auto &contender : snapshot.contenders) {
        if (contender.role != Role::Holder || contender.heldSince)
            continue;
        const auto *known = before ? before->find(contender.id) : nullptr;
        const bool isSame = known && known->role == Role::Holder && !isDifferentHold(known->hold, contender.hold);
        contender.heldSince = isSame ? known->heldSince : lookedBefore;
        contender.heldAtMost = contender.heldSince.has_value();
    }
}

constexpr std::chrono::milliseconds leastPause = 250ms;
constexpr auto lookTakesAtMost = 10s;
// Then coverage says that the server does not answer.
constexpr auto answersWithin = 2s;
// After a look that failed: there was no work to rest from.
constexpr auto restAfterFailedLook = 500ms;

SqlObserver::SqlObserver(mariadb::Session &session, ConnectionName name, ObserverOptions options, ObserverSink &sink)
    : m_session(session), m_loop(session.loop()), m_name(std::move(name)), m_options(std::move(options)),
      m_sink(sink), m_firstSnapshot(m_loop), m_reporter(m_name, sink), m_work(m_loop)
{
}

void SqlObserver::start()
{
    if (m_work.isIdle())
        m_work.launch(poll());
}

Task<void> SqlObserver::poll()
{
    for (;;) {
        const auto begun = m_loop.now();
        const auto limit = Deadline::after(m_loop, lookTakesAtMost);
        auto silence = m_loop.callAt(begun + answersWithin, [this] {
            m_notAnswering = u"the server has not answered for some seconds: the data shown is older"_s;
            notifyCoverage();
        });
        const bool isDone = co_await lookAndTell(limit);
        silence = Timer();
        if (isDone && !m_firstSnapshot.isComplete()) {
            m_firstSnapshot.complete(true);
            notifyCoverage();
        }
        notifyProgress();
        if (isDone && !m_options.follow)
            co_return;
        // A stall, the server's or ours, makes one look slow, and is no work that the server was put to.
        const auto took = m_loop.now() - begun;
        const auto work =
            isDone ? std::min(took, std::exchange(m_tookBefore, took)) * restPerWork : Duration(restAfterFailedLook);
        const auto rest = restAfterLook(std::max<Duration>({work, m_options.pollEvery, leastPause}));
        notifyCost(rest);
        co_await sleepFor(m_loop, rest);
    }
}

Task<bool> SqlObserver::lookAndTell(Deadline deadline)
{
    auto seen = co_await look(deadline);
    if (seen) {
        settle(std::move(*seen));
        m_sink.confirm(m_name);
    }
    m_notAnswering = seen ? QString() : u"the last poll failed; older data is shown: %1"_s.arg(seen.error().message);
    notifyCoverage();
    co_return seen.operator bool();
}

std::vector<LockSnapshot> SqlObserver::judged(std::vector<LockSnapshot> snapshots) const
{
    for (auto &snapshot : snapshots) {
        notifyBeginnings(snapshot, m_known.find(snapshot.lock.name), m_showedAllNamed);
        addAgeFindings(snapshot, *m_options.thresholds, m_usual);
    }
    return snapshots;
}

void SqlObserver::settle(Seen seen)
{
    for (const auto &snapshot : seen.snapshots)
        m_usual.note(snapshot);
    auto changes = m_known.replace({}, std::move(seen.snapshots));
    for (const auto &change : changes) {
        const auto observed = change.lock.observed;
        if (change.kind == ChangeKind::Removed)
            m_usual.noteGone(change.lock.lock.name, std::max(seen.now.value_or(observed), observed));
    }
    m_sink.takeAll(std::move(changes));
    m_reporter.tell(std::move(seen.sessions));
    m_showedAllNamed = seen.showedAllNamed;
}

std::vector<Coverage> SqlObserver::coverage() const
{
    std::vector<Coverage> all;
    const auto looked = looks();
    const bool isConnected = m_session.state() == mariadb::SessionState::Connected;
    if (!isConnected) {
        const auto why = m_session.lastError();
        all.push_back({m_name, false, why.isEmpty() ? u"not connected yet"_s : u"not connected: %1"_s.arg(why)});
    } else if (!looked.any) {
        all.push_back({m_name, false, u"the first poll is still running"_s});
    }
    if (isConnected && !m_notAnswering.isEmpty())
        all.push_back({m_name, false, m_notAnswering});
    for (const auto &gap : looked.gaps)
        all.push_back({m_name, false, gap});
    if (all.empty())
        all.push_back({m_name, true, coverageDescription()});
    addUnexplained(all, m_unexplained);
    addUnexplained(all, looked.unexplained);
    addEndedDeadlocks(all, looked.endedDeadlocks);
    return all;
}

void SqlObserver::notifyProgress()
{
    const auto every = std::max(m_options.pollEvery, leastPause);
    const auto how = m_options.follow ? u"polling every %1 ms"_s.arg(every.count()) : u"one look"_s;
    m_reporter.tell(
        Progress{.connection = m_name, .how = how, .firstSnapshotComplete = m_firstSnapshot.isComplete()});
}

void SqlObserver::notifyCost(Duration rest)
{
    const auto requests = looks().requests;
    Cost cost;
    cost.requestsPerSecond = static_cast<double>(requests - std::exchange(m_costRequests, requests))
                             / std::chrono::duration<double>(rest).count();
    m_reporter.tell(cost);
}

} // namespace lockscope::inspect
