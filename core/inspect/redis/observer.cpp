// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/observer.h"

namespace lockscope::inspect {

namespace {

constexpr Duration longestRestOfLook = 20ms;
constexpr size_t plainHashesKept = 50'000;
// So that the server's other answers, the next page of a sweep among them, need not wait for the whole of a batch.
constexpr std::size_t settledInTurn = 16;
constexpr auto progressEvery = 100ms;
// Looking right at the expiry could be a millisecond early.
constexpr auto afterExpiry = 2ms;

RedisContext contextOf(const ConnectionName &name, const KeyReader::Gathered &gathered, KeyReader::Clock clock)
{
    RedisContext context;
    context.connection = name;
    context.observed = clock.now;
    context.serverAhead = clock.ahead;
    context.subscribers = gathered.subscribers;
    return context;
}

// What has not been looked at yet, or no more.
QString missingIn(const redis::Connection &connection, bool isSilent, bool isFirstComplete, bool isCatchingUp)
{
    if (connection.state() != redis::ConnectionState::Connected) {
        const auto why = connection.lastError();
        return why.isEmpty() ? u"not connected yet"_s : u"not connected: %1"_s.arg(why);
    }
    if (isSilent)
        return u"the server has not answered for some seconds: the data shown is older"_s;
    if (!isFirstComplete)
        return u"the first sweep is still under way"_s;
    return isCatchingUp ? u"what came while the server was not heard is still being looked for"_s : QString();
}

Error noLockAt(const KeyView &view, const std::vector<QString> &refused)
{
    if (!refused.empty())
        return {ErrorCode::NoPermission, refused.front(), false};
    const auto key = label(view.key.bytes(), 80);
    const auto why = notUnderstoodReason(view);
    if (!why.isEmpty())
        return {ErrorCode::NoNode, u"the key %1 is not understood as a lock: %2"_s.arg(key, why), false};
    return {ErrorCode::NoNode, u"no lock is at the key "_s + key, false};
}

constexpr std::chrono::milliseconds confirmsAfter(1500);

// Key, queue and subscribers are read one after the other: between two of them the head may have got the lock. That
// no release wakes it is a warning only once two looks in a row found it so; `before` may be null.
void confirmSilentHead(LockSnapshot &lock, const LockSnapshot *before)
{
    const auto *earlier = before && before->holderCount() == 0 ? before->find(FindingCode::LostWakeup) : nullptr;
    for (auto &finding : lock.findings) {
        const bool isSeenAgain = earlier && earlier->contenders == finding.contenders;
        if (finding.code == FindingCode::LostWakeup && !isSeenAgain)
            finding.severity = Severity::Info;
    }
}

} // namespace

RedisObserver::RedisObserver(redis::Connection &connection, ConnectionName name, ObserverOptions options,
                             ObserverSink &sink, int database)
    : KeepingObserver(connection.loop(), std::move(name), options, sink), m_connection(connection),
      m_databases(m_refusals, database, !options.follow), m_reader(connection, m_refusals),
      m_pulse(m_loop, m_reader, m_databases, [this] { notifyCoverage(); }),
      m_follower(connection, m_reader, m_refusals,
                 {[this](const RedisKey &key) { enqueue(key); }, [this] { reconsider(); },
                  [this](const RedisKey &lock) {
                      if (m_seen.noteRelease(lock))
                          enqueue(lock);
                  }}),
      m_queue(m_loop), m_followed(m_loop), m_rest(m_reader, [this] { return isVerificationSweep(); }),
      m_sweeper(m_sweep, m_reader, m_queue, m_refusals, m_databases, options.includeLowConfidence,
                {[this](const RedisKey &key) { return m_known.contains(key) || m_forced.contains(key); },
                 [this](const RedisKey &key, const RedisKey &main) { noteCompanion(key, main); },
                 [this](const QByteArray &key) { m_claims.met(key, m_sweep.number); },
                 [this](const KeyView &view) { noteSample(view); }}),
      m_work(m_loop), m_follow(m_loop)
{
}

// Called from the loop's queue or from start(), never from a coroutine of ours.
void RedisObserver::stateChanged(redis::ConnectionState state)
{
    const bool isConnected = state == redis::ConnectionState::Connected;
    if (isConnected && m_wasConnected) {
        // Only the subscriber's connection broke: the server forgot whom to tell.
        startFollowing();
        return;
    }
    if (isConnected == m_wasConnected) {
        notifyCoverage();
        return;
    }
    m_wasConnected = isConnected;
    m_follow.cancelAll();
    m_work.cancelAll();
    m_pulse.broke();
    m_queue.reset();
    m_sweep = KeySweep{.number = m_sweep.number};
    if (isConnected)
        connected();
    notifyCoverage();
    notifyProgress(true);
}

void RedisObserver::connected()
{
    m_refusals = {}; // rights may have changed
    m_pulse.connected();
    m_sweeper.connected();
    m_claims = {};
    m_followed = Completion<bool>(m_loop);
    enqueueKnown(); // setting up how to follow may take a while
    startFollowing();
    m_work.launch(work());
    m_work.launch(findForEver());
    if (!m_options.follow)
        return;
    m_work.launch(pulse());
    m_work.launch(housekeeping());
}

void RedisObserver::startFollowing()
{
    m_mayHaveMissed = true;
    m_isReadAgain = false;
    m_follow.cancelAll();
    if (m_options.follow)
        m_follow.launch(follow());
    else
        m_followed.complete(true);
}

Task<void> RedisObserver::follow()
{
    auto mode = co_await m_follower.setUp();
    m_refusals.say(u"follow"_s,
                   mode ? QString() : u"following did not start, polling meanwhile: %1"_s.arg(mode.error().message));
    const bool isDeaf = m_options.follow && mode && *mode == Follower::Mode::Polling;
    m_refusals.say(
        u"new locks"_s,
        isDeaf ? u"the server reports no changes: SCAN finds a new lock, and misses one that is deleted before"_s
               : QString());
    // What changed before this moment may have been missed.
    m_mayHaveMissed = m_sweep.isOutdated = true;
    if (mode)
        m_rest.cutShort(); // else it is tried again after the next sweep
    enqueueKnown();
    m_followed.complete(true);
    notifyCoverage();
    notifyProgress(true);
    co_await m_queue.untilAllRead();
    m_isReadAgain = true;
}

// The worker: reads what is queued, changed keys first.
Task<void> RedisObserver::work()
{
    for (;;) {
        co_await m_queue.untilFilled();
        const auto keys = m_queue.takeBatch(m_reader.lineFactor());
        const bool crowded = m_queue.isCrowded();
        const auto begun = m_loop.now();
        auto done = co_await readBatch(keys);
        if (!done) {
            // The server hangs or the connection is going; nothing is forgotten.
            m_queue.putBack(keys);
            co_await sleepFor(m_loop, redisRetryAfter);
        } else if (crowded) {
            // A busy server; new locks may wait a moment.
            co_await sleepFor(m_loop, std::min((m_loop.now() - begun) * restPerWork, longestRestOfLook));
        }
        m_queue.batchDone();
    }
}

void RedisObserver::enqueue(const RedisKey &key)
{
    const auto owner = companionOf(key);
    const auto main = owner.value_or(m_rules.ownerOf(key).value_or(key));
    if (m_queue.isOverfull() && !m_known.contains(main)) {
        m_mayHaveMissed = true; // it is left to the sweep
        return;
    }
    if (owner)
        noteCompanion(key, main);
    m_queue.add({main});
}

Task<Result<void>> RedisObserver::readBatch(std::vector<RedisKey> keys)
{
    // What is known of others stays as it was, until the node that has them is back.
    std::erase_if(keys, [this](const RedisKey &key) { return !m_connection.isServed(key.bytes()); });
    CO_TRY(auto &looked, co_await m_reader.look(std::move(keys)));
    const auto clock = m_reader.clock();
    std::vector<KeyView> worthReading;
    std::vector<KeyView> worthMeasuring;
    for (auto &view : looked) {
        const bool isWorth = isWorthReading(view);
        if (view.type == KeyType::None) {
            (void)m_snapshots.withoutLow(view.key.bytes(), {});
            m_claims.note(view, true, clock.now, m_sweep.number);
        }
        m_sweeper.learn(view);
        m_forced.erase(view.key);
        if (isWorth)
            worthReading.push_back(std::move(view));
        else if (!m_plainHashes.contains(view.key) && isWorthMeasuring(view.key, view.type, view.ttl))
            worthMeasuring.push_back(std::move(view));
    }
    CO_TRY(auto &measured, co_await m_reader.ofLockSize(std::move(worthMeasuring)));
    std::ranges::move(measured, std::back_inserter(worthReading));
    CO_TRY(auto &gathered, co_await m_reader.gather(std::move(worthReading)));
    std::vector<SnapshotChange> changes;
    for (std::size_t i = 0; i < gathered.size(); ++i) {
        settle(gathered[i], clock, changes);
        if ((i + 1) % settledInTurn != 0 || changes.empty())
            continue;
        m_sink.takeAll(std::exchange(changes, {}));
        co_await sleepFor(m_loop, Duration::zero());
    }
    m_sink.takeAll(std::move(changes));
    notifyCoverage();
    co_return Result<void>();
}

std::optional<LockSnapshot> RedisObserver::snapshotOf(const KeyReader::Gathered &gathered, KeyReader::Clock clock,
                                                      bool isAskedFor) const
{
    auto context = contextOf(m_name, gathered, clock);
    context.includeLowConfidence = true; // settle() hides what was not asked for
    context.isAskedFor = isAskedFor;
    const auto came = m_seen.cameAt(gathered.main, clock.now);
    if (came)
        context.firstSeen[gathered.main.key] = *came;
    context.behaviour[gathered.main.key] = m_seen.behaviourOf(gathered.main, clock.now);
    auto snapshot = recognise(gathered.main, gathered.companions, context);
    if (!snapshot)
        return snapshot;
    if (auto told = m_clients.told(*snapshot, gathered.subscribers))
        snapshot = std::move(told);
    const auto *before = m_snapshots.find(snapshot->lock.name);
    confirmSilentHead(*snapshot, before);
    if (before)
        steady(*snapshot, *before, gathered.main.expiresAt.has_value(), came);
    addLongHeld(*snapshot, m_options.thresholds->of(snapshot->lock), m_usual.of(snapshot->lock.name),
                m_seen.heldAtLeastSince(gathered.main.key));
    return snapshot;
}

void RedisObserver::settle(const KeyReader::Gathered &gathered, KeyReader::Clock clock,
                           std::vector<SnapshotChange> &changes)
{
    const auto &key = gathered.main.key;
    m_seen.note(gathered.main, clock.now,
                m_firstSnapshot.isComplete() && m_follower.tellsOfNewKeys() && !isCatchingUp());
    auto snapshot = snapshotOf(gathered, clock, false);
    m_claims.note(gathered.main, snapshot.has_value(), clock.now, m_sweep.number);
    if (!m_options.includeLowConfidence) {
        auto read = snapshot ? std::vector{std::move(*snapshot)} : std::vector<LockSnapshot>();
        auto shown = m_snapshots.withoutLow(key.bytes(), std::move(read));
        snapshot = shown.empty() ? std::nullopt : std::optional(std::move(shown.front()));
    }
    m_usual.note(key.bytes(), snapshot, clock.now);
    auto seen = snapshot ? std::vector{*snapshot} : std::vector<LockSnapshot>();
    for (auto &change : m_snapshots.replace(key.bytes(), std::move(seen))) {
        m_reorderPrefixes |= change.kind != ChangeKind::Changed;
        changes.push_back(std::move(change));
    }
    if (!snapshot) {
        m_seen.forgetUnlessToken(key);
        // A hash that was empty when it was read was there when it was asked for: a lock, given back meanwhile.
        const bool wasLock = m_known.erase(key) > 0;
        if (!wasLock && !gathered.main.fields.empty() && m_plainHashes.size() < plainHashesKept)
            m_plainHashes.insert(key);
        return;
    }
    if (m_options.follow && m_follower.shouldHearReleases(snapshot->recipe))
        m_follow.launch(m_follower.hearReleases());
    m_rules.note(gathered.main);
    auto &known = m_known[key];
    known.subscribers = gathered.subscribers;
    known.readInSweep = m_sweep.number;
    m_clientsDue |= !m_refusals.has(u"CLIENT LIST"_s) && !m_clients.isUpToDate(known.subscribers);
    planNextLook(gathered, known, std::move(*snapshot));
}

// Nobody tells of a key that expired until something touches it, and nobody tells that time passes.
void RedisObserver::planNextLook(const KeyReader::Gathered &gathered, Known &known, LockSnapshot snapshot)
{
    const auto now = snapshot.observed;
    const auto &key = gathered.main.key;
    const auto longHeldAt = nextLongHeld(snapshot, m_options.thresholds->of(snapshot.lock),
                                         m_usual.of(snapshot.lock.name), m_seen.heldAtLeastSince(key));
    auto next = nextMomentOf(gathered.main, gathered.companions, snapshot, longHeldAt);
    const auto *silent = snapshot.holderCount() == 0 ? snapshot.find(FindingCode::LostWakeup) : nullptr;
    if (silent && silent->severity == Severity::Info) // seen once
        next = std::min(next.value_or(now + confirmsAfter), now + confirmsAfter);
    if (!next || !m_options.follow) {
        known.nextLook.cancel();
        return;
    }
    known.nextLook = m_loop.callAt(m_loop.now() + (*next - now) + afterExpiry, [this, key] { enqueue(key); });
}

Task<Result<LockSnapshot>> RedisObserver::readNow(QByteArray name, Deadline deadline)
{
    const RedisKey asked(name);
    const auto key = companionOf(asked).value_or(asked);
    std::vector<RedisKey> keys(1, key);
    // A reader of its own: its own deadline, and its clock is that of this look.
    Refusals refusals;
    KeyReader reader(m_connection, refusals, deadline);
    CO_TRY(auto &looked, co_await reader.look(std::move(keys)));
    const auto clock = reader.clock();
    CO_TRY(auto &gathered, co_await reader.gather(std::move(looked)));
    // Who names a lock gets to see it, however little its name says.
    auto snapshot = snapshotOf(gathered.front(), clock, true);
    if (snapshot && !m_firstSnapshot.isComplete()) { // then nobody has listed the clients yet
        const auto &subscribers = gathered.front().subscribers;
        auto channels = channelsOf(*snapshot, subscribers);
        const auto listed = co_await reader.listClients(std::move(channels), m_follower.subscriberId());
        if (auto told = listed ? listed->told(*snapshot, subscribers) : std::nullopt)
            snapshot = std::move(told);
    }
    if (snapshot)
        co_return std::move(*snapshot);
    co_return noLockAt(gathered.front().main, refusals.messages());
}

std::vector<Coverage> RedisObserver::coverage() const
{
    const auto missing = missingIn(m_connection, m_pulse.isSilent(), !m_started || m_firstSnapshot.isComplete(),
                                   m_started && isCatchingUp());
    auto all = coverageOf(m_name, {missing, m_connection.missing()}, m_refusals);
    addHidden(all, m_snapshots.hidden());
    addUnexplained(all, m_claims.groups());
    return all;
}

void RedisObserver::notifyProgress(bool atOnce)
{
    if (!atOnce && m_loop.now() - m_progressToldAt < progressEvery)
        return;
    const auto how = m_options.follow ? m_follower.how(m_options.pollEvery) : u"SCAN"_s;
    Progress progress{m_name, how, m_sweep.done(), m_sweep.total(), m_sweep.running, m_firstSnapshot.isComplete()};
    if (progress == m_reporter.progress())
        return;
    m_progressToldAt = m_loop.now();
    m_reporter.tell(std::move(progress));
}

} // namespace lockscope::inspect
