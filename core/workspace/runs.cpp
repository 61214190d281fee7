// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/runs.h"

#include "core/base/text.h"

namespace lockscope {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto tellEvery = 100ms;

} // namespace

Runs::Runs(Workspace &workspace, Tell tell)
    : m_workspace(workspace), m_tell(std::move(tell)), m_scope(workspace.loop())
{
}

void Runs::play(quint64 id, RealRunOptions options, Deliver deliver)
{
    One one;
    one.on = options.connection;
    one.run = std::make_unique<RealRun>(m_workspace, std::move(options));
    one.deliver = std::move(deliver);
    m_running.emplace(id, std::move(one));
    m_scope.launch(follow(id));
    if (!m_running.empty())
        tellAll();
}

Task<void> Runs::follow(quint64 id)
{
    auto playing = m_running.at(id).run->play();
    auto played = co_await playing;
    const auto at = m_running.find(id);
    auto one = std::move(at->second);
    m_running.erase(at);
    if (!one.ended.isEmpty())
        played =
            Error{ErrorCode::NotConnected,
                  u"simulate: connection %1 was %2 while it was played on"_s.arg(escaped(one.on.bytes()), one.ended)};
    one.deliver(std::move(played));
    // Once this frame, and with it the run's sessions, is gone.
    m_workspace.loop().post([this] { callWaiting(); });
}

void Runs::cancel(quint64 id)
{
    if (const auto at = m_running.find(id); at != m_running.end())
        at->second.run->cancel();
}

bool Runs::areOn(const ConnectionName &name) const
{
    return std::any_of(m_running.begin(), m_running.end(),
                       [&](const auto &entry) { return entry.second.on == name; });
}

void Runs::endOn(const ConnectionName &name, const QString &what, std::function<void()> done)
{
    for (auto &[id, one] : m_running) {
        if (one.on != name)
            continue;
        one.ended = what;
        one.run->cancel();
    }
    m_waiting.push_back({name, std::move(done)});
    callWaiting();
}

void Runs::endAll(std::function<void()> done)
{
    for (auto &[id, one] : m_running)
        one.run->cancel();
    m_waiting.push_back({std::nullopt, std::move(done)});
    callWaiting();
}

void Runs::callWaiting()
{
    std::vector<std::function<void()>> due;
    std::erase_if(m_waiting, [&](Waiting &waiting) {
        const bool isDue = waiting.name ? !areOn(*waiting.name) : m_running.empty();
        if (isDue)
            due.push_back(std::move(waiting.done));
        return isDue;
    });
    for (const auto &done : due)
        done();
}

void Runs::tellAll()
{
    for (const auto &[id, one] : m_running)
        m_tell(id, one.run->progress());
    if (m_running.empty())
        m_timer.cancel();
    else
        m_timer = m_workspace.loop().callAt(m_workspace.loop().now() + tellEvery, [this] { tellAll(); });
}

} // namespace lockscope
