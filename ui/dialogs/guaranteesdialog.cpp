// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/guaranteesdialog.h"

#include "core/base/text.h"
#include "ui/models/lockfacts.h"
#include "ui/parts/parts.h"
#include "ui/views/celldelegate.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QSettings>
#include <QStandardPaths>
#include <QTableView>

namespace lockscope::ui {

using contention::Guarantee;
using Verdict = Guarantee::Verdict;

namespace {

class GuaranteesDelegate : public CellDelegate {
public:
    GuaranteesDelegate(const GuaranteesModel *model, QObject *parent) : CellDelegate(parent), m_model(model) {}

protected:
    [[nodiscard]] CellLook look(const QModelIndex &index) const override
    {
        CellLook look;
        look.font = textFont(13);
        look.colour = Theme::tokens().muted;
        look.pill = m_model->pill(index);
        return look;
    }

private:
    const GuaranteesModel *m_model;
};

template <class Has>
bool anyBelow(int count, Has has)
{
    for (int i = 0; i < count; ++i) {
        if (has(i))
            return true;
    }
    return false;
}

int gravity(Verdict verdict)
{
    switch (verdict) {
    case Verdict::NotGuaranteed: return 0;
    case Verdict::Holds: return 1;
    case Verdict::MayBreakRarely: return 2;
    case Verdict::MayBreak: return 3;
    }
    return 0;
}

void addSection(QVBoxLayout &column, QWidget *parent, const QString &title, const QString &text, bool isMono)
{
    column.addSpacing(8);
    column.addWidget(makeLabel(title, u"section"_s, parent));
    auto *body = makeSelectable(text, parent, isMono);
    body->setWordWrap(true);
    body->setMinimumWidth(1);
    column.addWidget(body);
}

// A page that scrolls, below its heading, and a button that closes.
void layOutHelp(QDialog &dialog, const QString &heading, QWidget *page)
{
    auto *title = makeLabel(heading, u"heading"_s, &dialog);
    auto *scroll = makeScroll(page, &dialog);
    scroll->setAccessibleName(dialog.windowTitle());
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Close, &dialog);
    QObject::connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
    makeColumn(&dialog, {.margins = {24, 20, 24, 16}}, {title, {scroll, 1}, buttons});
}

} // namespace

GuaranteesDialog::GuaranteesDialog(const std::vector<QByteArray> &recipes, QWidget *parent)
    : QDialog(parent), m_model(new GuaranteesModel(this)), m_table(new QTableView(this))
{
    setWindowTitle(tr("Guarantees"));
    setObjectName(u"guaranteesDialog"_s);
    makeTable();
    m_nothing = makeLabel(tr("No recipe, no fault and no reason has this text."), u"muted"_s, this);
    m_nothing->hide();
    auto *about = makeWrapped(
        tr("No lock survives every fault. This table says what each recipe keeps, and what it cannot keep; every "
           "test run checks it with thousands of simulated schedules."),
        u"muted"_s, this);
    auto *close = makeButton(tr("Close"), this, &QDialog::reject);
    close->setDefault(true);
    auto *buttons = makeRow({}, {Stretch{}, close});
    makeColumn(this, {.margins = {24, 20, 24, 16}, .spacing = 10},
               {makeLabel(windowTitle(), u"heading"_s, this),
                about,
                makeChoices(),
                {m_table, 1},
                m_nothing,
                makeHairline(this),
                makeReasons(),
                buttons});
    resizeWithinParent(*this, {1360, 840});
    const auto wanted = mapped<QStringList>(recipes, [&](const auto &recipe) { return QString::fromLatin1(recipe); });
    m_find->setText(wanted.join(u' '));
    filter();
    m_table->setFocus();
}

void GuaranteesDialog::makeTable()
{
    CellDelegate::prepare(*m_table);
    m_table->setModel(m_model);
    m_table->setItemDelegate(new GuaranteesDelegate(m_model, m_table));
    m_table->setSelectionBehavior(QAbstractItemView::SelectItems);
    m_table->setAccessibleName(tr("What holds under which fault"));
    auto *rows = m_table->verticalHeader();
    rows->show();
    rows->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    rows->setHighlightSections(false);
    m_table->resizeColumnsToContents();
    connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, &GuaranteesDialog::showReasons);
}

