// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/snapshotsource.h"

#include "app/lockscopectl/output.h"
#include "core/base/text.h"

#include <unistd.h>

namespace lockscope::ctl {

Sink::~Sink()
{
    clearProgress();
}

void Sink::showProgress(bool shown)
{
    m_progressShown = shown && ::isatty(STDERR_FILENO);
    if (!m_progressShown)
        clearProgress();
}

std::optional<Instant> Sink::lastNews(const ConnectionName &name) const
{
    const auto at = m_news.find(name);
    return at == m_news.end() ? std::nullopt : std::optional(at->second);
}

void Sink::take(inspect::Change::What change)
{
    if (const auto *news = std::get_if<inspect::SnapshotChange>(&change)) {
        heardOf(news->lock.lock.connection);
        if (m_listener)
            m_listener(*news);
    } else if (const auto *seen = std::get_if<inspect::CoverageSeen>(&change); seen && m_coverageListener) {
        m_coverageListener(seen->connection, seen->coverage);
    } else if (const auto *progress = std::get_if<inspect::Progress>(&change)) {
        note(*progress);
    }
    if (m_other)
        m_other->take(std::move(change));
}

void Sink::heardOf(const ConnectionName &name)
{
    m_news[name] = std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now());
}

void Sink::note(const inspect::Progress &progress)
{
    const auto known = m_farthest.try_emplace(progress.connection, -1).first;
    if (progress.done > known->second) {
        known->second = progress.done;
        heardOf(progress.connection);
    }
    if (!m_progressShown || !progress.running)
        return;
    const auto of = progress.total > 0 ? u" of %L1"_s.arg(progress.total) : QString();
    showOnLine(u"%1: %2, read %3%4"_s.arg(label(progress.connection.bytes()), progress.how,
                                          u"%L1"_s.arg(progress.done), of));
    m_lineUsed = true;
}

void Sink::clearProgress()
{
    if (std::exchange(m_lineUsed, false))
        showOnLine({});
}

} // namespace lockscope::ctl
