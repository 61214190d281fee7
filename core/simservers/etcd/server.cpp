// SPDX-License-Identifier: Apache-2.0
#include "core/simservers/etcd/server.h"

namespace lockscope::sim {

using etcd::KeyValue;
using etcd::LeaseAnswer;
using etcd::LeaseId;
using etcd::Operation;
using etcd::Revision;
using etcd::WatchEvent;

namespace {

// Of a member whose election timeout is a second, as it is unless said.
constexpr std::chrono::seconds shortestLease{2};
constexpr Duration looksEvery = 500ms;
constexpr std::size_t mostHistory = 10'000;

Error noLease()
{
    return {ErrorCode::NoNode, u"etcdserver: requested lease not found"_s};
}

bool isIn(const QByteArray &key, const QByteArray &first, const QByteArray &end)
{
    if (end.isEmpty())
        return key == first;
    const bool isUpToLast = end == QByteArray(1, '\0');
    return key >= first && (isUpToLast || key < end);
}

} // namespace

Result<etcd::RangeAnswer> EtcdServer::answer(const etcd::RangeRequest &request) const
{
    if (request.at != 0)
        return Error{ErrorCode::Unsupported, u"the simulated etcd keeps no past"_s};
    etcd::RangeAnswer answer;
    answer.revision = m_revision;
    const auto end = request.end.isEmpty() ? m_entries.upper_bound(request.key) : m_entries.end();
    for (auto at = m_entries.lower_bound(request.key); at != end && isIn(at->first, request.key, request.end); ++at) {
        if (request.createdUpTo == 0 || at->second.created <= request.createdUpTo)
            answer.entries.push_back(at->second);
    }
    if (request.order == etcd::Order::OldestFirst)
        std::ranges::stable_sort(answer.entries, {}, &KeyValue::created);
    else if (request.order == etcd::Order::NewestFirst)
        std::ranges::stable_sort(answer.entries, std::greater(), &KeyValue::created);
    if (request.limit > 0 && std::ssize(answer.entries) > request.limit) {
        answer.more = true;
        answer.entries.resize(static_cast<std::size_t>(request.limit));
    }
    for (auto &entry : answer.entries) {
        if (request.keysOnly)
            entry.value.clear();
    }
    return answer;
}

bool EtcdServer::holds(const etcd::Condition &condition) const
{
    const auto at = m_entries.find(condition.key);
    const auto created = at == m_entries.end() ? Revision(0) : at->second.created;
    const auto lease = at == m_entries.end() ? LeaseId(0) : at->second.lease;
    return created == condition.created && (condition.lease == 0 || lease == condition.lease);
}

std::optional<Error> EtcdServer::objectionTo(const std::vector<Operation> &operations) const
{
    std::set<QByteArray> written;
    for (const auto &operation : operations) {
        if (operation.kind == Operation::Kind::Put && operation.lease != 0 && !m_leases.contains(operation.lease))
            return noLease();
        if (operation.kind == Operation::Kind::Put && !written.insert(operation.range.key).second)
            return Error{ErrorCode::Server, u"etcdserver: duplicate key given in txn request"_s};
    }
    return std::nullopt;
}

Result<etcd::TransactionAnswer> EtcdServer::answer(const etcd::Transaction &transaction)
{
    etcd::TransactionAnswer answer;
    answer.held = std::ranges::all_of(transaction.conditions, [this](const auto &one) { return holds(one); });
    const auto &operations = answer.held ? transaction.then : transaction.otherwise;
    if (const auto no = objectionTo(operations))
        return *no;
    const auto revision = m_revision + 1;
    for (const auto &operation : operations) {
        if (operation.kind == Operation::Kind::Put) {
            put(operation, revision);
        } else if (operation.kind == Operation::Kind::Remove) {
            remove(operation.range.key, revision);
        } else {
            TRY(auto &seen, this->answer(operation.range));
            seen.revision = m_changes.empty() ? m_revision : revision;
            answer.ranges.push_back(std::move(seen));
        }
    }
    if (!m_changes.empty())
        publish(revision);
    answer.revision = m_revision;
    return answer;
}

void EtcdServer::put(const Operation &operation, Revision revision)
{
    auto &entry = m_entries[operation.range.key];
    if (const auto before = m_leases.find(entry.lease); before != m_leases.end())
        before->second.keys.erase(operation.range.key);
    entry.key = operation.range.key;
    entry.value = operation.value;
    entry.lease = operation.lease;
    entry.created = entry.created == 0 ? revision : entry.created;
    entry.modified = revision;
    if (const auto lease = m_leases.find(operation.lease); lease != m_leases.end())
        lease->second.keys.insert(operation.range.key);
    m_changes.push_back({false, entry});
}

bool EtcdServer::remove(const QByteArray &key, Revision revision)
{
    const auto at = m_entries.find(key);
    if (at == m_entries.end())
        return false;
    if (const auto lease = m_leases.find(at->second.lease); lease != m_leases.end())
        lease->second.keys.erase(key);
    m_entries.erase(at);
    KeyValue gone;
    gone.key = key;
    gone.modified = revision;
    m_changes.push_back({true, gone});
    return true;
}

void EtcdServer::publish(Revision revision)
{
    m_revision = revision;
    m_history.emplace_back(revision, std::exchange(m_changes, {}));
    if (m_history.size() > mostHistory)
        m_history.pop_front();
    const auto events = m_history.back().second;
    auto watching = m_watchesOfRanges;
    for (const auto &event : events) {
        if (const auto at = m_watchesOfKey.find(event.entry.key); at != m_watchesOfKey.end())
            watching.insert(at->second.begin(), at->second.end());
    }
    for (const auto number : watching) {
        const auto at = m_watches.find(number);
        if (at != m_watches.end() && at->second.request.from <= revision)
            tell(Watch(at->second), revision, events);
    }
}

void EtcdServer::tell(const Watch &watch, Revision revision, const std::vector<WatchEvent> &events) const
{
    etcd::WatchNews news;
    news.revision = revision;
    for (const auto &event : events) {
        if (isIn(event.entry.key, watch.request.key, watch.request.end))
            news.events.push_back(event);
    }
    if (!news.events.empty())
        watch.onNews(news);
}

void EtcdServer::watch(quint64 watch, const etcd::WatchRequest &request, OnNews onNews)
{
    etcd::WatchNews stands;
    stands.revision = m_revision;
    const auto oldest = m_history.empty() ? m_revision + 1 : m_history.front().first;
    if (request.from != 0 && request.from <= m_revision && request.from < oldest) {
        stands.over = Error{ErrorCode::Server, u"the history was compacted up to revision %1"_s.arg(oldest - 1)};
        onNews(stands);
        return;
    }
    const Watch added{request, std::move(onNews)};
    m_watches[watch] = added;
    (request.end.isEmpty() ? m_watchesOfKey[request.key] : m_watchesOfRanges).insert(watch);
    added.onNews(stands);
    const auto since = request.from == 0 ? m_revision + 1 : request.from;
    using Past = std::pair<Revision, std::vector<WatchEvent>>;
    for (auto at = std::ranges::lower_bound(m_history, since, {}, &Past::first); at != m_history.end(); ++at)
        tell(added, at->first, at->second);
}

void EtcdServer::unwatch(quint64 watch)
{
    const auto at = m_watches.find(watch);
    if (at == m_watches.end())
        return;
    m_watchesOfRanges.erase(watch);
    if (const auto ofKey = m_watchesOfKey.find(at->second.request.key); ofKey != m_watchesOfKey.end()) {
        ofKey->second.erase(watch);
        if (ofKey->second.empty())
            m_watchesOfKey.erase(ofKey);
    }
    m_watches.erase(at);
}

Result<LeaseAnswer> EtcdServer::answer(const etcd::GrantRequest &request)
{
    const auto id = request.id;
    if (m_leases.contains(id))
        return Error{ErrorCode::Server, u"etcdserver: lease already exists"_s};
    auto &lease = m_leases[id];
    lease.ttl = std::max(request.ttl, shortestLease);
    lease.ends = m_world.now() + lease.ttl;
    watchOver(id);
    LeaseAnswer answer;
    answer.id = id;
    answer.ttl = lease.ttl;
    return answer;
}

// Prolonging it costs nothing: the timer finds out that it is not yet its time.
void EtcdServer::watchOver(LeaseId id)
{
    auto &lease = m_leases.at(id);
    const auto look = (lease.ends.time_since_epoch() / looksEvery + 1) * looksEvery;
    lease.timer = m_world.callAt(Instant(look), [this, id] {
        const auto at = m_leases.find(id);
        if (at == m_leases.end())
            return;
        if (at->second.ends <= m_world.now())
            end(id);
        else
            watchOver(id);
    });
}

void EtcdServer::end(LeaseId id)
{
    const auto keys = m_leases.at(id).keys;
    const auto revision = m_revision + 1;
    for (const auto &key : keys)
        remove(key, revision);
    m_leases.erase(id);
    if (!m_changes.empty())
        publish(revision);
}

Result<LeaseAnswer> EtcdServer::answer(const etcd::KeepAliveRequest &request)
{
    LeaseAnswer answer;
    answer.id = request.id;
    const auto at = m_leases.find(request.id);
    if (at == m_leases.end())
        return answer;
    at->second.ends = m_world.now() + at->second.ttl;
    answer.ttl = at->second.ttl;
    return answer;
}

Result<bool> EtcdServer::answer(const etcd::RevokeRequest &request)
{
    if (!m_leases.contains(request.id))
        return noLease();
    end(request.id);
    return true;
}

Result<LeaseAnswer> EtcdServer::answer(const etcd::TimeToLiveRequest &request) const
{
    LeaseAnswer answer;
    answer.id = request.id;
    answer.ttl = std::chrono::seconds(-1);
    const auto at = m_leases.find(request.id);
    if (at == m_leases.end())
        return answer;
    answer.ttl = std::chrono::floor<std::chrono::seconds>(at->second.ends - m_world.now());
    answer.granted = at->second.ttl;
    if (request.withKeys)
        answer.keys.assign(at->second.keys.begin(), at->second.keys.end());
    return answer;
}

Result<std::vector<LeaseId>> EtcdServer::answer(const etcd::LeasesRequest &) const
{
    std::vector<LeaseId> ids;
    for (const auto &[id, lease] : m_leases)
        ids.push_back(id);
    return ids;
}

} // namespace lockscope::sim
