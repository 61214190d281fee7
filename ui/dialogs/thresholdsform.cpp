// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/settingsdialog.h"

#include "core/base/duration.h"
#include "ui/parts/parts.h"

#include <QBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using inspect::ThresholdRule;
using inspect::ThresholdRules;

ThresholdsForm::ThresholdsForm(QString file, QWidget *parent)
    : QWidget(parent), m_file(std::move(file)), m_table(new QTableWidget(0, ColumnCount, this)),
      m_problem(makeLabel({}, u"small"_s, this)), m_add(new QPushButton(tr("Add pattern"), this)),
      m_remove(new QPushButton(tr("Remove"), this)), m_up(new QPushButton(tr("Up"), this)),
      m_down(new QPushButton(tr("Down"), this))
{
    m_table->setAccessibleName(tr("Thresholds"));
    m_table->setHorizontalHeaderLabels(
        {tr("Locks"), tr("Held longer than"), tr("Waits longer than"), tr("Times its usual hold")});
    const QStringList tips{tr("A shell's pattern of CONNECTION:NAME, or of NAME; of each value the first row that "
                              "fits and says it counts"),
                           tr("90s, 10m, 8h: from then on long-held is found"),
                           tr("90s, 10m, 8h: from then on long-wait is found"),
                           tr("Held so many times longer than ever seen of that lock, and at least 30 s, is found "
                              "earlier; 0 for never")};
    for (int column = 0; column < ColumnCount; ++column)
        m_table->horizontalHeaderItem(column)->setToolTip(tips[column]);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setSectionResizeMode(Pattern, QHeaderView::Stretch);
    m_table->setWordWrap(false); // or a pattern is cut at its first hyphen
    m_table->setTextElideMode(Qt::ElideMiddle);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter); // as the cells below
    m_table->verticalHeader()->hide();
    m_table->setTabKeyNavigation(false);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    auto *buttons = new QHBoxLayout;
    for (auto *button : {m_add, m_remove, m_up, m_down}) {
        button->setAutoDefault(false);
        buttons->addWidget(button);
    }
    buttons->addStretch(1);
    m_problem->setWordWrap(true);
    auto *about = makeLabel(
        tr("The first pattern that fits counts; an empty cell takes what the next one says, and after the last what "
           "stands for every lock. An election, and a lock held no more than twice as long as before, never "
           "warns for its age."),
        u"muted"_s, this);
    about->setWordWrap(true);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 12, 0, 0);
    column->addWidget(about);
    column->addWidget(m_table, 1);
    column->addLayout(buttons);
    column->addWidget(m_problem);
    const auto read = readThresholds(m_file);
    m_isBroken = !read;
    show(read ? *read : ThresholdRules());
    if (m_isBroken) {
        m_problem->setText(read.error().message);
        m_table->setEnabled(false);
        m_add->setEnabled(false);
    }
    connect(m_table, &QTableWidget::cellChanged, this, &ThresholdsForm::keep);
    connect(m_table, &QTableWidget::currentCellChanged, this, &ThresholdsForm::showButtons);
    connect(m_add, &QPushButton::clicked, this, [this] {
        addRow({tr("CONNECTION:PATTERN*"), {}, {}, {}});
        m_table->setFocus();
        m_table->setCurrentCell(m_table->rowCount() - 1, Pattern);
        m_table->editItem(m_table->currentItem());
    });
    connect(m_remove, &QPushButton::clicked, this, [this] {
        m_table->removeRow(m_table->currentRow());
        keep();
    });
    connect(m_up, &QPushButton::clicked, this, [this] { moveRow(-1); });
    connect(m_down, &QPushButton::clicked, this, [this] { moveRow(+1); });
    showButtons();
}

void ThresholdsForm::show(const ThresholdRules &rules)
{
    m_table->setRowCount(0);
    addRow({tr("every lock"), rules.usual.longHeld, rules.usual.longWait, rules.usual.unusual});
    auto *every = m_table->item(0, Pattern);
    every->setFlags(every->flags() & ~Qt::ItemIsEditable);
    for (const auto &rule : rules.rules)
        addRow(rule);
}

