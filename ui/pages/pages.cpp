// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/auditpage.h"
#include "ui/pages/findingspage.h"
#include "ui/pages/graphpage.h"
#include "ui/pages/keyspage.h"
#include "ui/pages/lessonspage.h"
#include "ui/pages/lockspage.h"
#include "ui/pages/logpage.h"
#include "ui/pages/sessionspage.h"
#include "ui/pages/simulatorpage.h"
#include "ui/pages/znodespage.h"
#include "ui/parts/tabletools.h"

#include <QEvent>
#include <QWindow>

namespace lockscope::ui {

namespace {

// Most pages follow the backend alone.
template <class AnyPage>
Page *makePage(const ConnectionBook &book, QWidget *parent)
{
    if constexpr (std::is_constructible_v<AnyPage, const ConnectionBook &, QWidget *>)
        return new AnyPage(book, parent);
    else {
        auto *page = new AnyPage(parent);
        if constexpr (requires { page->useConnections(book); })
            page->useConnections(book);
        return page;
    }
}

} // namespace

void Page::saveView(QSettings &settings) const
{
    for (const auto &kept : m_kept)
        settings.setValue(kept.name, kept.state());
}

void Page::restoreView(QSettings &settings)
{
    for (const auto &kept : m_kept)
        kept.restore(settings.value(kept.name));
}

const std::vector<PageRow> &allPages()
{
    static const std::vector<PageRow> all{
        {u"locks"_s, u"Locks"_s, true, makePage<LocksPage>},
        {u"graph"_s, u"Graph"_s, true, makePage<GraphPage>, true},
        {u"findings"_s, u"Findings"_s, true, makePage<FindingsPage>},
        {u"znodes"_s, u"Znodes"_s, true, makePage<ZnodesPage>},
        {u"keys"_s, u"Keys"_s, true, makePage<KeysPage>},
        {u"sessions"_s, u"Sessions"_s, true, makePage<SessionsPage>},
        {u"simulator"_s, u"Simulator"_s, false, makePage<SimulatorPage>},
        {u"lessons"_s, u"Lessons"_s, false, makePage<LessonsPage>},
        {u"audit"_s, u"Audit"_s, false, makePage<AuditPage>},
        {u"log"_s, u"Log"_s, true, makePage<LogPage>},
    };
    return all;
}

QStringList pageIds()
{
    return mapped<QStringList>(allPages(), [&](const auto &row) { return row.id; });
}

QStringList pageTitles()
{
    return mapped<QStringList>(allPages(), [&](const auto &row) { return row.title; });
}

KeyHints keysOfPages(const std::vector<Page *> &pages)
{
    KeyHints all;
    for (std::size_t i = 0; i < pages.size(); ++i) {
        for (const auto &[keys, what] : pages[i]->keys())
            all << std::pair(keys, u"%1: %2"_s.arg(allPages()[i].title, what));
    }
    return all;
}

namespace {

// A window that starts minimised has no first frame, and its pages are to follow the servers all the same.
constexpr auto firstFrameAtLatest = 1s;

// Pages name their columns alike.
QString groupOf(std::size_t row)
{
    return u"page-"_s + allPages()[row].id;
}

} // namespace

PageStack::PageStack(Make make, QWidget *parent)
    : QStackedWidget(parent), m_make(std::move(make)), m_pages(allPages().size())
{
    connect(&m_idle, &QTimer::timeout, this, [this] { // of no interval: when there is nothing else to do
        const auto missing = std::ranges::find(m_pages, nullptr);
        if (missing != m_pages.end())
            at(static_cast<std::size_t>(missing - m_pages.begin()));
    });
    m_atLatest.setSingleShot(true);
    connect(&m_atLatest, &QTimer::timeout, &m_idle, qOverload<>(&QTimer::start));
}

Page &PageStack::at(std::size_t row)
{
    if (m_pages[row])
        return *m_pages[row];
    auto *page = m_make(row);
    m_pages[row] = page;
    addWidget(page);
    if (m_saved)
        restorePage(row);
    auto waiting = std::exchange(m_waiting, {}); // one may have something for another page
    std::erase_if(waiting, [page](const auto &tryWith) { return tryWith(*page); });
    m_waiting.insert(m_waiting.begin(), waiting.begin(), waiting.end());
    if (isComplete()) {
        m_idle.stop();
        m_atLatest.stop();
        emit completed();
    }
    return *page;
}

const std::vector<Page *> &PageStack::all()
{
    for (std::size_t row = 0; row < m_pages.size(); ++row)
        at(row);
    return m_pages;
}

void PageStack::whenComplete(QObject *context, const std::function<void()> &what)
{
    if (isComplete())
        QMetaObject::invokeMethod(context, what, Qt::QueuedConnection);
    else
        connect(this, &PageStack::completed, context, what, Qt::QueuedConnection);
}

void PageStack::showRow(std::size_t row)
{
    auto &page = at(row);
    m_current = row;
    setCurrentWidget(&page);
}

void PageStack::cover(bool isPast)
{
    for (auto *page : all()) {
        auto *cover = page->findChild<Cover *>({}, Qt::FindDirectChildrenOnly);
        if (isPast && !cover && !page->isRecorded()) {
            cover = new Cover(page);
            cover->say(tr("Not recorded"),
                       tr("A recording has locks, sessions and findings. What this page shows is of now only."));
        }
        if (cover)
            cover->setVisible(isPast);
    }
}

void PageStack::saveView(QSettings &settings) const
{
    for (std::size_t row = 0; row < m_pages.size(); ++row) {
        if (!m_pages[row])
            continue; // it is as it was saved
        settings.beginGroup(groupOf(row));
        m_pages[row]->saveView(settings);
        TableTools::saveAll(*m_pages[row], settings);
        settings.endGroup();
    }
}

void PageStack::restoreView(QSettings &settings)
{
    m_saved = &settings;
    for (std::size_t row = 0; row < m_pages.size(); ++row) {
        if (m_pages[row])
            restorePage(row);
    }
}

void PageStack::restorePage(std::size_t row)
{
    m_saved->beginGroup(groupOf(row));
    m_pages[row]->restoreView(*m_saved);
    TableTools::restoreAll(*m_pages[row], *m_saved);
    m_saved->endGroup();
}

void PageStack::makeAfterFirstFrame(QWindow &window)
{
    if (isComplete())
        return;
    window.installEventFilter(this);
    m_atLatest.start(firstFrameAtLatest);
}

// What is exposed is painted while it is told so, thus before anything that waits for its turn.
bool PageStack::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Expose && static_cast<QWindow *>(watched)->isExposed()) {
        watched->removeEventFilter(this);
        if (!isComplete())
            m_idle.start();
    }
    return QStackedWidget::eventFilter(watched, event);
}

} // namespace lockscope::ui

#include "moc_page.cpp"
