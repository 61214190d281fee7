// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/subjectmenu.h"

#include "core/base/text.h"
#include "ui/models/lockfacts.h"
#include "ui/models/locklink.h"
#include "ui/pages/pages.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QJsonDocument>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using inspect::Contender;
using inspect::LockName;
using inspect::LockSnapshot;

namespace {

constexpr QLatin1StringView graphPage("graph");

// For a POSIX shell: nothing inside single quotes means anything.
QString shellWord(QString text)
{
    return u'\'' + text.replace(u'\'', u"'\\''"_s) + u'\'';
}

QString ctlCommand(const ConnectionStatus *status, const ConnectionName &connection, const QStringList &words)
{
    QStringList all{u"lockscopectl"_s};
    if (status && !status->uri.isEmpty())
        all << u"--connect"_s << shellWord(escaped(connection.bytes()) + u'=' + status->uri);
    return (all + words).join(u' ');
}

QString jsonText(const QJsonObject &object)
{
    return QString::fromUtf8(QJsonDocument(object).toJson());
}

// The node or key that a lock is, or lies in; empty where a backend has none.
QByteArray homeOf(const LockSnapshot &lock)
{
    if (lock.contenders.empty() || lock.contenders.front().guard.path.isEmpty())
        return lock.lock.name;
    const QByteArray &path = lock.contenders.front().guard.path;
    return path == lock.lock.name || path.startsWith(lock.lock.name + '/')
               ? lock.lock.name
               : path.left(std::max<qsizetype>(1, path.lastIndexOf('/'))); // several locks in one folder
}

} // namespace

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
    connect(addAction(what), &QAction::triggered, this, [text] { QGuiApplication::clipboard()->setText(text); });
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
    return ctlCommand(status, connection, {command, shellWord(word)});
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
    return ctlCommand(status, lock.connection,
                      {u"rehearse"_s, shellWord(escaped(lock.text())), u"--holder"_s, shellWord(escaped(holder))});
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
    if (!contender.guard.path.isEmpty())
        addPlace(lock.backend, name.connection, contender.guard.path);
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

#include "moc_subjectmenu.cpp"
