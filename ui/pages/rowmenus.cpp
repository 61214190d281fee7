// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/rowmenus.h"

#include "core/base/text.h"
#include "ui/pages/findingspage.h"
#include "ui/pages/keyspage.h"
#include "ui/pages/livetree.h"
#include "ui/pages/lockdetail.h"
#include "ui/pages/lockspage.h"
#include "ui/pages/logpage.h"
#include "ui/pages/sessionspage.h"
#include "ui/pages/subjectmenu.h"
#include "ui/pages/znodespage.h"
#include "ui/parts/tabletools.h"
#include "ui/views/findingstable.h"
#include "ui/views/lockstable.h"
#include "ui/views/queuetable.h"
#include "ui/views/watchchainview.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using inspect::LockName;

namespace {

constexpr std::size_t mostLocksInMenu = 20;

// What a tree of nodes or keys offers beside its own actions: the command, and the lock that this one is.
using Command = std::function<QString(const ConnectionStatus *, const LockName &)>;
void offerNodeActions(Page &page, LiveTree &tree, int nameRole, const Command &command,
                      const std::function<ConnectionName()> &connection, LocksPage &locks, const ConnectionBook &book)
{
    const auto nameAt = [&tree, nameRole] { return tree.currentIndex().data(nameRole).toByteArray(); };
    auto *copy = new QAction(SubjectMenu::tr("Copy as command"), &tree);
    QObject::connect(copy, &QAction::triggered, &page, [nameAt, connection, command, &book] {
        const LockName name{connection(), nameAt()};
        QGuiApplication::clipboard()->setText(command(book.find(name.connection), name));
    });
    auto *show = new QAction(SubjectMenu::tr("Show the lock"), &tree);
    const auto lockHere = [nameAt, connection, &locks]() -> std::optional<LockName> {
        LockName name{connection(), nameAt()};
        const auto slash = name.name.lastIndexOf('/');
        if (!locks.model().snapshot(name) && slash > 0) // a contender's node
            name.name.truncate(slash);
        return locks.model().snapshot(name) ? std::optional(name) : std::nullopt;
    };
    QObject::connect(show, &QAction::triggered, &page, [lockHere, &page] {
        if (const auto lock = lockHere())
            emit page.lockActivated(*lock);
    });
    QObject::connect(&tree.tools(), &TableTools::actionsAsked, show, [lockHere, show] {
        const bool isThere = lockHere().has_value();
        show->setEnabled(isThere);
        show->setText(isThere ? SubjectMenu::tr("Show the lock")
                              : SubjectMenu::tr("Show the lock: none is seen here"));
    });
    tree.addActions({copy, show});
}

} // namespace

void offerRowMenus(LocksPage &page, const ConnectionBook &book)
{
    QObject::connect(&page.table().tools(), &TableTools::menuRequested, &page,
                     [&page, &book](const QModelIndex &row, const QPoint &at) {
                         auto *menu = new SubjectMenu(&book, &page);
                         menu->answeredBy(page);
                         menu->addLock(page.model().snapshotAt(row.row()));
                         menu->addSeparator();
                         QObject::connect(menu->addAction(SubjectMenu::tr("Copy note")), &QAction::triggered, &page,
                                          [&page] { page.detail().copyNote(); });
                         menu->popup(at);
                     });
    offerRowMenus(page.detail(), book, page);
}

void offerRowMenus(LockDetail &detail, const ConnectionBook &book, Page &asking)
{
    const auto open = [&detail, &book, &asking](const QByteArray &id, const QPoint &at) {
        const auto *lock = detail.snapshot();
        const auto *contender = lock ? lock->find(id) : nullptr;
        if (!contender)
            return;
        auto *menu = new SubjectMenu(&book, &detail);
        menu->answeredBy(asking);
        menu->addContender(*lock, *contender);
        menu->popup(at);
    };
    const auto tables = detail.findChildren<QueueTable *>();
    for (auto *table : tables)
        QObject::connect(
            &table->tools(), &TableTools::menuRequested, &detail,
            [open, table](const QModelIndex &, const QPoint &at) { open(table->currentContender(), at); });
    const auto chains = detail.findChildren<WatchChainView *>();
    for (auto *chain : chains)
        QObject::connect(chain, &WatchChainView::menuRequested, &detail, open);
}

