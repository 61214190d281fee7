// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/foundfindings.h"

#include "app/lockscopectl/output.h"
#include "core/base/text.h"
#include "core/inspect/json.h"

namespace lockscope::ctl {

namespace {

FoundFinding foundOn(const inspect::LockName &lock, const inspect::Finding &finding)
{
    FoundFinding found{finding, {}, {}, {lock}};
    for (const auto &id : finding.contenders)
        found.contenders.emplace_back(lock, id);
    return found;
}

FoundFinding foundIn(const inspect::WaitGraph &graph, const inspect::WaitCycle &cycle)
{
    const auto code = inspect::FindingCode::Deadlock;
    FoundFinding found{{code, inspect::kindOf(code).severity, cycle.sentence, {}}, {}, {}, {}};
    found.finding.victim = victimOf(graph, cycle);
    for (const auto &seat : cycle.seats) {
        const auto &lock = graph.locks[static_cast<std::size_t>(seat.lock)].name;
        found.contenders.emplace_back(lock, seat.contender);
        if (std::ranges::find(found.locks, lock) == found.locks.end())
            found.locks.push_back(lock);
    }
    return found;
}

FoundFinding foundOf(inspect::DeadlockFinding ended)
{
    FoundFinding found{std::move(ended.finding), {}, {}, {}, ended.connection, std::move(ended.deadlock)};
    for (const auto &party : found.ended->parties) {
        const inspect::LockName lock{found.connection, party.awaited};
        if (std::ranges::find(found.locks, lock) == found.locks.end())
            found.locks.push_back(lock);
    }
    return found;
}

// What a window recorded of a deadlock is said anew, once for all its locks, where it is seen anew.
bool isSaidAnew(const inspect::LockSnapshot &lock, const inspect::Finding &finding, const inspect::WaitGraph &graph)
{
    return finding.code == inspect::FindingCode::Deadlock
           && std::ranges::any_of(graph.cycles, [&](const inspect::WaitCycle &cycle) {
                  return std::ranges::any_of(cycle.locks, [&](int number) {
                      return graph.locks[static_cast<std::size_t>(number)].name == lock.lock;
                  });
              });
}

// One of several locks is muted with all of them only.
void addMute(FoundFinding &found, const std::vector<Mute> &mutes)
{
    const Mute *first = nullptr;
    for (const auto &lock : found.locks) {
        const auto *mute = muteOf(mutes, lock, found.finding.code, found.finding.severity);
        if (!mute)
            return;
        if (!first || mute->until < first->until)
            first = mute;
    }
    if (first)
        found.muted = *first;
}

std::vector<FoundFinding> foundFindings(CommandContext &context, const std::vector<inspect::LockSnapshot> &locks,
                                        const inspect::WaitGraph &graph, const std::vector<Mute> &mutes)
{
    std::vector<FoundFinding> all;
    for (const auto &lock : locks) {
        for (const auto &finding : lock.findings) {
            if (!isSaidAnew(lock, finding, graph))
                all.push_back(foundOn(lock.lock, finding));
        }
    }
    for (const auto &cycle : graph.cycles)
        all.push_back(foundIn(graph, cycle));
    for (auto &[connection, finding] : inspect::findingsOfUnexplainedWaits(context.pictures.coverage()))
        all.push_back({std::move(finding), {}, {}, {}, connection});
    for (auto &ended : inspect::findingsOfEndedDeadlocks(context.pictures.coverage()))
        all.push_back(foundOf(std::move(ended)));
    for (auto &found : all)
        addMute(found, mutes);
    std::ranges::stable_sort(
        all, [](const FoundFinding &a, const FoundFinding &b) { return a.finding.severity > b.finding.severity; });
    return all;
}

} // namespace

QJsonObject findingJson(const FoundFinding &found)
{
    const auto locks = mapped<QJsonArray>(found.locks, [](const auto &lock) { return escaped(lock.text()); });
    QJsonArray contenders;
    for (const auto &[lock, id] : found.contenders)
        contenders.append(QJsonObject{{u"lock"_s, escaped(lock.text())}, {u"id"_s, escaped(id)}});
    QJsonObject json{{u"code"_s, inspect::word(found.finding.code)},
                     {u"severity"_s, inspect::word(found.finding.severity)},
                     {u"message"_s, harmless(found.finding.message, 4000)},
                     {u"locks"_s, locks},
                     {u"contenders"_s, contenders}};
    if (!found.finding.victim.empty())
        json[u"victim"_s] = inspect::toJson(found.finding.victim);
    if (found.ended)
        json[u"deadlock"_s] = inspect::toJson(*found.ended);
    if (found.locks.empty() || found.ended)
        json[u"connection"_s] = escaped(found.connection.bytes());
    if (found.muted)
        json[u"muted"_s] = QJsonObject{{u"reason"_s, found.muted->reason},
                                       {u"until"_s, isoSeconds(found.muted->until.time_since_epoch())}};
    return json;
}

bool isMatched(const CommandContext &context, const inspect::LockName &lock)
{
    const auto glob = context.arguments.value(u"match"_s);
    return glob.isEmpty() || inspect::matchesGlob(lock, glob);
}

Task<FindingsLook> lookForFindings(CommandContext &context)
{
    FindingsLook look{context.pictures.locks(), {}};
    look.graph = co_await context.pictures.waits(requestDeadline(context));
    look.all = foundFindings(context, look.locks, look.graph, mutesAt(context.pictures.now()));
    std::erase_if(look.all, [&](const FoundFinding &found) {
        return !found.locks.empty()
               && std::ranges::none_of(found.locks, [&](const auto &lock) { return isMatched(context, lock); });
    });
    co_return look;
}

LastingFindings::Key LastingFindings::keyOf(const FoundFinding &found)
{
    QByteArrayList names;
    for (const auto &lock : found.locks)
        names << lock.text();
    if (names.isEmpty() || found.ended)
        names << found.connection.bytes();
    std::ranges::sort(names);
    return {found.finding.code, names.join('\0')};
}

std::set<ConnectionName> connectionsOf(const FoundFinding &found)
{
    std::set<ConnectionName> names;
    for (const auto &lock : found.locks)
        names.insert(lock.connection);
    if (!found.connection.isEmpty())
        names.insert(found.connection);
    return names;
}

// The one before it that shares a contender goes on as this one.
LastingFindings::Seen LastingFindings::claim(const Key &key, Seen now)
{
    const auto [first, last] = m_seen.equal_range(key);
    for (auto before = first; before != last; ++before) {
        std::set<QByteArray> stayed;
        std::ranges::set_intersection(before->second.contenders, now.contenders, std::inserter(stayed, stayed.end()));
        if (stayed.empty() && !(before->second.contenders.empty() && now.contenders.empty()))
            continue;
        now.number = before->second.number;
        now.contenders = std::move(stayed);
        m_seen.erase(before);
        return now;
    }
    now.number = ++m_last;
    return now;
}

std::vector<LastingFindings::Number> LastingFindings::see(const std::vector<FoundFinding> &all, Instant now,
                                                          const std::function<bool(const ConnectionName &)> &isKnown)
{
    std::vector<Number> numbers;
    std::multimap<Key, Seen> seen;
    std::map<Number, Instant> since;
    const auto keep = [&](const Key &key, Seen one) {
        const auto before = m_since.find(one.number);
        since.emplace(one.number, before == m_since.end() ? now : before->second);
        seen.emplace(key, std::move(one));
    };
    for (const auto &found : all) {
        Seen one{0, {}, connectionsOf(found)};
        for (const auto &[lock, id] : found.contenders)
            one.contenders.insert(lock.text() + '\0' + id);
        const auto key = keyOf(found);
        one = claim(key, std::move(one));
        numbers.push_back(one.number);
        keep(key, std::move(one));
    }
    for (auto &[key, before] : m_seen) {
        if (!std::ranges::all_of(before.connections, isKnown))
            keep(key, std::move(before));
    }
    m_seen = std::move(seen);
    m_since = std::move(since);
    return numbers;
}

} // namespace lockscope::ctl
