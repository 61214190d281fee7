// SPDX-License-Identifier: Apache-2.0
// What the cells of the table of locks say, the order of its rows, and which of them show.
#include "ui/models/locksmodel_p.h"

#include "core/base/duration.h"
#include "ui/theme/plaintext.h"

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using inspect::LockPicture;
using inspect::Severity;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

qint64 LocksModel::waitingSum(const Entry &entry) const
{
    if (entry.isElection || entry.facts.waiters == 0)
        return 0;
    const auto now = duration_cast<milliseconds>(m_rankedAt.time_since_epoch()).count();
    // At least 1: whoever has waiters comes before whoever has none.
    return std::max<qint64>(1, now * entry.facts.waitersTimed - entry.facts.waitingSinceSumMs);
}

namespace {

template <class T>
int threeWay(const T &a, const T &b)
{
    return a < b ? -1 : b < a ? 1 : 0;
}

int severityRank(const LockFacts &facts)
{
    return facts.worst == Severity::Critical ? 2 : facts.worst == Severity::Warning ? 1 : 0;
}

// The longer ago, the more; never comes last.
int byAge(const std::optional<SystemTime> &a, const std::optional<SystemTime> &b)
{
    return -threeWay(a.value_or(SystemTime::max()), b.value_or(SystemTime::max()));
}

} // namespace

int LocksModel::compare(const Entry &a, const Entry &b) const
{
    int order = 0;
    switch (m_sortColumn) {
    case State: order = threeWay(a.facts.stateRank, b.facts.stateRank); break;
    case Lock: break;
    case Recipe: order = a.picture.recipe.compare(b.picture.recipe); break;
    case Holder: order = a.facts.holder.compare(b.facts.holder); break;
    case Waiting: order = threeWay(a.facts.waiters, b.facts.waiters); break;
    case OldestWait: order = byAge(a.facts.oldestWait, b.facts.oldestWait); break;
    case Held: order = byAge(a.facts.heldSince, b.facts.heldSince); break;
    case FindingColumn:
        order = threeWay(severityRank(a.facts), severityRank(b.facts));
        if (order == 0)
            order = a.facts.finding.compare(b.facts.finding);
        break;
    default:
        order = -threeWay(severityRank(a.facts), severityRank(b.facts));
        if (order == 0)
            order = -threeWay(waitingSum(a), waitingSum(b));
        break;
    }
    if (order == 0)
        order = a.picture.lock.name.compare(b.picture.lock.name);
    if (order == 0)
        order = a.picture.lock.connection.bytes().compare(b.picture.lock.connection.bytes());
    return m_sortOrder == Qt::DescendingOrder && m_sortColumn >= 0 ? -order : order;
}

bool LocksModel::before(const Entry &a, const Entry &b) const
{
    return compare(a, b) < 0;
}

bool LocksModel::isShown(const Entry &entry) const
{
    if (!m_connection.isEmpty() && entry.picture.lock.connection != m_connection)
        return false;
    switch (m_chip) {
    case Chip::All: break;
    case Chip::Contended:
        if (!entry.facts.isContended())
            return false;
        break;
    case Chip::Critical:
        if (entry.facts.worst != Severity::Critical)
            return false;
        break;
    case Chip::Warning:
        if (entry.facts.worst != Severity::Warning)
            return false;
        break;
    case Chip::Mine:
        if (!entry.mine)
            return false;
        break;
    }
    return m_text.isEmpty() || entry.haystack().contains(m_text);
}

int LocksModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_shown.size());
}

int LocksModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QString LocksModel::cell(const Entry &entry, int column) const
{
    const LockFacts &facts = entry.facts;
    const auto now = nowOf(entry.picture.lock.connection);
    const auto age = [now](SystemTime since) { return spokenDuration(duration_cast<milliseconds>(now - since)); };
    switch (column) {
    case State: return facts.pill.word;
    case Lock: return label(entry.picture.lock.name, 400);
    case Recipe: return QString::fromLatin1(entry.picture.recipe);
    case Holder: return facts.holder;
    case Waiting: return facts.waiting;
    case OldestWait: return facts.oldestWait ? age(*facts.oldestWait) : u"—"_s;
    case Held:
        if (!facts.heldSince)
            return u"—"_s;
        return (facts.heldAtMost ? u"≤ "_s : QString()) + age(*facts.heldSince);
    case FindingColumn: {
        const bool expires = facts.expiresAt.has_value();
        const auto left = expires ? spokenDuration(duration_cast<milliseconds>(*facts.expiresAt - now)) : QString();
        if (facts.holderDisconnected && expires && facts.worst != Severity::Critical)
            return *facts.expiresAt > now ? u"session ends in %1"_s.arg(left) : u"session should be over"_s;
        if (facts.findings == 0 && expires)
            return *facts.expiresAt > now ? u"expires in %1"_s.arg(left) : u"expiring"_s;
        return facts.finding;
    }
    default: return {};
    }
}

QVariant LocksModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const Entry &entry = *m_shown[static_cast<std::size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole: return cell(entry, index.column());
    case Qt::TextAlignmentRole:
        if (index.column() >= Waiting && index.column() <= Held)
            return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
        return QVariant::fromValue(Qt::Alignment(Qt::AlignLeft | Qt::AlignVCenter));
    case Qt::ToolTipRole:
        if (index.column() == Lock)
            return plainToolTip(label(entry.picture.lock.text(), 1500) + u'\n' + label(entry.picture.why.toUtf8(), 400));
        return plainToolTip(cell(entry, index.column()));
    default: return {};
    }
}

QVariant LocksModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole) {
        const bool right = section >= Waiting && section <= Held;
        return QVariant::fromValue(Qt::Alignment((right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    }
    if (role != Qt::DisplayRole)
        return {};
    static const QStringList titles{u"State"_s,   u"Lock"_s,        u"Recipe"_s, u"Holder"_s,
                                    u"Waiting"_s, u"Oldest wait"_s, u"Held"_s,   u"Finding"_s};
    return titles[section];
}

} // namespace lockscope::ui
