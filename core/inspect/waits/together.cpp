// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/waits/clients.h"

#include "core/base/text.h"
#include "core/inspect/redis/naming.h"

#include <map>
#include <set>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

// Of one whose hold is a field with a name of its own, the identity says who it is.
std::optional<QByteArray> threadOf(const Contender &one)
{
    auto holder = readHolder(one.id);
    if (!holder && one.identity)
        holder = readHolder(*one.identity);
    return holder ? std::optional(holder->client + ':' + holder->thread) : std::nullopt;
}

std::vector<QByteArray> holdingThreads(const LockSnapshot &lock)
{
    std::vector<QByteArray> threads;
    if (!infoOf(lock.backend).areThreadsNamed)
        return threads;
    for (const auto &contender : lock.contenders) {
        auto thread = contender.role == Role::Holder ? threadOf(contender) : std::nullopt;
        if (thread && std::ranges::find(threads, *thread) == threads.end())
            threads.push_back(std::move(*thread));
    }
    return threads;
}

bool isHeldByAny(const LockSnapshot &lock, const std::vector<QByteArray> &threads)
{
    return std::ranges::any_of(lock.contenders, [&threads](const Contender &one) {
        return one.role == Role::Holder && std::ranges::any_of(threads, [&one](const QByteArray &thread) {
                   // Most do not even begin alike: asked of every lock there is, once a second.
                   const bool mayBe = one.id.startsWith(thread) || (one.identity && one.identity->startsWith(thread));
                   return mayBe && threadOf(one) == thread;
               });
    });
}

std::vector<HeldTogether> heldTogether(const std::vector<LockSnapshot> &locks)
{
    std::map<std::pair<ConnectionName, QByteArray>, std::set<QByteArray>> byThread;
    for (const auto &lock : locks) {
        for (const auto &thread : holdingThreads(lock))
            byThread[{lock.lock.connection, thread}].insert(lock.lock.name);
    }
    std::vector<HeldTogether> groups;
    for (const auto &[who, names] : byThread) {
        if (names.size() > 1)
            groups.push_back({who.first, who.second, {names.begin(), names.end()}});
    }
    return groups;
}

std::vector<QByteArray> heldWith(const LockSnapshot &lock, const std::vector<HeldTogether> &groups)
{
    const auto keyOfGroup = [](const HeldTogether &group) { return std::pair(group.connection, group.thread); };
    std::set<QByteArray> others;
    for (const auto &thread : holdingThreads(lock)) {
        const std::pair key(lock.lock.connection, thread);
        const auto at = std::ranges::lower_bound(groups, key, {}, keyOfGroup);
        if (at != groups.end() && keyOfGroup(*at) == key)
            others.insert(at->locks.begin(), at->locks.end());
    }
    others.erase(lock.lock.name);
    return {others.begin(), others.end()};
}

QString heldWithNames(const std::vector<QByteArray> &others)
{
    constexpr qsizetype namedAtMost = 3;
    const auto names = mapped<QStringList>(others, [](const auto &other) { return label(other, 60); });
    return names.size() > namedAtMost || names.size() < 2
               ? firstNamed(names, namedAtMost)
               : names.mid(0, names.size() - 1).join(u", "_s) + u" and "_s + names.last();
}

QString heldWithSentence(const std::vector<QByteArray> &others)
{
    if (others.empty())
        return {};
    return u"held together with %1 by one thread, as the members of a MultiLock are"_s.arg(heldWithNames(others));
}

} // namespace lockscope::inspect
