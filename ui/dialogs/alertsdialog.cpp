// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/alertsdialog.h"

#include "ui/parts/parts.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSystemTrayIcon>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using inspect::Severity;

AlertsDialog::AlertsDialog(const AlertRule &rule, QWidget *parent)
    : QDialog(parent), m_on(new QCheckBox(tr("Tell me of new findings"), this)), m_least(new QComboBox(this)),
      m_code(new QComboBox(this)), m_pattern(new QLineEdit(this)),
      m_production(new QCheckBox(tr("Only on connections marked as production"), this))
{
    setWindowTitle(tr("Notifications"));
    setObjectName(u"alertsDialog"_s);
    m_on->setObjectName(u"alertsOn"_s);
    m_on->setChecked(rule.isOn);
    for (const auto severity : {Severity::Critical, Severity::Warning, Severity::Info})
        m_least->addItem(severity == Severity::Critical ? tr("critical")
                                                        : tr("%1 or worse").arg(inspect::word(severity)),
                         static_cast<int>(severity));
    m_least->setCurrentIndex(m_least->findData(static_cast<int>(rule.least)));
    m_code->addItem(tr("any finding"), QString());
    for (const auto &kind : inspect::findingKinds())
        m_code->addItem(inspect::word(kind.code), inspect::word(kind.code));
    m_code->setCurrentIndex(std::max(0, m_code->findData(rule.code)));
    m_pattern->setText(rule.pattern);
    m_pattern->setPlaceholderText(tr("all; or such as *:/locks/payments*"));
    m_production->setChecked(rule.onlyProduction);
    auto *form = new QFormLayout(this);
    form->setContentsMargins(24, 20, 24, 16);
    form->setVerticalSpacing(10);
    form->addRow(makeLabel(windowTitle(), u"heading"_s, this));
    form->addRow(m_on);
    form->addRow(tr("Severity"), m_least);
    form->addRow(tr("Finding"), m_code);
    form->addRow(tr("Locks"), m_pattern);
    form->addRow(m_production);
    const QString said =
        tr("The desktop tells of each once; a click goes to the lock. It names the kind of finding and the "
           "lock, nothing that a client wrote. What was there at the first look is not new.");
    auto *note = makeLabel(QSystemTrayIcon::isSystemTrayAvailable()
                               ? said
                               : said + tr("\nThis desktop has no tray, so nothing can be told now."),
                           u"muted"_s, this);
    note->setWordWrap(true);
    note->setMinimumWidth(420);
    form->addRow(note);
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    form->addRow(buttons);
}

AlertRule AlertsDialog::rule() const
{
    AlertRule rule;
    rule.isOn = m_on->isChecked();
    rule.least = static_cast<Severity>(m_least->currentData().toInt());
    rule.code = m_code->currentData().toString();
    rule.pattern = m_pattern->text().trimmed();
    rule.onlyProduction = m_production->isChecked();
    return rule;
}

} // namespace lockscope::ui

#include "moc_alertsdialog.cpp"
