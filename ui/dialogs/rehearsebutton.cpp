// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/rehearsebutton.h"

#include "core/base/text.h"
#include "ui/dialogs/factsform.h"

#include <algorithm>
#include <utility>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

// Who holds and who waits, which is what was played; how long, and what is found, may be another.
bool isSameQueue(const inspect::LockSnapshot &a, const inspect::LockSnapshot &b)
{
    return std::ranges::equal(a.contenders, b.contenders, [](const auto &one, const auto &other) {
        return one.id == other.id && one.role == other.role && one.mode == other.mode && one.reentry == other.reentry
               && one.expiresAt.has_value() == other.expiresAt.has_value();
    });
}

} // namespace

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
    const bool isSame = isAgain && m_plan && isSameQueue(m_plan->before, plan.before);
    m_plan = plan;
    if (isSame) {
        if (!m_answer.isEmpty())
            say(m_answer); // the facts were filled anew
        return;
    }
    ++m_plans;
    m_isPlaying = false;
    if (isAgain && !m_answer.isEmpty())
        say(tr("The lock has changed since; rehearse again."));
    m_answer.clear();
}

void RehearseButton::rehearse()
{
    if (!m_plan || std::exchange(m_isPlaying, true))
        return; // it stays enabled: a button that is not loses the focus to the next part of the form
    m_backend.ask(Rehearse{*m_plan}, this, [this, plan = m_plans](const Result<rehearse::Rehearsal> &rehearsal) {
        if (plan != m_plans)
            return;
        m_isPlaying = false;
        if (!rehearsal) {
            say(m_answer = label(rehearsal.error().message.toUtf8(), 1000));
            return;
        }
        QStringList lines{sentenceOf(*rehearsal, m_plan->before)};
        for (const auto &assumed : rehearsal->assumed)
            lines << tr("assumed: %1").arg(assumed);
        say(m_answer = lines.join(u'\n'));
    });
}

void RehearseButton::say(const QString &words)
{
    const QString title = tr("Rehearsed");
    if (m_facts.valueOf(title).isEmpty())
        m_facts.addText(title, words);
    else
        m_facts.setText(title, words);
    // A new line of the form has no height before it is shown, which is later than now.
    QMetaObject::invokeMethod(
        this, [this] { m_said(); }, Qt::QueuedConnection);
}

} // namespace lockscope::ui

#include "moc_rehearsebutton.cpp"
