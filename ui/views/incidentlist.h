// SPDX-License-Identifier: Apache-2.0
// The incidents above the list of locks, worst first, an entry each: its sign, its kind, its cause and one action.
// ↑ and ↓ go from entry to entry, Enter shows the lock.
#pragma once

#include "core/workspace/values.h"

#include <QFrame>

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace lockscope::ui {

class ElidedLabel;

// What the window calls an incident, and what its button does.
struct IncidentText {
    QString kind;   // "Deadlock"
    QString facts;  // "5 wait · 16 m 58 s · 4 findings folded"
    QString cause;  // a sentence
    QString action; // "Break…"; empty: there is nothing to release
};
[[nodiscard]] IncidentText textOf(const inspect::Incident &incident);
// The contender whose release the incident suggests; empty where its target holds nothing.
[[nodiscard]] const inspect::FindingPlace *placeToRelease(const inspect::Incident &incident);

class IncidentEntry : public QFrame {
    Q_OBJECT
public:
    explicit IncidentEntry(QWidget *parent = nullptr);

    void setIncident(inspect::Incident incident);
    [[nodiscard]] const inspect::Incident &incident() const { return m_incident; }
    // One line instead of two, where there is little height.
    void setLow(bool isLow);
    // The lock in the detail is one of its locks.
    void setCurrent(bool isCurrent);
    // Nothing can be done in the past view.
    void setPast(bool isPast);

signals:
    void chosen();
    // Of the incident that was there when the button was pressed.
    void actRequested(const lockscope::inspect::Incident &incident);

private:
    void step(int by);
    void paintEvent(QPaintEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;

    inspect::Incident m_incident;
    inspect::Incident m_pressed;
    QLabel *m_kind;
    ElidedLabel *m_facts;
    ElidedLabel *m_cause;
    QPushButton *m_action;
    bool m_isCurrent = false;
    bool m_isPast = false;
    bool m_isLow = false;
};

class IncidentList : public QFrame {
    Q_OBJECT
public:
    explicit IncidentList(QWidget *parent = nullptr);

    void setIncidents(const std::vector<inspect::Incident> &incidents);
    void setCurrentLock(const std::optional<inspect::LockName> &lock);
    void setLow(bool isLow);
    void setPast(bool isPast);
    [[nodiscard]] const std::vector<IncidentEntry *> &entries() const { return m_entries; }
    // What stands below the entries where there are more incidents than entries; empty else.
    [[nodiscard]] QString moreText() const;

signals:
    void chosen(const lockscope::inspect::Incident &incident);
    void actRequested(const lockscope::inspect::Incident &incident);
    // The others are asked for, too.
    void moreRequested();

private:
    void fill();
    IncidentEntry *addEntry();

    std::vector<inspect::Incident> m_incidents;
    std::vector<IncidentEntry *> m_entries;
    std::optional<inspect::LockName> m_lock;
    QLabel *m_heading;
    QVBoxLayout *m_column;
    QPushButton *m_more;
    bool m_isLow = false;
    bool m_isPast = false;
};

} // namespace lockscope::ui
