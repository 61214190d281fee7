// SPDX-License-Identifier: Apache-2.0
#include "ui/models/lockrow.h"

#include "core/base/text.h"

#include <QSettings>

namespace lockscope::ui {

using inspect::Severity;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

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

QString timeBetween(SystemTime from, SystemTime to)
{
    return formatDuration(duration_cast<milliseconds>(to - from));
}

QString oldestWaitText(const LockRow &row, SystemTime now)
{
    return row.facts.oldestWait ? timeBetween(*row.facts.oldestWait, now) : u"—"_s;
}

QString heldText(const LockRow &row, SystemTime now)
{
    if (!row.facts.heldSince)
        return u"—"_s;
    return (row.facts.heldAtMost ? u"≤ "_s : QString()) + timeBetween(*row.facts.heldSince, now);
}

QString findingText(const LockRow &row, SystemTime now)
{
    const auto &facts = row.facts;
    const auto &snapshot = row.snapshot;
    const bool expires = facts.expiresAt.has_value();
    const auto left = expires ? timeBetween(now, *facts.expiresAt) : QString();
    if (facts.holderDisconnected && expires && facts.worst != Severity::Critical)
        return *facts.expiresAt > now ? u"session ends in %1"_s.arg(left) : u"session should be over"_s;
    if (snapshot.findings.empty() && expires)
        return *facts.expiresAt > now ? u"expires in %1"_s.arg(left) : u"expiring"_s;
    return facts.findingTicks ? findingAt(snapshot, serverTimeAt(now, snapshot)) : facts.finding;
}

QString nameTip(const LockRow &row)
{
    return label(row.snapshot.lock.text(), 1500) + u'\n' + label(row.snapshot.why.toUtf8(), 400);
}

// For who hears a row of two lines, which has one cell.
QVariant spokenState(const LockRow &row)
{
    return u"%1, held by %2, waiting: %3, connection %4"_s.arg(row.gone ? u"gone"_s : row.facts.pill().word,
                                                               row.facts.holder, waitingText(row.snapshot),
                                                               label(row.snapshot.lock.connection.bytes(), 60));
}

// What a search looks into: for people what it is, and the text.
std::vector<std::pair<QString, QString>> searchedParts(const LockRow &row)
{
    const auto &lock = row.snapshot;
    std::vector<std::pair<QString, QString>> parts{{{}, label(lock.lock.text(), 1000)},
                                                   {u"recipe"_s, QString::fromLatin1(lock.recipe)},
                                                   {u"client"_s, lock.client.value_or(QString())},
                                                   {{}, row.facts.pill().word},
                                                   {{}, row.facts.finding}};
    for (const auto &c : lock.contenders) {
        const auto who = c.role == inspect::Role::Holder ? u"holder"_s : u"waiter"_s;
        for (const auto &text : {c.label, c.identity ? label(*c.identity, 400) : QString(),
                                 c.program ? label(*c.program, 400) : QString(), c.endpoint.value_or(QString()),
                                 c.session.value_or(QString()), label(c.id, 100)})
            parts.emplace_back(who, text);
        if (c.work) {
            parts.emplace_back(who, label(c.work->application, 100));
            parts.emplace_back(u"%1 runs"_s.arg(who), label(c.work->statement, 400));
        }
    }
    return parts;
}

} // namespace

