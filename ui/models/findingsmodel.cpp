// SPDX-License-Identifier: Apache-2.0
#include "ui/models/findingsmodel.h"

#include "core/base/text.h"

#include <iterator>

namespace lockscope::ui {

using inspect::ChangeKind;
using inspect::LockSnapshot;
using inspect::SnapshotChange;

namespace {

// Rows that come or go at more places than this do so at the end, and are then put in order at once.
constexpr std::size_t mostFindingPlaces = 32;
constexpr std::chrono::seconds firstLooks(5);

// Mutes end by the wall clock: other runs, and other programs, read them.
MuteTime muteTime(SystemTime now)
{
    return std::chrono::floor<std::chrono::seconds>(programClock().wallOf(now));
}

} // namespace

FindingsModel::FindingsModel(Clock clock, QObject *parent)
    : OrderedRows(parent, mostFindingPlaces), m_clock(std::move(clock))
{
    const auto cell = [this](int column) {
        return [this, column](const FindingRow &row) { return row.cell(column, nowOf(row.lock.connection)); };
    };
    m_columns = {
        {.title = u"Severity"_s,
         .text = cell(FindingRow::State),
         .help = u"Severity"_s,
         .values = {{Qt::AccessibleTextRole, [this](const FindingRow &row) { return textsOf(row).join(u", "_s); }}}},
        {.title = u"Finding"_s,
         .text = cell(FindingRow::Title),
         .help = u"What it is; below the table stands what it means"_s},
        {.title = u"Lock"_s,
         .text = cell(FindingRow::Lock),
         .help = u"The lock that it was found on; of a deadlock all of them"_s},
        {.title = u"Connection"_s, .text = cell(FindingRow::Connection), .help = u"Where that is"_s},
        {.title = u"Who"_s, .text = cell(FindingRow::Who), .help = u"Whom it is about, the first of them"_s},
        {.title = u"What"_s, .text = cell(FindingRow::Message), .help = u"What was seen; its ages go on counting"_s},
        {.title = u"Since"_s,
         .text = cell(FindingRow::Since),
         .help = u"First observed by this window; ≤ if present at the initial scan"_s},
    };
}

FindingsModel::~FindingsModel() = default;

SystemTime FindingsModel::nowOf(const ConnectionName &connection) const
{
    const auto at = m_frozen.find(connection);
    return at == m_frozen.end() ? m_clock() : at->second;
}

// --- what is found -----------------------------------------------------------------------------

void FindingsModel::apply(const std::vector<SnapshotChange> &changes, bool isJump)
{
    const auto found = m_found, all = m_all;
    bool isConcerned = false;
    Delta delta;
    for (const auto &change : changes) {
        const auto &name = change.lock.lock;
        const bool isAdded = change.kind == ChangeKind::Added;
        if (isAdded)
            m_lookedSince.try_emplace(name.connection, m_clock());
        if (change.lock.findings.empty() && !m_byLock.contains(name) && !m_inDeadlocks.contains(name))
            continue;
        isConcerned = true;
        replace(change.lock, change.kind == ChangeKind::Removed, isJump || isAdded, delta);
    }
    if (!isConcerned)
        return;
    commit(std::move(delta));
    joinDeadlocks();
    say(found, all);
}

void FindingsModel::noteDeadlock(const LockSnapshot &lock, bool isGone)
{
    std::vector<FindingParty> in;
    for (const auto &finding : lock.findings) {
        if (!isGone && !finding.also.empty())
            std::ranges::copy(FindingRow(lock, finding).parties, std::back_inserter(in));
    }
    if (m_inDeadlocks.erase(lock.lock); !in.empty())
        m_inDeadlocks.emplace(lock.lock, std::move(in));
}

// The row of a deadlock stands at one of its locks; who is in it is told with each.
void FindingsModel::joinDeadlocks()
{
    std::vector<int> changed;
    for (const auto &[lock, in] : m_inDeadlocks) {
        const auto own = m_byLock.find(lock);
        if (own == m_byLock.end())
            continue;
        for (auto &row : own->second) {
            std::vector<FindingParty> elsewhere;
            for (const auto &other : row->finding.also) {
                if (const auto there = m_inDeadlocks.find(other); there != m_inDeadlocks.end())
                    elsewhere.insert(elsewhere.end(), there->second.begin(), there->second.end());
            }
            if (std::exchange(row->elsewhere, elsewhere) != elsewhere && row->shown)
                changed.push_back(placeOf(*row));
        }
    }
    reportShown(std::move(changed));
}

// The row goes on with what was found now.
void FindingsModel::continueRow(FindingRow &row, FindingRow next, Delta &delta)
{
    next.since = row.since;
    next.isOlder = row.isOlder;
    next.number = row.number;
    next.muted = muteFor(next);
    const bool stays = m_order.compare(row, next) == 0 && row.shown == m_filter.shows(next);
    count(row, -1);
    count(next, +1);
    if (stays) {
        next.shown = row.shown;
        row = std::move(next);
        if (row.shown)
            delta.changed.push_back(&row);
        return;
    }
    // Takes its new place as another row would: the old one leaves with what it said.
    auto before = std::make_unique<FindingRow>(row);
    if (row.shown) {
        m_rows[static_cast<std::size_t>(placeOf(row))] = before.get();
        delta.gone.push_back(std::move(before));
    }
    next.shown = false;
    row = std::move(next);
    delta.fresh.push_back(&row);
}

// A deadlock, or a waiter that watches nothing, is told when it was seen twice, so soon after the first look. It may
// have been there by then where those whom it is about were.
bool FindingsModel::isOlder(const FindingRow &row, const LockSnapshot &lock, bool isFirstLook) const
{
    const auto looked = m_lookedSince.find(lock.lock.connection);
    if (isFirstLook || looked == m_lookedSince.end() || m_clock() - looked->second > firstLooks)
        return isFirstLook;
    const auto then = std::chrono::time_point_cast<std::chrono::milliseconds>(looked->second) + row.serverAhead;
    return std::ranges::all_of(row.finding.contenders, [&](const QByteArray &id) {
        const auto *one = lock.find(id);
        const auto since = one ? std::max(one->waitingSince, one->heldSince) : std::nullopt;
        return since && *since <= then;
    });
}

void FindingsModel::replace(const LockSnapshot &lock, bool isGone, bool isFirstLook, Delta &delta)
{
    noteDeadlock(lock, isGone);
    auto &own = m_byLock[lock.lock];
    Own left = std::exchange(own, {});
    const auto take = [&left](const auto &fits) -> std::unique_ptr<FindingRow> {
        const auto at = std::ranges::find_if(left, fits);
        if (at == left.end())
            return {};
        auto row = std::move(*at);
        left.erase(at);
        return row;
    };
    std::vector<std::optional<FindingRow>> now;
    for (const auto &finding : lock.findings) {
        if (!isGone && !FindingRow::isAnothers(lock.lock, finding))
            now.emplace_back(FindingRow(lock, finding));
    }
    // First those that are about the same contenders, then those of the same code.
    for (const bool exactly : {true, false}) {
        for (auto &next : now) {
            if (!next)
                continue;
            auto row = take([&](const auto &one) {
                return exactly ? next->isLater(*one) : next->finding.code == one->finding.code;
            });
            if (!row)
                continue;
            continueRow(*row, std::move(*next), delta);
            next.reset();
            own.push_back(std::move(row));
        }
    }
    for (auto &next : now) {
        if (!next)
            continue;
        auto row = std::make_unique<FindingRow>(std::move(*next));
        row->since = m_clock();
        row->isOlder = isOlder(*row, lock, isFirstLook);
        row->number = m_nextNumber++;
        row->muted = muteFor(*row);
        count(*row, +1);
        delta.fresh.push_back(row.get());
        own.push_back(std::move(row));
    }
    for (auto &row : left) {
        count(*row, -1);
        if (row->shown)
            delta.gone.push_back(std::move(row));
    }
    if (own.empty())
        m_byLock.erase(lock.lock);
}

void FindingsModel::commit(Delta delta)
{
    Rows doomed;
    for (const auto &row : delta.gone)
        doomed.push_back(row.get());
    removeShown(doomed);
    std::erase_if(delta.fresh, [this](const FindingRow *row) { return !m_filter.shows(*row); });
    insertShown(std::move(delta.fresh));
    auto rows = mapped<std::vector<int>>(delta.changed, [&](const auto *row) { return placeOf(*row); });
    reportShown(std::move(rows));
}

void FindingsModel::removeConnection(const ConnectionName &connection)
{
    const auto found = m_found, all = m_all;
    Delta delta;
    for (auto at = m_byLock.begin(); at != m_byLock.end();) {
        if (at->first.connection != connection) {
            ++at;
            continue;
        }
        for (auto &row : at->second) {
            count(*row, -1);
            if (row->shown)
                delta.gone.push_back(std::move(row));
        }
        at = m_byLock.erase(at);
    }
    std::erase_if(m_inDeadlocks, [&](const auto &one) { return one.first.connection == connection; });
    commit(std::move(delta));
    m_frozen.erase(connection);
    say(found, all);
}

void FindingsModel::setFrozen(const ConnectionName &connection, std::optional<SystemTime> asOf)
{
    if (asOf)
        m_frozen[connection] = *asOf;
    else
        m_frozen.erase(connection);
    reportAll();
}

// --- mutes -------------------------------------------------------------------------------------

std::optional<Mute> FindingsModel::muteFor(const FindingRow &row) const
{
    if (m_mutes.empty())
        return {};
    // What is of several locks is muted with all of them only; as lockscopectl has it.
    std::optional<Mute> first;
    for (const auto &lock : row.locks) {
        const auto *mute = muteOf(m_mutes, lock, row.finding.code, row.finding.severity);
        if (!mute)
            return {};
        if (!first || mute->until < first->until)
            first = *mute;
    }
    return first;
}

void FindingsModel::setMutes(std::vector<Mute> mutes)
{
    m_mutes = std::move(mutes);
    judgeMutes();
}

void FindingsModel::judgeMutes()
{
    const auto now = muteTime(m_clock());
    std::erase_if(m_mutes, [now](const Mute &mute) { return mute.until <= now; });
    m_nextEnd.reset();
    for (const auto &mute : m_mutes)
        m_nextEnd = m_nextEnd ? std::min(*m_nextEnd, mute.until) : mute.until;
    const auto found = m_found, all = m_all;
    std::vector<int> changed;
    for (auto &[lock, own] : m_byLock) {
        for (auto &row : own) {
            auto muted = muteFor(*row);
            if (muted == row->muted)
                continue;
            count(*row, -1);
            row->muted = std::move(muted);
            count(*row, +1);
            if (row->shown)
                changed.push_back(placeOf(*row));
        }
    }
    reportShown(std::move(changed));
    refilter();
    say(found, all);
}

// --- what is shown -----------------------------------------------------------------------------

void FindingsModel::count(const FindingRow &row, int by)
{
    m_all.add(row, by);
    if (m_filter.finds(row))
        m_found.add(row, by);
}

void FindingsModel::say(const FindingCounts &found, const FindingCounts &all)
{
    if (found != m_found || all != m_all)
        emit countsChanged();
}

void FindingsModel::setFilter(FindingFilter filter)
{
    m_filter = std::move(filter);
    m_found = {};
    for (const auto &[lock, own] : m_byLock) {
        for (const auto &row : own) {
            if (m_filter.finds(*row))
                m_found.add(*row, +1);
        }
    }
    refilter();
    emit countsChanged();
}

void FindingsModel::refilter()
{
    Rows doomed, fresh;
    for (const auto &[lock, own] : m_byLock) {
        for (const auto &row : own) {
            if (row->shown != m_filter.shows(*row))
                (row->shown ? doomed : fresh).push_back(row.get());
        }
    }
    removeShown(doomed);
    insertShown(std::move(fresh));
}

void FindingsModel::sort(int column, Qt::SortOrder order)
{
    m_order = {column, order};
    sortShown();
}

void FindingsModel::tick(int firstRow, int lastRow)
{
    if (m_nextEnd && *m_nextEnd <= muteTime(m_clock()))
        judgeMutes();
    lastRow = std::min(lastRow, rowCount() - 1);
    if (firstRow >= 0 && firstRow <= lastRow)
        emit dataChanged(index(firstRow, FindingRow::Message), index(lastRow, FindingRow::Message));
}

} // namespace lockscope::ui

#include "moc_findingsmodel.cpp"