void offerRowMenus(SessionsPage &page, const ConnectionBook &book)
{
    const auto open = [&page, &book](const QModelIndex &row, const QPoint &at) {
        const auto *session = page.snapshotAt(row);
        if (!session)
            return;
        auto *menu = new SubjectMenu(&book, &page);
        menu->answeredBy(page);
        menu->addSession(*session);
        menu->addSeparator();
        const auto addLocks = [&](const QString &words, const std::vector<QByteArray> &names) {
            for (std::size_t i = 0; i < std::min(names.size(), mostLocksInMenu); ++i) {
                QString text = words + label(names[i], 80);
                menu->addShow(text.replace(u'&', u"&&"_s), {Subject::Kind::Lock, session->connection, names[i]},
                              u"locks"_s);
            }
        };
        addLocks(SubjectMenu::tr("Show what it holds: "), session->holds);
        addLocks(SubjectMenu::tr("Show what it waits for: "), session->waits);
        menu->popup(at);
    };
    QObject::connect(&page.table()->tools(), &TableTools::menuRequested, &page, open);
}

void offerRowMenus(ZnodesPage &page, LocksPage &locks, const ConnectionBook &book)
{
    const auto tree = [](const ConnectionStatus *status, const LockName &node) {
        return SubjectMenu::commandFor(status, node.connection, u"tree"_s, escaped(node.text()));
    };
    offerNodeActions(
        page, *page.tree(), ZnodeNode::PathRole, tree, [&page] { return page.model().connection(); }, locks, book);
}

void offerRowMenus(KeysPage &page, LocksPage &locks, const ConnectionBook &book)
{
    offerNodeActions(
        page, *page.tree(), KeysModel::KeyRole, &SubjectMenu::keyCommand,
        [&page] { return page.model().connection(); }, locks, book);
}

void offerRowMenus(LogPage &page)
{
    auto *find = new QAction(SubjectMenu::tr("Find by this command"), page.table());
    QObject::connect(find, &QAction::triggered, &page, [&page] {
        emit page.filterRequested(
            page.table()->currentIndex().siblingAtColumn(LogModel::Text).data().toString().left(200));
    });
    auto *ofConnection = new QAction(SubjectMenu::tr("Find by this connection"), page.table());
    QObject::connect(ofConnection, &QAction::triggered, &page, [&page] {
        emit page.filterRequested(
            page.table()->currentIndex().siblingAtColumn(LogModel::Connection).data().toString());
    });
    page.table()->addActions({find, ofConnection});
}

void offerRowMenus(FindingsPage &page, LocksPage &locks, const ConnectionBook &book)
{
    QObject::connect(&page.table().tools(), &TableTools::menuRequested, &page,
                     [&page, &locks, &book](const QModelIndex &row, const QPoint &at) {
                         auto *menu = new SubjectMenu(&book, &page);
                         menu->answeredBy(page);
                         page.offerActs(*menu);
                         menu->addCopy(SubjectMenu::tr("Copy the finding"), page.table().tools().rowText(row));
                         menu->addSeparator();
                         if (const auto *lock = locks.model().snapshot(page.model().at(row.row()).lock))
                             menu->addLock(*lock);
                         menu->popup(at);
                     });
}

void offerRowMenusOf(Page &page, LocksPage &locks, const ConnectionBook &book)
{
    if (&page == &locks)
        offerRowMenus(locks, book);
    else if (auto *sessions = qobject_cast<SessionsPage *>(&page))
        offerRowMenus(*sessions, book);
    else if (auto *znodes = qobject_cast<ZnodesPage *>(&page))
        offerRowMenus(*znodes, locks, book);
    else if (auto *keys = qobject_cast<KeysPage *>(&page))
        offerRowMenus(*keys, locks, book);
    else if (auto *findings = qobject_cast<FindingsPage *>(&page))
        offerRowMenus(*findings, locks, book);
    else if (auto *log = qobject_cast<LogPage *>(&page))
        offerRowMenus(*log);
}

} // namespace lockscope::ui
