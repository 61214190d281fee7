// SPDX-License-Identifier: Apache-2.0
// The connections to choose from: those used last, the saved ones by group, the team's. GUI thread only.
#pragma once

#include "core/workspace/values.h"

#include <QTreeWidget>

namespace lockscope::ui {

class ConnectList : public QTreeWidget {
    Q_OBJECT
public:
    // The store outlives the list. `taken`: the names of those that are open, which are not offered as used last.
    ConnectList(const ConnectionStore &store, QStringList taken, QWidget *parent);

    // Anew, with the same chosen.
    void fill();
    [[nodiscard]] bool isEmpty() const { return topLevelItemCount() == 0; }
    [[nodiscard]] QString chosenId() const;
    [[nodiscard]] std::optional<std::size_t> chosenRecent() const; // in the store's
    [[nodiscard]] std::optional<SavedConnection> chosen() const;   // also of the team's, and of those used last
    // One that is saved.
    void select(const QString &id);
    // Of those used last; empty: the last. False: not in the list.
    bool selectRecent(const QString &name);

private:
    void addRecent(std::optional<std::size_t> chosen);
    void addHeading(const QString &text);
    QTreeWidgetItem *addSaved(const SavedConnection &saved);

    const ConnectionStore &m_store;
    const QStringList m_taken;
};

} // namespace lockscope::ui
