// SPDX-License-Identifier: Apache-2.0
#include "ui/models/queuemodel.h"

#include "core/base/text.h"

#include <QHash>

namespace lockscope::ui {

using inspect::Contender;
using inspect::Evidence;
using inspect::LockSnapshot;
using inspect::Mode;
using inspect::Role;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

namespace {

bool isNode(const Contender &contender)
{
    return !contender.guard.znode().path.isEmpty();
}

QString entryText(const Contender &contender)
{
    return label(isNode(contender) ? contender.guard.znode().path : contender.id, 400);
}

QString czxidText(const Contender &contender)
{
    return isNode(contender) ? u"0x%1"_s.arg(contender.guard.znode().czxid, 0, 16) : u"—"_s;
}

QString ownerText(const Contender &contender)
{
    return isNode(contender) && contender.guard.znode().owner != 0
               ? u"0x%1"_s.arg(contender.guard.znode().owner, 0, 16)
               : u"—"_s;
}

QString versionText(const Contender &contender)
{
    return isNode(contender) ? QString::number(contender.guard.znode().version) : u"—"_s;
}

QString valueText(const Contender &contender)
{
    if (!contender.guard.text().isEmpty())
        return label(contender.guard.text(), 200);
    return contender.identity ? label(*contender.identity, 200) : u"—"_s;
}

QString evidenceOf(const inspect::WatchEdge &watch)
{
    return watch.evidence == inspect::Evidence::Server ? QueueModel::tr("reported") : QueueModel::tr("inferred");
}

QString evidenceText(const Contender &contender)
{
    return contender.watches.isEmpty() ? QString() : evidenceOf(contender.watches.front());
}

// As a reader or a writer, and how often.
QString modeText(const Contender &contender)
{
    QString text;
    if (contender.mode == Mode::Read || contender.mode == Mode::Write)
        text = contender.mode == Mode::Read ? u" R"_s : u" W"_s;
    return contender.reentry > 1 ? text + u" ×%1"_s.arg(contender.reentry) : text;
}

// The two lines of a cell, for a screen reader.
QString spokenText(const QString &first, const QString &second)
{
    return first.isEmpty() || second.isEmpty() ? first + second : first + u", "_s + second;
}

constexpr int beforeTheFirst = -1;     // the children of the queue's directory, which no row stands for
constexpr std::size_t mostRuns = 2000; // beyond, lines that skip rows are not drawn: they would tell nothing

// All that watch one target from further away.
struct Run {
    int target = 0;
    int from = 0, to = 0;
    std::vector<std::pair<int, RailPart>> watchers;
};

RailPart partOf(Evidence evidence)
{
    return evidence == Evidence::Server ? RailPart::Seen : RailPart::Inferred;
}

void draw(const Run &run, std::size_t lane, std::vector<RailRow> &rows)
{
    const bool isSeen =
        std::ranges::all_of(run.watchers, [](const auto &watcher) { return watcher.second == RailPart::Seen; });
    const auto part = isSeen ? RailPart::Seen : RailPart::Inferred;
    for (int row = std::max(0, run.from); row <= run.to; ++row) {
        auto &at = rows[static_cast<std::size_t>(row)].lanes[lane];
        at.above = row > run.from ? part : at.above;
        at.below = row < run.to ? part : at.below;
    }
    for (const auto &[row, evidence] : run.watchers)
        rows[static_cast<std::size_t>(row)].lanes[lane].tick = evidence;
    if (run.target != beforeTheFirst) {
        auto &target = rows[static_cast<std::size_t>(run.target)].lanes[lane];
        target.tick = part;
        target.isTarget = true;
    }
}

// How many contenders the release of one holder wakes at most, as far as watches tell; and those of them that watch
// the children of the queue.
std::pair<qsizetype, qsizetype> wokenByRelease(const inspect::LockSnapshot &lock)
{
    const auto watchesChildren = [](const Contender &contender) {
        return std::ranges::any_of(contender.watches, &inspect::WatchEdge::children);
    };
    const auto children = std::ranges::count_if(lock.contenders, watchesChildren);
    QHash<QByteArray, qsizetype> watchers; // of one contender, by those that do not watch the children
    for (const auto &contender : lock.contenders) {
        auto targets = mapped<QSet<QByteArray>>(contender.watches, [&](const auto &watch) { return watch.target; });
        for (const auto &target : watchesChildren(contender) ? QSet<QByteArray>() : targets)
            ++watchers[target];
    }
    qsizetype most = 0;
    for (const auto &contender : lock.contenders) {
        if (contender.role == Role::Holder)
            most = std::max(most, watchers.value(contender.id));
    }
    const bool isHeld = lock.holderCount() > 0;
    return {isHeld ? most + children : 0, isHeld ? children : 0};
}

} // namespace

QueueModel::QueueModel(QObject *parent) : RowsModel(parent)
{
    m_columns = {
        {.title = u"#"_s,
         .text = [this](const Contender &contender) { return pillOf(contender).word; },
         .help = u"holds, or the place in the queue: 1 is next"_s},
        {.title = u"Client"_s,
         .text = [this](const Contender &contender) { return whoText(contender); },
         .help = u"What you or the client itself call it, and its address; else what it wrote, else its id"_s,
         .values = {{WholeTextRole,
                     [this](const Contender &contender) { return withWholeId(whoText(contender), contender); }},
                    {Qt::AccessibleTextRole,
                     [this](const Contender &contender) {
                         return spokenText(nameText(contender), originText(contender));
                     }}}},
        {.text = [this](const Contender &contender) { return watchedText(contender); },
         .help = u"Reported by a server, or inferred from the recipe"_s,
         .values = {{Qt::AccessibleTextRole,
                     [this](const Contender &contender) {
                         return spokenText(watchedText(contender), evidenceText(contender));
                     }}}},
        {.title = u"Age"_s,
         .text = [this](const Contender &contender) { return ageText(contender); },
         .help = u"Since when it holds or waits; ≤ where only the earliest possible moment is known"_s,
         .isNumber = true,
         .values = {{Qt::AccessibleTextRole,
                     [this](const Contender &contender) {
                         return spokenText(stateText(contender), ageText(contender));
                     }}}},
        {.title = u"TTL"_s,
         .text = [this](const Contender &contender) { return leftText(contender); },
         .help = u"What is left until it ends by itself"_s,
         .isNumber = true},
        {.text = &entryText},
        {.title = u"czxid"_s, .text = &czxidText},
        {.title = u"Owner"_s, .text = &ownerText},
        {.title = u"Version"_s, .text = &versionText, .isNumber = true},
        {.text = &valueText},
    };
    for (auto &column : m_columns)
        column.tip = [this](const Contender &contender) { return tipText(contender); };
    nameColumns();
}

// The raw side uses the words of the server.
void QueueModel::nameColumns()
{
    const auto &words = infoOf(m_lock->backend).words;
    m_columns[Watched].title = words.waitsFor.left(1).toUpper() + words.waitsFor.mid(1);
    m_columns[Node].title = words.rawEntry;
    m_columns[Data].title = words.rawValue;
}

void QueueModel::setPast(bool isPast)
{
    m_isPast = isPast;
    tick();
}

void QueueModel::setSnapshot(std::shared_ptr<const LockSnapshot> lock)
{
    m_rails.clear();
    const auto before = std::exchange(m_lock, std::move(lock)); // the rows are its contenders until all are replaced
    if (before->backend != m_lock->backend) {
        nameColumns();
        emit headerDataChanged(Qt::Horizontal, 0, ColumnCount - 1);
    }
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
    for (auto range = ranges.rbegin(); range != ranges.rend(); ++range)
        removeRange(range->first, range->last);
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
    reportChanged(std::move(changed));
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

void QueueModel::setOwn(QSet<QByteArray> own)
{
    if (m_own == own)
        return;
    m_own = std::move(own);
    reportColumns(Who, Who, {Qt::DisplayRole});
}

Pill QueueModel::pillOf(const Contender &contender) const
{
    Pill pill = ui::pillOf(contender, *m_lock, m_isPast);
    pill.word += modeText(contender);
    return pill;
}

RailRow QueueModel::railAt(int row) const
{
    if (m_rails.empty())
        m_rails = railsOf(*m_lock);
    const auto at = static_cast<std::size_t>(row);
    return at < m_rails.size() ? m_rails[at] : RailRow();
}

QString QueueModel::nameText(const Contender &contender) const
{
    const auto name = inspect::nameBeside(contender, m_lock->backend);
    const auto shown = name ? inspect::nameLabel(*name) : whoIs(contender);
    return m_own.contains(contender.id) ? u"%1 (you)"_s.arg(shown) : shown;
}

QString QueueModel::originText(const Contender &contender) const
{
    QStringList parts;
    if (contender.endpoint && whoIs(contender) != nameText(contender))
        parts << label(contender.endpoint->toUtf8(), 60);
    if (contender.session)
        parts << u"%1 %2"_s.arg(infoOf(m_lock->backend).words.client, label(contender.session->toUtf8(), 60));
    if (const auto &work = contender.work)
        parts << (work->isRunning          ? tr("runs a statement")
                  : work->transactionSince ? tr("idle in a transaction")
                                           : tr("idle"));
    return parts.join(u" · "_s);
}

QString QueueModel::targetText(const inspect::WatchEdge &watch) const
{
    if (watch.children)
        return tr("the directory");
    const int target = rowOf(watch.target);
    const auto id = shortId(watch.target);
    if (target < 0)
        return id;
    const auto &watched = at(target);
    return watched.role == Role::Holder ? tr("%1, the holder").arg(id)
           : watched.position           ? tr("%1, waiter %2").arg(id, QString::number(*watched.position))
                                        : id;
}

QString QueueModel::watchedText(const Contender &contender) const
{
    if (!contender.watches.isEmpty())
        return targetText(contender.watches.front());
    return contender.role == Role::Holder ? u"%1 %2"_s.arg(roleText(contender, m_isPast), shortId(contender.id))
                                          : QString();
}

// Who it is in full, and all that it watches.
QString QueueModel::tipText(const Contender &contender) const
{
    const auto &words = infoOf(m_lock->backend).words;
    QStringList lines{label(contender.id, 400)};
    if (contender.identity)
        lines << label(*contender.identity, 400);
    if (contender.session)
        lines << u"%1 %2"_s.arg(words.client, label(contender.session->toUtf8(), 400));
    for (const auto &watch : contender.watches)
        lines << u"%1 %2 (%3)"_s.arg(words.waitsFor, targetText(watch), evidenceOf(watch));
    return lines.join(u'\n');
}

QString QueueModel::evidenceAt(int row) const
{
    return evidenceText(at(row));
}

QString QueueModel::stateText(const Contender &contender) const
{
    return roleText(contender, m_isPast) + modeText(contender);
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

bool QueueModel::hasNodes() const
{
    return std::any_of(m_rows.begin(), m_rows.end(), [](const Contender *c) { return isNode(*c); });
}

QString QueueModel::whoText(const Contender &contender) const
{
    const auto who = whoIsByName(contender, m_lock->backend);
    return m_own.contains(contender.id) ? u"%1 (you)"_s.arg(who) : who;
}

QString QueueModel::ageText(const Contender &contender) const
{
    const bool isHolder = contender.role == Role::Holder;
    const auto since = isHolder ? contender.heldSince : contender.waitingSince;
    if (!since)
        return u"—"_s;
    const auto age = formatDuration(duration_cast<milliseconds>(m_clock() - ourTime(*since, *m_lock)));
    return isHolder && contender.heldAtMost ? u"≤ "_s + age : age;
}

QString QueueModel::leftText(const Contender &contender) const
{
    if (!contender.expiresAt)
        return u"—"_s;
    return formatDuration(duration_cast<milliseconds>(ourTime(*contender.expiresAt, *m_lock) - m_clock()));
}

std::vector<RailRow> railsOf(const inspect::LockSnapshot &lock)
{
    std::vector<RailRow> rows(lock.contenders.size());
    QHash<QByteArray, int> places;
    places.reserve(std::ssize(lock.contenders));
    for (std::size_t row = 0; row < rows.size(); ++row)
        places.insert(lock.contenders[row].id, static_cast<int>(row));
    std::map<int, Run> runs;
    for (int row = 0; row < static_cast<int>(rows.size()); ++row) {
        for (const auto &watch : lock.contenders[static_cast<std::size_t>(row)].watches) {
            const int target = watch.children ? beforeTheFirst : places.value(watch.target, row);
            const auto part = partOf(watch.evidence);
            if (target == row)
                continue; // itself, or one that is not in the queue
            if (!watch.children && target == row - 1) {
                rows[static_cast<std::size_t>(row)].up = part;
                rows[static_cast<std::size_t>(target)].down = part;
                continue;
            }
            auto &run = runs.try_emplace(target, Run{target, target, target, {}}).first->second;
            run.from = std::min(run.from, row);
            run.to = std::max(run.to, row);
            run.watchers.emplace_back(row, part);
        }
    }
    if (runs.size() > mostRuns)
        return rows;
    std::vector<const Run *> ordered;
    for (const auto &[target, run] : runs)
        ordered.push_back(&run);
    std::ranges::stable_sort(ordered, {}, &Run::from);
    std::array<int, RailRow::laneCount> free{beforeTheFirst - 1, beforeTheFirst - 1, beforeTheFirst - 1};
    for (const auto *run : ordered) {
        std::size_t lane = 0;
        while (lane + 1 < free.size() && free[lane] >= run->from)
            ++lane;
        free[lane] = std::max(free[lane], run->to);
        draw(*run, lane, rows);
    }
    return rows;
}

QString wakeUpText(const inspect::LockSnapshot &lock)
{
    const auto hasWatches = [](const Contender &contender) { return !contender.watches.isEmpty(); };
    const auto isWaiter = [](const Contender &contender) { return contender.role == Role::Waiter; };
    if (lock.contenders.empty())
        return u"Free: no client holds this lock or waits for it."_s;
    const auto wakeUp = recipes::recipeOf(lock.recipe).wakeUp;
    if (wakeUp == recipes::WakeUp::Message)
        return u"Waiters block on a channel. A release must also publish a message; otherwise they keep waiting."_s;
    if (!lock.waitersKnown)
        return u"No server knows who waits: clients of this recipe ask again and again."_s;
    const auto waiters = std::ranges::count_if(lock.contenders, isWaiter);
    if (waiters == 0)
        return u"No client waits. A release wakes no client."_s;
    if (wakeUp == recipes::WakeUp::Answer)
        return u"Queue: an arrow points at who is ahead of a waiter. The server itself lets the next one in."_s;
    if (std::ranges::none_of(lock.contenders, hasWatches))
        return u"No watch is known: no server said who watches, and the recipe does not tell."_s;
    const auto [woken, children] = wokenByRelease(lock);
    constexpr int herdFrom = 4;
    if (woken >= herdFrom && woken * 2 > waiters)
        return u"Herd: %1 waiters watch %2. One release wakes %1."_s.arg(woken).arg(
            children * 2 > woken ? u"the children of the queue"_s : u"the holder"_s);
    const QString wakes = lock.holderCount() > 1 ? u"A release wakes at most %1."_s : u"One release wakes %1."_s;
    return u"Watch chain: an arrow points at what a waiter watches. "_s + wakes.arg(woken);
}

} // namespace lockscope::ui

#include "moc_queuemodel.cpp"
