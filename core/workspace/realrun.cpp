// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/realrun.h"

#include "core/async/sleep.h"
#include "core/base/text.h"
#include "core/contention/checkers.h"
#include "core/workspace/linkbase.h"

namespace lockscope {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

using Stage = RealRunProgress::Stage;
using contention::Recording;
using contention::Scenario;

struct RealRun::Private {
    Private(Workspace &w, RealRunOptions o)
        : workspace(w), options(std::move(o)), cancelled(w.loop()), began(w.loop().now()),
          trace(
              options.scenario, [this] { return now(); }, 2'000'000),
          checkers(options.scenario, trace), resource(trace, options.scenario.checksFencingTokens),
          random(Random::fromSystem())
    {
        trace.onEvent([this](const contention::Event &event) { checkers.see(event); });
    }

    [[nodiscard]] contention::Moment now() const { return workspace.loop().now() - began; }
    [[nodiscard]] int sessions() const;
    [[nodiscard]] Result<void> check(Link &link) const;
    Task<Result<void>> takePool();
    Task<void> playRound();
    Task<Recording> finish();

    Workspace &workspace;
    const RealRunOptions options;
    Completion<bool> cancelled;
    Instant began;
    contention::Trace trace;
    contention::Checkers checkers;
    contention::Resource resource;
    Random random;
    Stage stage = Stage::Connecting;
    std::unique_ptr<ContenderPool> pool;
    std::unique_ptr<contention::Round> round;
};

int RealRun::Private::sessions() const
{
    const auto &scenario = options.scenario;
    const auto processes = (scenario.contenders + scenario.perProcess - 1) / scenario.perProcess;
    return std::min(processes, std::max(1, options.mostSessions));
}

Result<void> RealRun::Private::check(Link &link) const
{
    const auto &scenario = options.scenario;
    const auto name = escaped(options.connection.bytes());
    const auto refused = [](const QString &why) {
        return Error{ErrorCode::Refused, u"simulate refused: %1"_s.arg(why)};
    };
    if (link.gate().isProduction())
        return refused(u"connection %1 is production; use the sandbox or the simulator"_s.arg(name));
    if (link.gate().isReadOnly())
        return refused(u"connection %1 is read-only, and contenders write"_s.arg(name));
    TRY_VOID(playableOnServers(scenario, options.mostSessions, name));
    if (backendOf(link.spec().scheme) != recipes::findRecipe(scenario.recipe)->backend)
        return Error{ErrorCode::BadInput, u"simulate: recipe %1 is for another kind of server than %2"_s.arg(
                                              label(scenario.recipe), name)};
    return {};
}

Task<Result<void>> RealRun::Private::takePool()
{
    auto *link = workspace.find(options.connection);
    const ContenderPoolContext context{options.scenario, trace, sessions(), random.bytes(6).toHex()};
    pool = link->openPool(context);
    const auto limit = Deadline::after(workspace.loop(), 15s);
    while (!pool->isReady()) {
        if (cancelled.isComplete())
            co_return Error{ErrorCode::Cancelled, u"the run was ended before it began"_s};
        if (limit.hasPassed(workspace.loop()))
            co_return Error{ErrorCode::NotConnected,
                            u"could not open %1 sessions on %2 within 15 s; try with fewer sessions"_s.arg(
                                QString::number(context.sessions), link->spec().displayUri()),
                            true};
        const auto pause = sleepFor(workspace.loop(), 5ms);
        co_await pause;
    }
    auto prepared = co_await pool->prepare(limit);
    co_return prepared;
}

Task<void> RealRun::Private::playRound()
{
    const auto &scenario = options.scenario;
    // Real servers and clients share this machine's processors: a little slower than the simulated ones.
    // A server that many share may take its time for one answer.
    const contention::Round::Pace pace{3ms, 200ms};
    round = std::make_unique<contention::Round>(workspace.loop(), scenario, trace, resource, pace);
    for (int i = 0; i < scenario.contenders; ++i) {
        auto lock = pool->makeLock(i, contention::isReader(scenario, i));
        if (lock)
            round->add(i, workspace.loop(), *std::move(lock));
        else
            round->remove(i);
    }
    const Random arrivals(random.next());
    Scope joining(workspace.loop()); // ends with the round: who cancels does not wait for the last to come
    joining.launch(round->join(arrivals));
    const Completion<bool> over(workspace.loop());
    round->allDone().then([over](bool) { over.complete(true); });
    cancelled.then([over](bool) { over.complete(false); });
    // Far beyond what it takes: who is not through by then never will be.
    const auto longest =
        scenario.arriveWithin + 2 * scenario.contenders * (scenario.hold + 200ms) + 2 * scenario.ttl + 60s;
    over.completeAt(Deadline::after(workspace.loop(), longest), false);
    co_await over;
    for (int i = 0; i < scenario.contenders && !cancelled.isComplete(); ++i) {
        if (!round->isDone(i))
            trace.breaks("progress", i, u"still waits"_s);
    }
}

Task<Recording> RealRun::Private::finish()
{
    const bool isStuck = round && round->notDone() > 0;
    stage = Stage::Tidying;
    round.reset();
    const auto pause = sleepFor(workspace.loop(), isStuck ? 1000ms : 50ms); // what goes on in the background
    co_await pause;
    const auto limit = Deadline::after(workspace.loop(), 10s);
    auto left = co_await pool->tidy(limit);
    if (!left.empty())
        trace.breaks("cleanliness", contention::nobody, u"left behind: %1"_s.arg(label(left.front())));
    auto recording = trace.take(options.connection.bytes());
    recording.leftBehind = std::move(left);
    recording.counters.longestOverlap = checkers.longestOverlap();
    if (sessions() < options.scenario.contenders)
        recording.note =
            u"%1 sessions shared by %2 contenders"_s.arg(sessions()).arg(options.scenario.contenders).toLatin1();
    co_return recording;
}

RealRun::RealRun(Workspace &workspace, RealRunOptions options)
    : d(std::make_unique<Private>(workspace, std::move(options)))
{
}

RealRun::~RealRun() = default;

Task<Result<Recording>> RealRun::play()
{
    CO_TRY_VOID(d->options.scenario.check());
    const auto connectBy = Deadline::after(d->workspace.loop(), 15s);
    CO_TRY_VOID(co_await d->workspace.whenConnected(d->options.connection, connectBy));
    CO_TRY_VOID(d->check(*d->workspace.find(d->options.connection)));
    CO_TRY_VOID(co_await d->takePool());
    d->began = d->workspace.loop().now();
    d->stage = Stage::Playing;
    for (int i = 0; i < d->options.scenario.rounds && !d->cancelled.isComplete(); ++i)
        co_await d->playRound();
    auto recording = co_await d->finish();
    if (d->cancelled.isComplete())
        co_return Error{ErrorCode::Cancelled,
                        u"the run was ended after %1 ms"_s.arg(recording.elapsed.count() / 1000)};
    co_return recording;
}

void RealRun::cancel()
{
    d->cancelled.complete(true);
}

RealRunProgress RealRun::progress() const
{
    const auto &scenario = d->options.scenario;
    RealRunProgress progress{
        d->stage, {}, d->trace.grants(), qint64(scenario.contenders) * scenario.rounds, d->sessions()};
    if (d->stage != Stage::Connecting)
        progress.at = d->now();
    return progress;
}

namespace {

constexpr auto notifyEvery = 100ms;

} // namespace

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
    auto playing = m_running.at(id).run->play();
    auto played = co_await playing;
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

} // namespace lockscope
