// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/workspace.h"

#include "core/base/text.h"
#include "core/inspect/coverage.h"

#include <QSslConfiguration>

namespace lockscope {

namespace {

Result<std::unique_ptr<Link>> makeLink(BackendKind backend, ConnectionSpec spec, const LinkContext &context)
{
#define LOCKSCOPE_LINK(Name) &make##Name##Link,
    constexpr std::array makers{LOCKSCOPE_BACKENDS(LOCKSCOPE_LINK)};
#undef LOCKSCOPE_LINK
    return makers[static_cast<std::size_t>(backend)](std::move(spec), context);
}

// A connection's name may be given to another server between a look and the act, or an edit and its undo. What is
// there may even be the same: a copy of this one.
std::optional<Error> refusalElsewhere(const inspect::LockName &what, const QString &server, const Link &link)
{
    const auto now = link.spec().displayUri();
    if (server.isEmpty() || server == now)
        return std::nullopt;
    return Error{ErrorCode::Refused,
                 u"%1 was read from %2, but connection %3 now points to %4. Nothing was sent"_s.arg(
                     label(what.text()), server, escaped(what.connection.bytes()), now)};
}

Error noEdits(const Link &link)
{
    return Error{ErrorCode::Unsupported,
                 u"%1: what is stored there is not edited here"_s.arg(escaped(link.spec().name.bytes()))};
}

operate::EditTools editToolsOf(Link *link, Loop &loop, operate::AuditFile &audit)
{
    operate::EditTools tools;
    tools.read = [link](operate::EditRequest request, Deadline by) {
        return link->readForEdit(std::move(request), by);
    };
    tools.send = [link](operate::EditPlan plan, Deadline by) { return link->sendEdit(std::move(plan), by); };
    tools.locks = [link] { return link->observer().snapshots(); };
    tools.areLocksKnown = link->progress().firstSnapshotComplete;
    tools.audit = &audit;
    tools.loop = &loop;
    return tools;
}

} // namespace

Workspace::Workspace(Loop &loop, WorkspaceOptions options, inspect::ObserverSink *sink)
    : m_loop(loop), m_options(std::move(options)), m_sink(sink), m_audit(m_options.auditPath)
{
}

Workspace::~Workspace() = default;

LinkContext Workspace::contextOfLinks()
{
    return {m_loop, m_options, m_log, m_sink, [this](Link &link) {
                if (m_listener)
                    m_listener(link);
                for (const auto &waiting : std::exchange(m_waiters, {}))
                    waiting.complete(true);
            }};
}

Result<void> Workspace::add(ConnectionSpec spec)
{
    if (m_links.contains(spec.name))
        return Error{ErrorCode::BadInput,
                     u"there is a connection named %1 already"_s.arg(escaped(spec.name.bytes()))};
    const auto name = spec.name;
    const auto backend = backendOf(spec.scheme);
    if (!backend)
        return Error{ErrorCode::Unsupported, u"%1: this version cannot open it; use sandbox: or one of %2://"_s.arg(
                                                 spec.displayUri(), serverSchemes().join(u"://, "_s))};
    if (spec.transport.tls.isOn) {
        // Files that cannot be used are said at once, not by attempts that fail.
        if (const auto tls = transport::tlsConfiguration(spec.transport.tls); !tls)
            return tls.error();
    }
    TRY(auto &link, makeLink(*backend, std::move(spec), contextOfLinks()));
    m_links.emplace(name, std::move(link));
    return {};
}

void Workspace::remove(const ConnectionName &name)
{
    const auto at = m_links.find(name);
    if (at == m_links.end())
        return;
    at->second->proxy().removeAll(at->second->observer().snapshots());
    m_links.erase(at);
}

void Workspace::retry(const ConnectionName &name)
{
    const auto at = m_links.find(name);
    if (at == m_links.end() || at->second->isConnected())
        return;
    auto spec = at->second->wholeSpec();
    const auto backend = backendOf(spec.scheme);
    auto link = makeLink(*backend, std::move(spec), contextOfLinks());
    if (!link)
        return;
    (*link)->proxy().takeOver(at->second->proxy(), at->second->observer().snapshots());
    at->second = std::move(*link);
}

void Workspace::setThresholds(const inspect::ThresholdRules &rules)
{
    *m_options.observer.thresholds = rules;
    for (auto &[name, link] : m_links) {
        if (link->isConnected())
            link->observer().reconsider();
    }
}

Link *Workspace::find(const ConnectionName &name)
{
    const auto at = m_links.find(name);
    return at == m_links.end() ? nullptr : at->second.get();
}

std::vector<Link *> Workspace::links()
{
    std::vector<Link *> all;
    for (const auto &[name, link] : m_links)
        all.push_back(link.get());
    return all;
}

Task<Result<void>> Workspace::whenConnected(ConnectionName name, Deadline deadline)
{
    for (;;) {
        auto *link = find(name);
        if (!link)
            co_return Error{ErrorCode::BadInput, u"unknown connection %1"_s.arg(escaped(name.bytes()))};
        if (link->isConnected())
            co_return Result<void>();
        if (auto problem = link->problem())
            co_return *problem;
        if (deadline.hasPassed(m_loop))
            co_return Error{
                ErrorCode::NotConnected,
                u"could not connect to %1 in time; is the server up and answering?"_s.arg(link->spec().displayUri()),
                true, true};
        Completion<bool> changed(m_loop);
        changed.completeAt(deadline, false);
        m_waiters.push_back(changed);
        co_await changed;
    }
}

Result<inspect::LockName> Workspace::parseLock(const QString &text) const
{
    std::vector<ConnectionName> names;
    for (const auto &[name, link] : m_links)
        names.push_back(name);
    auto lock = lockscope::parseLock(text, names);
    if (lock)
        lock->name = nameAsStored(*backendOf(m_links.at(lock->connection)->spec().scheme), lock->name);
    return lock;
}

Result<inspect::LockName> parseLock(const QString &text, const std::vector<ConnectionName> &connections)
{
    const auto raw = unescaped(text);
    const auto names = mapped<QStringList>(connections, [&](const auto &name) { return escaped(name.bytes()); });
    const auto hint = u"write CONNECTION:NAME, for example %1:…; connections: %2"_s.arg(names.value(0, u"zk"_s),
                                                                                        names.join(u", "_s));
    if (!raw)
        return Error{ErrorCode::BadInput, u"\"%1\" holds a broken \\ escape (write \\\\ or \\xHH)"_s.arg(text)};
    const auto colon = raw->indexOf(':');
    if (colon <= 0 || colon + 1 == raw->size())
        return Error{ErrorCode::BadInput, u"\"%1\" names no lock; %2"_s.arg(text, hint)};
    inspect::LockName lock{ConnectionName(raw->left(colon)), raw->mid(colon + 1)};
    if (std::ranges::find(connections, lock.connection) == connections.end())
        return Error{ErrorCode::BadInput, u"\"%1\" names no connection of this run; %2"_s.arg(text, hint)};
    return lock;
}

Task<Result<inspect::LockSnapshot>> Workspace::read(inspect::LockName lock, Deadline deadline)
{
    CO_TRY_VOID(co_await whenConnected(lock.connection, deadline));
    auto &observer = find(lock.connection)->observer();
    auto snapshot = co_await observer.readNow(lock.name, deadline);
    const bool isSilent = !snapshot && snapshot.error().code == ErrorCode::TimedOut;
    if (isSilent)
        co_return Error{ErrorCode::TimedOut,
                        u"timed out waiting for a reply from %1 (still connected): %2"_s.arg(
                            find(lock.connection)->spec().displayUri(), snapshot.error().message),
                        true};
    co_return snapshot;
}

Task<operate::ForceReleasePlan> Link::withLosses(operate::ForceReleasePlan plan, Deadline)
{
    co_return plan;
}

Task<Result<operate::ForceReleasePlan>> Workspace::planForceRelease(inspect::LockName lock, QByteArray holder,
                                                                    Deadline deadline, operate::ReleaseAction way,
                                                                    QString server)
{
    CO_TRY_VOID(co_await whenConnected(lock.connection, deadline));
    if (auto refusal = refusalElsewhere(lock, server, *find(lock.connection)))
        co_return *refusal;
    CO_TRY(auto &snapshot, co_await read(lock, deadline));
    CO_TRY(auto &plan, operate::planWay(snapshot, holder, way));
    auto *link = find(lock.connection);
    plan.server = link->spec().displayUri();
    auto full = co_await link->withLosses(plan, deadline);
    const bool isOffered = std::ranges::find(full.ways, way, &operate::OfferedAction::way) != full.ways.end();
    if (way != operate::ReleaseAction::Release && !isOffered)
        co_return Error{
            ErrorCode::Unsupported,
            u"%1 is not available on %2: its server cannot check and act in one statement. Nothing was sent"_s.arg(
                QString::fromLatin1(operate::wordOf(way)), link->spec().displayUri())};
    co_return full;
}

Task<Result<operate::ForceReleaseOutcome>> Workspace::forceRelease(operate::ForceReleasePlan plan, QString reason,
                                                                   Deadline deadline)
{
    CO_TRY_VOID(co_await whenConnected(plan.before.lock.connection, deadline));
    auto *link = find(plan.before.lock.connection);
    if (auto refusal = refusalElsewhere(plan.before.lock, plan.server, *link))
        co_return *refusal;
    operate::ForceReleaseTools tools;
    tools.observer = &link->observer();
    tools.send = [link](operate::ForceReleasePlan sent, Deadline by) {
        return link->sendRelease(std::move(sent), by);
    };
    tools.audit = &m_audit;
    tools.loop = &m_loop;
    auto outcome = co_await operate::forceRelease(plan, tools, reason, deadline);
    co_return outcome;
}

Task<Result<operate::BulkReport>> Workspace::bulkRelease(std::vector<operate::BulkTarget> targets, QString reason,
                                                         std::function<void(int)> progressed)
{
    operate::BulkTools tools;
    tools.plan = [this](operate::BulkTarget target, Deadline by) {
        return planForceRelease(target.lock, target.contender, by, target.way, target.server);
    };
    tools.act = [this](operate::ForceReleasePlan plan, QString why, Deadline by) {
        plan.backWithin.reset(); // the others do not wait for it
        return forceRelease(std::move(plan), std::move(why), by);
    };
    tools.progressed = std::move(progressed);
    tools.loop = &m_loop;
    return operate::bulkRelease(std::move(targets), std::move(tools), std::move(reason));
}

Task<Result<operate::EditState>> Link::readForEdit(operate::EditRequest, Deadline)
{
    co_return noEdits(*this);
}

Task<Result<operate::EditSent>> Link::sendEdit(operate::EditPlan, Deadline)
{
    co_return noEdits(*this);
}

Task<Result<operate::EditPlan>> Workspace::planEdit(operate::EditRequest request, Deadline deadline)
{
    CO_TRY_VOID(co_await whenConnected(request.connection, deadline));
    auto *link = find(request.connection);
    if (auto refusal = refusalElsewhere(request.subject(), request.server, *link))
        co_return *refusal;
    request.server = link->spec().displayUri();
    const auto tools = editToolsOf(link, m_loop, m_audit);
    auto plan = co_await operate::planEdit(request, tools, deadline);
    co_return plan;
}

Task<Result<operate::EditOutcome>> Workspace::applyEdit(operate::EditPlan plan, QString reason, Deadline deadline)
{
    CO_TRY_VOID(co_await whenConnected(plan.request.connection, deadline));
    auto *link = find(plan.request.connection);
    if (auto refusal = refusalElsewhere(plan.request.subject(), plan.request.server, *link))
        co_return *refusal;
    const auto tools = editToolsOf(link, m_loop, m_audit);
    auto outcome = co_await operate::applyEdit(plan, tools, reason, deadline);
    co_return outcome;
}

using inspect::ChangeKind;
using inspect::LockSnapshot;
using inspect::SnapshotChange;

constexpr auto confirmedEvery = 1s; // each takes some bytes of a recording

void ObserverProxy::take(inspect::Change::What change)
{
    if (auto *news = std::get_if<SnapshotChange>(&change)) {
        m_heardAt = programClock().now();
        if (m_unconfirmed.erase(news->lock.lock) > 0 && news->kind == ChangeKind::Added)
            news->kind = ChangeKind::Changed;
    } else if (auto *seen = std::get_if<inspect::CoverageSeen>(&change)) {
        m_coverage = seen->coverage;
        seen->coverage = withGap(std::move(seen->coverage));
    } else if (auto *progress = std::get_if<inspect::Progress>(&change)) {
        if (!m_what.isEmpty() && !progress->how.isEmpty())
            progress->how = m_what + QStringLiteral(", ") + progress->how;
        m_progress = *progress;
    } else if (const auto *cost = std::get_if<inspect::Cost>(&change)) {
        m_cost = *cost;
    } else if (const auto *confirmation = std::get_if<inspect::Confirmation>(&change)) {
        m_heardAt = programClock().now();
        if (confirmation->until < m_confirmedAt + confirmedEvery)
            return;
        m_confirmedAt = confirmation->until;
    }
    tell(std::move(change));
}

void ObserverProxy::addGap(const QString &message)
{
    if (std::exchange(m_gap, message) != message && !m_coverage.empty())
        tell(inspect::CoverageSeen{m_connection, withGap(m_coverage)});
}

std::vector<inspect::Coverage> ObserverProxy::withGap(std::vector<inspect::Coverage> coverage) const
{
    if (m_gap.isEmpty())
        return coverage;
    return inspect::withGap(std::move(coverage), {m_connection, false, m_gap});
}

void ObserverProxy::observerReplaced(std::vector<LockSnapshot> known)
{
    for (auto &lock : known)
        m_unconfirmed.insert_or_assign(lock.lock, std::move(lock));
}

void ObserverProxy::firstSnapshotComplete()
{
    for (auto &[name, lock] : std::exchange(m_unconfirmed, {}))
        tell(SnapshotChange{ChangeKind::Removed, std::move(lock)});
}

void ObserverProxy::takeOver(ObserverProxy &before, std::vector<LockSnapshot> known)
{
    before.observerReplaced(std::move(known));
    m_unconfirmed = std::move(before.m_unconfirmed);
    m_heardAt = before.m_heardAt;
    m_confirmedAt = before.m_confirmedAt;
}

void ObserverProxy::removeAll(std::vector<LockSnapshot> known)
{
    observerReplaced(std::move(known));
    firstSnapshotComplete();
}

void ObserverProxy::tell(inspect::Change::What change)
{
    if (m_sink)
        m_sink->take(std::move(change));
}

} // namespace lockscope
