// SPDX-License-Identifier: Apache-2.0
// What a key's name, lease and value tell of the lock that it claims, or is by itself: one key with a lease, which is
// its creator's. The sources of each form are in docs/layouts.md.
#include "core/inspect/etcd/recognise.h"

#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/inspect/coverage.h"
#include "core/inspect/lockterms.h"
#include "core/inspect/redis/naming.h"

#include <QRegularExpression>

namespace lockscope::inspect {

namespace {

bool isFolderOfLocks(const QByteArray &name)
{
    return saysLockItself(name) && name.toLower().endsWith('s');
}

// A lock of its own, or one of a folder of locks.
bool isBelowLock(const QByteArray &prefix)
{
    const auto parts = prefix.split('/');
    return saysLockItself(parts.last()) || (parts.size() > 1 && isFolderOfLocks(parts[parts.size() - 2]));
}

// Whether a key below it that ends with its own lease, in decimal or as etcdctl prints it, claims it: registries of
// services have such keys, too, with an address in each. etcd3 for Node has its elections in a folder of that name.
bool isClaimedInDecimal(const QByteArray &prefix, const QByteArray &value)
{
    const auto parts = prefix.split('/');
    const bool isElection = parts.size() > 1 && parts[parts.size() - 2] == "election";
    return isElection || (isBelowLock(prefix) && (isFolderOfLocks(parts.last()) || !isAddress(value)));
}

// As endpoints of services in etcd's Go client: naming/endpoints.
bool isEndpoint(const QByteArray &value)
{
    return value.startsWith(R"({"Op":)") && value.contains(R"("Addr":)");
}

constexpr QByteArrayView fixedMark("KEY#");

struct KnownPrefix {
    QByteArray prefix;
    bool mayBeHeld = false;
};

// The first with which the key begins; null if none.
const KnownPrefix *knownPrefix(const std::vector<KnownPrefix> &all, const QByteArray &key)
{
    const auto at = std::ranges::find_if(all, [&key](const KnownPrefix &one) { return key.startsWith(one.prefix); });
    return at == all.end() ? nullptr : &*at;
}

std::vector<KnownPrefix> prefixesIn(const QString &file)
{
    std::vector<KnownPrefix> all;
    readResourceList(file, "keys", [&all](FieldReader &reader) {
        all.push_back({reader.text("prefix").toUtf8()});
        reader.take("mayBeHeld", all.back().mayBeHeld);
    });
    return all;
}

// Where known systems keep keys with a lease that are no locks.
bool isRegistration(const QByteArray &key)
{
    static const auto prefixes = prefixesIn(u"rules/etcd-known-keys.json"_s);
    return knownPrefix(prefixes, key) != nullptr;
}

enum class NameSays : quint8 { Nothing, Above, Folder, Name };
struct FixedName {
    NameSays says = NameSays::Nothing;
    bool isElection = false;
};

// The last part says more than the folder, and that one more than what is above it.
FixedName readName(const QByteArray &key)
{
    constexpr qsizetype shortestStamp = 10;   // of numbers by which clients tell their keys apart
    if (!saysLock(key) && !saysElection(key)) // nearly all
        return {};
    const auto parts = key.split('/');
    const auto &last = parts.last();
    if (last.isEmpty() || (isDigits(last) && last.size() >= shortestStamp) || isRegistration(key))
        return {};
    for (auto i = parts.size() - 1; i >= 0; --i) {
        const bool isElection = saysElection(parts[i]) && !isAboutLocks(parts[i]);
        if (!isElection && !(saysLockItself(parts[i]) && saysLockBesideLease(parts[i])))
            continue;
        // In a folder of one lock, or of an election, those that contend may stand side by side.
        const bool isFolderOfLocks = !isElection && (parts[i].endsWith('s') || parts[i].endsWith('S'));
        const auto says = i == parts.size() - 1                      ? NameSays::Name
                          : i == parts.size() - 2 && isFolderOfLocks ? NameSays::Folder
                                                                     : NameSays::Above;
        const bool isInstance = says == NameSays::Above && isAddress(last); // of a service that is named so
        return isInstance ? FixedName() : FixedName{says, isElection};
    }
    return {};
}

// As claims are, or once were.
bool isNumbered(const etcd::KeyValue &entry)
{
    return isOwnLease(entry) || strayLockOf(entry);
}

bool isRawUuid(const QByteArray &value, int version)
{
    constexpr qsizetype rawLength = 16;
    return value.size() == rawLength && (static_cast<uchar>(value[6]) >> 4) == version
           && (static_cast<uchar>(value[8]) & 0xc0) == 0x80;
}

// "2024-05-01 10:00:00.123456", as Python writes a moment.
bool isMoment(const QByteArray &value)
{
    constexpr QByteArrayView form("0000-00-00 00:00:00");
    const auto fits = [](char wanted, char c) { return wanted == '0' ? isDigit(c) : wanted == c; };
    return value.size() >= form.size() && std::equal(form.begin(), form.end(), value.begin(), fits);
}

// "host:1a2b3c4d", "host:proc:4711" and "host:thrd:4711".
bool isEtcd3PyOwner(const QByteArray &value)
{
    constexpr qsizetype ownDigits = 8;
    const auto parts = value.split(':');
    if (parts.size() < 2 || parts.front().isEmpty())
        return false;
    const auto &kind = parts[parts.size() - 2];
    return (parts.size() == 2 && parts.last().size() == ownDigits && isHex(parts.last()))
           || (parts.size() == 3 && (kind == "proc" || kind == "thrd") && isDigits(parts.last()));
}

EtcdFixedKey fixedOf(const QString &client, bool isElection = false, bool isRenewed = false)
{
    return {isElection,       isRenewed, false,
            Confidence::High, client,    u"one key with a lease, named and filled as %1 does it"_s.arg(client)};
}

// Where name and value are those of one client.
std::optional<EtcdFixedKey> fixedOfClient(const etcd::KeyValue &entry, bool hasMember)
{
    const auto &[key, value] = std::tie(entry.key, entry.value);
    if (key.startsWith("/locks/") && isRawUuid(value, 1))
        return fixedOf(u"python-etcd3"_s);
    if (key.startsWith("/locks/") && isUuid36(value) && value[14] == '1')
        return fixedOf(u"etcd3gw"_s);
    if (key.startsWith("/tooz/locks") && isRawUuid(value, 4))
        return fixedOf(u"tooz"_s, key.endsWith("TOOZ_GROUP_LEADER"));
    if (key.startsWith("cloudtik/locks/") && isMoment(value))
        return fixedOf(u"CloudTik"_s);
    if (key.startsWith("_locks/") && isEtcd3PyOwner(value))
        return fixedOf(u"etcd3-py"_s, false, true);
    if (hasMember) {
        auto patroni = fixedOf(u"Patroni"_s, true, true);
        patroni.hasMembers = true;
        return patroni;
    }
    return std::nullopt;
}

QByteArray patroniMembersOf(const QByteArray &key)
{
    constexpr QByteArrayView leader("/leader");
    return key.endsWith(leader) ? key.chopped(leader.size()) + "/members/" : QByteArray();
}

} // namespace

QByteArray writersOf(const QByteArray &key)
{
    constexpr qsizetype digitsOfNanoseconds = 19;
    const auto slash = key.lastIndexOf('/');
    const auto number = key.mid(slash + 1);
    const auto folder = key.left(std::max<qsizetype>(slash, 0));
    const bool isStamp = number.size() == digitsOfNanoseconds && isDigits(number) && number < "3";
    const auto above = folder.lastIndexOf('/');
    const auto word = folder.mid(above);
    return isStamp && above > 0 && (word == "/read" || word == "/write") ? folder.left(above) + "/write"
                                                                         : QByteArray();
}

std::optional<QByteArray> etcdLockOf(const etcd::KeyValue &entry)
{
    const auto slash = entry.key.lastIndexOf('/');
    if (slash <= 0 || entry.lease == 0)
        return std::nullopt;
    const auto name = entry.key.mid(slash + 1);
    const auto lock = entry.key.left(slash);
    if (name == etcd::leaseText(entry.lease))
        return isEndpoint(entry.value) ? std::nullopt : std::optional(lock);
    if (isOwnLease(entry))
        return isClaimedInDecimal(lock, entry.value) ? std::optional(lock) : std::nullopt;
    const auto writers =
        entry.value.isEmpty() && entry.modified == entry.created ? writersOf(entry.key) : QByteArray();
    return writers.isEmpty() ? std::nullopt : std::optional(writers.left(writers.lastIndexOf('/')));
}

bool isAddress(const QByteArray &value)
{
    static const QRegularExpression form(QStringLiteral("^(\\w+://)?[\\w.:\\[\\]-]+:\\d{1,5}/?$"));
    return form.match(QString::fromLatin1(value.left(200))).hasMatch();
}

Mode etcdModeOf(const etcd::KeyValue &entry)
{
    const auto writers = isOwnLease(entry) ? QByteArray() : writersOf(entry.key);
    return writers.isEmpty() ? Mode::Exclusive : entry.key.startsWith(writers) ? Mode::Write : Mode::Read;
}

bool isOwnLease(const etcd::KeyValue &entry)
{
    constexpr qsizetype digitsPrinted = 16; // by etcdctl
    const auto name = entry.key.mid(entry.key.lastIndexOf('/') + 1);
    const auto hexadecimal = etcd::leaseText(entry.lease);
    return name == hexadecimal || name == QByteArray::number(entry.lease)
           || name == hexadecimal.rightJustified(digitsPrinted, '0');
}

std::optional<QByteArray> strayLockOf(const etcd::KeyValue &entry)
{
    constexpr qsizetype leastDigits = 12;   // of what etcd itself numbers
    constexpr qsizetype leastDecimals = 18; // of the same
    const auto slash = entry.key.lastIndexOf('/');
    const auto name = entry.key.mid(slash + 1);
    if (slash <= 0 || name.size() < leastDigits || isOwnLease(entry))
        return std::nullopt;
    const auto lock = entry.key.left(slash);
    const auto number = name.toLongLong(nullptr, 16);
    const bool isDecimal =
        entry.lease == 0 && name.size() >= leastDecimals && name == QByteArray::number(name.toLongLong());
    const bool isLease = (number > 0 && name == etcd::leaseText(number)) || (isDecimal && isBelowLock(lock));
    return isLease ? std::optional(lock) : std::nullopt;
}

QByteArray lockOfFixed(const QByteArray &key)
{
    return fixedMark.toByteArray() + key;
}

std::optional<QByteArray> keyOfFixed(const QByteArray &lock)
{
    return lock.startsWith(fixedMark) ? std::optional(lock.mid(fixedMark.size())) : std::nullopt;
}

bool isKnownEntry(const QByteArray &key)
{
    constexpr qsizetype stamp = 20; // and its slash: DoubleBarrier of etcd's Go client, experimental/recipes
    return isRegistration(key)
           || (key.chopped(std::min(stamp, key.size())).endsWith("/waiters") && isDigits(key.last(stamp - 1)));
}

bool mayBeHeldWithoutLease(const etcd::KeyValue &entry)
{
    static const auto prefixes = prefixesIn(u"rules/etcd-keys-without-lease.json"_s);
    if (entry.lease != 0)
        return false;
    if (const auto *known = knownPrefix(prefixes, entry.key))
        return known->mayBeHeld;
    const auto [says, isElection] = readName(entry.key);
    const auto last = entry.key.mid(entry.key.lastIndexOf('/') + 1);
    return (says == NameSays::Name && (isElection || callsItselfLock(last)))
           || (says == NameSays::Folder && !isNumbered(entry));
}

bool mayBeFixedKey(const etcd::KeyValue &entry)
{
    const bool isNamed = readName(entry.key).says != NameSays::Nothing || entry.key.startsWith("/tooz/locks");
    return entry.lease != 0 && isNamed && !isNumbered(entry);
}

QByteArray patroniMemberOf(const etcd::KeyValue &leader)
{
    const auto members = patroniMembersOf(leader.key);
    return members.isEmpty() || leader.value.isEmpty() ? QByteArray() : members + leader.value;
}

std::optional<EtcdFixedKey> fixedKeyOf(const etcd::KeyValue &entry, bool isBesideQueue, bool hasMember)
{
    if (entry.lease == 0 || isNumbered(entry))
        return std::nullopt;
    if (auto known = fixedOfClient(entry, hasMember))
        return known;
    const auto name = readName(entry.key);
    EtcdFixedKey fixed;
    fixed.isElection = name.isElection;
    fixed.confidence = name.says == NameSays::Above ? Confidence::Low : Confidence::Medium;
    const auto what = name.isElection ? u"an election"_s : u"a lock"_s;
    if (name.says != NameSays::Nothing)
        fixed.why = (name.says == NameSays::Name ? u"one key with a lease, whose name says that it is %1"_s
                                                 : u"one key with a lease, in a folder that says that it is %1"_s)
                        .arg(what);
    else if (isBesideQueue && entry.value.isEmpty())
        fixed.why = u"one key with a lease and no value, named as the lock that queues below it"_s;
    else
        return std::nullopt;
    if (entry.value.isEmpty() && !name.isElection)
        fixed.why += clause(u"etcd3 for Node makes such keys"_s);
    return fixed;
}

Task<Result<EtcdFixedRead>> readFixedKey(etcd::Client *client, QByteArray key, Deadline deadline)
{
    const auto name = label(lockOfFixed(key), 80);
    etcd::RangeRequest own{.key = key};
    const auto answer = co_await client->range(own, deadline);
    if (!answer && answer.error().code == ErrorCode::NoPermission) // who queues beside it need not read it
        co_return Error{ErrorCode::Unsupported, u"no lock is known at %1: %2"_s.arg(name, answer.error().message)};
    if (!answer)
        co_return answer.error();
    if (answer->entries.empty())
        co_return Error{ErrorCode::NoNode,
                        u"no lock exists at %1: the key %2 does not exist"_s.arg(name, label(key, 80))};
    EtcdFixedRead read;
    auto &entry = read.claim.entry;
    entry = answer->entries.front();
    const auto below = co_await client->range(oldestOf(key, mostForeignKeys), deadline);
    read.isBesideQueue = below && !etcdKeysOf(key, below->entries, below->more).queue.empty();
    bool hasMember = false;
    own.key = patroniMemberOf(entry);
    own.keysOnly = true;
    if (!own.key.isEmpty()) {
        const auto there = co_await client->range(own, deadline);
        hasMember = there && !there->entries.empty() && there->entries.front().lease == entry.lease;
    }
    read.claim.fixed = fixedKeyOf(entry, read.isBesideQueue, hasMember);
    co_return read;
}

LockSnapshot fixedSnapshot(LockSnapshot snapshot, Contender holder, const EtcdClaim &claim)
{
    const auto &fixed = *claim.fixed;
    snapshot.recipe = fixed.isElection ? "etcd-key-election" : "etcd-key-lock";
    snapshot.confidence = fixed.confidence;
    snapshot.why = fixed.why;
    if (!fixed.client.isEmpty())
        snapshot.client = fixed.client;
    snapshot.waitersKnown = false; // they watch the key, or try again
    snapshot.state = LockState::Held;
    holder.role = Role::Holder;
    holder.heldSince = claim.first;
    snapshot.contenders.push_back(std::move(holder));
    return snapshot;
}

void addFixedKey(LockSnapshot &lock)
{
    addFinding(lock, FindingCode::ForeignNode, Severity::Warning,
               u"the key %1 itself has a lease: a client that locks by that key alone does not exclude these, nor "
               u"these it"_s.arg(label(lock.lock.name, 80)));
}

void addQueueBeside(LockSnapshot &fixed, const QByteArray &queue)
{
    addFinding(
        fixed, FindingCode::ForeignNode, Severity::Warning,
        u"clients queue for the lock %1 by keys below this one: its holder does not exclude them, nor they it"_s.arg(
            label(queue, 80)));
}

std::vector<Unexplained> unexplainedOf(const std::map<QByteArray, etcd::LeaseId> &leased, const EtcdQueues &locks)
{
    std::set<QByteArray> explained;
    for (const auto &[name, queue] : locks) {
        const auto &first = queue.begin()->second;
        if (!first.fixed)
            continue;
        const auto &key = first.entry.key;
        for (auto at = leased.lower_bound(key); at != leased.end() && at->first.startsWith(key); ++at) {
            if (at->second == first.entry.lease)
                explained.insert(at->first);
        }
        const auto members = first.fixed->hasMembers ? patroniMembersOf(key) : QByteArray();
        for (auto at = leased.lower_bound(members);
             !members.isEmpty() && at != leased.end() && at->first.startsWith(members); ++at)
            explained.insert(at->first);
    }
    Ledger ledger, nameless, lasting;
    for (const auto &[key, lease] : leased) {
        if (!explained.contains(key))
            (lease == 0 ? lasting : key == '/' + etcd::leaseText(lease) ? nameless : ledger).add(key);
    }
    auto groups = ledger.groups({u"1 key has a lease and belongs to no known lock"_s,
                                 u"%1 keys like %2 have leases and belong to no known lock"_s});
    std::ranges::move(
        nameless.groups(
            {u"1 key claims a lock with an empty name (etcdctl lock \"\"), which is not shown"_s,
             u"%1 keys like %2 claim a lock with an empty name (etcdctl lock \"\"), which is not shown"_s}),
        std::back_inserter(groups));
    std::ranges::move(lasting.groups({u"1 key without a lease may be a lock; its value is not read"_s,
                                      u"%1 keys like %2 without a lease may be locks; their values are not read"_s}),
                      std::back_inserter(groups));
    return groups;
}

} // namespace lockscope::inspect
