// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/foundfindings.h"

#include "app/lockscopectl/report.h"
#include "core/base/duration.h"
#include "core/base/text.h"
#include "core/inspect/coverage.h"
#include "core/inspect/json.h"
#include "core/inspect/thresholds.h"

#include <algorithm>

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

void LastingFindings::see(const std::vector<FoundFinding> &all, Instant now,
                          const std::function<bool(const ConnectionName &)> &isKnown)
{
    std::map<Key, Seen> seen;
    for (const auto &found : all) {
        Seen one{now, {}, {found.connection}};
        for (const auto &[lock, id] : found.contenders)
            one.contenders.insert(lock.text() + '\0' + id);
        for (const auto &lock : found.locks)
            one.connections.insert(lock.connection);
        const auto key = keyOf(found);
        if (const auto before = m_seen.find(key); before != m_seen.end()) {
            std::set<QByteArray> stayed;
            std::ranges::set_intersection(before->second.contenders, one.contenders,
                                          std::inserter(stayed, stayed.end()));
            if (!stayed.empty() || before->second.contenders == one.contenders)
                one = {before->second.since, stayed, one.connections};
        }
        seen.insert_or_assign(key, std::move(one));
    }
    for (auto &[key, before] : m_seen) {
        const bool isUnknown = std::ranges::any_of(
            before.connections, [&](const ConnectionName &name) { return !name.isEmpty() && !isKnown(name); });
        if (isUnknown)
            seen.try_emplace(key, std::move(before));
    }
    m_seen = std::move(seen);
}

Duration LastingFindings::lasts(const Key &key, Instant now) const
{
    const auto seen = m_seen.find(key);
    return seen == m_seen.end() ? Duration(-1) : Duration(now - seen->second.since);
}

} // namespace lockscope::ctl
