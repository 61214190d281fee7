// SPDX-License-Identifier: Apache-2.0
// The button of the header that names the connection of what the page shows, and opens the list of all of them.
// Production is a shape on it: a striped edge and a filled tag.
#pragma once

#include "ui/shell/connectionlist.h"

#include <QAbstractButton>

namespace lockscope::ui {

class ConnectionChooser : public QAbstractButton {
    Q_OBJECT
public:
    // `book` outlives it.
    ConnectionChooser(const ConnectionBook &book, QWidget *parent);

    // The connection that what is on screen belongs to; empty: all.
    void setContext(const ConnectionName &connection);
    // The page shows nothing of any server: it says so.
    void setShowsServers(bool shows);
    void open();
    [[nodiscard]] ConnectionList &list() const { return *m_list; }

    // "PROD · orders-zk", "4 connections · 2 PROD"; without the mark where there is none.
    [[nodiscard]] QString shownName() const { return m_look.tag.isEmpty() ? m_name : m_look.tag + u" · "_s + m_name; }
    [[nodiscard]] const QString &state() const { return m_look.state; } // "read-only · 0 writes sent"
    // What is on screen may be production's.
    [[nodiscard]] bool isProduction() const { return m_look.isProduction; }

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

private:
    void paintEvent(QPaintEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void refresh();
    void showOne(const ConnectionStatus &status);
    void showSeveral();
    [[nodiscard]] qreal widthOf(bool withKind, bool withState) const;

    const ConnectionBook &m_book;
    ConnectionList *m_list;
    ConnectionName m_context;
    bool m_showsServers = true;
    QString m_name;
    ConnectionLook m_look; // whose state is what the button shows as such
};

} // namespace lockscope::ui
