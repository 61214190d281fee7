// SPDX-License-Identifier: Apache-2.0
// The line at the bottom, honest: as of when, what watching costs, what could not be seen, how new
// locks are found.
#pragma once

#include <version>

#include "ui/models/connectionbook.h"

#include <QFrame>

class QLabel;
class QProgressBar;

namespace lockscope::ui {

class StatusBar : public QFrame {
    Q_OBJECT
public:
    explicit StatusBar(const ConnectionBook &book, QWidget *parent = nullptr);

    void setContext(const ConnectionName &connection); // empty: all
    void setPaused(bool paused);

protected:
    void resizeEvent(QResizeEvent *event) override;

private:
    struct Sums;
    void refresh();
    void refreshProgress(const std::vector<const ConnectionStatus *> &shown);
    void refreshCoverage(const std::vector<const ConnectionStatus *> &shown);

    const ConnectionBook &m_book;
    ConnectionName m_context;
    bool m_paused = false;
    QLabel *m_asOf;
    QLabel *m_watches;
    QProgressBar *m_budget;
    QLabel *m_bytes;
    QLabel *m_requests;
    QLabel *m_coverage;
    QLabel *m_progress;
};

} // namespace lockscope::ui
