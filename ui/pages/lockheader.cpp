// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/lockheader.h"

#include "core/base/text.h"
#include "ui/models/pausablebackend.h"
#include "ui/models/screenclock.h"
#include "ui/parts/labels.h"
#include "ui/parts/parts.h"
#include "ui/theme/text.h"

#include <QAction>
#include <QDateTime>
#include <QLabel>
#include <QPushButton>
#include <QTimer>

namespace lockscope::ui {

using inspect::Confidence;
using inspect::LockSnapshot;
using inspect::Role;

namespace {

// How sure the recipe is, and by what.
QStringList groundsOf(const LockSnapshot &lock)
{
    QStringList grounds;
    if (!lock.why.isEmpty())
        grounds
            << LockHeader::tr("%1, because %2").arg(QString::fromLatin1(lock.recipe), label(lock.why.toUtf8(), 300));
    if (lock.confidence != Confidence::High)
        grounds << LockHeader::tr("%1 confidence").arg(inspect::word(lock.confidence));
    return grounds;
}

// The queue names the holder, and a tool tip how the recipe was recognized.
QStringList factsAbout(const LockSnapshot &lock)
{
    const auto recipe = QString::fromLatin1(lock.recipe);
    const auto client = label(lock.client.value_or(QString()).toUtf8(), 40);
    QStringList facts{client.isEmpty() ? recipe : u"%1 (%2)"_s.arg(recipe, client)};
    if (!groundsOf(lock).isEmpty())
        facts[0] += u" ⓘ"_s;
    facts << label(lock.lock.connection.bytes(), 40);
    const auto *head = lock.contenders.empty() ? nullptr : &lock.contenders.front();
    if (head && head->role == Role::Holder && head->guard.creation() != 0)
        facts << LockHeader::tr("fencing token 0x%1 (czxid)").arg(head->guard.creation(), 0, 16);
    return facts;
}

} // namespace

LockHeader::LockHeader(QWidget *parent)
    : QWidget(parent), m_pill(new PillLabel(this)), m_answer(new AnswerLabel(this)), m_why(new WholeLinesLabel(this)),
      m_asOf(named(new PillLabel(this), u"asOfPill"_s)),
      m_instead(makeLabel(tr("Actions need the live view."), u"muted"_s, this)),
      m_acquire(named(makeButton(tr("Acquire…"), this, &LockHeader::acquireRequested), u"acquireButton"_s)),
      m_copy(named(makeButton(tr("Copy note"), this, &LockHeader::copyNoteRequested), u"copyNote"_s)),
      m_forceRelease(named(makeButton(tr("Force-release…"), this, &LockHeader::releaseRequested, u"danger"_s),
                           u"forceReleaseButton"_s))
{
    m_why->setProperty("look", u"muted"_s);
    m_copy->setToolTip(
        tr("The incident note as Markdown, for a ticket or a chat: what is so, what is wrong, what happened"));
    auto *save = new QAction(tr("Save note…"), m_copy);
    connect(save, &QAction::triggered, this, &LockHeader::saveNoteRequested);
    m_copy->addAction(save);
    m_copy->setContextMenuPolicy(Qt::ActionsContextMenu);
    auto *top = makeRow({.spacing = 10}, {m_pill, Stretch{}, m_asOf, m_instead, m_acquire, m_copy, m_forceRelease});
    m_asOf->hide();
    m_instead->hide();
    makeColumn(this, {.margins = {16, 12, 16, 8}, .spacing = 6}, {top, m_answer, m_why});
}

void LockHeader::setLow(bool isLow)
{
    m_why->setVisible(!isLow);
}

void LockHeader::show(const LockSnapshot &lock, SystemTime now, bool isGone, const QString &heldWith)
{
    const QString name = label(lock.lock.name, 300);
    if (isGone) {
        m_pill->setPill({PillShape::Ring, Tone::Free, u"gone"_s});
        m_answer->setSentence(tr("%1 is gone: %2").arg(name, infoOf(lock.backend).words.nothing), name);
    } else {
        m_pill->setPill(factsOf(lock).pill());
        // Cut as a whole: a name of a megabyte must not be laid out once a second.
        const auto tense = m_isPast ? inspect::Tense::Past : inspect::Tense::Present;
        m_answer->setSentence(inspect::answerSentence(lock, serverTimeAt(now, lock), tense).left(600), name);
    }
    m_asOf->setPill({PillShape::Quarter, Tone::Past, tr("as of %1").arg(timeOfDay(now).toString(u"HH:mm:ss"_s))});
    QStringList why = factsAbout(lock);
    if (!heldWith.isEmpty())
        why << heldWith;
    m_why->setText(why.join(u" · "_s));
    m_why->setToolTip(plainToolTip(groundsOf(lock).join(u'\n')));
}

void LockHeader::setPast(bool isPast)
{
    m_isPast = isPast;
    for (auto *act : {m_acquire, m_forceRelease})
        act->setVisible(!isPast);
    m_asOf->setVisible(isPast);
    m_instead->setVisible(isPast);
    m_acquire->setEnabled(!isPast);
    m_acquire->setToolTip(isPast ? PausableBackend::historyModeReason() : QString());
}

void LockHeader::setRelease(bool isOwn, const QString &disabledReason)
{
    m_forceRelease->setText(isOwn ? tr("Release") : tr("Force-release…"));
    m_forceRelease->setEnabled(disabledReason.isEmpty());
    m_forceRelease->setToolTip(!disabledReason.isEmpty() ? disabledReason
                               : isOwn                   ? tr("Release the lock held by this window")
                                                         : tr("Shows what would be sent; sends nothing yet"));
}

void LockHeader::showCopied()
{
    constexpr std::chrono::milliseconds shownFor(1500);
    m_copy->setText(tr("Copied"));
    QTimer::singleShot(shownFor, m_copy, [copy = m_copy] { copy->setText(tr("Copy note")); });
}

} // namespace lockscope::ui

#include "moc_lockheader.cpp"
