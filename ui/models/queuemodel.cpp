// SPDX-License-Identifier: Apache-2.0
#include "ui/models/queuemodel.h"

#include "core/base/duration.h"
#include "core/base/text.h"
#include "ui/models/rowdelta.h"
#include "ui/models/wholetext.h"
#include "ui/theme/text.h"

#include <algorithm>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using inspect::Contender;
using inspect::LockSnapshot;
using inspect::Mode;
using inspect::Role;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

void QueueModel::setSnapshot(std::shared_ptr<const LockSnapshot> lock)
{
    const auto before = std::exchange(m_lock, std::move(lock)); // the rows are its contenders until all are replaced
    if (before->backend != m_lock->backend)
        emit headerDataChanged(Qt::Horizontal, 0, ColumnCount - 1);
    Rows next;
    next.reserve(m_lock->contenders.size());
    for (const auto &contender : m_lock->contenders)
        next.push_back(&contender);
    removeGone(next);
    placeInOrder(next);
    emit snapshotSet();
}

void QueueModel::removeGone(const Rows &next)
{
    // Mostly those who were first are gone, and the others are who they were: then there is nothing to look up.
    const auto isSame = [](const Contender *a, const Contender *b) { return a->id == b->id; };
    const auto [rowEnd, nextEnd] = std::mismatch(m_rows.rbegin(), m_rows.rend(), next.rbegin(), next.rend(), isSame);
    QSet<QByteArray> staying;
    if (nextEnd != next.rend()) {
        staying.reserve(std::ssize(next));
        for (const auto *contender : next)
            staying.insert(contender->id);
    }
    std::vector<int> gone;
    const auto looked = static_cast<std::size_t>(m_rows.rend() - rowEnd);
    for (std::size_t row = 0; row < looked; ++row) {
        if (!staying.contains(m_rows[row]->id))
            gone.push_back(static_cast<int>(row));
    }
    const auto ranges = rangesOf(gone);
    for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) {
        beginRemoveRows({}, range->first, range->last);
        m_rows.erase(m_rows.begin() + range->first, m_rows.begin() + range->last + 1);
        endRemoveRows();
    }
}

void QueueModel::placeInOrder(const Rows &next)
{
    std::optional<QSet<QByteArray>> present; // asked for only where somebody came, or stands elsewhere
    const auto isPresent = [&present, this](const QByteArray &id) {
        if (!present) {
            present.emplace();
            present->reserve(std::ssize(m_rows));
            for (const auto *contender : m_rows)
                present->insert(contender->id);
        }
        return present->contains(id);
    };
    std::vector<int> changed;
    for (std::size_t at = 0; at < next.size(); ++at) {
        const int row = static_cast<int>(at);
        if (at < m_rows.size() && m_rows[at]->id == next[at]->id) {
            const auto *before = std::exchange(m_rows[at], next[at]);
            if (!(*before == *next[at]))
                changed.push_back(row);
            continue;
        }
        if (!isPresent(next[at]->id)) {
            std::size_t upTo = at + 1;
            while (upTo < next.size() && !isPresent(next[upTo]->id))
                ++upTo;
            beginInsertRows({}, row, static_cast<int>(upTo) - 1);
            m_rows.insert(m_rows.begin() + row, next.begin() + row, next.begin() + static_cast<std::ptrdiff_t>(upTo));
            endInsertRows();
            at = upTo - 1;
            continue;
        }
        const auto old = std::find_if(m_rows.begin() + row, m_rows.end(),
                                      [&](const Contender *c) { return c->id == next[at]->id; });
        if (old == m_rows.end())
            continue; // an id twice in one snapshot: the second has no row of its own
        const int from = static_cast<int>(old - m_rows.begin());
        beginMoveRows({}, from, from, {}, row);
        std::rotate(m_rows.begin() + row, old, old + 1);
        endMoveRows();
        m_rows[at] = next[at];
        changed.push_back(row);
    }
    for (const auto &range : rangesOf(changed))
        emit dataChanged(index(range.first, 0), index(range.last, ColumnCount - 1));
    dropOlder(next);
}

// An id twice in one snapshot leaves rows behind that are of the one before.
void QueueModel::dropOlder(const Rows &next)
{
    const auto isOfNow = [&next](const Contender *row) {
        return !std::less<>()(row, next.front()) && !std::less<>()(next.back(), row);
    };
    if (m_rows.empty() || (!next.empty() && std::ranges::all_of(m_rows, isOfNow)))
        return;
    beginResetModel(); // reset: which row is whose cannot be told
    m_rows = next;
    endResetModel();
}

void QueueModel::tick()
{
    if (!m_rows.empty())
        emit dataChanged(index(0, Age), index(rowCount() - 1, Ttl), {Qt::DisplayRole});
}

void QueueModel::setOwn(QSet<QByteArray> own)
{
    if (m_own == own)
        return;
    m_own = std::move(own);
    if (!m_rows.empty())
        emit dataChanged(index(0, Who), index(rowCount() - 1, Who), {Qt::DisplayRole});
}

const Contender &QueueModel::contenderAt(int row) const
{
    return *m_rows[static_cast<std::size_t>(row)];
}

Pill QueueModel::pillAt(int row) const
{
    const Contender &contender = contenderAt(row);
    Pill pill = pillOf(contender, *m_lock);
    if (contender.mode == Mode::Read || contender.mode == Mode::Write)
        pill.word += contender.mode == Mode::Read ? u" R"_s : u" W"_s;
    if (contender.reentry > 1)
        pill.word += u" ×%1"_s.arg(contender.reentry);
    return pill;
}

