// SPDX-License-Identifier: Apache-2.0
// The queue of one lock in rows of two lines, with the lines of who watches whom; the same rows as raw nodes in a
// second table.
#pragma once

#include "ui/models/queuemodel.h"
#include "ui/views/celldelegate.h"

#include <QTableView>

namespace lockscope::ui {

class TableTools;

class QueueTable : public QTableView {
    Q_OBJECT
public:
    enum class Columns { Queue, Raw };
    QueueTable(QueueModel &model, Columns columns, QWidget *parent = nullptr);

    [[nodiscard]] TableTools &tools() { return *m_tools; }
    [[nodiscard]] QByteArray currentContender() const; // empty without one
    void setCurrentContender(const QByteArray &id);

signals:
    void chosen(const QByteArray &contender);

private:
    void keyPressEvent(QKeyEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void fitColumns();
    void fitHeight();
    // Never less than it says: a time without its middle is another time.
    [[nodiscard]] int widthOfTime(int column) const;

    QueueModel &m_model;
    Columns m_columns;
    TableTools *m_tools = nullptr;
};

} // namespace lockscope::ui
