// SPDX-License-Identifier: Apache-2.0
#include "ui/models/logmodel.h"

#include "core/base/text.h"
#include "ui/theme/pill.h"

namespace lockscope::ui {

using operate::LogEntry;

namespace {

// Entries are made of text that is safe already; this keeps it so if one is not.
QString withoutControls(QString text)
{
    for (auto &c : text) {
        if (c.category() == QChar::Other_Control || c.category() == QChar::Other_Format)
            c = QChar(0x00b7);
    }
    return text;
}

LogEntry cleaned(LogEntry entry)
{
    entry.text = withoutControls(std::move(entry.text));
    entry.outcome = withoutControls(std::move(entry.outcome));
    return entry;
}

QString kindText(const LogEntry &entry)
{
    if (entry.refused)
        return u"✕ refused"_s;
    switch (entry.kind) {
    case LogEntry::Kind::Event: return u"← event"_s;
    case LogEntry::Kind::State: return u"● state"_s;
    case LogEntry::Kind::Sent: break;
    }
    return entry.write ? u"→ write"_s : u"→ read"_s;
}

QVariant kindTone(const LogEntry &entry)
{
    if (entry.refused)
        return static_cast<int>(Tone::Critical);
    if (entry.kind == LogEntry::Kind::Sent && entry.write)
        return static_cast<int>(Tone::Warning);
    return entry.kind == LogEntry::Kind::Event ? QVariant(static_cast<int>(Tone::Hold)) : QVariant();
}

QString outcomeText(const LogEntry &entry)
{
    return entry.outcome.isEmpty() && entry.kind == LogEntry::Kind::Sent ? u"…"_s : entry.outcome;
}

QVariant outcomeTone(const LogEntry &entry)
{
    const bool isAnswered = entry.kind == LogEntry::Kind::Sent && !entry.outcome.isEmpty();
    return isAnswered && !entry.outcome.startsWith("ok"_L1) ? QVariant(static_cast<int>(Tone::Warning)) : QVariant();
}

QString entryTimeText(const LogEntry &entry)
{
    const auto sinceEpoch = std::chrono::duration_cast<std::chrono::milliseconds>(entry.time.time_since_epoch());
    return QDateTime::fromMSecsSinceEpoch(sinceEpoch.count()).toString(u"HH:mm:ss.zzz"_s);
}

QString tookText(const LogEntry &entry)
{
    const auto took = entry.took.count();
    return took == 0 ? QString() : QString::number(static_cast<double>(took) / 1000.0, 'f', 1);
}

} // namespace

LogModel::LogModel(QObject *parent)
    : RowsModel(parent,
                {
                    {.title = u"Time"_s, .text = &entryTimeText, .isSearched = false},
                    {.title = u"Connection"_s,
                     .text = [](const LogEntry &entry) { return escaped(entry.connection.bytes()); }},
                    {.title = u"Kind"_s, .text = &kindText, .isSearched = false, .values = {{ToneRole, &kindTone}}},
                    {.title = u"What"_s, .text = [](const LogEntry &entry) { return entry.text; }},
                    {.title = u"Outcome"_s, .text = &outcomeText, .values = {{ToneRole, &outcomeTone}}},
                    {.title = u"ms"_s, .text = &tookText, .isNumber = true, .isSearched = false},
                })
{
    m_values = {
        {WriteRole,
         [](const LogEntry &entry) { return entry.kind == LogEntry::Kind::Sent && (entry.write || entry.refused); }},
        {EventRole, [](const LogEntry &entry) { return entry.kind != LogEntry::Kind::Sent; }}};
}

void LogModel::dropFront(int count)
{
    if (count <= 0)
        return;
    for (int i = 0; i < count; ++i)
        m_places.remove({at(i).connection, at(i).number});
    m_dropped += count;
    removeRange(0, count - 1);
}

void LogModel::apply(const std::vector<LogEntry> &entries)
{
    emit turnBegins();
    std::vector<LogEntry> fresh;
    int firstChanged = capacity;
    int lastChanged = -1;
    const qint64 end = m_dropped + rowCount();
    for (const auto &entry : entries) {
        const Id id{entry.connection, entry.number};
        const auto known = m_places.constFind(id);
        if (known == m_places.constEnd()) {
            m_places.insert(id, end + static_cast<qint64>(fresh.size()));
            fresh.push_back(cleaned(entry));
        } else if (*known >= end) {
            fresh[static_cast<std::size_t>(*known - end)] = cleaned(entry); // finished within the batch
        } else {
            const int row = static_cast<int>(*known - m_dropped);
            m_rows[static_cast<std::size_t>(row)] = cleaned(entry);
            firstChanged = std::min(firstChanged, row);
            lastChanged = std::max(lastChanged, row);
        }
    }
    if (lastChanged >= 0)
        emit dataChanged(index(firstChanged, 0), index(lastChanged, ColumnCount - 1));
    if (!fresh.empty()) {
        const int excess = static_cast<int>(fresh.size()) - capacity;
        const int overflow = rowCount() + std::min(static_cast<int>(fresh.size()), capacity) - capacity;
        dropFront(std::min(overflow, rowCount()));
        if (excess > 0) { // a batch larger than the ring: its oldest never get in
            for (int i = 0; i < excess; ++i)
                m_places.remove(
                    {fresh[static_cast<std::size_t>(i)].connection, fresh[static_cast<std::size_t>(i)].number});
            fresh.erase(fresh.begin(), fresh.begin() + excess);
            m_dropped += excess;
        }
        beginInsertRows({}, rowCount(), rowCount() + static_cast<int>(fresh.size()) - 1);
        m_rows.insert(m_rows.end(), std::make_move_iterator(fresh.begin()), std::make_move_iterator(fresh.end()));
        endInsertRows();
    }
    emit turnEnds();
}

LogFilter::LogFilter(QObject *parent) : QSortFilterProxyModel(parent) {}

void LogFilter::setText(const QString &text)
{
    m_text = text;
    invalidateFilter();
}

void LogFilter::setOnlyWrites(bool isOn)
{
    m_onlyWrites = isOn;
    invalidateFilter();
}

void LogFilter::setOnlyEvents(bool isOn)
{
    m_onlyEvents = isOn;
    invalidateFilter();
}

bool LogFilter::filterAcceptsRow(int row, const QModelIndex &parent) const
{
    const QModelIndex index = sourceModel()->index(row, 0, parent);
    if (m_onlyWrites || m_onlyEvents) {
        const bool isWanted = (m_onlyWrites && index.data(LogModel::WriteRole).toBool())
                              || (m_onlyEvents && index.data(LogModel::EventRole).toBool());
        if (!isWanted)
            return false;
    }
    return m_text.isEmpty() || index.data(LogModel::FilterRole).toString().contains(m_text, Qt::CaseInsensitive);
}

} // namespace lockscope::ui

#include "moc_logmodel.cpp"
