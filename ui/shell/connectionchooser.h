// SPDX-License-Identifier: Apache-2.0
// The button of the header that names the connection of what the page shows, and opens the list of all of them.
// Production is a shape on it: a striped edge and a filled tag.
#pragma once

#include "ui/models/connectionbook.h"
#include "ui/theme/pill.h"

#include <QAbstractButton>
#include <QFrame>

class QListWidget;
class QListWidgetItem;
class QMenu;

namespace lockscope::ui {

// How a connection is shown in the shell: its state as shape, word and color, its environment, what may be written.
struct ConnectionLook {
    PillShape shape = PillShape::Disc;
    Tone tone = Tone::Ok;
    QString state; // "connecting", "broken", "refused", "not recorded"; empty of one that is connected
    QString latency;
    QString kind; // "ZooKeeper"
    QString tag;  // "PROD"; empty of one that is not marked
    TagLook tagLook = TagLook::Plain;
    bool isProduction = false;
    QString writes; // "read-only · 0 writes sent"
    QString tip;
};
[[nodiscard]] ConnectionLook lookOf(const ConnectionBook &book, const ConnectionStatus &status);
[[nodiscard]] QString writesText(bool isReadOnly, qint64 sent);

struct ConnectionRow {
    ConnectionLook look;
    QString below;                        // the second line
    std::optional<ConnectionName> name;   // of an open one; empty: all of them
    std::optional<SavedConnection> saved; // one that is not open
    QColor color;
    bool isCurrent = false;
    [[nodiscard]] bool hasMenu() const { return saved || (name && !name->isEmpty()); }
};

// The connections of this window, as a list over it: one is chosen, or all, and each has a menu of what can be done.
// Below them are the saved ones that are not open.
class ConnectionList : public QFrame {
    Q_OBJECT
public:
    // `book` outlives it.
    ConnectionList(const ConnectionBook &book, QWidget *parent);

    // Below `corner`, its right edge there.
    void open(const QPoint &corner);
    // Empty: all.
    void setCurrent(const ConnectionName &name) { m_current = name; }
    // Whose connections are offered. It outlives this.
    void useConnections(const ConnectionStore &store) { m_store = &store; }
    [[nodiscard]] QListWidget &rows() const { return *m_rows; }
    // As with Enter on the row of that name; an empty one: of all connections.
    void choose(const ConnectionName &name);
    // What can be done with that connection; null if there is none.
    QMenu *showMenu(const ConnectionName &name, const QPoint &at);

signals:
    void connectionChosen(const lockscope::ConnectionName &name);
    void connectRequested();
    void savedChosen(const lockscope::SavedConnection &saved);
    void savedMenuRequested(const lockscope::SavedConnection &saved, const QPoint &at);
    void retryRequested(const lockscope::ConnectionName &name);
    void editRequested(const lockscope::ConnectionName &name);
    void disconnectRequested(const lockscope::ConnectionName &name);
    void readOnlyRequested(const lockscope::ConnectionName &name, bool readOnly);

private:
    bool eventFilter(QObject *watched, QEvent *event) override;
    [[nodiscard]] bool takeKey(int key, Qt::KeyboardModifiers modifiers);
    void refresh();
    // `facts` are read aloud after the name and the tag.
    void add(const QString &text, ConnectionRow row, const QStringList &facts = {});
    void addOpen(const ConnectionStatus &status);
    void addSaved(const SavedConnection &saved, const QString &group);
    [[nodiscard]] const ConnectionRow *shown(const QListWidgetItem *item) const; // null of none
    void activate(const QListWidgetItem *item);
    void openMenuOf(const QListWidgetItem *item);

    const ConnectionBook &m_book;
    QListWidget *m_rows;
    ConnectionName m_current;
    const ConnectionStore *m_store = nullptr;
    std::vector<ConnectionRow> m_shown; // by row
};

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
