// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/settingsdialog.h"

#include "core/base/duration.h"
#include "ui/parts/layouts.h"
#include "ui/parts/parts.h"

#include <QHeaderView>
#include <QLabel>
#include <QTableWidget>

namespace lockscope::ui {

using inspect::ThresholdRule;
using inspect::ThresholdRules;

ThresholdsForm::ThresholdsForm(QString file, QWidget *parent)
    : TypedTable(std::move(file),
                 {tr("Locks"), tr("Held longer than"), tr("Waits longer than"), tr("Times its usual hold")},
                 tr("Add pattern"), parent),
      m_up(makeButton(tr("Up"), this, [this] { moveRow(-1); })),
      m_down(makeButton(tr("Down"), this, [this] { moveRow(+1); }))
{
    m_table->setAccessibleName(tr("Thresholds"));
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
    layOut(
        tr("The first matching pattern applies. An empty cell uses the value of the next matching row, then the default. Elections, and locks held at most twice as long as before, never cause a warning."),
        {m_add, m_remove, m_up, m_down});
    const auto read = readThresholds(m_file);
    m_isBroken = !read;
    show(read ? *read : ThresholdRules());
    if (m_isBroken) {
        m_problem->setText(read.error().message);
        m_table->setEnabled(false);
        m_add->setEnabled(false);
    }
    begin();
}

void ThresholdsForm::show(const ThresholdRules &rules)
{
    m_table->setRowCount(0);
    addRule({tr("every lock"), rules.usual.longHeld, rules.usual.longWait, rules.usual.unusual});
    auto *every = m_table->item(0, Pattern);
    every->setFlags(every->flags() & ~Qt::ItemIsEditable);
    for (const auto &rule : rules.rules)
        addRule(rule);
}

void ThresholdsForm::addRule(const ThresholdRule &rule)
{
    addRow({rule.pattern, rule.longHeld ? writtenDuration(*rule.longHeld) : QString(),
            rule.longWait ? writtenDuration(*rule.longWait) : QString(),
            rule.unusual ? QString::number(*rule.unusual) : QString()});
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
                         tr("“%1” of %2 is not a duration like 90s, 10m or 8h.").arg(text(row, column), where)};
        *value = *span;
    }
    if (!text(row, Unusual).isEmpty()) {
        bool isNumber = false;
        rule.unusual = text(row, Unusual).toInt(&isNumber);
        if (!isNumber)
            return Error{ErrorCode::BadInput, tr("“%1” of %2 is not a whole number.").arg(text(row, Unusual), where)};
    }
    if (const auto objection = objectionTo(rule); !objection.isEmpty())
        return Error{ErrorCode::BadInput, tr("Of %1: %2.").arg(where, objection)};
    return rule;
}

Result<ThresholdRules> ThresholdsForm::rules() const
{
    ThresholdRules rules;
    for (int row = 0; row < m_table->rowCount(); ++row) {
        TRY(auto &rule, ruleAt(row));
        if (row > 0) {
            rules.rules.push_back(std::move(rule));
            continue;
        }
        const inspect::Thresholds defaults;
        rules.usual = {rule.longHeld.value_or(defaults.longHeld), rule.longWait.value_or(defaults.longWait),
                       rule.unusual.value_or(defaults.unusual)};
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
    showProblem(written);
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

} // namespace lockscope::ui
