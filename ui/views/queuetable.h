// SPDX-License-Identifier: Apache-2.0
// The queue of one lock in rows of two lines, with the lines of who watches whom; the same rows as raw nodes in a
// second table.
#pragma once

#include "ui/models/queuemodel.h"
#include "ui/views/celldelegate.h"

#include <QTableView>

class QLabel;

namespace lockscope::ui {

class TableTools;
class WholeLinesLabel;

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

// SQL: what the client that is in the way runs or ran last, beside what the client runs that waits for it.
// Hidden where a server tells nothing of either.
class StatementPair : public QWidget {
    Q_OBJECT
public:
    explicit StatementPair(QWidget *parent = nullptr);

    // `chosen`: a contender of the lock, or empty; the other side is the first that waits or holds. `now` is the
    // server's.
    void show(const inspect::LockSnapshot &lock, const QByteArray &chosen, inspect::ServerTime now);
    // With one line each there is the statement only; with little the client as well, and no facts.
    enum class Room { OneLine, Little, Much };
    void setRoom(Room room);

private:
    struct Side {
        QWidget *box;
        QLabel *role, *since, *client;
        WholeLinesLabel *statement;
        QLabel *facts;
    };

    [[nodiscard]] Side makeSide();
    void fill(Side &side, const inspect::LockSnapshot &lock, const inspect::Contender *client,
              inspect::ServerTime now) const;

    Side m_blocking, m_blocked;
};

} // namespace lockscope::ui
