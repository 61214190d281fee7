// SPDX-License-Identifier: Apache-2.0
// The page of keys: the tree of one Redis' keys at the left, the chosen key at the right. The scan
// begins when the page is first looked at.
#pragma once

#include "ui/models/keysmodel.h"
#include "ui/pages/treepage.h"

class QProgressBar;

namespace lockscope::ui {

class KeyDetailView;

class KeysPage : public TreePage {
    Q_OBJECT
public:
    explicit KeysPage(QWidget *parent = nullptr);
    ~KeysPage() override { stopListening(this); }

    void focusContent() override;
    void refresh() override;
    [[nodiscard]] bool showSubject(const Subject &subject) override;
    void freeze(std::optional<std::chrono::system_clock::time_point> at) override;

    [[nodiscard]] KeysModel &model() { return m_model; }
    [[nodiscard]] KeyDetailView *detail() const { return m_detail; }
    [[nodiscard]] QPushButton *scanButton() const { return m_scan; }

private:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;
    void ticked() override;
    void connectionChosen(const ConnectionStatus &status) override;
    void cameBack() override;
    void applyFilter() override;
    void follow(const operate::EditRequest &request, const operate::EditOutcome &outcome) override;
    void statusesTaken() override { startIfWanted(); }
    QWidget *buildStrip();
    void addActions();
    void connectModel();
    void showKey(const RedisKey &key);
    void startIfWanted();
    void scanClicked();
    void takePattern();
    void showProgressText();
    void chooseKey(const QModelIndex &current);

    bool m_isLeaving = false; // the key on show was found gone
    bool m_isFrozen = false;  // paused
    KeysModel m_model{nullptr, [this] { return clock().steadyNow(); }};
    RedisKey m_wanted; // asked for by name: chosen once it is read

    KeyDetailView *m_detail = nullptr;
    QLineEdit *m_pattern = nullptr;
    QProgressBar *m_bar = nullptr;
    QPushButton *m_scan = nullptr;
};

} // namespace lockscope::ui
