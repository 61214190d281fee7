// SPDX-License-Identifier: Apache-2.0
// The incidents among the locks that the window shows, live, paused or past: found by the core, on a thread of its
// own, one look at a time. GUI thread.
#pragma once

#include <version>

#include "core/workspace/values.h"
#include "ui/models/lockrow.h"

#include <QObject>
#include <QThreadPool>
#include <QTimer>

#include <memory>

namespace lockscope::ui {

class IncidentWatch : public QObject {
    Q_OBJECT
public:
    using Incidents = std::vector<inspect::Incident>;
    struct Question {
        std::vector<inspect::LockSnapshot> locks;
        std::vector<inspect::ClientLabel> labels;
        std::vector<inspect::Coverage> coverage;
        SystemTime now;
    };
    // What a look is about, asked when one begins.
    using Ask = std::function<Question()>;
    explicit IncidentWatch(Ask ask, QObject *parent = nullptr);
    ~IncidentWatch() override;

    // Something changed: a look follows soon, at most four in a second.
    void changed();
    // Another moment is on screen: what was found is not said of it, nor what a look under way finds.
    void reset();
    // As of the last look.
    [[nodiscard]] const Incidents &incidents() const { return *m_incidents; }
    // The worst incident of the lock; null without one.
    [[nodiscard]] const inspect::Incident *incidentOf(const inspect::LockName &lock) const;

signals:
    // They are others than before, in their order or in what they say.
    void incidentsChanged();

private:
    void look();
    void found(std::shared_ptr<const Incidents> incidents, quint64 generation);

    Ask m_ask;
    QTimer m_pause;
    std::shared_ptr<const Incidents> m_incidents = std::make_shared<const Incidents>();
    quint64 m_generation = 0; // of the moment on screen
    bool m_isBusy = false;
    bool m_isDue = false;
    QThreadPool m_worker; // last: waits for the look under way
};

// Of these rows those that can be part of an incident: a client waits, or something is wrong.
[[nodiscard]] std::vector<inspect::LockSnapshot> locksOfIncidents(const LockRows &rows);

} // namespace lockscope::ui
