// SPDX-License-Identifier: Apache-2.0
// What a connection's form reports below its fields, and which of them it marks.
#include "ui/dialogs/connectform.h"
#include "ui/dialogs/trialchecklist.h"

#include <QLineEdit>
#include <QStyle>

#include <algorithm>

namespace lockscope::ui {

void ConnectForm::markField(QWidget *field)
{
    for (QWidget *one : {std::exchange(m_wrong, field).data(), field}) {
        if (!one)
            continue;
        one->setProperty("tone", one == field ? u"critical"_s : QString());
        one->style()->unpolish(one);
        one->style()->polish(one);
    }
}

QWidget *ConnectForm::fieldOf(TrialCheck::Fix fix) const
{
    switch (fix) {
    case TrialCheck::Fix::Hosts: return m_hosts;
    case TrialCheck::Fix::Login: return m_user->text().isEmpty() ? m_user : m_password;
    case TrialCheck::Fix::Tls: return m_transport->firstFile();
    case TrialCheck::Fix::TurnOnTls:
    case TrialCheck::Fix::None: break;
    }
    return nullptr;
}

// Puts the keyboard where that is fixed, or fixes it.
void ConnectForm::fix(TrialCheck::Fix fix)
{
    if (fix == TrialCheck::Fix::TurnOnTls)
        m_transport->turnOn();
    else if (auto *field = fieldOf(fix))
        field->setFocus();
}

void ConnectForm::markFailed()
{
    for (const auto &check : m_checklist->checks()) {
        if (check.state == TrialCheck::State::Failed && fieldOf(check.fix))
            return markField(fieldOf(check.fix));
    }
}

void ConnectForm::say(const QString &problem)
{
    markField(nullptr);
    m_checklist->clear();
    if (!problem.isEmpty())
        m_checklist->show(std::vector{TrialCheck{TrialCheck::State::Failed, problem}});
}

QString ConnectForm::problem() const
{
    const auto found = std::ranges::find(m_checklist->checks(), TrialCheck::State::Failed, &TrialCheck::state);
    return found == m_checklist->checks().end() ? QString() : found->text;
}

} // namespace lockscope::ui
