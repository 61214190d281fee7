// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/detailwindow.h"

#include "core/base/text.h"
#include "ui/models/screenclock.h"
#include "ui/pages/lockdetail.h"
#include "ui/pages/lockspage.h"
#include "ui/pages/rowmenus.h"
#include "ui/parts/environment.h"
#include "ui/parts/parts.h"
#include "ui/views/holdspanel.h"

#include <QDateTime>
#include <QKeyEvent>
#include <QLabel>

namespace lockscope::ui {

using inspect::LockName;

DetailWindow::DetailWindow(LockName lock, LocksPage &page, const ConnectionBook &book, const ScreenClock &clock,
                           QWidget *window)
    : QWidget(window, Qt::Window), m_lock(std::move(lock)), m_page(page), m_book(book), m_clock(clock),
      m_holds(page.findChild<HoldsPanel *>()), m_environment(new QLabel(this)),
      m_asOf(makeLabel({}, u"muted"_s, this)), m_detail(new LockDetail(this))
{
    setAttribute(Qt::WA_DeleteOnClose);
    setObjectName(u"detailWindow"_s);
    setWindowTitle(tr("%1 – Lockscope").arg(label(m_lock.text(), 200)));
    setMinimumSize(480, 320);
    resize(900, 520);
    m_environment->setTextFormat(Qt::PlainText);
    auto *top = makeRow({.margins = {16, 8, 16, 4}}, {m_environment, Stretch{}, m_asOf});
    makeColumn(this, {.spacing = 0}, {top, {m_detail, 1}});

    m_detail->setClock([this] { return m_page.model().nowOf(m_lock.connection); });
    m_page.equip(*m_detail);
    offerRowMenus(*m_detail, m_book, m_page);
    connect(&m_page.model(), &LocksModel::snapshotChanged, this, [this](const LockName &changed) {
        if (changed == m_lock)
            follow();
    });
    connect(&m_book, &ConnectionBook::changed, this, &DetailWindow::showConnection);
    connect(m_holds, &HoldsPanel::changed, this, &DetailWindow::follow);
    connect(&clock, &ScreenClock::ticked, this, [this] {
        if (isVisible() && !isMinimized())
            m_detail->tick();
    });
    connect(m_detail, &LockDetail::acquireRequested, this, [this] { emit acquireRequested(m_lock); });
    connect(m_detail, &LockDetail::momentActivated, &m_page, &LocksPage::momentActivated);
    connect(m_detail, &LockDetail::forceReleaseRequested, this,
            [this] { emit forceReleaseRequested(m_lock, m_detail->chosen()); });
    connect(m_detail, &LockDetail::releaseRequested, this, [this](const QByteArray &contender) {
        const auto own = m_holds->contendersIn(m_lock);
        if (own.contains(contender))
            emit m_holds->releaseRequested(own.value(contender));
    });
    follow();
    showConnection();
    m_detail->focusQueue();
}

void DetailWindow::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Escape || (event->key() == Qt::Key_W && event->modifiers() == Qt::ControlModifier))
        close();
    else if (event->key() == Qt::Key_C && event->modifiers() == (Qt::ControlModifier | Qt::ShiftModifier))
        m_detail->copyNote();
    else
        QWidget::keyPressEvent(event);
}

void DetailWindow::follow()
{
    if (const auto *snapshot = m_page.model().snapshot(m_lock)) {
        m_detail->setSnapshot(*snapshot);
        const auto own = m_holds->contendersIn(m_lock).keys();
        m_detail->setOwn(QSet<QByteArray>(own.begin(), own.end()));
    } else if (m_clock.isElsewhere()) {
        m_detail->showAbsent(m_lock);
    } else {
        m_detail->setGone();
    }
    showConnection();
}

// What is known of a connection that broke, or was closed, may be over.
void DetailWindow::showConnection()
{
    const auto *status = m_book.find(m_lock.connection);
    m_detail->setStale(!status || m_page.model().isFrozen(m_lock.connection));
    m_detail->setPast(m_clock.isElsewhere());
    if (!status) {
        m_environment->setText(label(m_lock.connection.bytes(), 60));
        m_asOf->setText(tr("disconnected"));
        return;
    }
    showEnvironment(*m_environment, m_book, m_lock.connection);
    m_asOf->setText(status->asOf == WallTime{} ? QString()
                                               : tr("as of %1").arg(timeOfDay(status->asOf).toString(u"HH:mm:ss"_s)));
}

} // namespace lockscope::ui

#include "moc_detailwindow.cpp"
