// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/postgresql/observer.h"

#include "core/async/sleep.h"
#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/inspect/pace.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto pgLeastPause = 250ms, pgRestAfterFailure = 500ms;
constexpr auto pgLookTakesAtMost = 10s;
// Then coverage says that the server does not answer.
constexpr auto pgAnswersWithin = 2s;

// What can be said of a name that no snapshot has.
QString whyNoPgLock(const QByteArray &name, const PgLook &look, const std::vector<LockSnapshot> &snapshots)
{
    if (name.startsWith("ADVISORY"))
        return u"nobody holds or wants an advisory lock of this key in this database"_s;
    if (isLockRowName(name))
        return u"its row does not say that it is locked, or there is none"_s;
    const auto hash = name.indexOf('#');
    if (hash < 0 || look.keysUnread.isEmpty())
        return u"nobody waits for it, and of rows and tables only those that somebody waits for are shown"_s;
    QStringList places;
    for (const auto &one : snapshots) {
        if (one.lock.name.startsWith(name.left(hash) + "#ctid:") && places.size() < 3)
            places << label(one.lock.name, 80);
    }
    const auto maybe = places.isEmpty() ? QString() : u"; it may be "_s + places.join(u" or "_s);
    return u"rows that somebody waits for are named by their place for now, for their keys could not be read: "_s
           + look.keysUnread + maybe;
}

} // namespace

PostgreSqlObserver::PostgreSqlObserver(mariadb::Session &session, ConnectionName name, ObserverOptions options,
                                       ObserverSink &sink)
    : m_session(session), m_loop(session.loop()), m_name(std::move(name)), m_options(options), m_sink(sink),
      m_reader(session), m_firstSnapshot(m_loop), m_reporter(m_name, sink), m_work(m_loop)
{
}

void PostgreSqlObserver::start()
{
    if (m_work.isIdle())
        m_work.launch(poll());
}

Task<void> PostgreSqlObserver::poll()
{
    for (;;) {
        const auto begun = m_loop.now();
        const auto limit = Deadline::after(m_loop, pgLookTakesAtMost);
        auto silence = m_loop.callAt(begun + pgAnswersWithin, [this] {
            m_notAnswering = u"the server has not answered for some seconds: what is shown is of before"_s;
            m_reporter.tell(coverage());
        });
        const bool isDone = co_await lookAndTell(limit);
        silence = Timer();
        if (isDone && !m_firstSnapshot.isComplete()) {
            m_firstSnapshot.complete(true);
            m_reporter.tell(coverage());
        }
        tellProgress();
        if (isDone && !m_options.follow)
            co_return;
        // A stall, the server's or ours, makes one look slow, and is no work that the server was put to.
        const auto took = m_loop.now() - begun;
        const auto work = std::min(took, std::exchange(m_tookBefore, took));
        const auto wanted = isDone ? work * restPerWork : Duration(pgRestAfterFailure);
        const auto rest = std::max<Duration>({wanted, m_options.pollEvery, pgLeastPause});
        tellCost(rest);
        auto pause = sleepFor(m_loop, rest);
        co_await pause;
    }
}

Task<bool> PostgreSqlObserver::lookAndTell(Deadline deadline)
{
    auto looking = m_reader.look(deadline);
    const auto look = co_await looking;
    if (look) {
        settle(*look);
        m_sink.looked(m_name);
    }
    m_notAnswering =
        look ? QString() : u"the last look failed, what is shown is of before: "_s + look.error().message;
    m_reporter.tell(coverage());
    co_return look.operator bool();
}

Task<Result<LockSnapshot>> PostgreSqlObserver::readNow(QByteArray name, Deadline deadline)
{
    if (isLockRowName(name))
        m_reader.readLockRowsAnew();
    auto looking = m_reader.look(deadline);
    const auto look = co_await looking;
    if (!look)
        co_return look.error();
    auto snapshots = judged(snapshotsOf(*look, m_name));
    const auto at = std::ranges::find(snapshots, name, [](const LockSnapshot &one) { return one.lock.name; });
    if (at != snapshots.end())
        co_return std::move(*at);
    for (const auto &gap : m_reader.gaps()) {
        // Not "it is free" where it was not seen.
        if (isLockRowName(name) && gap.contains("cannot be read"_L1))
            co_return Error{ErrorCode::Refused, gap, true};
    }
    const auto hint = whyNoPgLock(name, *look, snapshots);
    co_return Error{ErrorCode::NoNode, u"no lock is seen at %1: %2"_s.arg(label(name, 80), hint)};
}

std::vector<LockSnapshot> PostgreSqlObserver::judged(std::vector<LockSnapshot> snapshots) const
{
    for (auto &snapshot : snapshots)
        addAgeFindings(snapshot, *m_options.thresholds, m_usual);
    return snapshots;
}

void PostgreSqlObserver::settle(const PgLook &look)
{
    auto snapshots = judged(snapshotsOf(look, m_name));
    auto sessions = sessionsOf(look, snapshots, m_name);
    for (const auto &snapshot : snapshots)
        m_usual.note(snapshot);
    auto changes = m_known.replace({}, std::move(snapshots));
    for (const auto &change : changes) {
        if (change.kind == ChangeKind::Removed)
            m_usual.noteGone(change.lock.lock.name, std::max(look.now, change.lock.observed));
    }
    if (!changes.empty())
        m_sink.locksChanged(std::move(changes));
    m_reporter.tell(std::move(sessions));
}

std::vector<Coverage> PostgreSqlObserver::coverage() const
{
    std::vector<Coverage> all;
    if (m_session.state() != mariadb::SessionState::Connected) {
        const auto why = m_session.lastError();
        all.push_back({m_name, false, why.isEmpty() ? u"not connected yet"_s : u"not connected: "_s + why});
    } else if (!m_reader.hasLooked()) {
        all.push_back({m_name, false, u"the first look is still under way"_s});
    }
    if (m_session.state() == mariadb::SessionState::Connected && !m_notAnswering.isEmpty())
        all.push_back({m_name, false, m_notAnswering});
    for (const auto &gap : m_reader.gaps())
        all.push_back({m_name, false, gap});
    if (all.empty())
        all.push_back({m_name, true,
                       u"every advisory lock, every row, table or other lock that somebody waits for, and rows of "
                       u"ShedLock's and Liquibase's tables in this database that say so; another row or a table that "
                       u"nobody waits for is not shown"_s});
    return all;
}

void PostgreSqlObserver::tellProgress()
{
    const auto every =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::max<Duration>(m_options.pollEvery, pgLeastPause));
    const auto how = m_options.follow ? u"polling every %1 ms"_s.arg(every.count()) : u"one look"_s;
    m_reporter.tell(Progress{m_name, how, 0, 0, false, m_firstSnapshot.isComplete()});
}

void PostgreSqlObserver::tellCost(Duration rest)
{
    const auto sent = m_reader.requests() - std::exchange(m_costRequests, m_reader.requests());
    Cost cost;
    cost.requestsPerSecond = static_cast<double>(sent) / std::chrono::duration<double>(rest).count();
    m_reporter.tell(cost);
}

} // namespace lockscope::inspect
