// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/observerreport.h"

#include "core/base/text.h"

#include <QDateTime>
#include <QLocale>

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {

QString counted(qint64 number)
{
    return QLocale(QLocale::English).toString(number);
}

// "10:32:05", as a clock on the wall shows it here.
QString clockTime(WallTime when)
{
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(when.time_since_epoch());
    return QDateTime::fromMSecsSinceEpoch(since.count()).toString(u"HH:mm:ss"_s);
}

// "watches: 1 of 3 members answered wchp (not in the whitelist)"; nothing if all answered.
std::optional<QString> shortfall(const zk::Evidence &evidence, const QByteArray &command, const QString &what)
{
    const auto at = evidence.answers.find(command);
    if (at == evidence.answers.end() || at->second.answered == at->second.members)
        return {};
    auto message =
        u"%1: %2 of %3 members answered %4"_s.arg(what, QString::number(at->second.answered),
                                                  QString::number(at->second.members), QString::fromLatin1(command));
    if (!at->second.refusal.isEmpty())
        message += u" (%1)"_s.arg(at->second.refusal);
    return message;
}

QString howFound(const zk::Evidence &evidence, const SearchFacts &search)
{
    const auto at = evidence.answers.find("dump");
    const int members = at == evidence.answers.end() ? 0 : at->second.members;
    const auto refusal = at == evidence.answers.end() ? QString() : at->second.refusal;
    auto message =
        u"0 of %1 members answered dump: found by crawling %2 znodes"_s.arg(members).arg(counted(search.crawlSeen));
    return refusal.isEmpty() ? message : message + u" (%1)"_s.arg(refusal);
}

} // namespace

std::vector<SessionSnapshot> sessionsOf(const ConnectionName &connection, const zk::Evidence &evidence,
                                        const SnapshotStore &snapshots, zk::SessionId ourselves, ServerTime asked)
{
    std::map<QString, SessionSnapshot> bySession;
    const auto add = [&](zk::SessionId id) -> SessionSnapshot & {
        auto &session = bySession[id.text()];
        session.connection = connection;
        session.session = id.text();
        if (id == ourselves)
            session.client = u"Lockscope"_s;
        return session;
    };
    for (const auto &[id, paths] : evidence.ephemerals)
        add(id);
    for (const auto &[id, facts] : evidence.connections)
        add(id).endpoint = facts.endpoint;
    for (const auto &[id, left] : evidence.expiresIn)
        add(id).expiresAt = asked + left;
    for (const auto &[name, entry] : snapshots.entries()) {
        const auto &lock = entry.second;
        for (const auto &contender : lock.contenders) {
            if (!contender.session)
                continue;
            auto &session = bySession[*contender.session];
            session.connection = connection;
            session.session = *contender.session;
            auto &list = contender.role == Role::Holder ? session.holds : session.waits;
            if (list.empty() || list.back() != name)
                list.push_back(name);
            if (!session.client)
                session.client = lock.client;
        }
    }
    std::vector<SessionSnapshot> sessions;
    for (auto &[id, session] : bySession)
        sessions.push_back(std::move(session));
    return sessions;
}

bool isEquivalent(const std::vector<SessionSnapshot> &before, const std::vector<SessionSnapshot> &now)
{
    return std::ranges::equal(before, now, [&](const SessionSnapshot &a, SessionSnapshot b) {
        if (a.expiresAt && b.expiresAt && std::chrono::abs(*a.expiresAt - *b.expiresAt) <= expiryWavers)
            b.expiresAt = a.expiresAt;
        return a == b;
    });
}

std::vector<Coverage> coverageOf(const ConnectionName &connection, const zk::Evidence &evidence,
                                 const SearchFacts &search)
{
    std::vector<Coverage> coverage;
    const auto missing = [&](const QString &message) { coverage.push_back({connection, false, message}); };
    if (!search.refusal.isEmpty())
        missing(u"no znode can be read here: %1"_s.arg(search.refusal));
    if (search.crawled)
        missing(howFound(evidence, search));
    if (search.crawlCut)
        missing(u"the crawl stopped at %1 znodes: there may be more locks"_s.arg(counted(search.crawlSeen)));
    if (search.failedDirectories > 0)
        missing(u"%1 znodes could not be listed, for one: %2"_s.arg(counted(search.failedDirectories),
                                                                    search.firstFailure));
    if (search.unopened > 0)
        missing(
            u"%1 znodes of large or many folders were not opened, for those like them are leaves: a lock without a "
            "session below one would be missed"_s.arg(counted(search.unopened)));
    if (!search.sweepComplete && !search.crawled)
        missing(u"lock nodes without a session: not looked for everywhere yet"_s);
    if (!evidence.membersUnknown.isEmpty())
        missing(u"connections and watches: whether these are all the members is not known (%1)"_s.arg(
            evidence.membersUnknown));
    for (const auto &[command, what] : {std::pair("cons", u"connections"_s), std::pair("wchp", u"watches"_s)})
        if (const auto message = shortfall(evidence, command, what))
            missing(*message);
    if (search.refusedDirectories > 0)
        missing(u"no permission to list %1 znodes, %2 for one"_s.arg(counted(search.refusedDirectories),
                                                                     label(search.firstRefused.bytes(), 80)));
    if (search.hiddenNodes > 0)
        missing(
            u"no permission to read %1 znodes, %2 for one: since when they are there is not known, and whose they are "
            u"only where a server lists the sessions' nodes"_s.arg(counted(search.hiddenNodes),
                                                                   label(search.firstHidden.bytes(), 80)));
    if (search.lateDirectories > 0)
        missing(u"%1 lock directories are shown as of %2 or later, %3 for one: they have not been read since"_s.arg(
            counted(search.lateDirectories), clockTime(search.lateSince), label(search.firstLate.bytes(), 80)));
    if (search.polledDirectories > 0)
        missing(u"%1 lock directories are polled: the watch budget is used up"_s.arg(search.polledDirectories));
    if (search.unreadNodes > 0)
        missing(u"%1 children of very large directories were not read"_s.arg(counted(search.unreadNodes)));
    if (coverage.empty())
        coverage.push_back({connection, true, u"every member answered"_s});
    if (const auto others = evidence.childWatchTotal.value_or(0) - search.ownChildWatches; others > 0)
        coverage.push_back(
            {connection, true, u"%1 child watches exist; servers do not say whose"_s.arg(counted(others))});
    return coverage;
}

} // namespace lockscope::inspect
