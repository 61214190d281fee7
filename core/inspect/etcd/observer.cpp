// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/etcd/observer.h"

#include "core/base/text.h"
#include "core/inspect/coverage.h"

namespace lockscope::inspect {

namespace {

constexpr auto beat = 1s;
constexpr auto restAfterFailure = 500ms;
constexpr auto sweepTakesAtMost = 60s;
constexpr auto leaseAnswersWithin = 3s;
constexpr auto widerAskedEvery = 5s;
constexpr int leasesPerBeat = 64;
constexpr int asksBetweenKeys = 10;    // of one lease
constexpr qint64 mostKeysAsked = 1000; // of one that has had more they are not asked again
constexpr int leasesAtFirst = 500;
// Their time is told in whole seconds, rounded down.
constexpr auto waveringOfLeases = 2s;
constexpr qint64 mostOfOneLock = 10'000;

QString lookedAtText(const QByteArray &prefix)
{
    const auto within = prefix.isEmpty() ? u"all keys"_s : u"all keys that begin with %1"_s.arg(label(prefix, 80));
    return u"every key with a lease, and every key PREFIX/<a lease>, of %1; an election without a proposal looks "
           u"like a mutex"_s.arg(within);
}

// Whether the server answers for them as of now.
Task<bool> isAnswered(etcd::Client *client, QByteArray key, QByteArray end)
{
    const etcd::RangeRequest any{.key = std::move(key), .end = std::move(end), .limit = 1, .keysOnly = true};
    const auto answer = co_await client->range(any, Deadline::after(client->loop(), leaseAnswersWithin));
    co_return static_cast<bool>(answer);
}

constexpr qsizetype mostRangesNamed = 20; // a user may have any number

QString etcdRange(const etcd::Permission &permission)
{
    const QByteArray zero(1, '\0');
    const bool isFromTheFirst = permission.key.isEmpty() || permission.key == zero;
    const auto key = label(permission.key, 80);
    if (permission.end.isEmpty())
        return u"the key "_s + key;
    if (permission.end == zero)
        return isFromTheFirst ? u"all keys"_s : u"the keys from %1 on"_s.arg(key);
    if (permission.end == etcd::endOfPrefix(permission.key))
        return u"the keys that begin with "_s + key;
    return u"the keys from %1 to before %2"_s.arg(isFromTheFirst ? u"the first"_s : key, label(permission.end, 80));
}

} // namespace

EtcdObserver::EtcdObserver(etcd::Client &client, ConnectionName name, QByteArray prefix, ObserverOptions options,
                           ObserverSink &sink)
    : KeepingObserver(client.loop(), std::move(name), std::move(options), sink, waveringOfLeases), m_client(client),
      m_asked(std::move(prefix)), m_prefix(m_asked), m_over(m_loop), m_work(m_loop)
{
}

Task<void> EtcdObserver::observe()
{
    for (;;) {
        const auto swept = co_await sweep();
        m_problem = swept ? QString() : u"the last scan failed; older data is shown: %1"_s.arg(swept.error().message);
        if (swept && !m_firstSnapshot.isComplete())
            m_firstSnapshot.complete(true);
        tell();
        if (swept && !m_options.follow)
            co_return;
        if (swept) {
            co_await follow();
        }
        co_await sleepFor(m_loop, restAfterFailure);
    }
}

Task<Result<EtcdSwept>> EtcdObserver::sweepBelow(QByteArray prefix)
{
    m_isSweeping = true;
    const std::function<void(qint64)> looked = [this](qint64 keys) {
        m_keysLooked = keys;
        ++m_requests;
        tell();
    };
    auto swept = co_await sweepEtcd(&m_client, prefix, looked, Deadline::after(m_loop, sweepTakesAtMost));
    m_isSweeping = false;
    co_return swept;
}

Task<Result<void>> EtcdObserver::sweep()
{
    m_prefix = m_asked; // rights change
    m_isNarrowed = false;
    auto swept = co_await sweepBelow(m_prefix);
    if (!swept && swept.error().code == ErrorCode::NoPermission) {
        ++m_requests;
        CO_TRY(m_prefix, co_await onlyReadablePrefix(&m_client, m_prefix, swept.error()));
        m_isNarrowed = true;
        m_widerAsked = m_loop.now();
        swept = co_await sweepBelow(m_prefix);
    }
    if (!swept)
        co_return swept.error();
    take(std::move(*swept));
    // So that the first picture has them.
    co_await askLeases(leasesAtFirst);
    std::set<QByteArray> all;
    for (const auto &[name, queue] : m_locks)
        all.insert(name);
    for (const auto &[name, entry] : m_snapshots.entries())
        all.insert(name);
    settle(all);
    m_sink.confirm(m_name);
    co_return Result<void>();
}

void EtcdObserver::take(EtcdSwept swept)
{
    m_keys.clear();
    for (const auto &[name, queue] : swept.locks) {
        for (const auto &[created, claim] : queue)
            m_keys[claim.entry.key] = {name, created};
    }
    keepTimes(swept.locks, m_locks);
    m_locks = std::move(swept.locks);
    m_foreign = std::move(swept.foreign);
    m_leased = std::move(swept.leased);
    m_unexplained = unexplainedOf(m_leased, m_locks);
    m_isLedgerOld = false;
    m_unread.clear();
    m_revision = swept.revision;
    m_keysLooked = swept.keys;
}

Task<void> EtcdObserver::follow()
{
    const Completion<bool> over(m_loop);
    m_over = over;
    const etcd::WatchRequest request{m_prefix, etcd::endOfPrefix(m_prefix), m_revision + 1};
    const auto watching = m_client.watch(request, [this](const etcd::WatchNews &news) { heed(news); });
    while (!over.isComplete()) {
        const auto begun = m_requests;
        co_await askLeases(leasesPerBeat);
        ++m_requests;
        auto hearing = isAnswered(&m_client, m_prefix, {}); // by a majority of the cluster
        const bool heard = co_await hearing;
        if (heard && m_isWatching)
            m_sink.confirm(m_name);
        const bool isWider = co_await mayReadMore();
        if (isWider)
            over.complete(true); // and all is looked at anew
        Cost cost;
        cost.watches = 1;
        cost.requestsPerSecond = static_cast<double>(m_requests - begun);
        m_reporter.tell(cost);
        tell();
        const Completion<bool> rested(m_loop);
        over.then([rested](bool) { rested.complete(true); });
        rested.completeAt(Deadline::after(m_loop, beat), true);
        co_await rested;
    }
    m_isWatching = false;
    tell();
}

// Whether a look that was narrowed need not be any more.
Task<bool> EtcdObserver::mayReadMore()
{
    if (!m_isNarrowed || m_loop.now() - m_widerAsked < widerAskedEvery)
        co_return false;
    m_widerAsked = m_loop.now();
    ++m_requests;
    const bool isAllowed = co_await isAnswered(&m_client, m_asked, etcd::endOfPrefix(m_asked));
    co_return isAllowed;
}

void EtcdObserver::heed(const etcd::WatchNews &news)
{
    std::set<QByteArray> changed;
    for (const auto &event : news.events)
        apply(event, changed);
    m_revision = std::max(m_revision, news.revision);
    if (!changed.empty())
        settle(changed);
    m_isWatching = !news.over;
    if (!news.over)
        return;
    m_problem = u"the watch ended; older data is shown: %1"_s.arg(news.over->message);
    m_over.complete(true);
}

LockSnapshot EtcdObserver::snapshotOf(const QByteArray &name, const EtcdQueue &queue,
                                      const EtcdForeign &foreign) const
{
    auto snapshot = etcdSnapshot({m_name, name}, queue, foreign, m_leases, now());
    for (const auto &above : prefixesOf(queue.begin()->second.entry.key)) {
        const auto at = m_locks.find(above);
        if (at != m_locks.end() && above != name)
            addWaiterAbove(snapshot, above, at->second, foreignOf(above));
    }
    const auto key = keyOfFixed(name);
    if (hasLease(name) || m_locks.contains(lockOfFixed(name)))
        addFixedKey(snapshot);
    else if (key && m_locks.contains(*key))
        addQueueBeside(snapshot, *key);
    addAgeFindings(snapshot, *m_options.thresholds, m_usual);
    return snapshot;
}

void EtcdObserver::settle(std::set<QByteArray> names)
{
    const auto given = names;
    for (const auto &name : given)
        addNested(name, names);
    std::vector<SnapshotChange> changes;
    for (const auto &name : names) {
        if (m_unread.contains(name))
            continue;
        const auto at = m_locks.find(name);
        std::vector<LockSnapshot> there;
        if (at != m_locks.end())
            there.push_back(snapshotOf(name, at->second, foreignOf(name)));
        if (!m_options.includeLowConfidence)
            there = m_snapshots.withoutLow(name, std::move(there));
        m_usual.note(name, there.empty() ? std::nullopt : std::optional(there.front()), now());
        auto changed = m_snapshots.replace(name, std::move(there));
        std::ranges::move(changed, std::back_inserter(changes));
    }
    m_sink.takeAll(std::move(changes));
    m_reporter.tell(etcdSessions(m_locks, m_foreign, m_leases, m_name));
}

// With its keys at first and every now and then, for they are all told, and may be many.
Task<Result<void>> EtcdObserver::askLease(etcd::LeaseId id)
{
    auto lease = m_leases.contains(id) ? m_leases[id] : EtcdLease();
    const bool withKeys =
        lease.areKeysTold && lease.otherCount <= mostKeysAsked && lease.asked++ % asksBetweenKeys == 0;
    ++m_requests;
    auto answer = co_await m_client.timeToLive(id, withKeys, Deadline::after(m_loop, leaseAnswersWithin));
    // Who may not read one of them is told none, and how long it lasts all the same.
    if (!answer && withKeys && answer.error().code == ErrorCode::NoPermission) {
        lease.areKeysTold = false;
        ++m_requests;
        answer = co_await m_client.timeToLive(id, false, Deadline::after(m_loop, leaseAnswersWithin));
    }
    if (!answer)
        co_return answer.error();
    if (answer->ttl <= 0s)
        co_return Result<void>();
    std::erase_if(answer->keys, [this](const QByteArray &key) { return m_keys.contains(key); });
    lease.granted = answer->granted;
    lease.ends = now() + answer->ttl;
    if (withKeys && lease.areKeysTold)
        noteOtherKeys(lease, *answer);
    m_leases[id] = std::move(lease);
    co_return Result<void>();
}

// One after the other, from where the last time ended.
Task<void> EtcdObserver::askLeases(int most)
{
    const auto ids = leasesOf(m_locks);
    std::erase_if(m_leases, [&ids](const auto &one) { return !ids.contains(one.first); });
    std::set<etcd::LeaseId> asked;
    m_leaseProblem.clear();
    for (auto at = ids.upper_bound(m_lastAsked); static_cast<int>(asked.size()) < most && asked.size() < ids.size();
         ++at) {
        if (at == ids.end())
            at = ids.begin();
        m_lastAsked = *at;
        const auto had = co_await askLease(*at);
        asked.insert(*at);
        if (had)
            continue;
        m_leaseProblem = u"how long leases last cannot be read: %1"_s.arg(had.error().message);
        break;
    }
    std::set<QByteArray> touched;
    for (const auto &[name, queue] : m_locks) {
        if (std::ranges::any_of(queue, [&asked](const auto &one) { return asked.contains(one.second.entry.lease); }))
            touched.insert(name);
    }
    settle(touched);
}

Task<Result<LockSnapshot>> EtcdObserver::readNow(QByteArray name, Deadline deadline)
{
    if (const auto key = keyOfFixed(name)) {
        auto read = co_await readFixed(*key, deadline);
        co_return read;
    }
    auto request = oldestOf(name, mostOfOneLock);
    request.keysOnly = false;
    CO_TRY(const auto &answer, co_await m_client.range(request, deadline));
    auto keys = etcdKeysOf(name, answer.entries, answer.more);
    const etcd::RangeRequest own{.key = name, .keysOnly = true};
    auto fixing = m_client.range(own, deadline);
    const auto fixed = co_await fixing; // not read where the user may not: it is not told then
    const bool isThere = fixed && !fixed->entries.empty();
    const bool isFixed = isThere && fixed->entries.front().lease != 0;
    if (keys.queue.empty())
        co_return isFixed || (isThere && mayBeHeldWithoutLease(fixed->entries.front()))
            ? noQueue(name, fixed->entries.front())
            : noLock(name, keys.foreign);
    for (auto &[created, claim] : keys.queue)
        keepTime(claim, m_locks, name);
    constexpr int mostReaders = 32; // whose leases are asked for, one after the other
    int asked = 0;
    for (const auto created : holdersOf(keys.queue, keys.foreign)) {
        const auto holder = keys.queue.find(created);
        if (holder == keys.queue.end() || holder->second.entry.lease == 0 || ++asked > mostReaders)
            continue;
        auto asksLease = askLease(holder->second.entry.lease);
        (void)co_await asksLease; // without it the time left is not told
    }
    auto snapshot = snapshotOf(name, keys.queue, keys.foreign);
    if (!m_isWatching) {
        co_await addWaitersAbove(&snapshot, &m_client, deadline);
    }
    if (isFixed && !hasLease(name) && !m_locks.contains(lockOfFixed(name)))
        addFixedKey(snapshot);
    co_return snapshot;
}

std::vector<Coverage> EtcdObserver::coverage() const
{
    std::vector<Coverage> all;
    const auto add = [&](const QString &message) { all.push_back({m_name, false, message}); };
    const bool isConnected = m_client.state() == etcd::ClientState::Connected;
    if (!isConnected)
        add(m_client.lastError().isEmpty() ? u"not connected yet"_s
                                           : u"not connected: %1"_s.arg(m_client.lastError()));
    else if (!m_problem.isEmpty())
        add(m_problem);
    else if (!m_work.isIdle() && !m_firstSnapshot.isComplete()) // who reads one lock has not begun it
        add(u"the initial scan is still running"_s);
    if (isConnected && !m_leaseProblem.isEmpty())
        add(m_leaseProblem);
    if (isConnected && m_isNarrowed)
        add(u"only keys that begin with %1 are read: the user may not read others, and the URI names no prefix"_s.arg(
            label(m_prefix, 80)));
    if (isConnected && m_leased.size() >= mostLeaselessKeys)
        add(u"of keys that may be locks and belong to no known one not all were kept"_s);
    if (all.empty())
        all.push_back({m_name, true, lookedAtText(m_prefix)});
    addUnexplained(all, m_unexplained);
    addHidden(all, m_snapshots.hidden());
    return all;
}

void EtcdObserver::tell()
{
    if (std::exchange(m_isLedgerOld, false))
        m_unexplained = unexplainedOf(m_leased, m_locks);
    m_reporter.tell(coverage());
    m_reporter.tell(Progress{.connection = m_name,
                             .how = m_options.follow ? u"watch"_s : u"one look"_s,
                             .done = m_keysLooked,
                             .running = m_isSweeping,
                             .firstSnapshotComplete = m_firstSnapshot.isComplete()});
}

QStringList etcdRightsOf(const etcd::AccessRights &access)
{
    if (!access.areUsersOn)
        return {u"authentication is off: every client that connects may do everything"_s};
    const auto user = u"user "_s + label(access.user, 60);
    if (access.isRoot)
        return {u"%1 has the role root, and may do everything"_s.arg(user)};
    QStringList both, reads, writes;
    for (const auto &permission : access.permissions) {
        auto &named = permission.reads && permission.writes ? both : permission.reads ? reads : writes;
        const auto range = etcdRange(permission);
        if (!named.contains(range))
            named << range;
    }
    QStringList said;
    const auto say = [&said](const QString &what, const QStringList &ranges) {
        if (ranges.isEmpty())
            return;
        const auto more = ranges.size() - mostRangesNamed;
        const auto named = ranges.first(std::min(ranges.size(), mostRangesNamed)).join(u", "_s);
        said << what.arg(more > 0 ? u"%1 and %2 more ranges"_s.arg(named, QString::number(more)) : named);
    };
    say(u"may read and write %1"_s, both);
    say(u"may read, and not write, %1"_s, reads);
    say(u"may write, and not read, %1"_s, writes);
    if (said.isEmpty())
        said << u"may neither read nor write any key: none of its roles says that it may"_s;
    said.front().prepend(user + u' ');
    return said;
}

QByteArrayList readablePrefixes(const etcd::AccessRights &access, const QByteArray &prefix)
{
    QByteArrayList all;
    for (const auto &permission : access.permissions) {
        const bool isPrefix = !permission.key.isEmpty() && permission.end == etcd::endOfPrefix(permission.key);
        if (permission.reads && isPrefix && permission.key.startsWith(prefix))
            all << permission.key;
    }
    std::ranges::sort(all);
    QByteArrayList outermost;
    for (const auto &one : all) {
        if (outermost.isEmpty() || !one.startsWith(outermost.last()))
            outermost << one;
    }
    return outermost;
}

QString prefixToChoose(const QByteArrayList &prefixes)
{
    if (prefixes.isEmpty())
        return u"the user's roles allow reading none of the scanned prefixes completely: `test` lists what they "
               u"allow"_s;
    const auto endings =
        mapped<QStringList>(prefixes.first(std::min(prefixes.size(), mostRangesNamed)),
                            [](const auto &one) { return label('/' + one.toPercentEncoding("/"), 80); });
    const auto more = prefixes.size() - endings.size();
    const auto named = endings.join(u" or "_s);
    return u"the user may read below several prefixes only, and one connection looks at one: end its URI with %1"_s
        .arg(more > 0 ? u"%1 (or one of %2 more)"_s.arg(named, QString::number(more)) : named);
}

Task<Result<QByteArray>> onlyReadablePrefix(etcd::Client *client, QByteArray prefix, Error refused)
{
    constexpr std::chrono::seconds rightsTakeAtMost(5);
    const auto access = co_await client->access(Deadline::after(client->loop(), rightsTakeAtMost));
    if (!access)
        co_return refused;
    const auto prefixes = readablePrefixes(*access, prefix);
    if (prefixes.size() == 1 && prefixes.front() != prefix)
        co_return prefixes.front();
    refused.message += u"; "_s + prefixToChoose(prefixes);
    co_return refused;
}

Task<QStringList> etcdRights(etcd::Client *client, Deadline deadline)
{
    const auto access = co_await client->access(deadline);
    if (!access)
        co_return QStringList{u"could not read the user's rights: %1"_s.arg(access.error().message)};
    co_return etcdRightsOf(*access);
}

} // namespace lockscope::inspect
