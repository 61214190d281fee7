// SPDX-License-Identifier: Apache-2.0

#include "core/base/text.h"
#include "core/rehearse/stage.h"

namespace lockscope::rehearse {

using inspect::Contender;
using inspect::FindingCode;
using inspect::LockSnapshot;
using inspect::Mode;
using inspect::Role;
using recipes::recipeOf;

namespace {

// More of them change nothing in who is next, and take long.
constexpr int mostWaiters = 1000;

// Ours, or what its clients could as well queue with.
QByteArray playedAs(const LockSnapshot &lock)
{
    const auto &recipe = recipeOf(lock.recipe);
    return recipe.acquirable ? lock.recipe : recipe.playedBy;
}

bool isNamedBy(const LockSnapshot &lock, FindingCode code, const QByteArray &contender)
{
    return std::ranges::any_of(lock.findings, [&](const auto &finding) {
        return finding.code == code && std::ranges::count(finding.contenders, contender) > 0;
    });
}

bool hasNoClient(const LockSnapshot &lock, const Contender &one)
{
    return isNamedBy(lock, FindingCode::HolderDisconnected, one.id)
           || isNamedBy(lock, FindingCode::StaleQueue, one.id);
}

QString countOf(qsizetype count, const QString &one, const QString &many)
{
    return count == 1 ? one : many.arg(count);
}

void showRecipeText(RecipeMapping &cast, const LockSnapshot &lock)
{
    const auto played = label(cast.recipe);
    if (cast.recipe != lock.recipe)
        cast.assumed << u"%1 is not a Lockscope recipe; it is simulated as %2"_s.arg(label(lock.recipe), played);
    else if (lock.client)
        cast.assumed << u"its clients (%2) are simulated by Lockscope's own %1"_s.arg(
            played, label(lock.client->toUtf8(), 80));
    else
        cast.assumed << u"its clients are simulated by Lockscope's own %1"_s.arg(played);
    cast.assumed << u"holders and waiters continue as that recipe does, and no new client gets ahead of them"_s;
}

// Watches that no server told of are those of the recipe; and those it told of may differ from them.
void showWatchesText(RecipeMapping &cast, const LockSnapshot &lock)
{
    if (recipeOf(lock.recipe).wakeUp != recipes::WakeUp::Watch)
        return;
    const auto isSeen = [](const Contender &one) {
        return std::ranges::any_of(one.watches,
                                   [](const auto &edge) { return edge.evidence == inspect::Evidence::Server; });
    };
    const auto unseen = std::ranges::count_if(
        lock.contenders, [&](const auto &one) { return one.role == Role::Waiter && !isSeen(one); });
    cast.hasUnseenWatches = unseen > 0;
    if (unseen > 0)
        cast.assumed << countOf(unseen, u"the watch of 1 waiter was not observed: taken from the recipe"_s,
                                u"the watches of %1 waiters were not observed: taken from the recipe"_s);
}

// A semaphore that somebody waits for is full.
void setLimit(RecipeMapping &cast, const LockSnapshot &lock)
{
    if (!recipeOf(cast.recipe).counted)
        return;
    cast.limit = std::max(1, lock.holderCount());
    cast.assumed << countOf(cast.limit, u"it has 1 permit, which is held"_s,
                            u"it has %1 permits, which are all held"_s);
}

} // namespace

Result<RecipeMapping> castOf(const operate::ForceReleasePlan &plan, bool unknownRead)
{
    const auto &lock = plan.before;
    RecipeMapping cast;
    cast.recipe = playedAs(lock);
    if (cast.recipe.isEmpty() || !recipeOf(cast.recipe).acquirable)
        return Error{ErrorCode::Unsupported,
                     u"the release of %1 cannot be rehearsed: %2 is recognized only, and Lockscope has no similar "
                     u"recipe"_s.arg(label(lock.lock.text()), label(lock.recipe))};
    const auto &recipe = recipeOf(cast.recipe);
    if (!recipe.simulated)
        return Error{ErrorCode::Unsupported,
                     u"the release of %1 cannot be rehearsed: Lockscope does not simulate %2"_s.arg(
                         label(lock.lock.text()), infoOf(recipe.backend).title)};
    showRecipeText(cast, lock);
    showWatchesText(cast, lock);
    setLimit(cast, lock);
    std::map<QString, int> processes; // by session
    int waiters = 0;
    int left = 0;
    int stale = 0;
    for (std::size_t i = 0; i < lock.contenders.size(); ++i) {
        const auto &one = lock.contenders[i];
        const bool waits = one.role == Role::Waiter;
        // Who polls leaves no trace; what a claim below the majority is, nobody gets a lock by.
        if (waits && recipe.wakeUp == recipes::WakeUp::Polling && one.id != plan.holder)
            continue;
        Part part{i, static_cast<int>(cast.parts.size()), one.mode == Mode::Read, hasNoClient(lock, one),
                  one.reentry};
        // The next one who asks drops whoever is past its moment.
        if (waits && part.isGone && recipe.lastingQueue) {
            ++stale;
            continue;
        }
        if (waits && ++waiters > mostWaiters) {
            ++left;
            continue;
        }
        if (waits && recipe.readWrite && one.mode == Mode::Exclusive) {
            cast.hasUnknownModes = true;
            part.reads = unknownRead;
        }
        if (one.session)
            part.process = processes.try_emplace(*one.session, part.process).first->second;
        if (part.isGone && one.id != plan.holder)
            cast.assumed << u"%1 is not connected: the next client gets its place when its session ends"_s.arg(
                label(one.id, 80));
        cast.parts.push_back(part);
    }
    if (stale > 0)
        cast.assumed << countOf(stale, u"1 queue entry has expired and is left out"_s,
                                u"%1 queue entries have expired and are left out"_s);
    if (left > 0)
        cast.assumed << u"only the first %1 waiters are simulated; %2 more may be woken"_s.arg(mostWaiters).arg(left);
    if (recipe.lastingQueue && waiters > 0)
        cast.assumed << u"all clients in the queue still run: a dead client would keep its place until its entry "
                        u"expires"_s;
    return cast;
}

namespace {

// Until whoever came stands where it will wait: some round trips of a millisecond.
constexpr Duration arrivalTakes = 20ms;
// For the others that the release wakes.
constexpr Duration echoTakes = 1s;
// Until somebody has it who needs not wait for a session to end, and else.
constexpr Duration handOverTakes = 40s;
constexpr Duration sessionsEndIn = 10min;

contention::Scenario scenarioOf(const RecipeMapping &cast)
{
    contention::Scenario scenario;
    scenario.recipe = cast.recipe;
    scenario.limit = cast.limit;
    scenario.contenders = static_cast<int>(cast.parts.size());
    scenario.keepsEvents = false;
    return scenario;
}

class Fork {
public:
    Fork(const operate::ForceReleasePlan &plan, const RecipeMapping &cast)
        : m_plan(plan), m_cast(cast), m_scenario(scenarioOf(cast)), m_network(m_world, Random(1), {}),
          m_trace(
              m_scenario, [this] { return m_world.now().time_since_epoch(); }, 0),
          m_scope(m_world)
    {
        m_world.advance(std::chrono::hours(24 * 365 * 56)); // scripts take 0 for "never"
        m_trace.onEvent([this](const contention::Event &event) { see(event); });
        m_stage = makeStage({m_plan, m_scenario, m_world, m_network, m_trace});
        m_castings.resize(cast.parts.size());
    }
    ~Fork()
    {
        // Locks that go would otherwise still be given back.
        for (const auto &[number, process] : m_processes)
            process->kill();
        m_scope.cancelAll();
        m_castings.clear();
    }
    Q_DISABLE_COPY(Fork)

