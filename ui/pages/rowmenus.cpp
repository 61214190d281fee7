// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/rowmenus.h"

#include "core/base/text.h"
#include "ui/pages/findingspage.h"
#include "ui/pages/keyspage.h"
#include "ui/pages/livetree.h"
#include "ui/pages/lockspage.h"
#include "ui/pages/logpage.h"
#include "ui/pages/sessionspage.h"
#include "ui/pages/znodespage.h"
#include "ui/parts/tabletools.h"
#include "ui/views/findingstable.h"

#include <QJsonDocument>

namespace lockscope::ui {

using inspect::Contender;
using inspect::LockName;
using inspect::LockSnapshot;

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
        copyToClipboard(command(book.find(name.connection), name));
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

// What can be done to what is chosen in the list, while it is the present that is shown.
void offerActs(SubjectMenu &menu, LocksPage &page)
{
    const auto add = [&](const QString &text, const QString &action, bool isPossible) {
        auto *entry = menu.addAction(text);
        entry->setEnabled(isPossible);
        QObject::connect(entry, &QAction::triggered, &page, [&page, action] { emit page.actionRequested(action); });
    };
    const auto chosen = page.table().chosenRows().size();
    const auto &why = page.detail().releaseDisabledReason();
    if (chosen > 1) {
        add(SubjectMenu::tr("Force-release the %1 chosen locks…").arg(chosen), u"force-release"_s, true);
    } else {
        const auto *lock = page.detail().snapshot();
        const bool isDeadlocked =
            lock && std::ranges::count(lock->findings, inspect::FindingCode::Deadlock, &inspect::Finding::code) > 0;
        if (isDeadlocked)
            add(SubjectMenu::tr("Break the deadlock…"), u"break"_s, true);
        add(SubjectMenu::tr("Force-release…"), u"force-release"_s, why.isEmpty());
    }
    menu.addSeparator();
}

void offerRowMenus(LocksPage &page, const ConnectionBook &book)
{
    QObject::connect(&page.table().tools(), &TableTools::menuRequested, &page,
                     [&page, &book](const QModelIndex &row, const QPoint &at) {
                         auto *menu = new SubjectMenu(&book, &page);
                         menu->answeredBy(page);
                         menu->addLock(page.model().snapshotAt(row.row()));
                         menu->addSeparator();
                         offerActs(*menu, page); // never the first
                         QObject::connect(menu->addAction(SubjectMenu::tr("Copy note")), &QAction::triggered, &page,
                                          [&page] { page.detail().copyNote(); });
                         menu->popup(at);
                     });
    offerRowMenus(page.detail(), book, page);
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
        const auto addLocks = [&](const QString &pattern, const std::vector<QByteArray> &names) {
            for (std::size_t i = 0; i < std::min(names.size(), mostLocksInMenu); ++i) {
                QString text = pattern.arg(label(names[i], 80));
                menu->addShow(text.replace(u'&', u"&&"_s), {Subject::Kind::Lock, session->connection, names[i]},
                              u"locks"_s);
            }
        };
        addLocks(SubjectMenu::tr("Show what it holds: %1"), session->holds);
        addLocks(SubjectMenu::tr("Show what it waits for: %1"), session->waits);
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

constexpr QLatin1StringView graphPage("graph");

QString ctlCommand(const ConnectionStatus *status, const ConnectionName &connection, const QStringList &words)
{
    QStringList all{u"lockscopectl"_s};
    if (status && !status->uri.isEmpty())
        all << u"--connect"_s << quotedForShell(escaped(connection.bytes()) + u'=' + status->uri);
    return (all + words).join(u' ');
}

QString jsonText(const QJsonObject &object)
{
    return QString::fromUtf8(QJsonDocument(object).toJson());
}

// The node or key that a lock is, or lies in; empty where a backend has none.
QByteArray homeOf(const LockSnapshot &lock)
{
    if (lock.contenders.empty() || lock.contenders.front().guard.znode().path.isEmpty())
        return lock.lock.name;
    const QByteArray &path = lock.contenders.front().guard.znode().path;
    return path == lock.lock.name || path.startsWith(lock.lock.name + '/')
               ? lock.lock.name
               : path.left(std::max<qsizetype>(1, path.lastIndexOf('/'))); // several locks in one folder
}

} // namespace

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

SubjectMenu::SubjectMenu(const ConnectionBook *book, QWidget *parent) : QMenu(parent), m_book(book)
{
    setAttribute(Qt::WA_DeleteOnClose);
    setObjectName(u"subjectMenu"_s);
}

const ConnectionStatus *SubjectMenu::statusOf(const ConnectionName &name) const
{
    return m_book ? m_book->find(name) : nullptr;
}

void SubjectMenu::answeredBy(Page &page)
{
    connect(this, &SubjectMenu::showRequested, &page, &Page::subjectActivated);
    connect(this, &SubjectMenu::filterRequested, &page, &Page::filterRequested);
    connect(this, &SubjectMenu::detachRequested, &page, &Page::detachRequested);
}

void SubjectMenu::addCopy(const QString &what, const QString &text)
{
    connect(addAction(what), &QAction::triggered, this, [text] { copyToClipboard(text); });
}

void SubjectMenu::addShow(const QString &what, const Subject &subject, const QString &page)
{
    if (page.isEmpty() || pageIds().contains(page))
        connect(addAction(what), &QAction::triggered, this,
                [this, subject, page] { emit showRequested(subject, page); });
}

void SubjectMenu::addFilter(const QString &what, const QString &text)
{
    connect(addAction(what), &QAction::triggered, this, [this, text] { emit filterRequested(text); });
}

void SubjectMenu::addPlace(BackendKind backend, const ConnectionName &connection, const QByteArray &place)
{
    if (backend == BackendKind::ZooKeeper)
        addShow(tr("Show the znode"), {Subject::Kind::Znode, connection, place}, u"znodes"_s);
    else if (backend == BackendKind::Redis)
        addShow(tr("Show the key"), {Subject::Kind::Key, connection, place}, u"keys"_s);
}

QString SubjectMenu::showCommand(const ConnectionStatus *status, const LockName &lock)
{
    return commandFor(status, lock.connection, u"show"_s, escaped(lock.text()));
}

QString SubjectMenu::commandFor(const ConnectionStatus *status, const ConnectionName &connection,
                                const QString &command, const QString &word)
{
    return ctlCommand(status, connection, {command, quotedForShell(word)});
}

QString SubjectMenu::keyCommand(const ConnectionStatus *status, const LockName &key)
{
    QByteArray pattern;
    for (const char c : key.name) {
        if (QByteArrayView("\\*?[]").contains(c))
            pattern += '\\';
        pattern += c;
    }
    return commandFor(status, key.connection, u"keys"_s, escaped(LockName{key.connection, pattern}.text()));
}

QString SubjectMenu::rehearsalCommand(const ConnectionStatus *status, const LockName &lock, const QByteArray &holder)
{
    return ctlCommand(
        status, lock.connection,
        {u"rehearse"_s, quotedForShell(escaped(lock.text())), u"--holder"_s, quotedForShell(escaped(holder))});
}

void SubjectMenu::addLock(const LockSnapshot &lock)
{
    const auto &name = lock.lock;
    addCopy(tr("Copy name"), escaped(name.text()));
    addCopy(tr("Copy link"), linkOf(name));
    addCopy(tr("Copy as command"), showCommand(statusOf(name.connection), name));
    addCopy(tr("Copy as JSON"), jsonText({{u"schema"_s, u"lockscope/1"_s}, {u"lock"_s, inspect::toJson(lock)}}));
    addSeparator();
    connect(addAction(tr("Open in its own window")), &QAction::triggered, this,
            [this, name] { emit detachRequested(name); });
    addShow(tr("Show in the graph"), {Subject::Kind::Lock, name.connection, name.name}, graphPage);
    addPlace(lock.backend, name.connection, homeOf(lock));
    for (const auto &holder : lock.contenders) {
        if (holder.role == inspect::Role::Holder && holder.session) {
            addShow(tr("Show the holder's %1").arg(infoOf(lock.backend).words.client),
                    {Subject::Kind::Session, name.connection, holder.session->toUtf8()});
            break; // of several, the queue has each
        }
    }
    addSeparator();
    addFilter(tr("Find by this name"), label(name.name, 200));
}

void SubjectMenu::addContender(const LockSnapshot &lock, const Contender &contender)
{
    const auto &name = lock.lock;
    addCopy(tr("Copy id"), escaped(contender.id));
    if (contender.endpoint)
        addCopy(tr("Copy address"), escaped(contender.endpoint->toUtf8()));
    if (contender.role == inspect::Role::Holder)
        addCopy(tr("Copy as command: rehearse its release"),
                rehearsalCommand(statusOf(name.connection), name, contender.id));
    const auto all = inspect::toJson(lock)[u"contenders"_s].toArray();
    for (const auto &one : all) {
        if (one.toObject()[u"id"_s].toString() == escaped(contender.id)) {
            addCopy(tr("Copy as JSON"), jsonText(one.toObject()));
            break;
        }
    }
    addSeparator();
    if (contender.session) {
        const Subject session{Subject::Kind::Session, name.connection, contender.session->toUtf8()};
        addShow(tr("Show its %1").arg(infoOf(lock.backend).words.client), session);
        addShow(tr("Show it in the graph"), session, graphPage);
    }
    if (!contender.guard.znode().path.isEmpty())
        addPlace(lock.backend, name.connection, contender.guard.znode().path);
    addSeparator();
    if (const auto who = contender.endpoint ? contender.endpoint : contender.session)
        addFilter(tr("Find by this client"), label(who->toUtf8(), 200));
}

void SubjectMenu::addSession(const inspect::SessionSnapshot &session)
{
    addCopy(tr("Copy session"), escaped(session.session.toUtf8()));
    if (session.endpoint)
        addCopy(tr("Copy endpoint"), escaped(session.endpoint->toUtf8()));
    addCopy(tr("Copy as command"), ctlCommand(statusOf(session.connection), session.connection, {u"sessions"_s}));
    addCopy(tr("Copy as JSON"), jsonText(inspect::toJson(session)));
    addSeparator();
    addShow(tr("Show in the graph"), {Subject::Kind::Session, session.connection, session.session.toUtf8()},
            graphPage);
    addFilter(tr("Find by this client"),
              label((session.endpoint ? *session.endpoint : session.session).toUtf8(), 200));
}

} // namespace lockscope::ui

#include "moc_rowmenus.cpp"
