// SPDX-License-Identifier: Apache-2.0

#include "ui/pages/findingspage.h"
#include "ui/pages/graphpage.h"
#include "ui/pages/auditpage.h"
#include "ui/pages/keyspage.h"
#include "ui/pages/lessonspage.h"
#include "ui/pages/lockspage.h"
#include "ui/pages/logpage.h"
#include "ui/pages/sessionspage.h"
#include "ui/pages/simulatorpage.h"
#include "ui/pages/znodespage.h"

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

} // namespace lockscope::ui

#include "moc_page.cpp"
