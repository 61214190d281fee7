// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <version>

#include "ui/models/connectionbook.h"
#include "ui/theme/pill.h"

#include <QAbstractButton>
#include <QFrame>

#include <functional>
#include <map>
#include <optional>

class QButtonGroup;
class QLabel;
class QVBoxLayout;

namespace lockscope::ui {

// One line of the side bar: a dot, a name, a tag, and something at the right.
class SideItem : public QAbstractButton {
    Q_OBJECT
public:
    explicit SideItem(const QString &text, QWidget *parent = nullptr);

    void setDot(std::optional<Tone> tone, bool hollow = false);
    // "PROD" in the critical colour, "unmarked" in none; empty for nothing.
    void setTag(const QString &tag, Tone tone);
    void setNote(const QString &note, std::optional<Tone> tone = {});
    void setStripe(const QColor &colour); // at the left edge; invalid for none
    [[nodiscard]] const QString &note() const { return m_note; }

    [[nodiscard]] QSize sizeHint() const override { return {180, 31}; }

private:
    void paintEvent(QPaintEvent *event) override;
    void enterEvent(QEnterEvent *event) override;
    void leaveEvent(QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    bool event(QEvent *event) override;

    std::optional<Tone> m_dot;
    bool m_hollow = false;
    QString m_tag;
    Tone m_tagTone = Tone::Free;
    QString m_note;
    std::optional<Tone> m_noteTone;
    QColor m_stripe;
    bool m_hovered = false;
};

// The left side: connections with state, mark and latency; the pages; the sandbox's state.
class SideBar : public QFrame {
    Q_OBJECT
public:
    explicit SideBar(const ConnectionBook &book, QWidget *parent = nullptr);

    void addPage(const QString &title, int number);
    void setCurrentPage(int page);
    // The keyboard is at the entry of the page that is shown.
    void focusPage();
    void setPageCount(int page, const QString &count);
    // Empty: all.
    void setCurrentConnection(const ConnectionName &name);
    void setSandbox(const QString &state);
    // The colour a person gave a connection; an invalid one for none.
    using Colours = std::function<QColor(const ConnectionName &)>;
    void setColours(Colours colours);

signals:
    void pageChosen(int page);
    void connectionChosen(const lockscope::ConnectionName &name);
    void connectRequested();
    void retryRequested(const lockscope::ConnectionName &name);
    void editRequested(const lockscope::ConnectionName &name);
    void disconnectRequested(const lockscope::ConnectionName &name);
    void readOnlyRequested(const lockscope::ConnectionName &name, bool readOnly);

private:
    void refresh();
    void showMenu(const ConnectionName &name, const QPoint &at);
    SideItem *itemOf(const ConnectionName &name);

    const ConnectionBook &m_book;
    QVBoxLayout *m_connections;
    QVBoxLayout *m_pages;
    QButtonGroup *m_pageGroup;
    QLabel *m_sandbox;
    std::map<ConnectionName, SideItem *> m_items;
    ConnectionName m_connection;
    Colours m_colours;
};

} // namespace lockscope::ui
