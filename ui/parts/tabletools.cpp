// SPDX-License-Identifier: Apache-2.0
#include "ui/parts/tabletools.h"

#include "core/base/text.h"
#include "ui/models/rowsmodel.h"
#include "ui/models/screenclock.h"
#include "ui/parts/parts.h"

#include <QContextMenuEvent>
#include <QJsonDocument>
#include <QKeyEvent>
#include <QMetaMethod>
#include <QRegularExpression>
#include <QSaveFile>
#include <QSettings>
#include <QTreeView>

namespace lockscope::ui {

namespace {

QString isoMoment(TableTools::AsOf moment)
{
    if (!moment)
        return {};
    return timeOfDay(*moment).toUTC().toString(Qt::ISODateWithMs);
}

// Also the wide forms, which some spreadsheets take for the narrow ones; and what a cell may be trimmed of.
bool beginsLikeFormula(const QString &field)
{
    static const QRegularExpression formula(u"^\\s*[=+\\-@\uff1d\uff0b\uff0d\uff20|%]|^[\\t\\r\\n]"_s);
    static const QRegularExpression number(u"^[+-]?[0-9]+([.][0-9]+)?$"_s);
    return formula.match(field).hasMatch() && !number.match(field).hasMatch();
}

QString fieldOf(QString field)
{
    if (beginsLikeFormula(field))
        field.prepend(u'\'');
    static const QRegularExpression special(u"[\",;\\t\\r\\n]|^\\s|\\s$"_s);
    if (!special.match(field).hasMatch())
        return field;
    return u'"' + field.replace(u'"', u"\"\""_s) + u'"';
}

} // namespace

QByteArray csvRow(const QStringList &fields)
{
    const auto safe = mapped<QStringList>(fields, [&](const auto &field) { return fieldOf(field); });
    return safe.join(u',').toUtf8() + "\r\n";
}

TableTools::TableTools(QAbstractItemView &view, QHeaderView &header, Shape shape)
    : QObject(&view), m_view(view), m_header(header), m_shape(std::move(shape))
{
    view.setContextMenuPolicy(Qt::CustomContextMenu);
    connect(&view, &QWidget::customContextMenuRequested, this,
            [this](const QPoint &at) { askForMenu(m_view.indexAt(at), m_view.viewport()->mapToGlobal(at)); });
    header.setContextMenuPolicy(Qt::CustomContextMenu);
    connect(&header, &QWidget::customContextMenuRequested, this,
            [this](const QPoint &at) { openChooser(m_header.mapToGlobal(at)); });
    view.installEventFilter(this);
}

TableTools *TableTools::nearest(QWidget *page)
{
    // Where none has the focus, the page's own: details stand below it, or beside it below a head.
    TableTools *highest = nullptr;
    const auto topOf = [page](const TableTools &tools) { return tools.m_view.mapTo(page, QPoint()).y(); };
    const auto all = page->findChildren<TableTools *>();
    for (auto *tools : all) {
        if (!tools->m_view.isVisible() || !page->isAncestorOf(&tools->m_view)
            || tools->m_view.window() != page->window())
            continue;
        if (tools->m_view.hasFocus())
            return tools;
        if (!highest || topOf(*tools) < topOf(*highest))
            highest = tools;
    }
    return highest;
}

void TableTools::askForMenu(const QModelIndex &index, const QPoint &at)
{
    if (!index.isValid())
        return;
    // What the menu is about is what is chosen; of several that are chosen together, all of them.
    const bool isChosen = m_view.selectionModel()->isSelected(index);
    m_view.selectionModel()->setCurrentIndex(index, isChosen ? QItemSelectionModel::NoUpdate
                                                             : QItemSelectionModel::ClearAndSelect
                                                                   | QItemSelectionModel::Rows);
    static const auto requested = QMetaMethod::fromSignal(&TableTools::menuRequested);
    if (isSignalConnected(requested) || m_view.actions().isEmpty()) {
        emit menuRequested(index, at);
        return;
    }
    emit actionsAsked();
    auto *menu = passing(new QMenu(&m_view));
    menu->addActions(m_view.actions());
    menu->popup(at);
}

bool TableTools::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::ContextMenu
        && static_cast<QContextMenuEvent *>(event)->reason() == QContextMenuEvent::Keyboard)
        return true; // the key itself is taken below, on every platform alike
    if (event->type() == QEvent::KeyPress) {
        auto *key = static_cast<QKeyEvent *>(event);
        const bool isMenuKey =
            key->key() == Qt::Key_Menu || (key->key() == Qt::Key_F10 && key->modifiers() == Qt::ShiftModifier);
        if (isMenuKey) {
            const QModelIndex current = m_view.currentIndex();
            const QRect row = m_view.visualRect(current);
            askForMenu(current, m_view.viewport()->mapToGlobal(QPoint(std::max(row.left(), 0) + 24, row.bottom())));
            return true;
        }
        if (key->matches(QKeySequence::Copy)) {
            if (m_view.currentIndex().isValid())
                copyToClipboard(rowText(m_view.currentIndex()));
            return true;
        }
    }
    return QObject::eventFilter(watched, event);
}

QString TableTools::cell(const QModelIndex &row, int column) const
{
    const QModelIndex index = row.siblingAtColumn(column);
    if (const QVariant whole = index.data(WholeTextRole); whole.isValid())
        return whole.toString();
    if (column != m_shape.name || m_shape.nameRole == Qt::DisplayRole)
        return index.data().toString();
    const QVariant name = index.data(m_shape.nameRole);
    return name.typeId() == QMetaType::QByteArray ? escaped(name.toByteArray()) : name.toString();
}

