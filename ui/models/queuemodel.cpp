// SPDX-License-Identifier: Apache-2.0
#include "ui/models/queuemodel.h"

#include "core/base/duration.h"
#include "core/base/text.h"
#include "ui/theme/text.h"

#include <algorithm>

namespace lockscope::ui {

using inspect::Contender;
using inspect::LockSnapshot;
using inspect::Mode;
using inspect::Role;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

namespace {

QString identityText(const Contender &contender)
{
    QString text = label(contender.id, 400);
    if (contender.identity)
        text += u'\n' + label(*contender.identity, 400);
    return text;
}

bool isNode(const Contender &contender)
{
    return !contender.guard.znode().path.isEmpty();
}

QString sessionText(const Contender &contender)
{
    return contender.session ? label(contender.session->toUtf8(), 60) : u"—"_s;
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

} // namespace

QueueModel::QueueModel(QObject *parent) : RowsModel(parent)
{
    m_columns = {
        {.title = u"#"_s,
         .text = [this](const Contender &contender) { return pillOf(contender).word; },
         .help = u"holds, or the place in the queue: 1 is next"_s},
        {.title = u"Who"_s,
         .text = [this](const Contender &contender) { return whoText(contender); },
         .help = u"What you or the client itself call it, and its address; else what it wrote, else its id"_s,
         .values = {{WholeTextRole,
                     [this](const Contender &contender) { return withWholeId(whoText(contender), contender); }}}},
        {.text =
             [this](const Contender &contender) {
                 return m_isTall ? watchedText(contender) : sessionText(contender);
             },
         .help = u"As the server names it"_s},
        {.title = u"Age"_s,
         .text = [this](const Contender &contender) { return ageText(contender); },
         .help = u"Since when it holds or waits; ≤ where only the earliest possible moment is known"_s,
         .isNumber = true},
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
        column.tip = &identityText;
    nameColumns();
}

// The raw side uses the words of the server.
void QueueModel::nameColumns()
{
    const auto &words = infoOf(m_lock->backend).words;
    m_columns[Who].title = m_isTall ? tr("Client") : u"Who"_s;
    m_columns[Session].title = !m_isTall ? words.client.left(1).toUpper() + words.client.mid(1)
                               : m_lock->backend == BackendKind::ZooKeeper ? tr("Watches")
                                                                           : tr("Waits for");
    m_columns[Node].title = words.rawEntry;
    m_columns[Data].title = words.rawValue;
}

void QueueModel::setTall(bool isTall)
{
    m_isTall = isTall;
    nameColumns();
    emit headerDataChanged(Qt::Horizontal, 0, ColumnCount - 1);
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

void QueueModel::tick()
{
    reportColumns(Age, Ttl, {Qt::DisplayRole});
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
    Pill pill = ui::pillOf(contender, *m_lock);
    if (contender.mode == Mode::Read || contender.mode == Mode::Write)
        pill.word += contender.mode == Mode::Read ? u" R"_s : u" W"_s;
    if (contender.reentry > 1)
        pill.word += u" ×%1"_s.arg(contender.reentry);
    return pill;
}

RailRow QueueModel::railAt(int row) const
{
    if (m_rails.empty())
        m_rails = railsOf(*m_lock);
    const auto at = static_cast<std::size_t>(row);
    return at < m_rails.size() ? m_rails[at] : RailRow();
}

QString QueueModel::nameAt(int row) const
{
    const auto name = inspect::nameBeside(at(row), m_lock->backend);
    const auto shown = name ? inspect::nameLabel(*name) : whoIs(at(row));
    return m_own.contains(at(row).id) ? u"%1 (you)"_s.arg(shown) : shown;
}

QString QueueModel::originAt(int row) const
{
    const auto &contender = at(row);
    const auto &words = infoOf(m_lock->backend).words;
    QStringList parts;
    if (contender.endpoint && whoIs(contender) != nameAt(row))
        parts << label(contender.endpoint->toUtf8(), 60);
    if (contender.session)
        parts << u"%1 %2"_s.arg(words.client, label(contender.session->toUtf8(), 60));
    if (const auto &work = contender.work)
        parts << (work->isRunning          ? tr("runs a statement")
                  : work->transactionSince ? tr("idle in a transaction")
                                           : tr("idle"));
    return parts.join(u" · "_s);
}

QString QueueModel::watchedText(const Contender &contender) const
{
    if (contender.watches.isEmpty())
        return contender.role == Role::Holder ? tr("holds %1").arg(shortId(contender.id)) : QString();
    const auto &watch = contender.watches.front();
    if (watch.children)
        return tr("the directory");
    const int target = rowOf(watch.target);
    const auto id = shortId(watch.target);
    if (target < 0)
        return id;
    const auto *watched = &at(target);
    return watched->role == Role::Holder ? tr("%1, the holder").arg(id)
           : watched->position           ? tr("%1, waiter %2").arg(id, QString::number(*watched->position))
                                         : id;
}

QString QueueModel::evidenceAt(int row) const
{
    const auto &contender = at(row);
    if (contender.watches.isEmpty())
        return {};
    return contender.watches.front().evidence == inspect::Evidence::Server ? tr("reported") : tr("inferred");
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
    return std::any_of(m_rows.begin(), m_rows.end(), [](const Contender *c) { return isNode(*c); });
}

bool QueueModel::hasModes() const
{
    return std::any_of(m_rows.begin(), m_rows.end(),
                       [](const Contender *c) { return c->mode == Mode::Read || c->mode == Mode::Write; });
}

bool QueueModel::isNamed(int row) const
{
    return inspect::nameBeside(at(row), m_lock->backend).has_value();
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

} // namespace lockscope::ui

#include "moc_queuemodel.cpp"
