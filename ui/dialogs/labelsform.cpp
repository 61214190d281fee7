// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/labelsform.h"

#include "ui/parts/parts.h"

#include <QBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using inspect::ClientLabel;

LabelsForm::LabelsForm(QString file, QWidget *parent)
    : QWidget(parent), m_file(std::move(file)), m_table(new QTableWidget(0, ColumnCount, this)),
      m_problem(makeLabel({}, u"small"_s, this)), m_add(new QPushButton(tr("Add client"), this)),
      m_remove(new QPushButton(tr("Remove"), this))
{
    m_table->setAccessibleName(tr("What clients are called"));
    m_table->setObjectName(u"labelsTable"_s);
    m_table->setHorizontalHeaderLabels({tr("Address, identity, program or session"), tr("Is called")});
    m_table->horizontalHeaderItem(Pattern)->setToolTip(
        tr("A shell's pattern: 10.0.3.7:*, app-9, billing*; the first row that fits a client counts"));
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter); // as the cells below
    m_table->verticalHeader()->hide();
    m_table->setTabKeyNavigation(false);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    auto *about = makeLabel(tr("Clients of the same name on several servers are one client in the graph and in "
                               "deadlocks: you say so, and so does the graph. Where a pattern fits several of one "
                               "server they stay apart, and only wear the name."),
                            u"muted"_s, this);
    about->setWordWrap(true);
    m_problem->setWordWrap(true);
    m_problem->setObjectName(u"labelsProblem"_s);
    auto *buttons = new QHBoxLayout;
    for (auto *button : {m_add, m_remove}) {
        button->setAutoDefault(false);
        buttons->addWidget(button);
    }
    buttons->addStretch(1);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 12, 0, 0);
    column->addWidget(about);
    column->addWidget(m_table, 1);
    column->addLayout(buttons);
    column->addWidget(m_problem);
    for (const auto &label : savedClientLabels(m_file))
        addRow(QString::fromUtf8(label.pattern), label.name);
    connect(m_table, &QTableWidget::cellChanged, this, &LabelsForm::keep);
    connect(m_table, &QTableWidget::currentCellChanged, this, &LabelsForm::showButtons);
    connect(m_add, &QPushButton::clicked, this, [this] {
        addRow({}, {});
        m_table->setFocus();
        m_table->setCurrentCell(m_table->rowCount() - 1, Pattern);
        m_table->editItem(m_table->currentItem());
    });
    connect(m_remove, &QPushButton::clicked, this, [this] {
        m_table->removeRow(m_table->currentRow());
        keep();
    });
    showButtons();
}

void LabelsForm::addRow(const QString &pattern, const QString &name)
{
    m_isFilling = true;
    const int row = m_table->rowCount();
    m_table->insertRow(row);
    m_table->setItem(row, Pattern, new QTableWidgetItem(pattern));
    m_table->setItem(row, Name, new QTableWidgetItem(name));
    m_isFilling = false;
}

QString LabelsForm::text(int row, int column) const
{
    const auto *item = m_table->item(row, column);
    return item ? item->text().trimmed() : QString();
}

Result<std::vector<ClientLabel>> LabelsForm::labels() const
{
    std::vector<ClientLabel> labels;
    for (int row = 0; row < m_table->rowCount(); ++row) {
        const auto pattern = text(row, Pattern), name = text(row, Name);
        if (pattern.isEmpty() && name.isEmpty())
            continue; // begun
        if (pattern.isEmpty() || name.isEmpty())
            return Error{ErrorCode::BadInput, pattern.isEmpty() ? tr("“%1” fits nobody yet.").arg(name)
                                                                : tr("“%1” has no name yet.").arg(pattern)};
        // The file has a line for each, split at its last =.
        if (name.contains(u'=') || pattern.startsWith(u'#') || (pattern + name).contains(u'\n'))
            return Error{ErrorCode::BadInput,
                         tr("Row %1: a name has no =, and a pattern does not begin with #.").arg(row + 1)};
        labels.push_back({pattern.toUtf8(), name});
    }
    return labels;
}

void LabelsForm::keep()
{
    if (m_isFilling)
        return;
    showButtons();
    const auto now = labels();
    const auto written = now ? writeClientLabels(*now, m_file) : Result<void>(now.error());
    m_problem->setText(written ? QString() : tr("Not kept yet: %1").arg(written.error().message));
    if (written)
        emit changed(*now);
}

void LabelsForm::showButtons()
{
    m_remove->setEnabled(m_table->currentRow() >= 0);
    // Where the keyboard is shows by the cell: an empty table has none, and where it comes to is not selected.
    m_table->setFocusPolicy(m_table->rowCount() > 0 ? Qt::StrongFocus : Qt::NoFocus);
    if (auto *item = m_table->currentItem())
        m_table->setCurrentItem(item);
}

QString LabelsForm::problem() const
{
    return m_problem->text();
}

} // namespace lockscope::ui

#include "moc_labelsform.cpp"