RowsModel<LockRow *>::Columns lockColumns(const std::function<SystemTime(const LockRow &)> &nowOf)
{
    const auto aging = [&nowOf](QString (*text)(const LockRow &, SystemTime)) {
        return [nowOf, text](const LockRow &row) { return text(row, nowOf(row)); };
    };
    return {
        {.title = u"State"_s,
         .text = [](const LockRow &row) { return row.gone ? u"gone"_s : row.facts.pill().word; },
         .help =
             u"Most severe known state: no expiry, disconnected, no quorum …; otherwise contended, held or free"_s},
        {.title = u"Lock"_s,
         .text = [](const LockRow &row) { return label(row.snapshot.lock.name, 400); },
         .help = u"The name on the server"_s,
         .tip = &nameTip,
         .values = {{Qt::AccessibleDescriptionRole, &spokenState}}},
        {.title = u"Recipe"_s,
         .text = [](const LockRow &row) { return QString::fromLatin1(row.snapshot.recipe); },
         .help = u"Which algorithm, by what its clients left there; the detail says why"_s},
        {.title = u"Holder"_s,
         .text = [](const LockRow &row) { return row.facts.holder; },
         .help = u"Holder: label or client name with address, or the data it wrote, or its ID"_s,
         .values = {{WholeTextRole, [](const LockRow &row) { return withWholeId(row.facts.holder, row.snapshot); }}}},
        {.title = u"Waiting"_s,
         .text = [](const LockRow &row) { return waitingText(row.snapshot); },
         .help = u"How many wait; ? where a waiter leaves no trace on the server"_s,
         .isNumber = true,
         .isLargestFirst = true},
        {.title = u"Oldest wait"_s,
         .text = aging(&oldestWaitText),
         .help = u"Since when the first of those who wait does"_s,
         .isNumber = true,
         .isLargestFirst = true},
        {.title = u"Held"_s,
         .text = aging(&heldText),
         .help = u"For how long it has been held; ≤ where only the earliest possible moment is known"_s,
         .isNumber = true,
         .isLargestFirst = true},
        {.title = u"Finding"_s,
         .text = aging(&findingText),
         .help = u"What is wrong, or ends by itself; the detail has all of it"_s},
        {.title = u"Connection"_s,
         .text = [](const LockRow &row) { return label(row.snapshot.lock.connection.bytes(), 60); },
         .help = u"On which connection"_s},
    };
}

std::vector<QByteArray> heldWith(const inspect::LockSnapshot &lock, const LockRows &rows)
{
    std::vector<QByteArray> names;
    const auto threads = holdingThreads(lock);
    if (threads.empty())
        return names;
    for (const auto *row : rows) {
        const auto &other = row->snapshot;
        if (!row->gone && other.lock.connection == lock.lock.connection && other.lock.name != lock.lock.name
            && isHeldByAny(other, threads))
            names.push_back(other.lock.name);
    }
    std::ranges::sort(names);
    return names;
}

QString LockRow::brief(int column) const
{
    if (column == Holder)
        return snapshot.holderCount() == 1 ? holderBriefly(snapshot, facts.holderDisconnected) : QString();
    return column == FindingColumn ? findingBriefly(snapshot) : QString();
}

const QString &LockRow::haystack() const
{
    if (!m_haystack) {
        const auto texts = mapped<QStringList>(searchedParts(*this), [&](const auto &part) { return part.second; });
        m_haystack = std::make_unique<const QString>(texts.join(u'\n').toLower());
    }
    return *m_haystack;
}

QString LockRow::matchOf(const QString &text) const
{
    const auto has = [&text](const QString &cell) { return cell.contains(text, Qt::CaseInsensitive); };
    if (text.isEmpty() || has(label(snapshot.lock.text(), 1000)) || has(facts.holder))
        return {};
    const auto parts = searchedParts(*this);
    const auto found =
        std::ranges::find_if(parts, [&has](const auto &part) { return !part.first.isEmpty() && has(part.second); });
    return found == parts.end() ? QString() : found->first + u' ' + found->second;
}

qint64 LockOrder::waitingSum(const LockFacts &facts) const
{
    if (facts.isElection || facts.waiters == 0)
        return 0;
    const auto now = duration_cast<milliseconds>(rankedAt.time_since_epoch()).count();
    // At least 1: whoever has waiters comes before whoever has none.
    return std::max<qint64>(1, now * facts.waitersTimed - facts.waitingSinceSumMs);
}