    Result<Outcome> play()
    {
        for (std::size_t i = 0; i < m_castings.size(); ++i) {
            TRY_VOID(arrive(i));
        }
        m_outcome.isAlike = isAlike();
        if (!m_outcome.isAlike)
            return m_outcome;
        for (const auto &part : m_cast.parts) {
            if (part.isGone)
                m_processes.at(part.process)->kill();
        }
        m_isReleased = true;
        m_scope.launch(release());
        m_world.advance(100ms);
        if (m_sent && !*m_sent)
            return m_sent->error();
        untilHandedOver();
        return m_outcome;
    }

private:
    struct Casting {
        std::unique_ptr<contention::ContenderAccess> access;
        std::unique_ptr<recipes::Lock> lock;
        std::optional<recipes::Grant> grant;
        std::optional<Error> failure;
    };

    [[nodiscard]] const inspect::Contender &contender(std::size_t part) const
    {
        return m_plan.before.contenders[m_cast.parts[part].contender];
    }

    Result<void> arrive(std::size_t i)
    {
        const auto &part = m_cast.parts[i];
        auto &process = m_processes[part.process];
        if (!process)
            process = std::make_unique<sim::Process>(m_world, part.process);
        auto &one = m_castings[i];
        one.access = m_stage->open(*process, static_cast<int>(i));
        for (int tries = 0; tries < 5000 && !one.access->isReady(); ++tries)
            m_world.advance(1ms);
        TRY(auto &made, one.access->makeLock(part.reads, Random(i + 100)));
        one.lock = std::move(made);
        m_scope.launch(take(i));
        m_world.advance(arrivalTakes);
        if (one.failure)
            return *one.failure;
        return {};
    }

