// SPDX-License-Identifier: Apache-2.0
// The newest commands sent and events seen: a ring of 5,000, oldest first. An entry that finishes
// changes in place. GUI thread only.
#pragma once

#include "core/workspace/backend.h"
#include "ui/models/rowsmodel.h"

#include <QSortFilterProxyModel>

namespace lockscope::ui {

class LogModel : public RowsModel<operate::LogEntry, std::deque<operate::LogEntry>> {
    Q_OBJECT
public:
    enum Column { Time, Connection, Kind, Text, Outcome, Took, ColumnCount };
    enum LogRole {
        WriteRole = OwnRole, // bool: would change or changed the server
        EventRole,           // bool: the server told us; we did not ask
    };
    static constexpr int capacity = 5000;

    explicit LogModel(QObject *parent = nullptr);

    // New and finished entries; at most one removal, one insertion and one change are told.
    void apply(const std::vector<operate::LogEntry> &entries);
    // One line, the cells with tabs between them.
    [[nodiscard]] QString lineOf(int row) const { return textsOf(at(row)).join(u'\t'); }

signals:
    void turnBegins();
    void turnEnds();

private:
    using Id = std::pair<ConnectionName, quint64>;

    void dropFront(int count);

    QHash<Id, qint64> m_places; // counted from the first entry ever
    qint64 m_dropped = 0;
};

// Narrows the log to a text, to writes, to events; both toggles together show writes and events.
class LogFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit LogFilter(QObject *parent = nullptr);
    void setText(const QString &text);
    void setOnlyWrites(bool isOn);
    void setOnlyEvents(bool isOn);

private:
    [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex &parent) const override;

    QString m_text;
    bool m_onlyWrites = false;
    bool m_onlyEvents = false;
};

} // namespace lockscope::ui
