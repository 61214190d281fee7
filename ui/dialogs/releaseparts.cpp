// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/forcereleasedialog.h"

#include "core/base/text.h"
#include "ui/dialogs/factsform.h"
#include "ui/models/screenclock.h"
#include "ui/parts/notices.h"

#include <QComboBox>

namespace lockscope::ui {

using inspect::Contender;
using inspect::LockSnapshot;
using operate::ReleaseAction;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

WayPicker::WayPicker(QWidget *parent) : QWidget(parent), m_box(named(new QComboBox(this), u"way"_s))
{
    m_box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_box->setMinimumContentsLength(20);
    auto *label = makeLabel(tr("&Method (least disruptive first)"), u"muted"_s, this);
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

const Contender *holderIn(const LockSnapshot &lock, const QByteArray &id)
{
    const auto *one = lock.find(id);
    return one && one->role == inspect::Role::Holder ? one : nullptr;
}

bool mayBeAnotherHold(const operate::ForceReleasePlan &plan, const LockSnapshot &fresh)
{
    return operate::isAnotherHold(plan.before, fresh, plan.holder)
           || operate::isLeaseWrittenEarly(plan.before, fresh, plan.holder);
}

QString ForceReleaseWords::who(const Contender &contender)
{
    const QString who = whoIs(contender);
    const QString id = shortId(contender.id);
    const QString name = contender.label.isEmpty() ? QString() : label(contender.label.toUtf8(), 40) + u" · "_s;
    return name + (who == id ? id : who + u" · "_s + id);
}

QString ForceReleaseWords::takenFrom(const Contender &holder, const LockSnapshot &lock)
{
    QStringList parts;
    if (const auto self = inspect::nameBeside(holder, lock.backend))
        parts << inspect::nameLabel(*self);
    if (holder.endpoint)
        parts << label(holder.endpoint->toUtf8(), 60);
    parts << label(holder.id, 120);
    if (holder.session)
        parts << infoOf(lock.backend).words.client + u' ' + label(holder.session->toUtf8(), 40);
    if (holder.heldSince) {
        const QString since = timeOfDay(ourTime(*holder.heldSince, lock)).toString(u"HH:mm:ss"_s);
        parts << (holder.heldAtMost ? tr("since %1 at the earliest") : tr("since %1")).arg(since);
    }
    return parts.join(u" · "_s);
}

QString ForceReleaseWords::nextOwner(const operate::ForceReleasePlan &plan, SystemTime now)
{
    const auto &lock = plan.before;
    const Contender *next = plan.nextHolder ? lock.find(*plan.nextHolder) : nullptr;
    if (!next)
        return lock.waitersKnown && lock.waiterCount() == 0 ? tr("no client waits; the lock will be free")
                                                            : tr("unknown: whichever client retries first");
    QString text = who(*next);
    if (next->waitingSince)
        text = tr("%1, waiting %2")
                   .arg(text, formatDuration(duration_cast<milliseconds>(now - ourTime(*next->waitingSince, lock))));
    const int behind = lock.waiterCount() - 1;
    if (behind > 0)
        text = tr("%1; %2 more behind it").arg(text, QString::number(behind));
    return text;
}

QString ForceReleaseWords::otherLocksLost(const operate::ForceReleasePlan &plan)
{
    const auto lost = mapped<QStringList>(plan.otherLocksLost, [&](const auto &name) { return label(name, 120); });
    if (lost.isEmpty())
        return plan.otherLocksKnown ? tr("none") : tr("unknown");
    const QString seen = lost.join(u", "_s);
    return plan.otherLocksKnown ? seen : tr("%1; there may be more").arg(seen);
}

// The tokens are told only where they do what they are for: grow from this holder to the next. Holders of a semaphore
// overlap, and the next one may well have come before.
QString ForceReleaseWords::fencing(const operate::ForceReleasePlan &plan)
{
    if (!plan.act.isEmpty())
        return tr("Until then, its client may continue work outside this server.");
    if (recipes::recipeOf(plan.before.recipe).tellsClientsTokens)
        return tr("Most clients are not notified. A resource is protected only if it checks fencing tokens.");
    QString text =
        tr("Most clients are not notified, and this lock gives them no fencing token that a resource could check.");
    const auto *next = plan.nextHolder ? plan.before.find(*plan.nextHolder) : nullptr;
    const auto made = plan.guard.creation();
    if (made != 0 && next && next->guard.creation() > made && plan.before.holderCount() <= 1)
        text += u' '
                + tr("The czxid of its node can serve as a fencing token if clients read it and pass it on: %1.")
                      .arg(u"0x%1 → 0x%2"_s.arg(made, 0, 16).arg(next->guard.creation(), 0, 16));
    return text;
}

QStringList ForceReleaseWords::alternatives(const operate::ForceReleasePlan &plan, SystemTime now)
{
    const auto *holder = plan.before.find(plan.holder);
    if (!holder || !holder->expiresAt || plan.alternatives.isEmpty())
        return plan.alternatives;
    LockSnapshot present = plan.before;
    present.observed = serverTimeAt(now, plan.before);
    auto lines = plan.alternatives;
    if (*holder->expiresAt <= present.observed)
        lines[0] = tr("the lease has expired according to the last snapshot; refresh to check");
    else if (const auto again = operate::planForceRelease(present, plan.holder);
             again && !again->alternatives.isEmpty())
        lines[0] = again->alternatives.first();
    return lines;
}

QString ForceReleaseWords::holdersNow(const LockSnapshot &lock)
{
    const auto holders = holdersOf(lock);
    if (holders.empty())
        return tr("No client holds it now.");
    if (holders.size() > 1)
        return tr("It now has %1 holders.").arg(holders.size());
    return tr("The holder is now %1.").arg(who(*holders.front()));
}

QString ForceReleaseWords::notHeldNow(bool isGone)
{
    return isGone ? tr("The lock is no longer listed") : tr("It no longer holds the lock");
}

QString ForceReleaseWords::tookItAgain(const QString &holder, const operate::ForceReleasePlan &plan,
                                       const LockSnapshot &now)
{
    const bool isByLease = !operate::isAnotherHold(plan.before, now, plan.holder)
                           && operate::isLeaseWrittenEarly(plan.before, now, plan.holder);
    return (isByLease
                ? tr("The lease of %1 was rewritten earlier than a client renews it: the client may have released "
                     "and re-acquired it")
                : tr("%1 released it and acquired it again"))
        .arg(holder);
}

QString ForceReleaseWords::nameOf(const LockSnapshot &lock, const QByteArray &id)
{
    const auto *one = lock.find(id);
    if (!one)
        return shortId(id);
    if (!one->endpoint)
        return whoIs(*one);
    const auto colon = one->endpoint->lastIndexOf(u':');
    const QString host = label((colon > 0 ? one->endpoint->left(colon) : *one->endpoint).toUtf8(), 40);
    // On one host there may be several.
    const auto self = inspect::nameBeside(*one, lock.backend);
    return self ? u"%1 (%2)"_s.arg(inspect::nameLabel(*self), host) : host;
}

QString ForceReleaseWords::note(const inspect::LockName &lock, const QString &environment,
                                const operate::ForceReleasePlan *plan, const QString &reason, const QString &result)
{
    QStringList lines{
        tr("Force-release of %1 (%2), %3")
            .arg(label(lock.text(), 400), environment, QDateTime::currentDateTimeUtc().toString(Qt::ISODate))};
    if (const auto *holder = plan ? plan->before.find(plan->holder) : nullptr)
        lines << tr("from: %1").arg(takenFrom(*holder, plan->before));
    if (!reason.isEmpty())
        lines << tr("reason: %1").arg(reason);
    lines << tr("result: %1").arg(result);
    if (plan) {
        lines << tr("commands: %1").arg(plan->commands.join(u"; "_s));
        lines << tr("guard: %1").arg(plan->guardText);
    }
    return lines.join(u'\n') + u'\n';
}

QString ForceReleaseWords::command(const ConnectionStatus *status, const inspect::LockName &lock,
                                   const QByteArray &holder, bool notExact, const QString &reason,
                                   operate::ReleaseAction way)
{
    const QString name = escaped(lock.connection.bytes());
    QStringList words{u"lockscopectl"_s};
    if (status && !status->uri.isEmpty())
        words << u"--connect"_s << quotedForShell(name + u'=' + status->uri);
    if (status && status->production)
        words << u"--production"_s << quotedForShell(name);
    if (status && (status->production || status->readOnly)) // it opens read-only there, too
        words << u"--allow-writes"_s << quotedForShell(name);
    words << u"force-release"_s << quotedForShell(escaped(lock.text())) << u"--holder"_s
          << quotedForShell(escaped(holder));
    if (way != operate::ReleaseAction::Release)
        words << u"--method"_s << QString::fromLatin1(operate::wordOf(way));
    if (notExact)
        words << u"--not-exact"_s;
    if (!reason.isEmpty())
        words << u"--reason"_s << quotedForShell(reason);
    return words.join(u' ');
}

void ForceReleaseWords::fillFacts(FactsForm &facts, const operate::ForceReleasePlan &plan, SystemTime now)
{
    const bool isRelease = plan.way == ReleaseAction::Release;
    facts.clear();
    if (const auto *one = plan.before.find(plan.holder))
        facts.addText(plan.way == ReleaseAction::KillWaiter ? tr("Waiter") : tr("Holder"),
                      takenFrom(*one, plan.before));
    facts.addText(tr("Next owner"), isRelease ? nextOwner(plan, now) : harmless(plan.who, 400));
    facts.addCode(tr("Will be sent"), plan.commands);
    facts.addText(tr("Only if unchanged"),
                  plan.exact ? plan.guardText : tr("%1; a gap remains, see below").arg(plan.guardText));
    facts.addText(tr("Wakes"), plan.wakes);
    if (isRelease)
        facts.addText(tr("Other locks lost"), otherLocksLost(plan));
    else
        facts.addText(tr("Also lost"), harmless(plan.alsoLost, 400));
    if (plan.leaseKeys) {
        const auto keys = mapped<QStringList>(*plan.leaseKeys, [&](const auto &key) { return escaped(key); });
        facts.addCode(tr("Keys of the lease"), keys);
    }
}

QString ForceReleaseWords::outcomeWord(const operate::ForceReleasePlan &plan,
                                       const operate::ForceReleaseOutcome &outcome, const QString &from)
{
    if (plan.way == ReleaseAction::Release)
        return outcome.released ? tr("Released from %1.").arg(from) : tr("Not released.");
    return outcome.done ? tr("Done.") : tr("Not done.");
}

} // namespace lockscope::ui
