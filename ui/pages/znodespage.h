// SPDX-License-Identifier: Apache-2.0
// The page of znodes: the live tree of one ZooKeeper at the left, the chosen node at the right.
#pragma once

#include "ui/models/znodesmodel.h"
#include "ui/pages/treepage.h"

#include <QSet>

namespace lockscope::ui {

class ValueView;

// One znode: path, stat, who may do what, and its data. Reads it from the backend when shown and
// again when told that it changed. GUI thread only.
class ZnodeDetailView : public QWidget {
    Q_OBJECT
public:
    explicit ZnodeDetailView(QWidget *parent = nullptr);

    // Any connection's node; an empty path shows nothing.
    void show(Backend *backend, const ConnectionName &connection, const ZPath &path);
    [[nodiscard]] const ZPath &path() const { return m_path; }
    // The node on show left the tree: what was read stays, marked as gone.
    void showGone();
    // It may have changed: reads it again soon.
    void changed();

    // Where a session of the connection on show is connected from; empty where that is not known.
    void useHosts(std::function<QString(const QString &)> hostOf) { m_hostOf = std::move(hostOf); }
    [[nodiscard]] EntryHead *head() const { return m_head; }
    [[nodiscard]] ValueView *value() const { return m_value; }
    [[nodiscard]] QString statText(const QString &field) const;
    [[nodiscard]] QString aclText() const { return m_acls->text(); }

signals:
    // What the server said about the node on show.
    void looked(const lockscope::ZPath &path, const lockscope::zk::Stat &stat);

private:
    void ask();
    void take(const ZPath &path, const Result<ZnodeDetail> &answer);
    [[nodiscard]] QString ownerText(const zk::Stat &stat) const;
    QWidget *buildFacts();

    Backend *m_backend = nullptr;
    ConnectionName m_connection;
    ZPath m_path;
    bool m_isRead = false; // what is on show belongs to m_path
    QTimer m_again;
    std::function<QString(const QString &)> m_hostOf;

    QStackedWidget *m_stack = nullptr;
    EmptyNotice *m_empty = nullptr;
    EntryHead *m_head = nullptr;
    QWidget *m_facts = nullptr; // hidden while nothing was read
    QGridLayout *m_stat = nullptr;
    std::vector<std::pair<QString, QLabel *>> m_statValues;
    QLabel *m_acls = nullptr;
    ValueView *m_value = nullptr;
};

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
