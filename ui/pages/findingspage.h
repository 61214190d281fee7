// SPDX-License-Identifier: Apache-2.0
// The page of findings: all that is wrong anywhere, with what it means and what to do. It never says that nothing is
// wrong where not everything was looked at.
#pragma once

#include "ui/models/findingsmodel.h"
#include "ui/pages/page.h"

class QButtonGroup;
class QCheckBox;
class QComboBox;

namespace lockscope::ui {

class Banner;
class ConnectionBook;
class EmptyNotice;
class FindingDetail;
class FindingsTable;

class FindingsPage : public Page {
    Q_OBJECT
public:
    explicit FindingsPage(const ConnectionBook &book, QWidget *parent = nullptr);
    ~FindingsPage() override { stopListening(this); }

    // Without them nothing can be muted. They outlive the page.
    void useMutes(MuteStore &mutes);
    // Why the file of thresholds was not understood when the program began.
    void showThresholdsProblem(const QString &why);
    // What is wrong in the files of recogniser rules now.
    void showRuleProblems(const QStringList &problems);

    void setBackend(Backend *backend) override { connect(backend, &Backend::updated, this, &FindingsPage::apply); }
    void showConnection(const ConnectionName &name) override;
    void setFilter(const QString &text) override;
    void focusContent() override;

    [[nodiscard]] FindingsTable &table() { return *m_table; }
    [[nodiscard]] FindingDetail &detail() { return *m_detail; }
    [[nodiscard]] FindingsModel &model() { return m_model; }
    [[nodiscard]] EmptyNotice &notice() { return *m_notice; }

    // What can be done with the chosen one.
    void offerActs(QMenu &menu);

public slots:
    void mute();
    void unmute();

private:
    void ticked() override;
    [[nodiscard]] QWidget *makeStrip();
    void addKey(const QKeySequence &keys, void (FindingsPage::*act)());
    void apply(const Batch &batch) { m_model.apply(batch.locks, batch.isJump); }
    void narrow(const std::function<void(FindingFilter &)> &change);
    void followBook();
    void goToLock();
    void goToSession();
    void breakDeadlock(); // of the chosen finding
    void showCounts();
    void showDetail();
    void showNotice();
    [[nodiscard]] std::vector<inspect::Coverage> coverage() const;

    const ConnectionBook &m_book;
    FindingsModel m_model{[this] { return clock().now(); }};
    MuteStore *m_mutes = nullptr;
    std::set<ConnectionName> m_connections; // as the book had them
    ConnectionName m_connection;
    QButtonGroup *m_chips = nullptr;
    QComboBox *m_codes = nullptr;
    QCheckBox *m_showMuted = nullptr;
    Banner *m_problem = nullptr;    // the mutes' file
    Banner *m_thresholds = nullptr; // their file
    Banner *m_rules = nullptr;      // files of them that are not used
    Banner *m_gaps = nullptr;
    FindingsTable *m_table = nullptr;
    FindingDetail *m_detail = nullptr;
    QStackedWidget *m_stack = nullptr;
    EmptyNotice *m_notice = nullptr;
    QWidget *m_content = nullptr;
};

} // namespace lockscope::ui
