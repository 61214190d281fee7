// SPDX-License-Identifier: Apache-2.0
// The page of locks without a lock to show: why there is none, and what can be done about it.
#include "core/base/text.h"
#include "ui/pages/lockspage.h"
#include "ui/pages/startpage.h"
#include "ui/parts/notices.h"
#include "ui/views/brokenbanners.h"
#include "ui/views/lockstable.h"

#include <QLayout>
#include <QLocale>
#include <QSplitter>
#include <QStackedWidget>

#include <algorithm>

namespace lockscope::ui {

namespace {

QString progressText(const ConnectionStatus &status)
{
    const auto &progress = status.progress;
    const QLocale english(QLocale::English);
    const auto name = label(status.name.bytes(), 60);
    return progress.total > 0
               ? LocksPage::tr("%1: %2 of %3 read (%4)")
                     .arg(name, english.toString(progress.done), english.toString(progress.total), progress.how)
               : LocksPage::tr("%1: %2").arg(name, progress.how);
}

} // namespace

void LocksPage::askForDemo()
{
    m_isFilling = true;
    showEmptyNotice();
    emit demoRequested();
}

void LocksPage::showFilled()
{
    m_isFilling = false;
    showEmptyNotice();
    chooseFirst();
}

void LocksPage::showEmptyNotice()
{
    const bool isStart = !m_isFilling && !clock().isElsewhere() && m_start->isNeeded();
    const auto *focus = window()->focusWidget();
    const bool losesFocus = !isStart && focus && m_start->isAncestorOf(focus);
    m_splitter->setVisible(!isStart);
    m_banners->setVisible(!isStart); // a card reports its own failure
    if (losesFocus) {
        m_stack->setCurrentWidget(m_model.rowCount() > 0 ? static_cast<QWidget *>(m_table) : m_empty);
        m_stack->currentWidget()->setFocus();
    }
    if (m_start->isHidden() == isStart) {
        m_start->setVisible(isStart);
        layout()->activate(); // what divides the room between list and lock has to know it
    }
    if (isStart)
        return;
    m_detail->setVisible(!m_book.all().empty());
    if (m_model.rowCount() > 0) {
        m_stack->setCurrentWidget(m_table);
        if (isVisible() && !window()->focusWidget())
            m_table->setFocus(); // nothing else wants the keyboard yet
        return;
    }
    const ConnectionStatus *looking = nullptr;
    const ConnectionStatus *unconnected = nullptr;
    bool isSandbox = false;
    for (const auto &status : m_book.all()) {
        if (!m_connection.isEmpty() && status.name != m_connection)
            continue;
        isSandbox |= m_book.sandbox().contains(status.name);
        if (status.state != ConnectionStatus::State::Connected)
            unconnected = &status;
        else if (!status.progress.firstSnapshotComplete)
            looking = &status;
    }
    if (!m_book.all().empty())
        return showEmptyText(looking, unconnected, isSandbox);
    offer(tr("The sandbox is starting…"), tr("Its demo locks appear here in a few seconds."));
}

void LocksPage::offer(const QString &title, const QString &text, const QString &action, std::function<void()> act,
                      const QString &second, std::function<void()> actSecond)
{
    m_emptyFirst = std::move(act);
    m_emptySecond = std::move(actSecond);
    m_empty->say(title, text, action, second);
    m_stack->setCurrentWidget(m_empty);
}

void LocksPage::showEmptyText(const ConnectionStatus *looking, const ConnectionStatus *unconnected, bool isSandbox)
{
    const QLocale english(QLocale::English);
    if (m_model.total() > 0) {
        const QString all = english.toString(m_model.total());
        offer(m_filter.isEmpty() ? tr("None of %1 locks is in this view").arg(all)
                                 : tr("No lock matches “%1”").arg(m_filter.left(80)),
              tr("The find field looks into lock names, recipes, sessions, hosts and contenders' ids."),
              tr("Show all"), [this] { emit filterCleared(); });
    } else if (looking) {
        offer(tr("Looking for locks…"), progressText(*looking));
    } else if (unconnected) {
        const bool isSaidAbove = m_banners->isShown(unconnected->name);
        const auto name = label(unconnected->name.bytes(), 60);
        const auto why = label(unconnected->message.toUtf8(), 300);
        offer(unconnected->isRecorded ? tr("%1 is not connected").arg(name) : u"%1: %2"_s.arg(name, why),
              isSaidAbove || !unconnected->isRecorded ? QString() : why);
    } else if (isSandbox && m_isFilling) {
        offer(tr("Demo locks are being created…"), tr("They appear here in a few seconds."));
    } else {
        const bool isFillable = isSandbox && !clock().isElsewhere();
        auto title = tr("No locks here now");
        auto text =
            isFillable
                ? tr("The sandbox has no locks yet. Demo clients can fill it, or acquire a lock yourself.")
                : tr(
                    "The initial scan is complete and found no locks. A lock appears here as soon as a client acquires one. The status bar shows how new locks are found and what is not visible.");
        if (const auto gaps = inspect::gapsIn(m_book.coverage()); !gaps.isEmpty()) {
            title = inspect::noneFound(inspect::Question::Locks, true, m_book.coverage());
            title[0] = title[0].toUpper();
            text = gaps.join(u'\n');
        }
        if (!isFillable)
            return offer(title, text);
        offer(
            title, text, tr("Fill with demo locks"), [this] { askForDemo(); }, tr("Acquire a lock…"),
            [this] { emit acquireRequested(); });
    }
}

} // namespace lockscope::ui
