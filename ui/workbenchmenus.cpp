// SPDX-License-Identifier: Apache-2.0
// The menus of the header: of all actions, by what they are about, and of the filters that are kept.
#include "ui/workbench.h"

#include "ui/mainwindow.h"
#include "ui/pages/lockspage.h"
#include "ui/pages/page.h"
#include "ui/shell/actions.h"
#include "ui/shell/topbar.h"

#include <QAction>
#include <QInputDialog>
#include <QMenu>

namespace lockscope::ui {

namespace {

QString menuText(QString text)
{
    return text.replace(u'&', u"&&"_s);
}

} // namespace

void Workbench::fillMenu(QMenu &menu) const
{
    const auto old = menu.findChildren<QMenu *>();
    menu.clear();
    qDeleteAll(old);
    // By what they are about: all in one list are higher than a small screen.
    const std::pair<QString, QStringList> groups[] = {
        {tr("Go to"),
         pageIds() + QStringList{u"to-session"_s, u"to-graph"_s, u"palette"_s, u"find"_s, u"next-pane"_s}},
        {tr("Chosen lock"),
         {u"break"_s, u"force-release"_s, u"rehearse"_s, u"cancel-wait"_s, u"release-session"_s, u"acquire"_s,
          u"detach"_s, u"note"_s, u"save-note"_s}},
        {tr("List"),
         {u"refresh"_s, u"export"_s, u"columns"_s, u"filters"_s, u"save-filter"_s, u"release-listed"_s,
          u"remove-stale"_s, u"undo"_s}},
        {tr("Time and recordings"),
         {u"time"_s, u"five-minutes-ago"_s, u"five-minutes-on"_s, u"lock-changed-before"_s, u"lock-changed-after"_s,
          u"now"_s, u"open-recording"_s, u"save-recording"_s, u"open-left"_s}},
        {tr("Connections"), {u"connections"_s, u"connect"_s, u"sandbox"_s}},
        {tr("View"), {u"theme-light"_s, u"theme-dark"_s, u"theme-auto"_s, u"present"_s, u"scenario"_s}}};
    QStringList grouped{u"menu"_s};
    for (const auto &[title, ids] : groups)
        addGroup(menu, title, ids, grouped);
    menu.addSeparator();
    for (const auto &id : {u"settings"_s, u"alerts"_s})
        menu.addAction(m_actions.find(id));
    addGroup(menu, tr("Help"), {u"help"_s, u"guarantees"_s, u"findings-help"_s, u"about"_s}, grouped);
    grouped += {u"settings"_s, u"alerts"_s, u"quit"_s};
    for (auto *action : m_actions.all()) {
        if (!grouped.contains(action->objectName())) // nothing is lost that no group names
            menu.addAction(action);
    }
    menu.addSeparator();
    menu.addAction(m_actions.find(u"quit"_s));
}

void Workbench::addGroup(QMenu &menu, const QString &title, const QStringList &ids, QStringList &grouped) const
{
    auto *part = menu.addMenu(title);
    part->setToolTipsVisible(true); // why one is greyed
    for (const auto &id : ids) {
        if (auto *action = m_actions.find(id))
            part->addAction(action);
    }
    grouped += ids;
}

void Workbench::fillFilterMenu(QMenu &menu)
{
    const auto old = menu.findChildren<QMenu *>();
    menu.clear();
    qDeleteAll(old);
    for (const auto &filter : m_filters.all())
        connect(menu.addAction(menuText(filter.name)), &QAction::triggered, this, [this, filter] { apply(filter); });
    if (m_filters.all().empty())
        menu.addAction(tr("No filter is kept yet"))->setEnabled(false);
    menu.addSeparator();
    menu.addAction(m_actions.find(u"save-filter"_s));
    if (m_filters.all().empty())
        return;
    auto *forget = menu.addMenu(tr("Forget"));
    for (const auto &filter : m_filters.all())
        connect(forget->addAction(menuText(filter.name)), &QAction::triggered, this,
                [this, name = filter.name] { m_filters.forget(name); });
}

void Workbench::askForFilterName()
{
    auto *question = new QInputDialog(&m_window);
    question->setAttribute(Qt::WA_DeleteOnClose);
    question->setObjectName(u"filterName"_s);
    question->setWindowTitle(tr("Keep this filter"));
    const QString text = m_top.findText();
    question->setLabelText(tr("The find field and the chosen chip of the page of locks, under the name"));
    question->setTextValue(text);
    connect(question, &QInputDialog::textValueSelected, this, [this, text](const QString &name) {
        m_filters.keep({name, text, static_cast<int>(m_locks.model().chip())});
    });
    question->open();
}

void Workbench::apply(const SavedFilter &filter)
{
    m_window.showPage(u"locks"_s);
    m_top.setFindText(filter.text);
    m_locks.setChip(static_cast<LocksModel::Chip>(filter.chip));
    m_locks.setFilter(filter.text); // the find field tells a moment later
    m_locks.focusContent();
}

} // namespace lockscope::ui
