// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/releaseparts.h"

#include "core/base/text.h"
#include "ui/dialogs/factsform.h"
#include "ui/dialogs/forcereleasetext.h"
#include "ui/parts/layouts.h"

#include <QComboBox>
#include <QLabel>

#include <algorithm>
#include <utility>

namespace lockscope::ui {

using operate::ReleaseAction;

WayPicker::WayPicker(QWidget *parent) : QWidget(parent), m_box(named(new QComboBox(this), u"way"_s))
{
    m_box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_box->setMinimumContentsLength(20);
    auto *label = new QLabel(tr("&Method (least disruptive first)"), this);
    label->setProperty("look", u"muted"_s);
    label->setBuddy(m_box);
    label->setMinimumWidth(158);
    makeRow(this, {.spacing = 12}, {label, {m_box, 1}});
    connect(m_box, &QComboBox::activated, this, [this](int index) { take(static_cast<std::size_t>(index)); });
}

void WayPicker::take(std::size_t offer)
{
    const auto &taken = m_offers[offer];
    if (taken.way == m_way)
        return;
    m_way = taken.way;
    m_contender = m_way == ReleaseAction::Release ? QByteArray() : taken.contender;
    emit picked();
}

void WayPicker::pick(ReleaseAction way)
{
    const auto at = std::ranges::find(m_offers, way, &operate::OfferedAction::way);
    if (at == m_offers.end())
        return;
    m_box->setCurrentIndex(static_cast<int>(at - m_offers.begin()));
    take(static_cast<std::size_t>(at - m_offers.begin()));
}

QString WayPicker::titleOf(const operate::OfferedAction &offer, const inspect::LockSnapshot &lock)
{
    const auto *one = lock.find(offer.contender);
    const QString who = ForceReleaseWords::nameOf(lock, offer.contender);
    const QString connection = one ? one->session.value_or(QString()).left(40) : QString();
    const auto &endsStatement = infoOf(lock.backend).endsStatement;
    switch (offer.way) {
    case ReleaseAction::Revoke: return tr("Ask %1 to release it (__REVOKE__)").arg(who);
    case ReleaseAction::ShortenTtl: return tr("Shorten its lease to 10 s");
    case ReleaseAction::KillWaiter:
        return endsStatement.isEmpty()
                   ? tr("Remove the selected waiter %1 from the queue").arg(who)
                   : tr("%1 %2: cancel the selected waiter's statement").arg(endsStatement, connection);
    case ReleaseAction::KillQuery: return tr("%1 %2: end its running statement").arg(endsStatement, connection);
    case ReleaseAction::EndLease: return tr("End the lease of %1 and delete every key attached to it").arg(who);
    case ReleaseAction::Release: break;
    }
    return tr("Force-release the lock from %1").arg(who);
}

void WayPicker::offer(const inspect::LockSnapshot &lock, const QByteArray &holder, const QByteArray &chosen)
{
    std::vector<operate::OfferedAction> offers;
    const auto *waiter = lock.find(chosen);
    if (waiter && waiter->role == inspect::Role::Waiter)
        offers = operate::waysFor(lock, *waiter);
    if (const auto *one = lock.find(holder))
        std::ranges::copy(operate::waysFor(lock, *one), std::back_inserter(offers));
    std::ranges::stable_sort(offers, {}, &operate::OfferedAction::way);
    if (offers == m_offers)
        return;
    m_offers = std::move(offers);
    m_box->clear();
    for (const auto &offer : m_offers)
        m_box->addItem(titleOf(offer, lock));
    const auto at = std::ranges::find(m_offers, m_way, &operate::OfferedAction::way);
    if (at == m_offers.end())
        reset();
    else
        m_box->setCurrentIndex(static_cast<int>(at - m_offers.begin()));
}

void WayPicker::reset()
{
    m_way = ReleaseAction::Release;
    m_contender.clear();
    const auto at = std::ranges::find(m_offers, m_way, &operate::OfferedAction::way);
    if (at != m_offers.end())
        m_box->setCurrentIndex(static_cast<int>(at - m_offers.begin()));
}

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
    setToolTip(tr("Simulate this release and show the next owner; nothing is sent"));
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
        say(tr("The lock has changed. Rehearse again."));
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

#include "moc_releaseparts.cpp"
