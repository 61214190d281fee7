// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/recordfeed.h"

#include "core/base/clock.h"
#include "core/operate/releasemethod.h"

#include <QFileInfo>
#include <QJsonDocument>

#include <algorithm>

namespace lockscope {

namespace {

constexpr auto feedEvery = 200ms;

QByteArray asBytes(const QJsonObject &lock)
{
    return lock.isEmpty() ? QByteArray() : QJsonDocument(lock).toJson(QJsonDocument::Compact);
}

} // namespace

inspect::LinkState stateOf(Link &link)
{
    inspect::LinkState state;
    const auto &spec = link.spec();
    state.name = spec.name;
    state.backend = backendOf(spec.scheme).value_or(BackendKind::ZooKeeper);
    state.uri = spec.displayUri();
    state.server = link.serverVersion();
    state.production = link.gate().isProduction();
    state.isConnected = link.isConnected();
    state.isLookedThrough = state.isConnected && link.observer().firstSnapshot().isComplete();
    if (const auto problem = link.problem(); problem && !state.isConnected)
        state.problem = problem->message;
    return state;
}

inspect::Act actOf(const operate::AuditRecord &record)
{
    return {std::chrono::time_point_cast<std::chrono::milliseconds>(programClock().ofWall(record.time)),
            record.actor,
            record.action,
            record.lock,
            record.holder,
            record.reason,
            record.phase,
            record.outcome,
            asBytes(record.before),
            asBytes(record.after),
            record.isDone && record.action == operate::actionOf(operate::ReleaseAction::Release)};
}

AuditFollower::AuditFollower(const operate::AuditFile &file) : m_file(file)
{
    if (QFileInfo::exists(file.path()))
        (void)news();
    else
        m_last.emplace(); // whatever comes is news
}

std::vector<inspect::Act> AuditFollower::news()
{
    const QFileInfo file(m_file.path());
    const std::pair looked(file.size(), file.lastModified());
    if (!file.exists() || looked == m_looked)
        return {};
    m_looked = looked;
    const auto records = m_file.read(nullptr);
    if (!records)
        return {};
    const bool isFirst = !m_last;
    const auto told = std::ranges::find(*records, m_last.value_or(QByteArray()), &operate::AuditRecord::hash);
    m_last = records->empty() ? QByteArray() : records->back().hash;
    std::vector<inspect::Act> acts;
    if (isFirst)
        return acts;
    // Another file than before has none that was told.
    for (auto from = told == records->end() ? records->begin() : std::next(told); from != records->end(); ++from)
        acts.push_back(actOf(*from));
    return acts;
}

RecordFeed::RecordFeed(Workspace &workspace, inspect::ObserverSink &recorder)
    : m_workspace(workspace), m_recorder(recorder), m_audit(workspace.audit())
{
    tell();
    notifyLater();
}

void RecordFeed::tell()
{
    for (auto *link : m_workspace.links())
        m_recorder.take(stateOf(*link));
    for (auto &act : m_audit.news())
        m_recorder.take(std::move(act));
}

void RecordFeed::notifyLater()
{
    auto &loop = m_workspace.loop();
    m_timer = loop.callAt(loop.now() + feedEvery, [this] {
        tell();
        notifyLater();
    });
}

} // namespace lockscope
