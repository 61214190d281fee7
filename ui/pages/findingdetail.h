// SPDX-License-Identifier: Apache-2.0
// One finding: what was seen, what it means, how to confirm it, what to do; where it is muted, why and until when.
#pragma once

#include "ui/models/findingrow.h"

#include <QFrame>

class QLabel;
class QPushButton;
class QScrollArea;

namespace lockscope::ui {

class FactsForm;
class PillLabel;

class FindingDetail : public QFrame {
    Q_OBJECT
public:
    explicit FindingDetail(QWidget *parent = nullptr);

    void setFinding(const FindingRow &row, SystemTime now, bool canMute);
    void clear();
    // The same, a moment later.
    void tick(const FindingRow &row, SystemTime now);
    // Where the menu of a deadlock's locks opens.
    [[nodiscard]] QPoint belowLockButton() const;
    // For tests.
    [[nodiscard]] QString valueOf(const QString &title) const;

signals:
    void lockRequested();
    void sessionRequested();
    void muteRequested();
    void unmuteRequested();

private:
    QString m_shown; // what stands in the form, but for the message: made anew only when that changes
    PillLabel *m_pill;
    QLabel *m_title;
    FactsForm *m_facts;
    QScrollArea *m_scroll;
    QPushButton *m_lock;
    QPushButton *m_session;
    QPushButton *m_mute;
    QPushButton *m_unmute;
};

} // namespace lockscope::ui