QWidget *GuaranteesDialog::makeChoices()
{
    auto *choices = new QWidget(this);
    m_find = named(new QLineEdit(choices), u"findPromise"_s);
    m_find->setPlaceholderText(tr("Find recipes, a fault, or a reason"));
    m_find->setClearButtonEnabled(true);
    m_find->setProperty("look", u"find"_s);
    m_server = named(new QComboBox(choices), u"server"_s, tr("Servers"));
    m_server->addItem(tr("All servers"));
    for (const auto &backend : allBackends())
        m_server->addItem(backend.title);
    m_invariant = named(new QComboBox(choices), u"invariant"_s, tr("Guarantee"));
    m_invariant->addItem(tr("All guarantees"), QByteArray());
    for (const auto &invariant : contention::invariants())
        m_invariant->addItem(invariant.words, invariant.name);
    m_fenced = named(new QCheckBox(tr("Older fencing tokens are refused"), choices), u"fenced"_s);
    m_fenced->setToolTip(tr("By what the lock guards: a late write then does no harm"));
    makeRow(choices, {.spacing = 10}, {{m_find, 1}, m_server, m_invariant, m_fenced});
    connect(m_find, &QLineEdit::textChanged, this, &GuaranteesDialog::filter);
    connect(m_server, &QComboBox::currentIndexChanged, this, &GuaranteesDialog::filter);
    connect(m_invariant, &QComboBox::currentIndexChanged, this, [this] {
        m_model->setInvariant(m_invariant->currentData().toByteArray());
        showReasons();
    });
    connect(m_fenced, &QCheckBox::toggled, this, [this](bool isOn) {
        m_model->setFenced(isOn);
        filter();
    });
    return choices;
}

QWidget *GuaranteesDialog::makeReasons()
{
    auto *reasons = new QWidget(this);
    m_title = makeLabel({}, u"title"_s, reasons);
    m_summary = makeWrapped({}, u"muted"_s, reasons);
    m_lines = new QWidget(reasons);
    m_grid = makeGrid(m_lines, {.margins = {0, 2, 0, 0}, .across = 16, .down = 3, .stretched = 2});
    makeColumn(reasons, {.spacing = 4}, {m_title, m_summary, m_lines, Stretch{}});
    reasons->setMinimumHeight(215); // does not move the table
    return reasons;
}

bool GuaranteesDialog::rowHas(int row, const QString &text) const
{
    return QString::fromLatin1(m_model->recipe(row)).contains(text, Qt::CaseInsensitive);
}

bool GuaranteesDialog::columnHas(int column, const QString &text) const
{
    return QString::fromLatin1(nameOf(m_model->fault(column))).contains(text, Qt::CaseInsensitive);
}

bool GuaranteesDialog::isOfServer(int row) const
{
    const int chosen = m_server->currentIndex();
    return chosen == 0 || static_cast<int>(recipes::findRecipe(m_model->recipe(row))->backend) == chosen - 1;
}

// Every word names recipes or faults; else the whole text is looked for in the reasons.
void GuaranteesDialog::filter()
{
    const int columns = m_model->columnCount();
    QStringList ofRows, ofColumns;
    bool isReason = false;
    for (const auto &word : m_find->text().split(u' ', Qt::SkipEmptyParts)) {
        const bool namesRows = anyBelow(m_model->rowCount(), [&](int row) { return rowHas(row, word); });
        const bool namesColumns = anyBelow(columns, [&](int column) { return columnHas(column, word); });
        if (namesRows)
            ofRows << word;
        if (namesColumns)
            ofColumns << word;
        isReason = isReason || (!namesRows && !namesColumns);
    }
    const auto hasReason = [&](int row, int column) {
        return std::ranges::any_of(m_model->guarantees(row, column), [&](const contention::Guarantee &guarantee) {
            return guarantee.because.contains(m_find->text().trimmed(), Qt::CaseInsensitive);
        });
    };
    const auto names = [](const QStringList &words, auto has) {
        return words.isEmpty() || std::ranges::any_of(words, has);
    };
    bool isAny = false;
    for (int row = 0; row < m_model->rowCount(); ++row) {
        const bool isWanted = isReason ? anyBelow(columns, [&](int column) { return hasReason(row, column); })
                                       : names(ofRows, [&](const QString &word) { return rowHas(row, word); });
        m_table->setRowHidden(row, !isWanted || !isOfServer(row));
        isAny = isAny || !m_table->isRowHidden(row);
    }
    for (int column = 0; column < columns; ++column) {
        const auto isShownWithReason = [&](int row) { return !m_table->isRowHidden(row) && hasReason(row, column); };
        const bool isWanted = isReason
                                  ? anyBelow(m_model->rowCount(), isShownWithReason)
                                  : names(ofColumns, [&](const QString &word) { return columnHas(column, word); });
        m_table->setColumnHidden(column, !isWanted);
    }
    m_nothing->setVisible(!isAny);
    showReasons();
}

