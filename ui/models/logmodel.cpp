// SPDX-License-Identifier: Apache-2.0
#include "ui/models/logmodel.h"

#include "core/base/text.h"
#include "ui/theme/pill.h"
#include "ui/theme/text.h"

#include <QDateTime>

#include <algorithm>
#include <array>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
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

} // namespace

void LogModel::dropFront(int count)
{
    if (count <= 0)
        return;
    beginRemoveRows({}, 0, count - 1);
    for (int i = 0; i < count; ++i)
        m_places.remove({at(i).connection, at(i).number});
    m_entries.erase(m_entries.begin(), m_entries.begin() + count);
    m_dropped += count;
    endRemoveRows();
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
            m_entries[static_cast<std::size_t>(row)] = cleaned(entry);
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
        m_entries.insert(m_entries.end(), std::make_move_iterator(fresh.begin()),
                         std::make_move_iterator(fresh.end()));
        endInsertRows();
    }
    emit turnEnds();
}

QString LogModel::lineOf(int row) const
{
    QStringList cells;
    for (int column = 0; column < ColumnCount; ++column)
        cells << display(at(row), column);
    return cells.join(u'\t');
}

int LogModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_entries.size());
}

int LogModel::columnCount(const QModelIndex &) const
{
    return ColumnCount;
}

QString LogModel::display(const LogEntry &entry, int column)
{
    switch (column) {
    case Time: {
        const auto sinceEpoch = std::chrono::duration_cast<std::chrono::milliseconds>(entry.time.time_since_epoch());
        return QDateTime::fromMSecsSinceEpoch(sinceEpoch.count()).toString(u"HH:mm:ss.zzz"_s);
    }
    case Connection: return escaped(entry.connection.bytes());
    case Kind: return kindText(entry);
    case Text: return entry.text;
    case Outcome: return entry.outcome.isEmpty() && entry.kind == LogEntry::Kind::Sent ? u"…"_s : entry.outcome;
    case Took:
        return entry.took.count() == 0 ? QString()
                                       : QString::number(static_cast<double>(entry.took.count()) / 1000.0, 'f', 1);
    default: return {};
    }
}

QVariant LogModel::tone(const LogEntry &entry, int column)
{
    if (column == Kind) {
        if (entry.refused)
            return static_cast<int>(Tone::Critical);
        if (entry.kind == LogEntry::Kind::Sent && entry.write)
            return static_cast<int>(Tone::Warning);
        if (entry.kind == LogEntry::Kind::Event)
            return static_cast<int>(Tone::Hold);
    }
    const bool isAnswered = column == Outcome && entry.kind == LogEntry::Kind::Sent && !entry.outcome.isEmpty();
    if (isAnswered && !entry.outcome.startsWith("ok"_L1))
        return static_cast<int>(Tone::Warning);
    return {};
}

QVariant LogModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const auto &entry = at(index.row());
    switch (role) {
    case Qt::DisplayRole: return display(entry, index.column());
    case Qt::ToolTipRole: return plainToolTip(display(entry, index.column()));
    case Qt::TextAlignmentRole:
        return index.column() == Took ? QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter) : QVariant();
    case WriteRole: return entry.kind == LogEntry::Kind::Sent && (entry.write || entry.refused);
    case EventRole: return entry.kind != LogEntry::Kind::Sent;
    case FilterRole: return QString(display(entry, Connection) + u'\n' + entry.text + u'\n' + entry.outcome);
    case ToneRole: return tone(entry, index.column());
    default: return {};
    }
}

QVariant LogModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    static const std::array titles{u"Time"_s, u"Connection"_s, u"Kind"_s, u"What"_s, u"Outcome"_s, u"ms"_s};
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::DisplayRole)
        return titles[static_cast<std::size_t>(section)];
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue((section == Took ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    return {};
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
