// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/rehearsebutton.h"

#include "core/base/text.h"
#include "ui/dialogs/factsform.h"

namespace lockscope::ui {

using namespace Qt::StringLiterals;

RehearseButton::RehearseButton(Backend &backend, FactsForm &facts, QWidget *parent, std::function<void()> said)
    : QPushButton(tr("Rehearse"), parent), m_backend(backend), m_facts(facts), m_said(std::move(said))
{
    setAutoDefault(false); // Enter in a text field is not for it
    setObjectName(u"rehearseButton"_s);
    setToolTip(tr("Plays this release in the simulated world: who gets the lock then. Nothing is sent."));
    connect(this, &QPushButton::clicked, this, &RehearseButton::rehearse);
}

void RehearseButton::setPlan(const operate::ForceReleasePlan &plan, bool isAgain)
{
    m_plan = plan;
    ++m_plans;
    const bool wasAnswered = std::exchange(m_isAnswered, false);
    setEnabled(true);
    if (isAgain && wasAnswered)
        say(tr("The lock has changed since; rehearse again."));
}

void RehearseButton::rehearse()
{
    if (!m_plan)
        return;
    setEnabled(false);
    m_backend.rehearse(*m_plan, this, [this, plan = m_plans](const Result<rehearse::Rehearsal> &rehearsal) {
        if (plan != m_plans)
            return;
        setEnabled(true);
        if (!rehearsal) {
            say(label(rehearsal.error().message.toUtf8(), 1000));
            return;
        }
        QStringList lines{sentenceOf(*rehearsal, m_plan->before)};
        for (const auto &assumed : rehearsal->assumed)
            lines << tr("assumed: %1").arg(assumed);
        say(lines.join(u'\n'));
    });
}

void RehearseButton::say(const QString &words)
{
    const QString title = tr("Rehearsed");
    if (m_facts.valueOf(title).isEmpty())
        m_facts.addText(title, words);
    else
        m_facts.setText(title, words);
    m_isAnswered = true;
    // A new line of the form has no height before it is shown, which is later than now.
    QMetaObject::invokeMethod(
        this, [this] { m_said(); }, Qt::QueuedConnection);
}

} // namespace lockscope::ui

#include "moc_rehearsebutton.cpp"