void ThresholdsForm::addRow(const ThresholdRule &rule)
{
    m_isFilling = true;
    const int row = m_table->rowCount();
    m_table->insertRow(row);
    m_table->setItem(row, Pattern, new QTableWidgetItem(rule.pattern));
    m_table->setItem(row, LongHeld,
                     new QTableWidgetItem(rule.longHeld ? writtenDuration(*rule.longHeld) : QString()));
    m_table->setItem(row, LongWait,
                     new QTableWidgetItem(rule.longWait ? writtenDuration(*rule.longWait) : QString()));
    m_table->setItem(row, Unusual, new QTableWidgetItem(rule.unusual ? QString::number(*rule.unusual) : QString()));
    m_isFilling = false;
}

QString ThresholdsForm::text(int row, int column) const
{
    const auto *item = m_table->item(row, column);
    return item ? item->text().trimmed() : QString();
}

Result<ThresholdRule> ThresholdsForm::ruleAt(int row) const
{
    ThresholdRule rule;
    rule.pattern = row == 0 ? QString() : text(row, Pattern);
    const auto where = row == 0 ? tr("every lock") : rule.pattern;
    if (row > 0 && rule.pattern.isEmpty())
        return Error{ErrorCode::BadInput, tr("Row %1 has no pattern.").arg(row + 1)};
    for (const auto &[column, value] : {std::pair(LongHeld, &rule.longHeld), std::pair(LongWait, &rule.longWait)}) {
        if (text(row, column).isEmpty())
            continue;
        const auto span = parseDuration(text(row, column));
        if (!span)
            return Error{ErrorCode::BadInput,
                         tr("“%1” of %2 is no duration like 90s, 10m or 8h.").arg(text(row, column), where)};
        *value = *span;
    }
    if (!text(row, Unusual).isEmpty()) {
        bool isNumber = false;
        rule.unusual = text(row, Unusual).toInt(&isNumber);
        if (!isNumber)
            return Error{ErrorCode::BadInput, tr("“%1” of %2 is no whole number.").arg(text(row, Unusual), where)};
    }
    if (const auto objection = objectionTo(rule); !objection.isEmpty())
        return Error{ErrorCode::BadInput, tr("Of %1: %2.").arg(where, objection)};
    return rule;
}

Result<ThresholdRules> ThresholdsForm::rules() const
{
    ThresholdRules rules;
    for (int row = 0; row < m_table->rowCount(); ++row) {
        auto rule = ruleAt(row);
        if (!rule)
            return rule.error();
        if (row > 0) {
            rules.rules.push_back(std::move(*rule));
            continue;
        }
        const inspect::Thresholds defaults;
        rules.usual = {rule->longHeld.value_or(defaults.longHeld), rule->longWait.value_or(defaults.longWait),
                       rule->unusual.value_or(defaults.unusual)};
    }
    return rules;
}

void ThresholdsForm::keep()
{
    if (m_isFilling || m_isBroken)
        return;
    showButtons();
    const auto now = rules();
    const auto written = now ? writeThresholds(*now, m_file) : Result<void>(now.error());
    m_problem->setText(written ? QString() : tr("Not kept yet: %1").arg(written.error().message));
    if (written)
        emit changed(*now);
}

void ThresholdsForm::moveRow(int by)
{
    const int row = m_table->currentRow();
    m_isFilling = true;
    for (int column = 0; column < ColumnCount; ++column) {
        auto *from = m_table->takeItem(row, column);
        auto *to = m_table->takeItem(row + by, column);
        m_table->setItem(row, column, to);
        m_table->setItem(row + by, column, from);
    }
    m_isFilling = false;
    m_table->setCurrentCell(row + by, m_table->currentColumn());
    keep();
}

void ThresholdsForm::showButtons()
{
    const int row = m_table->currentRow();
    m_remove->setEnabled(row > 0 && !m_isBroken);
    m_up->setEnabled(row > 1 && !m_isBroken);
    m_down->setEnabled(row > 0 && row + 1 < m_table->rowCount() && !m_isBroken);
    if (auto *item = m_table->currentItem())
        m_table->setCurrentItem(item); // selected, or nobody sees where the keyboard is
}

QString ThresholdsForm::problem() const
{
    return m_problem->text();
}

} // namespace lockscope::ui
