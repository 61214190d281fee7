// SPDX-License-Identifier: Apache-2.0
// What the observers tell, kept for the command that asked: changes as they come, progress on a terminal.
#pragma once

#include "core/inspect/observer.h"

#include <functional>

namespace lockscope::ctl {

class Sink : public inspect::ObserverSink {
public:
    ~Sink() override;
    void onChange(std::function<void(const inspect::SnapshotChange &)> listener);
    // Told whenever what can be seen changes.
    void onCoverage(std::function<void(const ConnectionName &, const std::vector<inspect::Coverage> &)> listener)
    {
        m_coverageListener = std::move(listener);
    }
    // Hears everything as well, until nothing is given.
    void forwardTo(inspect::ObserverSink *other) { m_other = other; }
    // Shows how far the search is, on stderr, when that is a terminal.
    void showProgress(bool shown);
    // When that connection last told of a lock, or that it is farther than ever before: a search that begins again
    // and again tells of no progress.
    [[nodiscard]] std::optional<Instant> lastNews(const ConnectionName &name) const;

    void locksChanged(std::vector<inspect::SnapshotChange> changes) override;
    void sessionsChanged(const ConnectionName &name, std::vector<inspect::SessionSnapshot> sessions) override
    {
        if (m_other)
            m_other->sessionsChanged(name, std::move(sessions));
    }
    void coverageChanged(const ConnectionName &name, std::vector<inspect::Coverage> coverage) override
    {
        if (m_coverageListener)
            m_coverageListener(name, coverage);
        if (m_other)
            m_other->coverageChanged(name, std::move(coverage));
    }
    void progressed(inspect::Progress progress) override;
    void costChanged(const ConnectionName &, inspect::Cost) override {}

private:
    void clearProgress();

    std::function<void(const inspect::SnapshotChange &)> m_listener;
    std::function<void(const ConnectionName &, const std::vector<inspect::Coverage> &)> m_coverageListener;
    std::map<ConnectionName, Instant> m_news;
    std::map<ConnectionName, qint64> m_farthest;
    inspect::ObserverSink *m_other = nullptr;
    bool m_progressShown = false;
    bool m_lineUsed = false;
};

} // namespace lockscope::ctl