void GuaranteesDialog::showReasons()
{
    clearLayout(*m_grid);
    const auto at = m_table->currentIndex();
    const bool isShown = at.isValid() && !m_table->isRowHidden(at.row()) && !m_table->isColumnHidden(at.column());
    m_summary->setVisible(isShown);
    if (!isShown) {
        m_title->setText(tr("Choose a cell: here stands why"));
        return;
    }
    const auto fault = m_model->fault(at.column());
    m_title->setText(
        tr("%1 under %2").arg(QString::fromLatin1(m_model->recipe(at.row())), QString::fromLatin1(nameOf(fault))));
    const auto &guarantees = m_model->guarantees(at.row(), at.column());
    m_summary->setText(guarantees.empty() ? tr("Cannot happen to this recipe: %1").arg(summaryOf(fault))
                                          : summaryOf(fault));
    const auto &invariants = contention::invariants();
    for (std::size_t i = 0; i < guarantees.size(); ++i) {
        const int row = static_cast<int>(i);
        auto *pill = new PillLabel(m_lines);
        pill->setPill(pillOf(guarantees[i].verdict));
        m_grid->addWidget(makeLabel(invariants[i].words, {}, m_lines), row, 0);
        m_grid->addWidget(pill, row, 1, Qt::AlignLeft);
        auto *because =
            makeLabel(guarantees[i].because.isEmpty() ? QString() : tr("because %1").arg(guarantees[i].because),
                      u"muted"_s, m_lines);
        because->setWordWrap(true);
        because->setObjectName(QString::fromLatin1(invariants[i].name));
        m_grid->addWidget(because, row, 2);
    }
}

QStringList GuaranteesDialog::reasons() const
{
    QStringList lines;
    for (int row = 0; row < m_grid->rowCount() && m_grid->itemAtPosition(row, 0); ++row) {
        const auto text = [&](int column) {
            return qobject_cast<QLabel *>(m_grid->itemAtPosition(row, column)->widget())->text();
        };
        const auto *pill = qobject_cast<PillLabel *>(m_grid->itemAtPosition(row, 1)->widget());
        lines << u"%1: %2 %3"_s.arg(text(0), pill->pill().word, text(2)).trimmed();
    }
    return lines;
}

Pill pillOf(Verdict verdict)
{
    switch (verdict) {
    case Verdict::Holds: return {PillShape::Disc, Tone::Ok, GuaranteesModel::tr("holds")};
    case Verdict::MayBreak: return {PillShape::Cross, Tone::Critical, GuaranteesModel::tr("may break")};
    case Verdict::MayBreakRarely: return {PillShape::Quarter, Tone::Warning, GuaranteesModel::tr("rarely breaks")};
    case Verdict::NotGuaranteed: return {PillShape::Ring, Tone::Free, GuaranteesModel::tr("not promised")};
    }
    return {};
}

GuaranteesModel::GuaranteesModel(QObject *parent) : RowsModel(parent), m_faults(contention::allFaults())
{
    for (const auto &recipe : contention::guaranteedRecipes())
        m_rows.push_back({.recipe = recipe});
    for (std::size_t fault = 0; fault < m_faults.size(); ++fault)
        m_columns.push_back(columnOf(fault));
    fill();
}

RowColumn<RecipeGuarantees> GuaranteesModel::columnOf(std::size_t fault) const
{
    const auto recipeName = [](const RecipeGuarantees &row) { return QString::fromLatin1(row.recipe); };
    const auto faultName = QString::fromLatin1(nameOf(m_faults[fault]));
    const auto shown = [this, fault](const RecipeGuarantees &row) { return worstOf(row.cells[fault]); };
    return {.title = faultName,
            .text = [=](const RecipeGuarantees &row) { return shown(row) ? shown(row)->word : u"–"_s; },
            .help = plainToolTip(summaryOf(m_faults[fault])),
            .values = {{Qt::ToolTipRole,
                        [=](const RecipeGuarantees &row) {
                            return shown(row) ? QVariant()
                                              : plainToolTip(tr("Cannot happen to %1").arg(recipeName(row)));
                        }},
                       {Qt::AccessibleTextRole, [=](const RecipeGuarantees &row) {
                            return tr("%1 under %2: %3")
                                .arg(recipeName(row), faultName, shown(row) ? shown(row)->word : tr("cannot happen"));
                        }}}};
}

