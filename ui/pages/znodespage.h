// SPDX-License-Identifier: Apache-2.0
// The page of znodes: the live tree of one ZooKeeper at the left, the chosen node at the right.
#pragma once

#include "ui/models/connectionbook.h"
#include "ui/models/znodesmodel.h"
#include "ui/pages/page.h"
#include "ui/parts/notices.h"
#include "ui/parts/parts.h"

#include <QSet>
#include <QTimer>

#include <set>

class QLabel;
class QLineEdit;
class QSortFilterProxyModel;
class QSplitter;
class QStackedWidget;

namespace lockscope::ui {

class EmptyNotice;
class TreeCellDelegate;
class EmptyNotice;
class LiveTree;
class ZnodeDetailView;

class ZnodesPage : public Page {
    Q_OBJECT
public:
    explicit ZnodesPage(QWidget *parent = nullptr);
    ~ZnodesPage() override;

    void setBackend(Backend *backend) override;
    void showConnection(const ConnectionName &name) override;
    void setFilter(const QString &text) override;
    void focusContent() override;
    [[nodiscard]] bool isRecorded() const override { return false; }
    void refresh() override;
    [[nodiscard]] bool showSubject(const Subject &subject) override;
    void saveView(QSettings &settings) const override;
    void restoreView(QSettings &settings) override;

    // Loads what lies on the way, expands it and chooses the node.
    void goTo(const ZPath &path);

    [[nodiscard]] LiveTree *tree() const { return m_tree; }
    [[nodiscard]] ZnodesModel &model() { return m_model; }
    [[nodiscard]] ZnodeDetailView *detail() const { return m_detail; }
    [[nodiscard]] QString statusText() const;

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    QWidget *buildStrip();
    QWidget *buildTree();
    void sayNoMatch();
    void connectModel();
    void takeStatuses(const std::vector<ConnectionStatus> &statuses);
    void choose();
    void applyFilter();
    void expandMatches(const QModelIndex &parent, int &left);
    [[nodiscard]] QSet<QByteArray> expandedPaths(const QModelIndex &parent = {}) const;
    void watchWhatShows();
    void rowsLeave(const QModelIndex &parent, int first, int last);
    void rowsChange(const QModelIndex &from, const QModelIndex &to);
    void goToTyped();
    void sayStatus();
    [[nodiscard]] ZPath pathAt(const QModelIndex &proxyIndex) const;

    Backend *m_backend = nullptr;
    ConnectionChoice m_choice{Scheme::ZooKeeper};
    QString m_complaint;      // the path that was typed is not there
    bool m_isLeaving = false; // the node on show was found gone
    bool m_isStale = false;
    ZnodesModel m_model;
    QSortFilterProxyModel *m_proxy = nullptr;
    std::set<QByteArray> m_watched;
    QSet<QByteArray> m_expandedBefore; // the filter was set
    QTimer m_watchSoon;
    QTimer m_filterSoon;

    QStackedWidget *m_stack = nullptr;
    EmptyNotice *m_empty = nullptr;
    StaleBanner *m_banner = nullptr;
    QSplitter *m_splitter = nullptr;
    QStackedWidget *m_rows = nullptr; // the tree, or that nothing in it matches
    EmptyNotice *m_noMatch = nullptr;
    LiveTree *m_tree = nullptr;
    TreeCellDelegate *m_cells = nullptr;
    ZnodeDetailView *m_detail = nullptr;
    QLineEdit *m_goTo = nullptr;
    QLineEdit *m_filter = nullptr;
    QLabel *m_status = nullptr;
    QString m_fillingText; // of the big folder last filled
    ZPath m_filled;
};

} // namespace lockscope::ui
