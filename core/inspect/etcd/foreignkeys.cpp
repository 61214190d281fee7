// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/etcd/foreignkeys.h"

#include "core/base/text.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

void noteForeign(EtcdForeign &foreign, const etcd::KeyValue &entry)
{
    std::erase_if(foreign.keys, [&entry](const auto &one) { return one.key == entry.key; });
    foreign.keys.insert(std::ranges::upper_bound(foreign.keys, entry.created, {}, &etcd::KeyValue::created), entry);
    if (foreign.keys.size() <= mostForeignKeys)
        return;
    foreign.keys.resize(mostForeignKeys);
    const auto last = foreign.keys.back().created;
    foreign.knownTo = foreign.knownTo == 0 ? last : std::min(foreign.knownTo, last);
}

bool forgetForeign(EtcdForeign &foreign, const QByteArray &key)
{
    return std::erase_if(foreign.keys, [&key](const auto &one) { return one.key == key; }) > 0;
}

const etcd::KeyValue *youngestBetween(const EtcdForeign &foreign, etcd::Revision after, etcd::Revision before)
{
    const etcd::KeyValue *youngest = nullptr;
    for (const auto &one : foreign.keys) {
        if (one.created > after && one.created < before)
            youngest = &one;
    }
    return youngest;
}

std::vector<QByteArray> prefixesOf(const QByteArray &key)
{
    std::vector<QByteArray> all;
    for (auto at = key.indexOf('/', 1); at > 0; at = key.indexOf('/', at + 1))
        all.push_back(key.left(at));
    return all;
}

QString foreignText(const etcd::KeyValue &entry)
{
    const auto key = label(entry.key, 120);
    return entry.lease == 0 ? u"%1, which has no lease and never ends by itself"_s.arg(key)
                            : u"%1 with the lease %2"_s.arg(key, QString::fromLatin1(etcd::leaseText(entry.lease)));
}

QString etcdctlDelete(const QByteArray &key, etcd::Revision created)
{
    const bool isPlain = std::ranges::all_of(key, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
               || QByteArrayView("/._-:").contains(c);
    });
    if (!isPlain || key.startsWith('-') || key.size() > 120)
        return {};
    return uR"(printf 'c("%1") = "%2"\n\ndel %1\n\n\n' | etcdctl txn)"_s.arg(QString::fromLatin1(key),
                                                                             QString::number(created));
}

QString unexplainedText(const std::set<QByteArray> &keys, bool areAll)
{
    constexpr qsizetype mostNamed = 3;
    QStringList names;
    for (auto at = keys.begin(); at != keys.end() && names.size() < mostNamed; ++at)
        names << label(*at, 80);
    const auto count = qint64(keys.size());
    const auto what =
        count == 1 ? u"1 key has a lease and is not explained (it may be a lock of another form): "_s
                   : u"%1%2 keys have a lease and are not explained (they may be locks of another form): "_s.arg(
                       areAll ? QString() : u"at least "_s, QString::number(count));
    return what + names.join(u", "_s) + (count > mostNamed ? u" and others"_s : QString());
}

// Free only where nothing is left that a client may hold, or wait for.
Error noLock(const QByteArray &name, const EtcdForeign &others)
{
    const auto there = u"no lock is at %1: there is no key %1/<lease> with its lease"_s.arg(label(name, 80));
    if (others.keys.empty())
        return Error{ErrorCode::NoNode, there};
    return Error{ErrorCode::Unsupported,
                 there
                     + u"; whether it is free is not known: there is the key %1, which is not explained"_s.arg(
                         foreignText(others.keys.front()))};
}

} // namespace lockscope::inspect
