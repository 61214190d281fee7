// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <version>

#include "core/base/clock.h"
#include "ui/models/connectionbook.h"

#include <QFrame>

class QLabel;
class QProgressBar;

namespace lockscope::ui {

// The line at the bottom, honest: as of when, what watching costs, what could not be seen, how new locks are found.
class StatusBar : public QFrame {
    Q_OBJECT
public:
    explicit StatusBar(const ConnectionBook &book, QWidget *parent = nullptr);

    void setContext(const ConnectionName &connection); // empty: all
    // Since when nothing on screen moves, and how many changes that holds back; empty: it does.
    // What came since the pause, in words.
    [[nodiscard]] QString heldBack() const;
    void setPaused(std::optional<std::chrono::system_clock::time_point> at, int waiting = 0);
    // The moment of a recording that is shown instead of now; empty: now.
    void setPast(std::optional<std::chrono::system_clock::time_point> at);
    // A sentence that nobody has to answer; it goes by itself.
    void notify(const QString &sentence);
    // Notified once; the times of day that stand here are told anew.
    void showClockChange(const ClockJump &jump);

private:
    void resizeEvent(QResizeEvent *event) override;
    void refresh();
    void refreshProgress(const std::vector<const ConnectionStatus *> &shown);
    // What is left beside that which always has its room: how old, and what it costs.
    [[nodiscard]] int roomForWords() const;
    void fitProgress();
    void refreshRequests(const std::vector<const ConnectionStatus *> &shown, double perSecond);
    void refreshCoverage(const std::vector<const ConnectionStatus *> &shown);

    const ConnectionBook &m_book;
    ConnectionName m_context;
    std::optional<std::chrono::system_clock::time_point> m_pausedAt;
    std::optional<std::chrono::system_clock::time_point> m_past;
    int m_waiting = 0;
    QLabel *m_asOf;
    QLabel *m_watches;
    QProgressBar *m_budget;
    QLabel *m_bytes;
    QLabel *m_requests;
    QLabel *m_coverage;
    QLabel *m_progress;
    QStringList m_progressLines;
    QLabel *m_notice;
};

} // namespace lockscope::ui
