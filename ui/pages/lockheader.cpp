// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/lockheader.h"

#include "core/base/text.h"
#include "ui/models/pausablebackend.h"
#include "ui/parts/labels.h"
#include "ui/parts/layouts.h"
#include "ui/parts/parts.h"
#include "ui/theme/text.h"
#include "ui/views/answerlabel.h"

#include <QAction>
#include <QGridLayout>
#include <QPushButton>
#include <QTimer>

namespace lockscope::ui {

using inspect::Confidence;
using inspect::LockSnapshot;
using inspect::Role;

namespace {

// The sentence names a host; which of its clients that is, with its port and what it calls itself, stands here.
QString holderInFull(const LockSnapshot &lock)
{
    if (lock.holderCount() != 1 || lock.contenders.empty())
        return {};
    const auto &holder = lock.contenders.front();
    QStringList parts;
    if (holder.endpoint && !holder.endpoint->isEmpty())
        parts << label(holder.endpoint->toUtf8(), 60);
    if (holder.identity && !holder.identity->isEmpty())
        parts << u"“%1”"_s.arg(inspect::nameLabel(*holder.identity));
    return parts.isEmpty() ? QString() : LockHeader::tr("holder %1").arg(parts.join(u' '));
}

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

} // namespace

LockHeader::LockHeader(QWidget *parent)
    : QWidget(parent), m_pill(new PillLabel(this)), m_answer(new AnswerLabel(this)), m_why(new WholeLinesLabel(this)),
      m_buttons(new QWidget(this)),
      m_acquire(
          named(makeButton(tr("Acquire…"), m_buttons, this, &LockHeader::acquireRequested), u"acquireButton"_s)),
      m_copy(named(makeButton(tr("Copy note"), m_buttons, this, &LockHeader::copyNoteRequested), u"copyNote"_s)),
      m_forceRelease(
          named(makeButton(tr("Force-release…"), m_buttons, this, &LockHeader::releaseRequested, u"danger"_s),
                u"forceReleaseButton"_s))
{
    m_why->setProperty("look", u"muted"_s);
    m_buttons->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    m_copy->setToolTip(
        tr("The incident note as Markdown, for a ticket or a chat: what is so, what is wrong, what happened"));
    auto *save = new QAction(tr("Save note…"), m_copy);
    connect(save, &QAction::triggered, this, &LockHeader::saveNoteRequested);
    m_copy->addAction(save);
    m_copy->setContextMenuPolicy(Qt::ActionsContextMenu);
    makeRow(m_buttons, {.spacing = 10}, {m_acquire, m_copy, m_forceRelease});
    auto *grid = new QGridLayout(this);
    grid->setContentsMargins(16, 12, 16, 8);
    grid->setHorizontalSpacing(14);
    grid->setVerticalSpacing(2);
    grid->setColumnStretch(1, 1);
    arrange();
}

void LockHeader::setArrangement(LockArrangement arrangement)
{
    if (std::exchange(m_arrangement, arrangement) != arrangement)
        arrange();
}

// Where there is little width the buttons go below the answer; at full height it has all of the width below them.
void LockHeader::arrange()
{
    auto *grid = static_cast<QGridLayout *>(layout());
    for (auto *part : std::initializer_list<QWidget *>{m_pill, m_answer, m_why, m_buttons})
        grid->removeWidget(part);
    const bool isTall = m_arrangement == LockArrangement::Tall;
    grid->addWidget(m_pill, 0, 0, isTall ? Qt::AlignVCenter : Qt::AlignTop);
    grid->setVerticalSpacing(isTall ? 6 : 2);
    if (isTall) {
        grid->addWidget(m_answer, 1, 0, 1, 3);
        grid->addWidget(m_why, 2, 0, 1, 3);
        grid->addWidget(m_buttons, 0, 1, 1, 2, Qt::AlignRight);
        return;
    }
    grid->addWidget(m_answer, 0, 1);
    grid->addWidget(m_why, 1, 1);
    if (m_arrangement == LockArrangement::Narrow)
        grid->addWidget(m_buttons, 2, 1, 1, 2, Qt::AlignLeft);
    else
        grid->addWidget(m_buttons, 0, 2, 2, 1, Qt::AlignRight | Qt::AlignVCenter);
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
        m_answer->setSentence(inspect::answerSentence(lock, serverTimeAt(now, lock)).left(600), name);
    }
    QStringList why = facts(lock, isGone);
    if (!heldWith.isEmpty())
        why << heldWith;
    m_why->setText(why.join(u" · "_s));
    const bool isTall = m_arrangement == LockArrangement::Tall;
    m_why->setToolTip(isTall ? plainToolTip(groundsOf(lock).join(u'\n')) : QString());
}

// At full height the queue names the holder, and a tool tip how the recipe was recognized.
QStringList LockHeader::facts(const LockSnapshot &lock, bool isGone) const
{
    const bool isTall = m_arrangement == LockArrangement::Tall;
    const auto grounds = groundsOf(lock);
    const auto recipe = QString::fromLatin1(lock.recipe);
    const auto client = label(lock.client.value_or(QString()).toUtf8(), 40);
    QStringList why{client.isEmpty() ? recipe : u"%1 (%2)"_s.arg(recipe, client)};
    if (!isTall && !lock.why.isEmpty())
        why[0] += u", because "_s + label(lock.why.toUtf8(), 300);
    if (isTall && !grounds.isEmpty())
        why[0] += u" ⓘ"_s;
    if (const QString holder = isGone || isTall ? QString() : holderInFull(lock); !holder.isEmpty())
        why << holder;
    why << label(lock.lock.connection.bytes(), 40);
    const auto *head = lock.contenders.empty() ? nullptr : &lock.contenders.front();
    if (head && head->role == Role::Holder && head->guard.creation() != 0)
        why << tr("fencing token 0x%1 (czxid)").arg(head->guard.creation(), 0, 16);
    if (lock.confidence != Confidence::High && !isTall)
        why << grounds.back();
    return why;
}

void LockHeader::setPast(bool isPast)
{
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
