// SPDX-License-Identifier: Apache-2.0
// Read/write locks that are no Redisson's: by the keys beside the lock's name, and by a count of readers.
#include "core/inspect/redis/naming.h"

#include "core/base/identifiers.h"
#include "core/inspect/findings.h"
#include "core/inspect/redis/pieces.h"

#include <algorithm>

namespace lockscope::inspect {

namespace {

const QByteArray waitingMark = "_WRITERWAITING";
constexpr QByteArrayView nextcloudFolder{"/lockfiles/"};
constexpr qint64 mostSharedHolds = 1000;

Contender dotNetContender(const QByteArray &id, Role role, Mode mode)
{
    return {.id = id, .role = role, .mode = mode, .identity = dotNetHolder(id), .guard = RedisIdentity{.value = id}};
}

void addReaders(LockSnapshot &lock, const Case &about, const KeyView &readers)
{
    for (const auto &reader : readers.items) {
        auto holder = dotNetContender(reader, Role::Holder, Mode::Read);
        if (readers.memberCount() == 1) // of several the set ends with the last
            holder.expiresAt = about.expiry(readers);
        lock.contenders.push_back(std::move(holder));
    }
}

void addWriter(LockSnapshot &lock, const Case &about, const KeyView &writer)
{
    auto id = *writer.value;
    const bool waits = id.endsWith(waitingMark);
    if (waits)
        id.chop(waitingMark.size());
    auto contender = dotNetContender(id, waits ? Role::Waiter : Role::Holder, Mode::Write);
    contender.guard = RedisIdentity{.value = *writer.value};
    contender.expiresAt = about.expiry(writer);
    lock.contenders.push_back(std::move(contender));
}

bool isWriter(const QByteArray &value)
{
    return dotNetHolder(value.endsWith(waitingMark) ? value.chopped(waitingMark.size()) : value).has_value();
}

Contender sharedHold(const Case &about, qint64 number)
{
    auto holder = holderOf(about, *about.main.value);
    holder.id = "shared hold " + QByteArray::number(number);
    holder.mode = Mode::Read;
    return holder;
}

} // namespace

std::optional<QByteArray> dotNetHolder(const QByteArray &text)
{
    constexpr qsizetype hexDigits = 32;
    const auto last = text.lastIndexOf('_');
    const auto first = last <= 0 ? -1 : text.lastIndexOf('_', last - 1);
    if (first <= 0 || text.size() - last - 1 != hexDigits || !isHex(text.mid(last + 1).toLower())
        || !isDigits(text.mid(first + 1, last - first - 1)))
        return std::nullopt;
    return text.left(last);
}

std::optional<QByteArray> DotNetKeys::lockOf(const QByteArray &key)
{
    for (const auto end : {readersSuffix, writerSuffix}) {
        if (key.size() > end.size() && key.endsWith(end))
            return key.chopped(end.size());
    }
    return std::nullopt;
}

bool isNextcloudLock(const QByteArray &key)
{
    constexpr qsizetype md5Digits = 32;
    const auto at = key.size() - md5Digits - nextcloudFolder.size();
    return at >= 0 && QByteArrayView(key).sliced(at).startsWith(nextcloudFolder)
           && isHex(QByteArrayView(key).last(md5Digits));
}

// A writer that waits keeps new readers out, and holds nothing.
std::optional<LockSnapshot> dotNetReadWriteLock(const Case &about)
{
    const auto *readers = about.companion(about.name() + DotNetKeys::readersSuffix.toByteArray());
    const auto *writer = about.companion(about.name() + DotNetKeys::writerSuffix.toByteArray());
    const bool hasReaders = readers && readers->type == KeyType::Set && !readers->items.empty();
    const bool hasWriter = writer && writer->type == KeyType::String && writer->value;
    const bool areReaders = !hasReaders || std::ranges::all_of(readers->items, [](const auto &one) {
        return dotNetHolder(one).has_value();
    });
    if ((!hasReaders && !hasWriter) || !areReaders || (hasWriter && !isWriter(*writer->value)))
        return std::nullopt;
    LockSnapshot lock = snapshotOf(about, "redis-rwlock", &clients::dotNet, Confidence::High,
                                   u"a set ….readers or a key ….writer of <machine>_<process>_<32 hex digits>"_s);
    lock.waitersKnown = false; // readers poll, and so do all writers but the first
    if (hasWriter)
        addWriter(lock, about, *writer);
    if (hasReaders)
        addReaders(lock, about, *readers);
    std::ranges::stable_sort(lock.contenders, {}, [](const auto &one) { return one.role != Role::Holder; });
    for (const auto *key : {hasReaders ? readers : nullptr, hasWriter ? writer : nullptr}) {
        if (!key)
            continue;
        lock.companions.push_back(key->key.bytes());
        addNoTtlOf(lock, *key);
    }
    judgeState(lock);
    if (lock.holderCount() == 0)
        lock.state = LockState::Contended; // the waiting writer is about to have it
    return lock;
}

// `"exclusive"`, with its quotes, or how many share it. No client is written down.
std::optional<LockSnapshot> nextcloudLock(const Case &about)
{
    if (!about.main.value || !isNextcloudLock(about.name()))
        return std::nullopt;
    const bool isExclusive = *about.main.value == "\"exclusive\"";
    const auto count = readInteger(*about.main.value);
    if ((!isExclusive && !count) || (count == 0 && !about.context.isAskedFor))
        return std::nullopt; // a file that is free keeps its key for an hour
    LockSnapshot lock = snapshotOf(
        about, "redis-rwlock", &clients::nextcloud, Confidence::High,
        isExclusive
            ? u"a key …/lockfiles/<32 hex digits> that says \"exclusive\"; who holds it is not written"_s
            : u"a key …/lockfiles/<32 hex digits> that counts %1 shared holds; who has them is not written"_s.arg(
                *count));
    lock.waitersKnown = false;
    if (isExclusive) {
        lock.contenders.push_back(holderOf(about, *about.main.value));
        lock.contenders.back().id = "exclusive hold";
    }
    for (qint64 n = 1; n <= std::min(count.value_or(0), mostSharedHolds); ++n)
        lock.contenders.push_back(sharedHold(about, n));
    addNoTtl(lock, about);
    judgeState(lock);
    if (count && *count < 0) {
        lock.state = LockState::Contended; // without a holder: exclusive locks are refused all the same
        addFinding(
            lock, FindingCode::LeftoverKeys, Severity::Warning,
            u"the count is below zero: no client holds the lock, but exclusive ones are refused. Delete the key"_s);
    }
    return lock;
}

} // namespace lockscope::inspect
