// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/etcd/observer.h"

#include "core/base/text.h"

#include <algorithm>

namespace lockscope::inspect {

namespace {

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
    QStringList endings;
    for (const auto &one : prefixes.first(std::min(prefixes.size(), mostRangesNamed)))
        endings << label('/' + one.toPercentEncoding("/"), 80);
    const auto more = prefixes.size() - endings.size();
    const auto named = endings.join(u" or "_s);
    return u"the user may read below several prefixes only, and one connection looks at one: end its URI with %1"_s
        .arg(more > 0 ? u"%1 (or one of %2 more)"_s.arg(named, QString::number(more)) : named);
}

Task<Result<QByteArray>> onlyReadablePrefix(etcd::Client *client, QByteArray prefix, Error refused)
{
    constexpr std::chrono::seconds rightsTakeAtMost(5);
    auto asking = client->access(Deadline::after(client->loop(), rightsTakeAtMost));
    const auto access = co_await asking;
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
    auto asking = client->access(deadline);
    const auto access = co_await asking;
    if (!access)
        co_return QStringList{u"could not read the user's rights: %1"_s.arg(access.error().message)};
    co_return etcdRightsOf(*access);
}

} // namespace lockscope::inspect
