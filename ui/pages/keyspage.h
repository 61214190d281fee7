// SPDX-License-Identifier: Apache-2.0
// The page of keys: the tree of one Redis' keys at the left, the chosen key at the right. The scan
// begins when the page is first looked at.
#pragma once

#include "ui/models/connectionbook.h"
#include "ui/models/keysmodel.h"
#include "ui/pages/page.h"
#include "ui/parts/notices.h"
#include "ui/parts/parts.h"

#include <QTimer>

class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QSortFilterProxyModel;
class QSplitter;
class QStackedWidget;

namespace lockscope::ui {

class KeyDetailView;
class LiveTree;
class TreeCellDelegate;

class KeysPage : public Page {
    Q_OBJECT
public:
    explicit KeysPage(QWidget *parent = nullptr);
    ~KeysPage() override;

    void setBackend(Backend *backend) override;
    void showConnection(const ConnectionName &name) override;
    void setFilter(const QString &text) override;
    void focusContent() override;
    [[nodiscard]] bool isRecorded() const override { return false; }
    void refresh() override;
    [[nodiscard]] bool showSubject(const Subject &subject) override;
    void freeze(std::optional<std::chrono::system_clock::time_point> at) override;
    void saveView(QSettings &settings) const override;
    void restoreView(QSettings &settings) override;

    [[nodiscard]] LiveTree *tree() const { return m_tree; }
    [[nodiscard]] KeysModel &model() { return m_model; }
    [[nodiscard]] KeyDetailView *detail() const { return m_detail; }
    [[nodiscard]] QPushButton *scanButton() const { return m_scan; }
    [[nodiscard]] QString statusText() const;

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;
    void ticked() override;

private:
    QWidget *buildStrip();
    QWidget *buildTree();
    void sayNoMatch();
    void connectModel();
    void takeStatuses(const std::vector<ConnectionStatus> &statuses);
    void choose();
    void startIfWanted();
    void scanClicked();
    void takePattern();
    void sayProgress();
    void chooseKey(const QModelIndex &current);
    void showSought();

    Backend *m_backend = nullptr;
    ConnectionChoice m_choice{Scheme::Redis, Scheme::RedisTls};
    bool m_isStale = false;
    bool m_isLeaving = false; // the key on show was found gone
    bool m_isFrozen = false;  // paused
    RedisKey m_sought;        // asked for by another page, and not found yet
    KeysModel m_model{nullptr, [this] { return clock().steadyNow(); }};
    QSortFilterProxyModel *m_proxy = nullptr;
    QTimer m_filterSoon;

    QStackedWidget *m_stack = nullptr;
    StaleBanner *m_banner = nullptr;
    QSplitter *m_splitter = nullptr;
    QStackedWidget *m_rows = nullptr; // the tree, or that nothing in it matches
    EmptyNotice *m_noMatch = nullptr;
    LiveTree *m_tree = nullptr;
    TreeCellDelegate *m_cells = nullptr;
    KeyDetailView *m_detail = nullptr;
    QLineEdit *m_pattern = nullptr;
    QLineEdit *m_filter = nullptr;
    QLabel *m_status = nullptr;
    QProgressBar *m_bar = nullptr;
    QPushButton *m_scan = nullptr;
};

} // namespace lockscope::ui