QList<int> TableTools::shownColumns() const
{
    QList<int> columns;
    for (int place = 0; place < m_header.count(); ++place) {
        const int column = m_header.logicalIndex(place);
        if (isOwn(column) && (!m_header.isSectionHidden(column) || m_withoutRoom.contains(column)))
            columns << column;
    }
    return columns;
}

template <class Row>
void TableTools::eachRow(const QModelIndex &parent, Row &&row) const
{
    const auto *model = m_view.model();
    const auto *tree = qobject_cast<const QTreeView *>(&m_view);
    for (int at = 0; at < model->rowCount(parent); ++at) {
        const QModelIndex index = model->index(at, 0, parent);
        row(index);
        if (tree && tree->isExpanded(index))
            eachRow(index, row);
    }
}

QString TableTools::rowText(const QModelIndex &index) const
{
    return mapped<QStringList>(shownColumns(), [&](const int column) { return cell(index, column); }).join(u'\t');
}

// A column of its own: a line of comment would be a row to most who read CSV, and rows that are put together keep it.
QByteArray TableTools::csv(AsOf asOf) const
{
    const auto columns = shownColumns();
    const QString moment = isoMoment(asOf);
    auto titles = mapped<QStringList>(columns, [&](const int column) { return titleOf(column); });
    if (asOf)
        titles << u"As of"_s;
    QByteArray file = csvRow(titles);
    eachRow({}, [&](const QModelIndex &row) {
        auto cells = mapped<QStringList>(columns, [&](const int column) { return cell(row, column); });
        if (asOf)
            cells << moment;
        file += csvRow(cells);
    });
    return file;
}

QByteArray TableTools::json(AsOf asOf) const
{
    const auto columns = shownColumns();
    QJsonArray rows;
    eachRow({}, [&](const QModelIndex &row) {
        QJsonObject cells;
        for (const int column : columns)
            cells.insert(titleOf(column), cell(row, column));
        rows.append(cells);
    });
    QJsonObject all{{u"table"_s, title()},
                    {u"written"_s, QDateTime::currentDateTimeUtc().toString(Qt::ISODateWithMs)},
                    {u"rows"_s, rows}};
    if (asOf)
        all.insert(u"asOf"_s, isoMoment(asOf));
    return QJsonDocument(all).toJson();
}

QString TableTools::writeTo(const QString &file, AsOf asOf) const
{
    QSaveFile out(file);
    const bool isJson = file.endsWith(u".json"_s, Qt::CaseInsensitive);
    if (!out.open(QIODevice::WriteOnly))
        return out.errorString();
    out.write(isJson ? json(asOf) : csv(asOf));
    return out.commit() ? QString() : out.errorString();
}

bool TableTools::hides(int column, bool hasRoom, bool hasUse)
{
    const auto chosen = m_chosen.find(column);
    const bool isWanted = chosen != m_chosen.end() ? chosen->second : hasUse;
    if (isWanted && !hasRoom)
        m_withoutRoom.insert(column);
    else
        m_withoutRoom.remove(column);
    return !isWanted || (!hasRoom && chosen == m_chosen.end());
}

QStringList TableTools::choices() const
{
    QStringList choices;
    for (const auto &[column, shown] : m_chosen)
        choices << (shown ? u"+%1"_s : u"-%1"_s).arg(column);
    return choices;
}

void TableTools::restoreChoices(const QStringList &choices)
{
    m_chosen.clear();
    for (const auto &choice : choices) {
        const int column = choice.mid(1).toInt();
        if (choice.size() > 1 && column >= 0 && column < m_header.count() && column != m_shape.name && isOwn(column))
            m_chosen[column] = choice.startsWith(u'+');
    }
    emit columnsChosen();
}

void TableTools::saveAll(const QWidget &page, QSettings &settings)
{
    const auto all = page.findChildren<TableTools *>();
    for (qsizetype i = 0; i < all.size(); ++i)
        settings.setValue(u"table-%1/columns"_s.arg(i), all[i]->choices());
}

void TableTools::restoreAll(const QWidget &page, const QSettings &settings)
{
    const auto all = page.findChildren<TableTools *>();
    for (qsizetype i = 0; i < all.size(); ++i) {
        const auto choices = settings.value(u"table-%1/columns"_s.arg(i)).toStringList();
        if (!choices.isEmpty())
            all[i]->restoreChoices(choices);
    }
}

void TableTools::choose(int column, bool shown)
{
    m_chosen[column] = shown;
    m_header.setSectionHidden(column, !shown); // what fits columns may have a view of its own
    emit columnsChosen();
}

void TableTools::openChooser(const QPoint &at)
{
    auto *menu = makePassingMenu(u"columnsMenu"_s, &m_view);
    for (int place = 0; place < m_header.count(); ++place) {
        const int column = m_header.logicalIndex(place);
        if (!isOwn(column))
            continue;
        auto *action = menu->addAction(titleOf(column));
        action->setCheckable(true);
        action->setChecked(!m_header.isSectionHidden(column) || m_withoutRoom.contains(column));
        action->setEnabled(column != m_shape.name);
        connect(action, &QAction::toggled, this, [this, column](bool shown) { choose(column, shown); });
    }
    menu->addSeparator();
    connect(menu->addAction(tr("The usual columns")), &QAction::triggered, this, [this] {
        for (const auto &[column, shown] : std::exchange(m_chosen, {}))
            m_header.setSectionHidden(column, false);
        emit columnsChosen();
    });
    menu->popup(at);
}

} // namespace lockscope::ui

#include "moc_tabletools.cpp"
