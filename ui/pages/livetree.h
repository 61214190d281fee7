// SPDX-License-Identifier: Apache-2.0
// A tree view over rows that come and go: what the person looks at stays where it is.
#pragma once

#include <QPersistentModelIndex>
#include <QTreeView>

#include <vector>

namespace lockscope::ui {

class LiveTree : public QTreeView {
    Q_OBJECT
public:
    explicit LiveTree(QWidget *parent = nullptr);

    // One column takes what the others leave.
    void setWidths(int stretched, std::initializer_list<std::pair<int, int>> widths);

    // Around a turn of changes: the row at the top of the screen keeps its place.
    void holdPlace();
    void keepPlace();
    // Whether rows can be expanded is decided when the view lays out; this makes it do so soon.
    void relayoutSoon() { scheduleDelayedItemsLayout(); }
    // The expanded rows of which something is on screen, and those above them.
    [[nodiscard]] std::vector<QModelIndex> expandedOnScreen() const;

    [[nodiscard]] bool isOnScreen(const QModelIndex &index) const;

signals:
    // Scrolled, expanded, collapsed or resized.
    void sightChanged();

protected:
    void resizeEvent(QResizeEvent *event) override;
    void drawRow(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override;

private:
    QPersistentModelIndex m_held;
    int m_heldAt = 0;
};

} // namespace lockscope::ui
