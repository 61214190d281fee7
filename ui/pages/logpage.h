// SPDX-License-Identifier: Apache-2.0
// The page of the log: every command sent, every event seen. It follows the newest unless somebody scrolled up.
#pragma once

#include "ui/models/logmodel.h"
#include "ui/pages/page.h"

namespace lockscope::ui {

class LiveTree;

class LogPage : public Page {
    Q_OBJECT
public:
    explicit LogPage(QWidget *parent = nullptr);
    ~LogPage() override { stopListening(this); }

    void setBackend(Backend *backend) override;
    void showConnection(const ConnectionName &name) override;
    [[nodiscard]] ConnectionName connectionShown(const ConnectionName &) const override { return {}; }
    void setFilter(const QString &text) override { m_filter->setText(text); }
    void focusContent() override;
    [[nodiscard]] bool isRecorded() const override { return false; }

    [[nodiscard]] LiveTree *table() const { return m_table; }
    [[nodiscard]] QPushButton *onlyWrites() const { return m_onlyWrites; }
    [[nodiscard]] QPushButton *followButton() const { return m_follow; }
    // What copying puts on the clipboard: the chosen rows, or all that are shown.
    [[nodiscard]] QString copyText() const;

private:
    QWidget *buildStrip();
    void buildTable();
    void take(const std::vector<operate::LogEntry> &entries);
    void scrolled();
    void follow();
    void say();

    LogModel m_model;
    LogFilter m_filtered;
    bool m_isFollowing = true;
    bool m_isTaking = false;
    int m_unseen = 0;

    QStackedWidget *m_stack = nullptr;
    LiveTree *m_table = nullptr;
    QLineEdit *m_filter = nullptr;
    QPushButton *m_onlyWrites = nullptr;
    QPushButton *m_onlyEvents = nullptr;
    QPushButton *m_follow = nullptr;
    QLabel *m_status = nullptr;
};

} // namespace lockscope::ui
