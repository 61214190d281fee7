// SPDX-License-Identifier: Apache-2.0
// What every table can do beside showing rows: a menu by mouse, Menu key or Shift+F10; Ctrl+C for the row; columns
// chosen in the header's menu; all that is shown as CSV or JSON.
#pragma once

#include <QAbstractItemView>
#include <QHeaderView>
#include <QSet>

#include <chrono>
#include <map>
#include <optional>

class QSettings;

namespace lockscope::ui {

// A row of a CSV file by RFC 4180, in UTF-8 and with its line end. A cell that a spreadsheet would run as a
// formula, and that is no plain number, gets an apostrophe in front.
[[nodiscard]] QByteArray csvRow(const QStringList &fields);

class TableTools : public QObject {
    Q_OBJECT
public:
    struct Shape {
        int name = 0;                   // the column that says what a row is about: always there
        int nameRole = Qt::DisplayRole; // where it is in full: text, or bytes of a server
        QList<int> columns;             // that are this table's own; empty: all of the model
    };
    // A child of the view.
    TableTools(QAbstractItemView &view, QHeaderView &header, Shape shape);

    // Null where a view has none.
    [[nodiscard]] static TableTools *of(const QWidget *view)
    {
        return view ? view->findChild<TableTools *>({}, Qt::FindDirectChildrenOnly) : nullptr;
    }
    // Of the table in `page` that has the focus, else of the highest on screen; null without one.
    [[nodiscard]] static TableTools *nearest(QWidget *page);

    void setNameRole(int role) { m_shape.nameRole = role; }
    [[nodiscard]] QString title() const { return m_view.accessibleName(); }
    [[nodiscard]] QAbstractItemView &view() const { return m_view; }

    // The cells of the row, tabs between them.
    [[nodiscard]] QString rowText(const QModelIndex &index) const;
    // The moment that is shown, where it is not now.
    using AsOf = std::optional<std::chrono::system_clock::time_point>;
    // What is shown, in its order; a tree as far as it is open. Columns that only lack the room are there.
    [[nodiscard]] QByteArray csv(AsOf asOf = {}) const;
    [[nodiscard]] QByteArray json(AsOf asOf = {}) const;
    // By the ending of the file's name; what went wrong, empty if nothing.
    [[nodiscard]] QString writeTo(const QString &file, AsOf asOf = {}) const;

    // Whether the view shall hide a column: what was chosen in the menu, else where it has no room, or no use now.
    // What only lacks the room is exported.
    [[nodiscard]] bool hides(int column, bool hasRoom = true, bool hasUse = true);
    [[nodiscard]] QStringList choices() const; // for the settings
    void restoreChoices(const QStringList &choices);
    void openChooser(const QPoint &at);
    // Of all tables of a page, in the group that is open.
    static void saveAll(const QWidget &page, QSettings &settings);
    static void restoreAll(const QWidget &page, const QSettings &settings);

signals:
    void menuRequested(const QModelIndex &index, const QPoint &at);
    void actionsAsked(); // the view's own are about to be shown, of its current row
    void columnsChosen();

private:
    bool eventFilter(QObject *watched, QEvent *event) override;
    [[nodiscard]] QString titleOf(int column) const
    {
        return m_view.model()->headerData(column, Qt::Horizontal).toString();
    }
    [[nodiscard]] QString cell(const QModelIndex &row, int column) const;
    [[nodiscard]] QList<int> shownColumns() const;
    [[nodiscard]] bool isOwn(int column) const
    {
        return m_shape.columns.isEmpty() || m_shape.columns.contains(column);
    }
    template <class Row>
    void eachRow(const QModelIndex &parent, Row &&row) const;
    void askForMenu(const QModelIndex &index, const QPoint &at);
    void choose(int column, bool shown);

    QAbstractItemView &m_view;
    QHeaderView &m_header;
    Shape m_shape;
    std::map<int, bool> m_chosen; // in the menu: shown or not, whatever room there is
    QSet<int> m_withoutRoom;
};

} // namespace lockscope::ui