    Task<void> take(std::size_t i)
    {
        auto &one = m_castings[i];
        const auto never = Deadline::never();
        for (int time = 0; time < m_cast.parts[i].times; ++time) {
            auto granted = co_await one.lock->acquire(never);
            if (!granted) {
                one.failure = granted.error();
                co_return;
            }
            if (time == 0) {
                one.grant = *granted;
                if (m_isReleased)
                    m_outcome.granted.push_back(m_cast.parts[i].contender);
            }
        }
    }

    Task<void> release()
    {
        const auto i = releasing();
        const auto plan = m_plan;
        const auto grant = *m_castings[i].grant;
        const int number = static_cast<int>(i);
        auto sent = co_await m_stage->release(plan, number, grant);
        m_sent = std::move(sent);
    }

    [[nodiscard]] std::size_t releasing() const
    {
        std::size_t i = 0;
        while (i + 1 < m_cast.parts.size() && contender(i).id != m_plan.holder)
            ++i;
        return i;
    }

    [[nodiscard]] bool isAlike() const
    {
        for (std::size_t i = 0; i < m_castings.size(); ++i) {
            if (m_castings[i].grant.has_value() != (contender(i).role == Role::Holder))
                return false;
        }
        return !m_castings.empty() && contender(releasing()).id == m_plan.holder;
    }

    void see(const contention::Event &event)
    {
        const bool isWakeUp = event.mark == contention::Mark::WatchEvent || event.mark == contention::Mark::Message;
        if (!m_isReleased || m_isQuiet || !isWakeUp || event.contender < 0)
            return;
        const auto part = static_cast<std::size_t>(event.contender);
        if (contender(part).role == Role::Waiter)
            m_outcome.woken.insert(m_cast.parts[part].contender);
    }

    void untilHandedOver()
    {
        const bool isAnyGone = std::ranges::any_of(m_cast.parts, &Part::isGone);
        const bool isAnyWaiting = std::ranges::any_of(m_cast.parts, [&](const Part &part) {
            return m_plan.before.contenders[part.contender].role == Role::Waiter;
        });
        const auto until = m_world.now() + (!isAnyWaiting ? echoTakes : isAnyGone ? sessionsEndIn : handOverTakes);
        while (m_outcome.granted.empty() && m_world.now() < until) {
            const auto next = m_world.next();
            if (!next)
                break;
            m_world.advance(std::max<Duration>(5ms, *next - m_world.now()));
        }
        m_world.advance(echoTakes);
        m_isQuiet = true;
    }

    const operate::ForceReleasePlan &m_plan;
    const RecipeMapping &m_cast;
    const contention::Scenario m_scenario;
    VirtualLoop m_world;
    sim::Network m_network;
    contention::Trace m_trace;
    std::map<int, std::unique_ptr<sim::Process>> m_processes;
    std::unique_ptr<Stage> m_stage;
    std::vector<Casting> m_castings; // by part
    Outcome m_outcome;
    std::optional<Result<operate::Sent>> m_sent;
    bool m_isReleased = false, m_isQuiet = false;
    Scope m_scope;
};

} // namespace

Result<Outcome> playRelease(const operate::ForceReleasePlan &plan, const RecipeMapping &cast)
{
    Fork fork(plan, cast);
    return fork.play();
}

std::unique_ptr<Stage> makeStage(const StageContext &context)
{
#define LOCKSCOPE_STAGE(Name) &make##Name##Stage,
    constexpr std::array makers{LOCKSCOPE_BACKENDS(LOCKSCOPE_STAGE)};
#undef LOCKSCOPE_STAGE
    return makers[static_cast<std::size_t>(context.plan.before.backend)](context);
}

} // namespace lockscope::rehearse
