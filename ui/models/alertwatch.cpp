// SPDX-License-Identifier: Apache-2.0
#include "ui/models/alertwatch.h"

#include "core/base/text.h"

#include <QSettings>

namespace lockscope::ui {

using inspect::Incident;
using inspect::Severity;

namespace {

// One that comes and goes is not told again before that.
constexpr std::chrono::minutes notAgainBefore(10);
constexpr std::size_t mostRemembered = 10'000;

} // namespace

void AlertRule::save(QSettings &settings) const
{
    settings.setValue(u"alerts/on"_s, isOn);
    settings.setValue(u"alerts/least"_s, static_cast<int>(least));
    settings.setValue(u"alerts/code"_s, code);
    settings.setValue(u"alerts/pattern"_s, pattern);
    settings.setValue(u"alerts/onlyProduction"_s, onlyProduction);
}

void AlertRule::restore(const QSettings &settings)
{
    isOn = settings.value(u"alerts/on"_s, false).toBool();
    const int saved = settings.value(u"alerts/least"_s, static_cast<int>(Severity::Critical)).toInt();
    least = saved == static_cast<int>(Severity::Info)      ? Severity::Info
            : saved == static_cast<int>(Severity::Warning) ? Severity::Warning
                                                           : Severity::Critical;
    code = settings.value(u"alerts/code"_s).toString();
    pattern = settings.value(u"alerts/pattern"_s).toString();
    onlyProduction = settings.value(u"alerts/onlyProduction"_s, true).toBool();
}

AlertWatch::AlertWatch(const ConnectionBook &book, QObject *parent, Clock clock)
    : QObject(parent), m_book(book), m_clock(std::move(clock))
{
    noteFirstLooks();
}

void AlertWatch::setRule(AlertRule rule)
{
    m_rule = std::move(rule);
    QString form = QRegularExpression::escape(m_rule.pattern); // `*` goes over slashes, too
    form.replace(u"\\*"_s, u".*"_s).replace(u"\\?"_s, u"."_s);
    m_pattern.setPattern(QRegularExpression::anchoredPattern(form));
    m_pattern.setPatternOptions(QRegularExpression::DotMatchesEverythingOption);
}

bool AlertWatch::concerns(const inspect::LockSnapshot &lock) const
{
    const auto *status = m_book.find(lock.lock.connection);
    if (m_rule.onlyProduction && (!status || !status->production))
        return false;
    if (m_rule.pattern.isEmpty())
        return true;
    return m_pattern.match(escaped(lock.lock.text())).hasMatch();
}

bool AlertWatch::concerns(const inspect::Finding &finding) const
{
    return finding.severity >= m_rule.least && (m_rule.code.isEmpty() || inspect::word(finding.code) == m_rule.code);
}

bool AlertWatch::isMuted(const inspect::LockName &lock, const inspect::Finding &finding) const
{
    if (!m_mutes)
        return false;
    const auto *mute = muteOf(m_mutes->all(), lock, finding.code, finding.severity);
    return mute && mute->until > std::chrono::system_clock::now();
}

bool AlertWatch::isToldElsewhere(const inspect::Finding &finding) const
{
    return std::ranges::any_of(finding.also, [&](const inspect::LockName &lock) {
        const auto told = m_told.find(Key{lock, finding.code});
        return told != m_told.end() && told->second.isThere && told->second.wasAlerted;
    });
}

void AlertWatch::apply(const Batch &batch)
{
    std::vector<Alert> alerts;
    const auto now = m_clock();
    for (const auto &change : batch.locks) {
        const auto &name = change.lock.lock;
        std::set<inspect::FindingCode> before;
        for (auto known = m_told.lower_bound({name, inspect::FindingCode{}});
             known != m_told.end() && known->first.first == name; ++known) {
            if (std::exchange(known->second.isThere, false))
                before.insert(known->first.second);
        }
        if (change.kind == inspect::ChangeKind::Removed)
            continue;
        const bool isFirstLook = !m_isLookedThrough.contains(name.connection);
        for (const auto &finding : change.lock.findings) {
            if (finding.severity < Severity::Warning && finding.severity < m_rule.least)
                continue;
            const auto [known, isNew] = m_told.try_emplace(Key{name, finding.code}, Told{true, now});
            const bool wasLongAway = !before.contains(finding.code) && now - known->second.last >= notAgainBefore;
            const bool isNews = (isNew || wasLongAway) && !isFirstLook && m_rule.isOn && concerns(change.lock)
                                && concerns(finding) && !isMuted(name, finding) && !isToldElsewhere(finding);
            known->second = {true, now, isNews || (known->second.wasAlerted && before.contains(finding.code))};
            if (isNews)
                alerts.push_back({name, finding.severity, inspect::kindOf(finding.code).title.toString()});
        }
    }
    noteFirstLooks();
    forgetOld();
    if (!alerts.empty())
        emit alerted(alerts);
}

// A batch that says that the first look is over has the last of what that look saw.
void AlertWatch::noteFirstLooks()
{
    m_isLookedThrough.clear();
    for (const auto &status : m_book.all()) {
        if (status.progress.firstSnapshotComplete)
            m_isLookedThrough.insert(status.name);
    }
}

void AlertWatch::forgetOld()
{
    if (m_told.size() <= mostRemembered)
        return;
    const auto now = m_clock();
    std::erase_if(m_told,
                  [&](const auto &told) { return !told.second.isThere && now - told.second.last >= notAgainBefore; });
}

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

#include "moc_alertwatch.cpp"
