// SPDX-License-Identifier: Apache-2.0
// What a key's name, lease and value tell of the lock that it claims.
#include "core/base/text.h"
#include "core/inspect/etcd/recognise.h"
#include "core/inspect/lockterms.h"

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

} // namespace lockscope::inspect
