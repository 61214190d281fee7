// SPDX-License-Identifier: Apache-2.0
// SQL: what the client that is in the way runs or ran last, beside what the client runs that waits for it.
#pragma once

#include "core/workspace/values.h"

#include <QWidget>

class QLabel;

namespace lockscope::ui {

class WholeLinesLabel;

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
