// SPDX-License-Identifier: Apache-2.0
// The locks this window itself waits for or holds, each with its way out; a lost one says so until
// somebody has read it.
#pragma once

#include "core/workspace/backend.h"

#include <QHash>
#include <QSet>
#include <QWidget>

class QVBoxLayout;

namespace lockscope::ui {

class HoldRow;

class HoldsPanel : public QWidget {
    Q_OBJECT
public:
    explicit HoldsPanel(QWidget *parent = nullptr);

    void setHold(const Hold &hold);
    [[nodiscard]] QSet<inspect::LockName> locks() const; // waited for or held
    // The contenders of this window in that lock, and the hold that each stands for.
    [[nodiscard]] QHash<QByteArray, quint64> contendersIn(const inspect::LockName &lock) const;
    // The present, by which what is held and waited for counts.
    using Clock = std::function<std::chrono::system_clock::time_point()>;
    void setClock(Clock clock) { m_clock = std::move(clock); }
    void tick();

signals:
    void releaseRequested(quint64 holdId);
    void lockActivated(const lockscope::inspect::LockName &lock);
    void changed();

private:
    void dismiss(quint64 id);

    QVBoxLayout *m_column;
    Clock m_clock = [] { return programClock().now(); };
    std::map<quint64, HoldRow *> m_rows;
};

} // namespace lockscope::ui
