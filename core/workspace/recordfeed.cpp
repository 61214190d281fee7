// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/recordfeed.h"

#include "core/operate/gentler.h"

#include <QFileInfo>
#include <QJsonDocument>

#include <algorithm>

namespace lockscope {

using namespace std::chrono_literals;

namespace {

constexpr auto feedEvery = 200ms;

QByteArray asBytes(const QJsonObject &lock)
{
    return lock.isEmpty() ? QByteArray() : QJsonDocument(lock).toJson(QJsonDocument::Compact);
}

} // namespace

history::LinkState stateOf(Link &link)
{
    history::LinkState state;
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

history::Act actOf(const operate::AuditRecord &record)
{
    return {std::chrono::time_point_cast<std::chrono::milliseconds>(record.time),
            record.actor,
            record.action,
            record.lock,
            record.holder,
            record.reason,
            record.phase,
            record.outcome,
            asBytes(record.before),
            asBytes(record.after),
            record.isDone && record.action == operate::actionOf(operate::Way::Release)};
}

std::vector<history::Act> AuditFollower::news()
{
    const QFileInfo file(m_file.path());
    const std::pair looked(file.size(), file.lastModified());
    if (!file.exists() || looked == m_looked)
        return {};
    m_looked = looked;
    const auto records = m_file.read(nullptr);
    if (!records)
        return {};
    auto from = std::ranges::find_if(*records, [this](const auto &record) { return record.time >= m_since; });
    const auto told = std::ranges::find(*records, m_last, &operate::AuditRecord::hash);
    if (!m_last.isEmpty() && told != records->end())
        from = std::next(told);
    std::vector<history::Act> acts;
    for (; from != records->end(); ++from) {
        acts.push_back(actOf(*from));
        m_last = from->hash;
    }
    return acts;
}

RecordFeed::RecordFeed(Workspace &workspace, history::RecordingSink &recorder)
    : m_workspace(workspace), m_recorder(recorder),
      m_audit(workspace.audit(), std::chrono::floor<std::chrono::milliseconds>(workspace.loop().wallNow()))
{
    tell();
    tellLater();
}

void RecordFeed::tell()
{
    for (auto *link : m_workspace.links())
        m_recorder.connectionIs(stateOf(*link));
    for (const auto &act : m_audit.news())
        m_recorder.acted(act);
}

void RecordFeed::tellLater()
{
    auto &loop = m_workspace.loop();
    m_timer = loop.callAt(loop.now() + feedEvery, [this] {
        tell();
        tellLater();
    });
}

} // namespace lockscope
