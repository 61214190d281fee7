// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/openmetrics.h"

#include "core/base/fieldreader.h"
#include "core/base/text.h"
#include "core/inspect/coverage.h"

namespace lockscope::ctl {

namespace {

const auto otherNames = u"other"_s;
constexpr int longestPattern = 200; // characters of a label

// # TYPE, # UNIT and # HELP of each metric.
const std::vector<std::pair<QByteArray, QByteArray>> &metricHeads()
{
    static const auto all = [] {
        std::vector<std::pair<QByteArray, QByteArray>> heads;
        readResourceList(u"metrics.json"_s, "metrics", [&heads](FieldReader &reader) {
            const auto name = reader.text("name").toUtf8();
            const auto help = reader.text("help").toUtf8();
            auto head = "# TYPE lockscope_" + name + " gauge\n";
            if (const auto unit = reader.text("unit", QString()).toUtf8(); !unit.isEmpty())
                head += "# UNIT lockscope_" + name + ' ' + unit + '\n';
            heads.emplace_back(name, head + "# HELP lockscope_" + name + ' ' + help + '\n');
        });
        return heads;
    }();
    return all;
}

QByteArray quoted(const QString &value)
{
    auto bytes = value.toUtf8();
    return '"' + bytes.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n") + '"';
}

} // namespace

void Exposition::add(const QByteArray &metric, const Labels &labels, double value)
{
    QByteArrayList pairs;
    for (const auto &[name, text] : labels)
        pairs << name + QByteArray("=") + quoted(text);
    const auto inBraces = pairs.isEmpty() ? QByteArray() : '{' + pairs.join(',') + '}';
    m_samples[metric] += "lockscope_" + metric + inBraces + ' ' + QByteArray::number(value, 'g', 15) + '\n';
}

QByteArray Exposition::text() const
{
    QByteArray text;
    for (const auto &[name, head] : metricHeads()) {
        if (const auto samples = m_samples.find(name); samples != m_samples.end())
            text += head + samples->second;
    }
    return text + "# EOF\n";
}

void LockGroup::add(const LockGroup &other)
{
    locks += other.locks;
    held += other.held;
    waiters += other.waiters;
    areWaitersReported = areWaitersReported || other.areWaitersReported;
    longestHold = std::max(longestHold, other.longestHold); // an unknown one is less than any
    longestWait = std::max(longestWait, other.longestWait);
}

LockGroup groupOf(const inspect::LockSnapshot &lock, inspect::ServerTime now)
{
    const auto since = [now](const std::optional<inspect::ServerTime> &begin) {
        return begin ? std::optional(std::max(now - *begin, std::chrono::milliseconds(0))) : std::nullopt;
    };
    LockGroup group{.locks = 1, .held = lock.holderCount() > 0 ? 1 : 0, .waiters = lock.waiterCount()};
    group.areWaitersReported = lock.waitersKnown || group.waiters > 0;
    if (group.held == 0)
        group.longestHold = std::chrono::milliseconds(0);
    if (group.waiters == 0 && lock.waitersKnown)
        group.longestWait = std::chrono::milliseconds(0);
    for (const auto &contender : lock.contenders) {
        if (contender.role == inspect::Role::Holder)
            group.longestHold = std::max(group.longestHold, since(contender.heldSince));
        else
            group.longestWait = std::max(group.longestWait, since(contender.waitingSince));
    }
    return group;
}

LockGroups::Joined LockGroups::join(const std::vector<std::pair<inspect::LockName, LockGroup>> &locks,
                                    std::size_t atMost)
{
    Joined joined;
    std::map<Key, LockGroup> all;
    for (const auto &[name, group] : locks) {
        const auto pattern = inspect::namePattern(name.name);
        joined.collapsed += pattern != name.name ? 1 : 0;
        all[Key(escaped(name.connection.bytes()), label(pattern, longestPattern))].add(group);
    }
    std::vector<std::tuple<bool, qint64, qint64, Key>> order;
    for (const auto &[key, group] : all) {
        if (key.second != otherNames) // a lock of that very name is one of the others
            order.emplace_back(!m_kept.contains(key), -group.waiters, -group.locks, key);
    }
    std::ranges::sort(order);
    order.resize(std::min(order.size(), atMost));
    m_kept = mapped<std::set<Key>>(order, [](const auto &one) { return std::get<Key>(one); });
    for (const auto &[key, group] : all) {
        const bool isKept = m_kept.contains(key);
        joined.leftOut += isKept ? 0 : group.locks;
        joined.groups[isKept ? key : Key(key.first, otherNames)].add(group);
    }
    return joined;
}

} // namespace lockscope::ctl
