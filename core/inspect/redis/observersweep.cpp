// SPDX-License-Identifier: Apache-2.0
// The parts of the Redis observer that go on by themselves: sweeps, polls, the list of clients.
#include "core/inspect/redis/observer.h"

namespace lockscope::inspect {

namespace {

constexpr Duration sweepEvery = 30s;
// Each of its pages rests nine times as long as it works, so that a large keyspace takes its time by itself.
constexpr Duration leastBetweenSweeps = 2s;
constexpr auto housekeepingEvery = 1s;
constexpr Duration restInOverrun = 1s; // at least, of each page
constexpr int sessionsEvery = 5;       // rounds of housekeeping
constexpr int rememberedRounds = 30;
constexpr std::size_t channelsAtMost = 1000;
// More changes than this, two seconds in a row, are more than we want to hear.
constexpr qint64 loudPerSecond = 3000;
constexpr int loudSecondsAtMost = 2;
// FLUSHALL makes no keyspace event: what is known is looked at now and then all the same.
constexpr int pulsesPerLookWithEvents = 8;

// Those of the locks somebody waits for.
template <class Known>
std::vector<QByteArray> channelsListenedOn(const std::map<RedisKey, Known> &all, const SnapshotStore &snapshots)
{
    std::vector<QByteArray> channels;
    for (const auto &[key, known] : all) {
        if (const auto *lock = snapshots.find(key.bytes()))
            std::ranges::move(channelsOf(*lock, known.subscribers), std::back_inserter(channels));
        if (channels.size() > channelsAtMost)
            break; // of so many no single one can be told
    }
    return channels;
}

} // namespace

Task<void> RedisObserver::findForEver()
{
    for (int i = 0; i < 10 && !m_followed.isComplete(); ++i)
        co_await sleepFor(m_loop, 2ms); // on a short line nothing need be read twice
    m_work.launch(readSessions());
    for (;;) {
        const auto span = m_rest.begin();
        auto swept = co_await sweep();
        if (!swept) {
            co_await sleepFor(m_loop, redisRetryAfter);
            continue;
        }
        m_firstSnapshot.complete(true);
        notifyProgress(true);
        notifyCoverage();
        if (!m_options.follow)
            co_return;
        // Where nobody tells of new keys, only the next sweep does: as soon as its share of the server's time allows.
        const auto soonest = std::max<Duration>(m_options.pollEvery, leastBetweenSweeps);
        const auto least = m_follower.tellsOfNewKeys() ? sweepEvery : std::min(sweepEvery, soonest);
        co_await m_rest.afterSweep(span, least);
        if (m_follower.mode() == Follower::Mode::NotYet)
            startFollowing();
    }
}

// One whole sweep. After an error it goes on at the page where it stood.
Task<Result<void>> RedisObserver::sweep()
{
    if (!m_sweep.running) {
        const bool catchesUp = std::exchange(m_mayHaveMissed, false);
        m_rest.sweepBegins();
        m_sweep = KeySweep{.running = true, .number = m_sweep.number + 1, .catchesUp = catchesUp};
        notifyCoverage();
        m_refusals.forgetKeys();
        m_plainHashes.clear();
        m_refusals.forget(u"SCAN"_s);
        co_await m_sweeper.begin(m_firstSnapshot.isComplete());
        notifyProgress(true);
    }
    for (;;) {
        // The first sweep begins before it is settled how changes are heard of, which takes a slow line a while, and
        // then begins once more, so that nothing falls between the two.
        if (m_sweep.isOutdated && !m_firstSnapshot.isComplete()) {
            m_mayHaveMissed = m_sweep.isOutdated = false;
            m_sweep.isFirstRound = true;
            m_sweep.before = 0;
            co_await m_sweeper.begin(false);
        }
        const auto span = m_rest.begin();
        const bool isSlow = m_firstSnapshot.isComplete() || m_sweep.isOverrun;
        const KeySweeper::Pace pace{isSlow, isVerificationSweep()};
        CO_TRY(auto &more, co_await m_sweeper.page(pace));
        notifyProgress(!more);
        if (!more)
            co_await m_followed;
        if (!more && (m_firstSnapshot.isComplete() || !m_sweep.isOutdated))
            break;
        const auto least = m_sweep.isOverrun ? restInOverrun : Duration::zero();
        if (isSlow)
            co_await m_rest.afterPage(span, least);
    }
    // What vanished without a word, and what the sweep did not name.
    enqueueKnown(m_sweep.number);
    co_await m_queue.untilAllRead();
    m_sweep.running = false;
    m_claims.sweepEnds(m_sweep.number);
    m_sweeper.end();
    notifyCoverage();
    if (!m_firstSnapshot.isComplete())
        co_await readSessions(); // now that it is known who waits
    attributeClients();
    co_return Result<void>();
}

// Polls where nobody tells us, and everywhere counts subscribers: no key changes when one comes.
Task<void> RedisObserver::pulse()
{
    for (int round = 1;; ++round) {
        co_await sleepFor(m_loop, m_options.pollEvery);
        const auto begun = m_loop.now();
        const auto mode = m_follower.mode();
        const bool polling = mode == Follower::Mode::Polling || mode == Follower::Mode::NotYet;
        const bool slowLook = mode == Follower::Mode::KeyspaceEvents && round % pulsesPerLookWithEvents == 0;
        if ((polling || slowLook) && !m_known.empty()) {
            reconsider();
            co_await m_queue.untilAllRead();
            m_sink.confirm(m_name);
        } else {
            auto counted = co_await recount();
            if (!counted)
                continue;
        }
        const auto due = m_pulses.restAfter(m_loop.now() - begun) - Duration(m_options.pollEvery);
        co_await sleepFor(m_loop, std::max(Duration::zero(), due));
    }
}

Task<Result<void>> RedisObserver::recount()
{
    std::vector<QByteArray> channels;
    for (const auto &[key, known] : m_known) {
        for (const auto &[channel, count] : known.subscribers)
            channels.push_back(channel);
    }
    CO_TRY(auto &counted, co_await m_reader.countSubscribers(std::move(channels)));
    for (const auto &[key, known] : m_known) {
        for (const auto &[channel, count] : known.subscribers) {
            const auto at = counted.find(channel);
            if (at != counted.end() && at->second != count)
                enqueue(key);
        }
    }
    co_return Result<void>();
}

Task<void> RedisObserver::takePulse()
{
    const auto heard = co_await m_pulse.beat();
    m_reporter.tell(m_pulse.cost());
    if (heard.isSwapped)
        lookAnew();
    // What was told is true, where all is quiet, too. Where nobody tells of changes a poll says so instead.
    const bool isTold =
        m_known.empty() ? m_firstSnapshot.isComplete() : m_follower.tellsOfKnownKeys() && m_isReadAgain;
    if (heard.isAnswered && !heard.isSwapped && isTold)
        m_sink.confirm(m_name);
    notifyCoverage();
}

Task<void> RedisObserver::housekeeping()
{
    co_await takePulse(); // so that a swap is noticed from now on
    for (int round = 1;; ++round) {
        co_await sleepFor(m_loop, housekeepingEvery);
        if (m_rules.takeChange()) // what is a lock is another matter now, of all that was passed over, too
            lookAnew();
        co_await takePulse();
        m_loudSeconds = m_follower.takeHeard() > loudPerSecond ? m_loudSeconds + 1 : 0;
        const auto mode = m_follower.mode();
        const bool tooLoud =
            (mode == Follower::Mode::Tracking || m_follower.hearsFamilies()) && m_loudSeconds >= loudSecondsAtMost;
        if (tooLoud || (mode == Follower::Mode::NarrowTracking && m_reorderPrefixes))
            co_await narrow();
        if (round % sessionsEvery == 0 || m_clientsDue)
            co_await readSessions();
        // A sweep that only makes sure may take long.
        if (round % rememberedRounds == 0) {
            m_plainHashes.clear();
            attributeClients();
        }
    }
}

Task<void> RedisObserver::narrow()
{
    m_reorderPrefixes = false;
    std::vector<RedisKey> keys;
    for (const auto &[key, entry] : m_snapshots.entries()) {
        keys.push_back(RedisKey(key));
        for (const auto &companion : entry.second.companions)
            keys.push_back(RedisKey(companion));
    }
    m_loudSeconds = 0;
    const auto before = m_follower.prefixes();
    auto narrowed = co_await m_follower.narrowTo(std::move(keys));
    if (!narrowed || m_follower.prefixes() == before)
        co_return;
    reconsider();
    notifyCoverage();
    notifyProgress(true);
}

Task<void> RedisObserver::readSessions()
{
    m_clientsDue = false;
    auto channels = channelsListenedOn(m_known, m_snapshots);
    auto listed = co_await m_reader.listClients(std::move(channels), m_follower.subscriberId());
    if (!listed)
        co_return;
    notifyCoverage();
    const bool isNews = *listed != m_clients;
    m_clients = *std::move(listed);
    std::vector<SnapshotChange> changes;
    for (const auto &[key, known] : m_known) {
        if (!isNews)
            break;
        const auto *lock = m_snapshots.find(key.bytes());
        if (auto told = lock ? m_clients.told(*lock, known.subscribers) : std::nullopt)
            std::ranges::move(m_snapshots.replace(key.bytes(), {std::move(*told)}), std::back_inserter(changes));
    }
    m_sink.takeAll(std::move(changes));
    m_reporter.tell(m_clients.sessions(m_name, m_snapshots));
}

} // namespace lockscope::inspect
