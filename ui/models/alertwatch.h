// SPDX-License-Identifier: Apache-2.0
// Which news is worth a notification, by a rule of the user's: new findings, each once. What was there at the
// first look is not new. GUI thread only.
#pragma once

#include "ui/models/connectionbook.h"
#include "ui/models/lockrow.h"

#include <QRegularExpression>
#include <QThreadPool>
#include <QTimer>

class QSettings;

namespace lockscope::ui {

struct AlertRule {
    bool isOn = false;
    inspect::Severity least = inspect::Severity::Critical;
    QString code;    // one finding's; empty: any
    QString pattern; // as a shell's file names, of LOCK; empty: any
    bool onlyProduction = true;

    void save(QSettings &settings) const;
    void restore(const QSettings &settings);
    friend bool operator==(const AlertRule &, const AlertRule &) = default;
};

struct Alert {
    inspect::LockName lock;
    inspect::Severity severity = inspect::Severity::Info;
    QString title; // of the kind of finding: nothing that a client wrote
};

class AlertWatch : public QObject {
    Q_OBJECT
public:
    using Clock = std::function<std::chrono::steady_clock::time_point()>;
    // `book` outlives it and hears each batch before.
    explicit AlertWatch(const ConnectionBook &book, QObject *parent = nullptr,
                        Clock clock = std::chrono::steady_clock::now);

    void setRule(AlertRule rule);
    // What is muted is not told. It outlives this; null: nothing is muted.
    void setMutes(const MuteStore *mutes) { m_mutes = mutes; }
    [[nodiscard]] const AlertRule &rule() const { return m_rule; }
    void apply(const Batch &batch);

signals:
    // What came within one batch.
    void alerted(const std::vector<lockscope::ui::Alert> &alerts);

private:
    struct Told {
        bool isThere = false;
        std::chrono::steady_clock::time_point last;
        bool wasAlerted = false;
    };
    using Key = std::pair<inspect::LockName, inspect::FindingCode>;

    [[nodiscard]] bool concerns(const inspect::LockSnapshot &lock) const;
    [[nodiscard]] bool concerns(const inspect::Finding &finding) const;
    [[nodiscard]] bool isMuted(const inspect::LockName &lock, const inspect::Finding &finding) const;
    // Of a deadlock, by another of its locks.
    [[nodiscard]] bool isToldElsewhere(const inspect::Finding &finding) const;
    void noteFirstLooks();
    void forgetOld();

    const ConnectionBook &m_book;
    Clock m_clock;
    AlertRule m_rule;
    const MuteStore *m_mutes = nullptr;
    QRegularExpression m_pattern;
    std::map<Key, Told> m_told;
    std::set<ConnectionName> m_isLookedThrough; // as of the batch before
};

// The incidents among the locks that the window shows, live, paused or past: found by the core, on a thread of its
// own, one look at a time. GUI thread.
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
    ~IncidentWatch() override { m_worker.waitForDone(); }

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
