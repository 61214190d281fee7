// SPDX-License-Identifier: Apache-2.0
// The rail at the left: the pages, each an icon with its word, and the sandbox and the settings at its foot.
#pragma once

#include <QAbstractButton>
#include <QButtonGroup>
#include <QFrame>

class QVBoxLayout;

namespace lockscope::ui {

// One entry of the rail: an icon, its word where there is room, and a count that asks for attention.
class RailItem : public QAbstractButton {
    Q_OBJECT
public:
    // `icon`: one of ui/theme/pill.h. `keys` stand in the tooltip.
    RailItem(const QString &text, const QString &icon, const QString &keys, QWidget *parent);

    // Red where something critical is counted, else ink; empty for none.
    void setBadge(const QString &count, bool isCritical);
    [[nodiscard]] const QString &badge() const { return m_badge; }
    [[nodiscard]] bool isBadgeCritical() const { return m_isBadgeCritical; }
    // More about it than its word, for the tooltip and for screen readers.
    void setNote(const QString &note);
    [[nodiscard]] const QString &note() const { return m_note; }
    void setShowsWord(bool shows);
    [[nodiscard]] bool showsWord() const { return m_showsWord; }

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

private:
    void paintEvent(QPaintEvent *event) override;
    void paintBadge(QPainter &painter, const QRectF &icon) const;
    void showToolTip();

    const QString m_icon;
    const QString m_keys;
    QString m_badge;
    QString m_note;
    bool m_isBadgeCritical = false;
    bool m_showsWord = true;
};

class SideBar : public QFrame {
    Q_OBJECT
public:
    explicit SideBar(QWidget *parent = nullptr);

    void addPage(const QString &title, const QString &icon, int number);
    void setCurrentPage(int page);
    // The keyboard is at the entry of the page that is shown.
    void focusPage();
    // How much is on that page, in its tooltip.
    void setPageCount(int page, const QString &count);
    // The findings that ask for attention, on that page's entry.
    void setBadge(int page, const QString &count, bool isCritical);
    void setSandbox(const QString &state) { m_sandbox->setNote(state); }
    // Icons without words.
    void setNarrow(bool isNarrow);

signals:
    void pageChosen(int page);
    void sandboxRequested();
    void settingsRequested();

private:
    void resizeEvent(QResizeEvent *event) override;
    void fit();
    [[nodiscard]] RailItem *item(int page) const { return qobject_cast<RailItem *>(m_pageGroup->button(page)); }

    QVBoxLayout *m_pages;
    QButtonGroup *m_pageGroup;
    RailItem *m_sandbox;
    RailItem *m_settings;
};

} // namespace lockscope::ui
