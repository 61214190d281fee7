// SPDX-License-Identifier: Apache-2.0
// The left side: connections with state, mark and latency; the pages; the sandbox's state.
#pragma once

#include <version>

#include "ui/models/connectionbook.h"
#include "ui/shell/sideitem.h"

#include <QFrame>

#include <functional>
#include <map>

class QButtonGroup;
class QLabel;
class QVBoxLayout;

namespace lockscope::ui {

class SideBar : public QFrame {
    Q_OBJECT
public:
    explicit SideBar(const ConnectionBook &book, QWidget *parent = nullptr);

    void addPage(const QString &title, int number);
    void setCurrentPage(int page);
    void setPageCount(int page, const QString &count);
    // Empty: all.
    void setCurrentConnection(const ConnectionName &name);
    [[nodiscard]] const ConnectionName &currentConnection() const { return m_connection; }
    void setSandbox(const QString &state);
    // The colour a person gave a connection; an invalid one for none.
    using Colours = std::function<QColor(const ConnectionName &)>;
    void setColours(Colours colours);

signals:
    void pageChosen(int page);
    void connectionChosen(const lockscope::ConnectionName &name);
    void connectRequested();
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