int LockOrder::compare(const Place &placeA, const Place &placeB) const
{
    const auto &[a, nameA] = placeA;
    const auto &[b, nameB] = placeB;
    int order = isGrouped ? nameA.connection.bytes().compare(nameB.connection.bytes()) : 0;
    if (order != 0)
        return order;
    switch (column) {
    case LockRow::State: order = threeWay(a.stateRank, b.stateRank); break;
    case LockRow::Lock: break;
    case LockRow::Connection: order = nameA.connection.bytes().compare(nameB.connection.bytes()); break;
    case LockRow::Recipe: order = a.recipe.compare(b.recipe); break;
    case LockRow::Holder: order = a.holder.compare(b.holder); break;
    case LockRow::Waiting: order = threeWay(a.waiters, b.waiters); break;
    case LockRow::OldestWait: order = byAge(a.oldestWait, b.oldestWait); break;
    case LockRow::Held: order = byAge(a.heldSince, b.heldSince); break;
    case LockRow::FindingColumn:
        order = threeWay(severityRank(a), severityRank(b));
        if (order == 0)
            order = a.finding.compare(b.finding);
        break;
    default:
        order = -threeWay(severityRank(a), severityRank(b));
        if (order == 0)
            order = -threeWay(waitingSum(a), waitingSum(b));
        break;
    }
    if (order == 0)
        order = nameA.name.compare(nameB.name);
    if (order == 0)
        order = nameA.connection.bytes().compare(nameB.connection.bytes());
    return direction == Qt::DescendingOrder && column >= 0 ? -order : order;
}

bool LockFilter::isOfConnection(const LockRow &row) const
{
    return connection.isEmpty() || row.snapshot.lock.connection == connection;
}

bool LockFilter::matchesText(const LockRow &row) const
{
    return text.isEmpty() || row.haystack().contains(text);
}

bool LockFilter::shows(const LockRow &row) const
{
    if (!isOfConnection(row) || (chip == Chip::Contended && !row.facts.isContended())
        || (chip == Chip::Critical && row.facts.worst != Severity::Critical)
        || (chip == Chip::Warning && row.facts.worst != Severity::Warning) || (chip == Chip::Mine && !row.mine))
        return false;
    return matchesText(row);
}

void LockCounts::add(const LockRow &row, int by)
{
    all += by;
    contended += row.facts.isContended() ? by : 0;
    critical += row.facts.worst == Severity::Critical ? by : 0;
    warning += row.facts.worst == Severity::Warning ? by : 0;
    mine += row.mine ? by : 0;
}

void LockTally::add(const LockFilter &filter, const LockRow &row, int by)
{
    if (!filter.isOfConnection(row))
        return;
    total += by;
    if (filter.matchesText(row))
        found.add(row, by);
}

bool SavedFilters::keep(SavedFilter filter)
{
    filter.name = filter.name.simplified().left(60);
    if (filter.name.isEmpty())
        return false;
    const auto place = std::ranges::lower_bound(m_all, filter.name, {}, &SavedFilter::name);
    if (place != m_all.end() && place->name == filter.name) {
        *place = std::move(filter);
        return true;
    }
    if (m_all.size() == most)
        return false;
    m_all.insert(place, std::move(filter));
    return true;
}

void SavedFilters::forget(const QString &name)
{
    std::erase_if(m_all, [&](const SavedFilter &filter) { return filter.name == name; });
}

void SavedFilters::save(QSettings &settings) const
{
    settings.beginWriteArray(u"filters"_s, static_cast<int>(m_all.size()));
    for (std::size_t i = 0; i < m_all.size(); ++i) {
        settings.setArrayIndex(static_cast<int>(i));
        settings.setValue(u"name"_s, m_all[i].name);
        settings.setValue(u"text"_s, m_all[i].text);
        settings.setValue(u"chip"_s, m_all[i].chip);
    }
    settings.endArray();
}

// A settings file is text that somebody may have edited.
void SavedFilters::restore(QSettings &settings)
{
    m_all.clear();
    const int count = settings.beginReadArray(u"filters"_s);
    for (int i = 0; i < count; ++i) {
        settings.setArrayIndex(i);
        const int chip = settings.value(u"chip"_s).toInt();
        const bool isChip = chip >= 0 && chip <= static_cast<int>(LockFilter::Chip::Mine);
        keep({settings.value(u"name"_s).toString(), settings.value(u"text"_s).toString().left(500),
              isChip ? chip : 0});
    }
    settings.endArray();
}

} // namespace lockscope::ui

#include "moc_lockrow.cpp"
