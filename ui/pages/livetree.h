// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ui/theme/theme.h"

#include <QPersistentModelIndex>
#include <QSet>
#include <QStyledItemDelegate>
#include <QTimer>
#include <QTreeView>

#include <map>
#include <vector>

namespace lockscope::ui {

class TableTools;
class TreeCellDelegate;

// A tree view over rows that come and go: what the person looks at stays where it is.
class LiveTree : public QTreeView {
    Q_OBJECT
public:
    explicit LiveTree(QWidget *parent = nullptr);

    // A table rather than a tree, with lines between its rows. Returns the delegate that paints its cells.
    TreeCellDelegate *becomeTable(const QString &accessibleName);

    // One column takes what the others leave.
    void setWidths(int stretched, std::initializer_list<std::pair<int, int>> widths);
    // Of a tree that has widths.
    [[nodiscard]] TableTools &tools() const { return *m_tools; }

    // In a narrow window the stretched column keeps this much, and the last ones go.
    void setLeastStretched(int width) { m_leastStretched = width; }

    // Other rows are asked for: what those that were there needed takes no room from these.
    void measureAnew();

    // Sizes of another run, none so small that a title or a date would not fit.
    void restoreColumns(const QByteArray &saved);

    // Around a turn of changes: the row at the top of the screen keeps its place.
    void holdPlace();
    void keepPlace();
    // Not this time: it goes to another one.
    void letGoOfPlace() { m_held = QPersistentModelIndex(); }
    // Whether rows can be expanded is decided when the view lays out; this makes it do so soon.
    void relayoutSoon() { scheduleDelayedItemsLayout(); }
    // The expanded rows of which something is on screen, and those above them.
    [[nodiscard]] std::vector<QModelIndex> expandedOnScreen() const;

    [[nodiscard]] bool isOnScreen(const QModelIndex &index) const
    {
        return index.isValid() && visualRect(index).intersects(viewport()->rect());
    }

signals:
    // Scrolled, expanded, collapsed or resized.
    void sightChanged();

private:
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;
    void showEvent(QShowEvent *event) override;
    void drawRow(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override;

    QPersistentModelIndex m_held;
    int m_heldAt = 0;
    void fit();
    void measure();
    void shareOut();

    TableTools *m_tools = nullptr;
    int m_stretched = -1;
    int m_leastStretched = 0;
    std::map<int, int>
        m_needed;        // by column, that were on screen; grows until other rows are asked for: nothing jitters
    QSet<int> m_dragged; // by a person: left alone
    bool m_isFitting = false;
    QTimer m_measureSoon;
    std::vector<std::pair<int, int>> m_usual;
};

// How cells of trees look: monospace where text can be pasted, numbers with digits of one
// width, quiet columns muted, everything muted while the connection is broken.
class TreeCellDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void setMono(std::initializer_list<int> columns) { m_mono = columns; }
    void setMuted(std::initializer_list<int> columns) { m_muted = columns; }
    // A tree's first column has its branches for a margin; a table's needs one.
    void setIndented(bool isIndented) { m_isIndented = isIndented; }
    // Between the rows of tables.
    void setHairlines(bool hasHairlines) { m_hasHairlines = hasHairlines; }
    void setRowHeight(int pixels) { m_rowHeight = pixels; }
    // A role whose bool value puts a padlock before the first column's text.
    void setLockRole(int role) { m_lockRole = role; }
    // A role whose value is a Tone (as int) for the text of the row, or invalid.
    void setToneRole(int role) { m_toneRole = role; }
    void setStale(bool isStale) { m_isStale = isStale; }
    // So that nothing of its text is cut.
    [[nodiscard]] int widthNeeded(const QModelIndex &index) const;

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override;
    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem &, const QModelIndex &) const override
    {
        return {40, m_rowHeight};
    }

private:
    [[nodiscard]] QColor textColor(const QModelIndex &index) const;

    QSet<int> m_mono;
    QSet<int> m_muted;
    int m_lockRole = -1;
    int m_toneRole = -1;
    bool m_isIndented = true;
    bool m_hasHairlines = false;
    int m_rowHeight = 28;
    bool m_isStale = false;
};

} // namespace lockscope::ui
