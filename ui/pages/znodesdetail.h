// SPDX-License-Identifier: Apache-2.0
// One znode: path, stat, who may do what, and its data. Reads it from the backend when shown and
// again when told that it changed. GUI thread only.
#pragma once

#include "core/workspace/backend.h"

#include <QLabel>
#include <QTimer>
#include <QWidget>

class QGridLayout;
class QStackedWidget;

namespace lockscope::ui {

class EmptyNotice;
class EntryHead;
class ValueView;

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
    void fillStat(const zk::Stat &stat);
    void fillAcls(const zk::Acls &acls);
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

} // namespace lockscope::ui
