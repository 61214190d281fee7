// SPDX-License-Identifier: Apache-2.0
// How cells of trees look: monospace where text can be pasted, numbers with digits of one
// width, quiet columns muted, everything muted while the connection is broken.
#pragma once

#include "ui/theme/tokens.h"

#include <QSet>
#include <QStyledItemDelegate>

namespace lockscope::ui {

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

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override;
    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override;

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
