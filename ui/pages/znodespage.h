// SPDX-License-Identifier: Apache-2.0
// The page of znodes: the live tree of one ZooKeeper at the left, the chosen node at the right.
#pragma once

#include "ui/models/znodesmodel.h"
#include "ui/pages/treepage.h"

#include <QSet>

#include <set>

namespace lockscope::ui {

class ZnodeDetailView;

class ZnodesPage : public TreePage {
    Q_OBJECT
public:
    explicit ZnodesPage(QWidget *parent = nullptr);
    ~ZnodesPage() override { stopListening(this); }

    void setBackend(Backend *backend) override;
    void refresh() override;
    [[nodiscard]] bool showSubject(const Subject &subject) override;

    // Loads what lies on the way, expands it and chooses the node.
    void goTo(const ZPath &path);

    [[nodiscard]] ZnodesModel &model() { return m_model; }
    [[nodiscard]] ZnodeDetailView *detail() const { return m_detail; }

private:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;
    void connectionChosen(const ConnectionStatus &status) override;
    void cameBack() override;
    void applyFilter() override;
    void follow(const operate::EditRequest &request, const operate::EditOutcome &outcome) override;
    QWidget *buildStrip();
    void addActions();
    void connectModel();
    void expandMatches(const QModelIndex &parent, int &left);
    [[nodiscard]] QSet<QByteArray> expandedPaths(const QModelIndex &parent = {}) const;
    void watchWhatShows();
    void showMoreOf(const ZPath &path, const QModelIndex &folder);
    void rowsLeave(const QModelIndex &parent, int first, int last);
    void rowsChange(const QModelIndex &from, const QModelIndex &to);
    void goToTyped();
    void showStatus();
    [[nodiscard]] ZPath pathAt(const QModelIndex &proxyIndex) const;

    QString m_complaint;      // the path that was typed is not there
    bool m_isLeaving = false; // the node on show was found gone
    ZnodesModel m_model;
    std::set<QByteArray> m_watched;
    QSet<QByteArray> m_expandedBefore; // the filter was set
    QTimer m_watchSoon;

    ZnodeDetailView *m_detail = nullptr;
    QLineEdit *m_goTo = nullptr;
    ZPath m_filled; // the big folder last filled
};

} // namespace lockscope::ui
