// SPDX-License-Identifier: Apache-2.0
#include "ui/models/incidentwatch.h"

#include <algorithm>

namespace lockscope::ui {

using inspect::Incident;

constexpr std::chrono::milliseconds betweenLooks(250);

IncidentWatch::IncidentWatch(Ask ask, QObject *parent) : QObject(parent), m_ask(std::move(ask))
{
    m_worker.setMaxThreadCount(1);
    m_pause.setSingleShot(true);
    m_pause.setInterval(betweenLooks);
    connect(&m_pause, &QTimer::timeout, this, [this] {
        if (std::exchange(m_isDue, false))
            look();
    });
}

IncidentWatch::~IncidentWatch()
{
    m_worker.waitForDone();
}

void IncidentWatch::changed()
{
    if (m_isBusy || m_pause.isActive())
        m_isDue = true;
    else
        look();
}

void IncidentWatch::reset()
{
    ++m_generation;
    if (!m_incidents->empty()) {
        m_incidents = std::make_shared<const Incidents>();
        emit incidentsChanged();
    }
    changed();
}

void IncidentWatch::look()
{
    m_isBusy = true;
    auto question = std::make_shared<const Question>(m_ask());
    m_worker.start([this, question, generation = m_generation] {
        const auto graph = inspect::waitGraphOf(question->locks, question->labels, question->now);
        auto incidents =
            std::make_shared<const Incidents>(inspect::incidentsOf(graph, question->locks, question->coverage));
        QMetaObject::invokeMethod(
            this, [this, incidents, generation] { found(incidents, generation); }, Qt::QueuedConnection);
    });
}

void IncidentWatch::found(std::shared_ptr<const Incidents> incidents, quint64 generation)
{
    m_isBusy = false;
    m_pause.start();
    if (generation != m_generation)
        return;
    const bool isOther = *incidents != *m_incidents;
    m_incidents = std::move(incidents);
    if (isOther)
        emit incidentsChanged();
}

const Incident *IncidentWatch::incidentOf(const inspect::LockName &lock) const
{
    const auto at = std::ranges::find_if(*m_incidents, [&](const Incident &incident) {
        return std::ranges::find(incident.locks, lock) != incident.locks.end();
    });
    return at == m_incidents->end() ? nullptr : &*at;
}

std::vector<inspect::LockSnapshot> locksOfIncidents(const LockRows &rows)
{
    std::vector<inspect::LockSnapshot> locks;
    for (const auto *row : rows) {
        const bool isWrong = row->facts.worst && *row->facts.worst >= inspect::Severity::Warning;
        if (!row->gone && (row->facts.isContended() || isWrong))
            locks.push_back(row->snapshot);
    }
    return locks;
}

} // namespace lockscope::ui

#include "moc_incidentwatch.cpp"
