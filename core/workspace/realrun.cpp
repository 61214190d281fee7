// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/realrun.h"

#include "core/base/text.h"

namespace lockscope {

using Stage = RealRunProgress::Stage;
using contention::Recording;

RealRun::RealRun(Workspace &workspace, RealRunOptions options)
    : m_workspace(workspace), m_options(std::move(options)), m_cancelled(workspace.loop()),
      m_began(workspace.loop().now()), m_trace(
                                           m_options.scenario, [this] { return now(); }, 2'000'000),
      m_checkers(m_options.scenario, m_trace), m_resource(m_trace, m_options.scenario.checksFencingTokens),
      m_random(Random::fromSystem())
{
    m_trace.onEvent([this](const contention::Event &event) { m_checkers.see(event); });
}

int RealRun::sessions() const
{
    const auto &scenario = m_options.scenario;
    const auto processes = (scenario.contenders + scenario.perProcess - 1) / scenario.perProcess;
    return std::min(processes, std::max(1, m_options.mostSessions));
}

Result<void> RealRun::check(Link &link) const
{
    const auto &scenario = m_options.scenario;
    const auto name = escaped(m_options.connection.bytes());
    const auto refused = [](const QString &why) {
        return Error{ErrorCode::Refused, u"simulate refused: %1"_s.arg(why)};
    };
    if (link.gate().isProduction())
        return refused(u"connection %1 is production; use the sandbox or the simulator"_s.arg(name));
    if (link.gate().isReadOnly())
        return refused(u"connection %1 is read-only, and contenders write"_s.arg(name));
    TRY_VOID(playableOnServers(scenario, m_options.mostSessions, name));
    if (backendOf(link.spec().scheme) != recipes::findRecipe(scenario.recipe)->backend)
        return Error{ErrorCode::BadInput, u"simulate: recipe %1 is for another kind of server than %2"_s.arg(
                                              label(scenario.recipe), name)};
    return {};
}

Task<Result<void>> RealRun::takePool()
{
    auto *link = m_workspace.find(m_options.connection);
    const ContenderPoolContext context{m_options.scenario, m_trace, sessions(), m_random.bytes(6).toHex()};
    m_pool = link->openPool(context);
    const auto limit = Deadline::after(m_workspace.loop(), 15s);
    while (!m_pool->isReady()) {
        if (m_cancelled.isComplete())
            co_return Error{ErrorCode::Cancelled, u"the run was ended before it began"_s};
        if (limit.hasPassed(m_workspace.loop()))
            co_return Error{ErrorCode::NotConnected,
                            u"could not open %1 sessions on %2 within 15 s; try with fewer sessions"_s.arg(
                                QString::number(context.sessions), link->spec().displayUri()),
                            true};
        co_await sleepFor(m_workspace.loop(), 5ms);
    }
    auto prepared = co_await m_pool->prepare(limit);
    co_return prepared;
}

Task<void> RealRun::playRound()
{
    const auto &scenario = m_options.scenario;
    // Real servers and clients share this machine's processors: a little slower than the simulated ones.
    // A server that many share may take its time for one answer.
    const contention::Round::Pace pace{3ms, 200ms};
    m_round = std::make_unique<contention::Round>(m_workspace.loop(), scenario, m_trace, m_resource, pace);
    for (int i = 0; i < scenario.contenders; ++i) {
        auto lock = m_pool->makeLock(i, contention::isReader(scenario, i));
        if (lock)
            m_round->add(i, m_workspace.loop(), *std::move(lock));
        else
            m_round->remove(i);
    }
    const Random arrivals(m_random.next());
    Scope joining(m_workspace.loop()); // ends with the round: who cancels does not wait for the last to come
    joining.launch(m_round->join(arrivals));
    const Completion<bool> over(m_workspace.loop());
    m_round->allDone().then([over](bool) { over.complete(true); });
    m_cancelled.then([over](bool) { over.complete(false); });
    // Far beyond what it takes: who is not through by then never will be.
    const auto longest =
        scenario.arriveWithin + 2 * scenario.contenders * (scenario.hold + 200ms) + 2 * scenario.ttl + 60s;
    over.completeAt(Deadline::after(m_workspace.loop(), longest), false);
    co_await over;
    for (int i = 0; i < scenario.contenders && !m_cancelled.isComplete(); ++i) {
        if (!m_round->isDone(i))
            m_trace.breaks("progress", i, u"still waits"_s);
    }
}

Task<Recording> RealRun::finish()
{
    const bool isStuck = m_round && m_round->notDone() > 0;
    m_stage = Stage::Tidying;
    m_round.reset();
    const auto pause = sleepFor(m_workspace.loop(), isStuck ? 1000ms : 50ms); // what goes on in the background
    co_await pause;
    const auto limit = Deadline::after(m_workspace.loop(), 10s);
    auto left = co_await m_pool->tidy(limit);
    if (!left.empty())
        m_trace.breaks("cleanliness", contention::nobody, u"left behind: %1"_s.arg(label(left.front())));
    auto recording = m_trace.take(m_options.connection.bytes());
    recording.leftBehind = std::move(left);
    recording.counters.longestOverlap = m_checkers.longestOverlap();
    if (sessions() < m_options.scenario.contenders)
        recording.note =
            u"%1 sessions shared by %2 contenders"_s.arg(sessions()).arg(m_options.scenario.contenders).toLatin1();
    co_return recording;
}

Task<Result<Recording>> RealRun::play()
{
    CO_TRY_VOID(m_options.scenario.check());
    const auto connectBy = Deadline::after(m_workspace.loop(), 15s);
    CO_TRY_VOID(co_await m_workspace.whenConnected(m_options.connection, connectBy));
    CO_TRY_VOID(check(*m_workspace.find(m_options.connection)));
    CO_TRY_VOID(co_await takePool());
    m_began = m_workspace.loop().now();
    m_stage = Stage::Playing;
    for (int i = 0; i < m_options.scenario.rounds && !m_cancelled.isComplete(); ++i)
        co_await playRound();
    auto recording = co_await finish();
    if (m_cancelled.isComplete())
        co_return Error{ErrorCode::Cancelled,
                        u"the run was ended after %1 ms"_s.arg(recording.elapsed.count() / 1000)};
    co_return recording;
}

RealRunProgress RealRun::progress() const
{
    const auto &scenario = m_options.scenario;
    RealRunProgress progress{
        m_stage, {}, m_trace.grants(), qint64(scenario.contenders) * scenario.rounds, sessions()};
    if (m_stage != Stage::Connecting)
        progress.at = now();
    return progress;
}

constexpr auto notifyEvery = 100ms;

Runs::Runs(Workspace &workspace, Tell tell)
    : m_workspace(workspace), m_tell(std::move(tell)), m_scope(workspace.loop())
{
}

void Runs::play(quint64 id, RealRunOptions options, Deliver deliver)
{
    One one;
    one.on = options.connection;
    one.run = std::make_unique<RealRun>(m_workspace, std::move(options));
    one.deliver = std::move(deliver);
    m_running.emplace(id, std::move(one));
    m_scope.launch(follow(id));
    if (!m_running.empty())
        notifyAll();
}

Task<void> Runs::follow(quint64 id)
{
    auto played = co_await m_running.at(id).run->play();
    const auto at = m_running.find(id);
    auto one = std::move(at->second);
    m_running.erase(at);
    if (!one.ended.isEmpty())
        played =
            Error{ErrorCode::NotConnected,
                  u"simulate: connection %1 was %2 while it was played on"_s.arg(escaped(one.on.bytes()), one.ended)};
    one.deliver(std::move(played));
    // Once this frame, and with it the run's sessions, is gone.
    m_workspace.loop().post([this] { callWaiting(); });
}

void Runs::cancel(quint64 id)
{
    if (const auto at = m_running.find(id); at != m_running.end())
        at->second.run->cancel();
}

bool Runs::areOn(const ConnectionName &name) const
{
    return std::any_of(m_running.begin(), m_running.end(),
                       [&](const auto &entry) { return entry.second.on == name; });
}

void Runs::endOn(const ConnectionName &name, const QString &what, std::function<void()> done)
{
    for (auto &[id, one] : m_running) {
        if (one.on != name)
            continue;
        one.ended = what;
        one.run->cancel();
    }
    m_waiting.push_back({name, std::move(done)});
    callWaiting();
}

void Runs::endAll(std::function<void()> done)
{
    for (auto &[id, one] : m_running)
        one.run->cancel();
    m_waiting.push_back({std::nullopt, std::move(done)});
    callWaiting();
}

void Runs::callWaiting()
{
    std::vector<std::function<void()>> due;
    std::erase_if(m_waiting, [&](Waiting &waiting) {
        const bool isDue = waiting.name ? !areOn(*waiting.name) : m_running.empty();
        if (isDue)
            due.push_back(std::move(waiting.done));
        return isDue;
    });
    for (const auto &done : due)
        done();
}

void Runs::notifyAll()
{
    for (const auto &[id, one] : m_running)
        m_tell(id, one.run->progress());
    if (m_running.empty())
        m_timer.cancel();
    else
        m_timer = m_workspace.loop().callAt(m_workspace.loop().now() + notifyEvery, [this] { notifyAll(); });
}

Result<void> playableOnServers(const contention::Scenario &scenario, int mostSessions, const QString &where)
{
    const auto bad = [](const QString &why) { return Error{ErrorCode::BadInput, u"simulate: "_s + why}; };
    if (!scenario.faults.empty() || !scenario.planned.empty())
        return bad(u"faults need the simulator; on %1 only contention is played"_s.arg(where));
    const auto *recipe = recipes::findRecipe(scenario.recipe);
    if (!recipe)
        return bad(u"%1 is deliberately broken and runs only in the simulator"_s.arg(label(scenario.recipe)));
    if (scenario.locks != 1)
        return bad(u"real servers play one lock; two locks need the simulator"_s);
    const contention::Scenario plain;
    const bool isOfServersAsTheyAre = scenario.acquires == plain.acquires && scenario.servers == plain.servers
                                      && scenario.aof == plain.aof && scenario.leastLatency == plain.leastLatency
                                      && scenario.mostLatency == plain.mostLatency && scenario.acts.empty()
                                      && scenario.rows == plain.rows && scenario.isIndexed;
    if (!isOfServersAsTheyAre)
        return bad(
            u"repeated acquires, several rows, server counts, server files, delays and actions need the simulator"_s);
    if (scenario.contenders > mostContendersOnServers)
        return bad(u"real servers play at most %1 contenders, not %2; the simulator takes more"_s
                       .arg(mostContendersOnServers)
                       .arg(scenario.contenders));
    if (infoOf(recipe->backend).oneLockEach && scenario.contenders > mostSessions)
        return bad(u"a session on %1 carries one lock at a time: up to %2 contenders in as many sessions"_s
                       .arg(infoOf(recipe->backend).title)
                       .arg(mostSessions));
    return {};
}

} // namespace lockscope
