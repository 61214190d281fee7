// SPDX-License-Identifier: Apache-2.0
// One finding: what was seen, what it means, how to confirm it, what to do; where it is muted, why and until when.
#pragma once

#include "ui/dialogs/factsform.h"
#include "ui/models/findingrow.h"

#include <QFrame>
#include <QPushButton>

class QLabel;
class QScrollArea;
class QVBoxLayout;

namespace lockscope::ui {

class PillLabel;

class FindingDetail : public QFrame {
    Q_OBJECT
public:
    explicit FindingDetail(QWidget *parent = nullptr);

    void setFinding(const FindingRow &row, SystemTime now, bool canMute);
    void clear();
    // The same, a moment later.
    void tick(const FindingRow &row, SystemTime now) { m_facts->setText(tr("Seen"), row.messageAtTime(now)); }
    // Where the menu of a deadlock's locks opens.
    [[nodiscard]] QPoint belowLockButton() const { return m_lock->mapToGlobal(QPoint(0, m_lock->height())); }
    // For tests.
    [[nodiscard]] QString valueOf(const QString &title) const { return m_facts->valueOf(title); }

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

class Banner;

// What is wrong with one lock, a banner each, the worst first. Where there is little height it is the worst alone, of
// two lines at most, until somebody opens it: the queue below is what one came for.
class FindingBanners : public QWidget {
    Q_OBJECT
public:
    explicit FindingBanners(QWidget *parent = nullptr);

    // As worded at `now`, by the server's clock. Another lock's begin folded.
    void show(const inspect::LockSnapshot &lock, inspect::ServerTime now);
    // At full height the worst is said alone as well, where there is little height it is cut to two lines.
    void setRoom(bool isTall, bool isLow);
    // The incident that the lock is part of comes first, with its action, and the findings that it explains are
    // folded into it. Null for none.
    void setIncident(const inspect::Incident *incident);
    void setPast(bool isPast);

signals:
    void incidentActRequested(const lockscope::inspect::Incident &incident);

private:
    [[nodiscard]] bool isExplained(const inspect::Finding &finding) const;
    void resizeEvent(QResizeEvent *event) override;
    void refreshFindings();
    void showIncident();
    [[nodiscard]] bool isIncidentWorst() const;
    [[nodiscard]] QString incidentSentence() const;
    [[nodiscard]] bool isLow() const { return m_isLow || m_isTall; }
    void refresh();
    void say(Banner &banner, const inspect::Finding &finding, qsizetype unsaid, bool opens);
    Banner *addBanner();

    QVBoxLayout *m_column;
    inspect::LockName m_of;
    std::vector<inspect::Finding> m_all;      // of the lock
    std::vector<inspect::Finding> m_findings; // those that no incident explains, the worst first
    Banner *m_incidentBanner;
    std::optional<inspect::Incident> m_incident;
    bool m_isFolded = true; // what the incident explains is not shown
    bool m_isTall = false;
    bool m_isPast = false;
    inspect::ServerTime m_now{};
    bool m_isLow = false;
    bool m_isOpen = false;
};

} // namespace lockscope::ui
