// SPDX-License-Identifier: Apache-2.0
#include "ui/models/connectionbook.h"

namespace lockscope::ui {

void ConnectionBook::apply(const Batch &batch)
{
    std::vector<ConnectionName> turned;
    for (const auto &status : batch.connections) {
        const auto known = std::ranges::find(m_all, status.name, &ConnectionStatus::name);
        if (known == m_all.end()) {
            m_all.push_back(status);
            continue;
        }
        if (isStale(*known) != isStale(status))
            turned.push_back(status.name);
        *known = status;
    }
    for (const auto &seen : batch.coverage) {
        std::erase_if(m_coverage, [&](const auto &old) { return old.connection == seen.connection; });
        m_coverage.insert(m_coverage.end(), seen.coverage.begin(), seen.coverage.end());
    }
    for (const auto &name : turned)
        emit staleChanged(name, isStale(*find(name)));
    if (!batch.connections.empty() || !batch.coverage.empty())
        emit changed();
}

void ConnectionBook::remove(const ConnectionName &name)
{
    std::erase_if(m_all, [&](const auto &status) { return status.name == name; });
    std::erase_if(m_coverage, [&](const auto &coverage) { return coverage.connection == name; });
    m_sandbox.erase(name);
    emit changed();
}

void ConnectionBook::markSandbox(const ConnectionName &name, Scheme scheme)
{
    m_sandbox.insert_or_assign(name, scheme);
    emit changed();
}

void ConnectionBook::mark(const ConnectionName &name, const ConnectionMark &mark)
{
    if (std::exchange(m_marks[name], mark) != mark)
        emit changed();
}

ConnectionMark ConnectionBook::markOf(const ConnectionName &name) const
{
    const auto *status = find(name);
    const auto marked = m_marks.find(name);
    return status && marked != m_marks.end() && marked->second.uri == status->uri ? marked->second : ConnectionMark();
}

bool ConnectionBook::isDevelopment(const ConnectionName &name) const
{
    const auto *status = find(name);
    return status && !status->production && markOf(name).isDevelopment;
}

const ConnectionStatus *ConnectionBook::find(const ConnectionName &name) const
{
    const auto known = std::ranges::find(m_all, name, &ConnectionStatus::name);
    return known == m_all.end() ? nullptr : &*known;
}

std::vector<inspect::Coverage> ConnectionBook::coverageOf(const ConnectionName &name) const
{
    std::vector<inspect::Coverage> result;
    std::ranges::copy_if(m_coverage, std::back_inserter(result),
                         [&](const auto &coverage) { return coverage.connection == name; });
    return result;
}

bool ConnectionBook::isLooking() const
{
    return std::ranges::any_of(m_all, [](const ConnectionStatus &status) {
        return status.state == ConnectionStatus::State::Connected && !status.progress.firstSnapshotComplete;
    });
}

bool ConnectionBook::isStale(const ConnectionStatus &status)
{
    // asOf is set by the first look; before it there is nothing that could be stale.
    return status.state != ConnectionStatus::State::Connected
           && status.asOf != std::chrono::system_clock::time_point{};
}

bool ConnectionChoice::canShow(const ConnectionStatus &status) const
{
    return std::ranges::find(m_schemes, status.scheme) != m_schemes.end();
}

bool ConnectionChoice::take(const std::vector<ConnectionStatus> &statuses)
{
    for (const auto &status : statuses) {
        const auto known = std::ranges::find(m_known, status.name, &ConnectionStatus::name);
        if (known == m_known.end())
            m_known.push_back(status);
        else
            *known = status;
    }
    choose();
    const auto *now = shown();
    return now && std::ranges::find(statuses, now->name, &ConnectionStatus::name) != statuses.end();
}

void ConnectionChoice::prefer(const ConnectionName &name)
{
    m_preferred = name;
    choose();
}

const ConnectionStatus *ConnectionChoice::find(const ConnectionName &name) const
{
    const auto known = std::ranges::find(m_known, name, &ConnectionStatus::name);
    return known == m_known.end() || !canShow(*known) ? nullptr : &*known;
}

// One that never answered has nothing to show.
void ConnectionChoice::choose()
{
    const auto isWorth = [](const ConnectionStatus &status) {
        using enum ConnectionStatus::State;
        return status.state == Connected || status.state == Connecting || ConnectionBook::isStale(status);
    };
    const auto *now = shown();
    if (now && (now->name == m_preferred || isWorth(*now))) {
        m_chosen = now->name;
        return;
    }
    for (const auto &status : m_known) {
        if (canShow(status) && isWorth(status)) {
            m_chosen = status.name;
            return;
        }
    }
}

const ConnectionStatus *ConnectionChoice::shown() const
{
    if (const auto *preferred = find(m_preferred))
        return preferred;
    if (const auto *chosen = find(m_chosen))
        return chosen;
    const auto first = std::ranges::find_if(m_known, [this](const auto &status) { return canShow(status); });
    return first == m_known.end() ? nullptr : &*first;
}

} // namespace lockscope::ui

#include "moc_connectionbook.cpp"