int QueueModel::rowOf(const QByteArray &id) const
{
    const auto at = std::find_if(m_rows.begin(), m_rows.end(), [&](const Contender *c) { return c->id == id; });
    return at == m_rows.end() ? -1 : static_cast<int>(at - m_rows.begin());
}

bool QueueModel::hasTtl() const
{
    return std::any_of(m_rows.begin(), m_rows.end(), [](const Contender *c) { return c->expiresAt.has_value(); });
}

bool QueueModel::hasAges() const
{
    return std::any_of(m_rows.begin(), m_rows.end(),
                       [](const Contender *c) { return c->heldSince.has_value() || c->waitingSince.has_value(); });
}

bool QueueModel::hasSessions() const
{
    return std::any_of(m_rows.begin(), m_rows.end(), [](const Contender *c) { return c->session.has_value(); });
}

bool QueueModel::hasNodes() const
{
    return std::any_of(m_rows.begin(), m_rows.end(), [](const Contender *c) { return !c->guard.path.isEmpty(); });
}

bool QueueModel::hasModes() const
{
    return std::any_of(m_rows.begin(), m_rows.end(),
                       [](const Contender *c) { return c->mode == Mode::Read || c->mode == Mode::Write; });
}

bool QueueModel::isNamed(int row) const
{
    return inspect::nameBeside(contenderAt(row), m_lock->backend).has_value();
}

bool QueueModel::hasNames() const
{
    constexpr int mostLookedAt = 100; // it is asked whenever the table is laid out
    for (int row = 0; row < std::min(mostLookedAt, rowCount()); ++row) {
        if (isNamed(row))
            return true;
    }
    return false;
}

int QueueModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int QueueModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QString QueueModel::cell(const Contender &contender, int column) const
{
    const auto now = m_clock();
    switch (column) {
    case Who: {
        const auto who = whoIsByName(contender, m_lock->backend);
        return m_own.contains(contender.id) ? u"%1 (you)"_s.arg(who) : who;
    }
    case Session: return contender.session ? label(contender.session->toUtf8(), 60) : u"—"_s;
    case Age: {
        const auto since = contender.role == Role::Holder ? contender.heldSince : contender.waitingSince;
        if (!since)
            return u"—"_s;
        const auto age = spokenDuration(duration_cast<milliseconds>(now - ourTime(*since, *m_lock)));
        return contender.role == Role::Holder && contender.heldAtMost ? u"≤ "_s + age : age;
    }
    case Ttl:
        if (!contender.expiresAt)
            return u"—"_s;
        return spokenDuration(duration_cast<milliseconds>(ourTime(*contender.expiresAt, *m_lock) - now));
    default: return rawCell(contender, column);
    }
}

QString QueueModel::rawCell(const Contender &contender, int column) const
{
    const auto &guard = contender.guard;
    const bool isNode = !guard.path.isEmpty();
    switch (column) {
    case Node: return label(isNode ? guard.path : contender.id, 400);
    case Czxid: return isNode ? u"0x%1"_s.arg(guard.czxid, 0, 16) : u"—"_s;
    case Owner: return isNode && guard.owner != 0 ? u"0x%1"_s.arg(guard.owner, 0, 16) : u"—"_s;
    case Version: return isNode ? QString::number(guard.version) : u"—"_s;
    case Data:
        if (!guard.value.isEmpty() && !isNode)
            return label(guard.value, 200);
        return contender.identity ? label(*contender.identity, 200) : u"—"_s;
    default: return {};
    }
}

namespace {

bool isNumber(int column)
{
    return column == QueueModel::Age || column == QueueModel::Ttl || column == QueueModel::Version;
}

Qt::Alignment alignmentOf(int column)
{
    return (isNumber(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter;
}

} // namespace

QVariant QueueModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const Contender &contender = contenderAt(index.row());
    switch (role) {
    case Qt::DisplayRole: return index.column() == Place ? pillAt(index.row()).word : cell(contender, index.column());
    case WholeTextRole: return index.column() == Who ? withWholeId(cell(contender, Who), contender) : QVariant();
    case Qt::TextAlignmentRole: return QVariant::fromValue(alignmentOf(index.column()));
    case Qt::ToolTipRole: {
        QString tip = label(contender.id, 400);
        if (contender.identity)
            tip += u'\n' + label(*contender.identity, 400);
        return plainToolTip(tip);
    }
    default: return {};
    }
}

QVariant QueueModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(alignmentOf(section));
    const auto &words = infoOf(m_lock->backend).words;
    const QString session = words.client.left(1).toUpper() + words.client.mid(1);
    const QStringList titles{u"#"_s,         u"Who"_s,   session,    u"Age"_s,     u"TTL"_s,
                             words.rawEntry, u"czxid"_s, u"Owner"_s, u"Version"_s, words.rawValue};
    const QStringList tips{
        u"holds, or the place in the queue: 1 is next"_s,
        u"What you or the client itself call it, and its address; else what it wrote, else its id"_s,
        u"As the server names it"_s,
        u"Since when it holds or waits; ≤ where only the earliest possible moment is known"_s,
        u"What is left until it ends by itself"_s};
    if (role == Qt::ToolTipRole)
        return tips.value(section); // the raw side speaks the server's own words
    return role == Qt::DisplayRole ? QVariant(titles[section]) : QVariant();
}

} // namespace lockscope::ui

#include "moc_queuemodel.cpp"