void GuaranteesModel::fill()
{
    for (auto &row : m_rows) {
        row.cells.clear();
        for (const auto fault : m_faults)
            row.cells.push_back(contention::guaranteesOf(row.recipe, fault, m_isFenced));
    }
}

void GuaranteesModel::setInvariant(const QByteArray &invariant)
{
    m_invariant = invariant;
    reportAll();
}

void GuaranteesModel::setFenced(bool isFenced)
{
    m_isFenced = isFenced;
    fill();
    reportAll();
}

std::optional<Pill> GuaranteesModel::worstOf(const std::vector<Guarantee> &guarantees) const
{
    std::optional<Verdict> worst;
    for (const auto &guarantee : guarantees) {
        if (!m_invariant.isEmpty() && guarantee.invariant != m_invariant)
            continue;
        if (!worst || gravity(guarantee.verdict) > gravity(*worst))
            worst = guarantee.verdict;
    }
    return worst ? std::optional(pillOf(*worst)) : std::nullopt;
}

QVariant GuaranteesModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation == Qt::Horizontal)
        return RowsModel::headerData(section, orientation, role);
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::AlignLeft | Qt::AlignVCenter);
    if (role == Qt::DisplayRole)
        return QString::fromLatin1(recipe(section));
    return role == Qt::ToolTipRole ? plainToolTip(recipes::findRecipe(recipe(section))->summary) : QVariant();
}

AboutDialog::AboutDialog(QWidget *parent) : QDialog(parent)
{
    setWindowTitle(tr("About Lockscope"));
    setObjectName(u"aboutDialog"_s);
    auto *page = new QWidget;
    auto *rows = makeColumn(page, {.margins = {0, 0, 12, 0}},
                            {makeLabel(tr("An inspector and admin console for distributed locks."), {}, page)});
    addSection(*rows, page, tr("LICENSE"),
               tr("Lockscope is licensed under Apache-2.0, © 2026 the Lockscope authors. It comes without any "
                  "warranty. The libraries below keep their own licenses."),
               false);
    addSection(*rows, page, tr("MADE WITH"),
               tr("Qt %1 (LGPL-3), linked dynamically\nThe ZooKeeper C client (Apache-2.0)\nhiredis "
                  "(BSD-3-Clause)\nLua 5.1 (MIT)\ntoml++ (MIT)\nQtKeychain (BSD-2-Clause)\nzlib (Zlib)\n"
                  "Graphviz (EPL-1.0), in a process of its own")
                   .arg(QString::fromLatin1(qVersion())),
               false);
    const QString dataFolder = QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation);
    addSection(
        *rows, page, tr("WHERE FILES LIE"),
        tr("Saved connections, without passwords:\n  %1\nThe window's sizes, columns and filters:\n  %2\nNames given "
           "to clients:\n  %3\nWhat was forced, the audit record:\n  %4\nLessons of your own:\n  %5")
            .arg(ConnectionStore::defaultFile(), QSettings().fileName(), clientLabelFile(),
                 operate::AuditFile().path(), dataFolder + u"/lockscope/lessons"_s),
        true);
    rows->addStretch();
    layOutHelp(*this, u"Lockscope "_s + QStringLiteral(LOCKSCOPE_VERSION), page);
    resizeWithinParent(*this, {620, 600});
}

FindingsDialog::FindingsDialog(QWidget *parent) : QDialog(parent)
{
    setWindowTitle(tr("What findings mean, and what to do"));
    setObjectName(u"findingsDialog"_s);
    auto *list = new QWidget;
    auto *rows = new QVBoxLayout(list);
    for (const auto &kind : inspect::findingKinds()) {
        const auto title = u"%1 · %2 · %3"_s.arg(kind.title, inspect::word(kind.code), inspect::word(kind.severity));
        rows->addWidget(makeLabel(title, u"title"_s, list));
        auto *help = makeSelectable(helpOn(kind), list, false);
        help->setWordWrap(true);
        help->setMinimumWidth(1); // a wrapped label would rather be wide
        rows->addWidget(help);
        rows->addSpacing(8);
    }
    layOutHelp(*this, windowTitle(), list);
    resizeWithinParent(*this, {820, 760});
}

} // namespace lockscope::ui

#include "moc_guaranteesdialog.cpp"
