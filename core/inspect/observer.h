// SPDX-License-Identifier: Apache-2.0
// An observer keeps the snapshots of one connection's locks up to date: it finds locks, watches what
// is cheap to watch, re-reads what changed, and says what it could not see and what it costs.
// One implementation per backend. Loop thread only.
#pragma once

#include "core/async/completion.h"
#include "core/async/task.h"
#include "core/inspect/state/statesnapshot.h"
#include "core/inspect/findings.h"

#include <tuple>

namespace lockscope::inspect {

// Where an observer puts what it sees. Called on the loop thread.
class ObserverSink {
public:
    virtual ~ObserverSink() = default;
    virtual void take(Change::What change) = 0;

    void takeAll(std::vector<SnapshotChange> changes)
    {
        for (auto &change : changes)
            take(std::move(change));
    }
    // The server was heard just now, and whatever had changed by then is told: what was told is true. Said about once
    // a second, changes or none.
    void confirm(const ConnectionName &connection)
    {
        take(Confirmation{connection, std::chrono::time_point_cast<std::chrono::milliseconds>(programClock().now())});
    }
};

class Observer {
public:
    virtual ~Observer() = default;

    // Starts finding and following; returns at once. What is seen goes to the sink until destroyed.
    virtual void start() = 0;
    // Completes when everything that can be found at first sight has been reported once.
    [[nodiscard]] virtual Completion<bool> firstSnapshot() const = 0;
    // Reads one lock afresh from the server (after a sync), whether known or not. NoNode when there is
    // no such lock now.
    virtual Task<Result<LockSnapshot>> readNow(QByteArray name, Deadline deadline) = 0;
    // The same, but nobody is asked who watches what: for who only wants to know who holds it, and often.
    virtual Task<Result<LockSnapshot>> readHolds(QByteArray name, Deadline deadline)
    {
        return readNow(std::move(name), deadline);
    }
    // Everything known now.
    [[nodiscard]] virtual std::vector<LockSnapshot> snapshots() const = 0;
    [[nodiscard]] virtual std::vector<SessionSnapshot> sessions() const = 0;
    [[nodiscard]] virtual std::vector<Coverage> coverage() const = 0;
    // The thresholds changed: what is known is judged anew, where that does not happen by itself soon.
    virtual void reconsider() {}
};

// Where locks can be whose CONNECTION:NAME, or NAME, matches the glob: "/locks" for "zk:/locks/*"; empty: anywhere.
[[nodiscard]] QByteArray searchRoot(const QByteArray &glob);

struct ObserverOptions {
    bool includeLowConfidence = false; // --all
    bool follow = true;                // false: one first snapshot, no watches (lockscopectl locks)
    bool everywhere = false;           // the first snapshot waits for what takes longer to find, too
    QByteArray within;                 // ZooKeeper: only this path and below is searched; empty: everything
    qint64 mostCrawled = 200'000;      // ZooKeeper: znodes asked in one walk
    std::chrono::milliseconds dumpEvery{1000};
    std::chrono::milliseconds pollEvery{250};
    // One for all observers of a workspace; changed on its thread, then reconsider() is called.
    std::shared_ptr<ThresholdRules> thresholds = std::make_shared<ThresholdRules>();
};

// Tells a sink of one connection: sessions, coverage, progress and cost, each only when it is not what was told last.
class ChangeReporter {
public:
    ChangeReporter(const ConnectionName &connection, ObserverSink &sink) : m_sink(sink)
    {
        std::apply([&connection](auto &...last) { ((last.connection = connection), ...); }, m_last);
    }

    void tell(std::vector<SessionSnapshot> now) { notifyIfNew(SessionsSeen{{}, std::move(now)}); }
    void tell(std::vector<Coverage> now) { notifyIfNew(CoverageSeen{{}, std::move(now)}); }
    void tell(Progress now) { notifyIfNew(std::move(now)); }
    void tell(Cost now) { notifyIfNew(std::move(now)); }

    // As told last.
    [[nodiscard]] const std::vector<SessionSnapshot> &sessions() const { return last<SessionsSeen>().sessions; }
    [[nodiscard]] const std::vector<Coverage> &coverage() const { return last<CoverageSeen>().coverage; }
    [[nodiscard]] const Progress &progress() const { return last<Progress>(); }

private:
    template <class T>
    [[nodiscard]] const T &last() const
    {
        return std::get<T>(m_last);
    }
    template <class T>
    void notifyIfNew(T now)
    {
        auto &last = std::get<T>(m_last);
        now.connection = last.connection;
        if (now == last)
            return;
        last = std::move(now);
        m_sink.take(last);
    }

    std::tuple<SessionsSeen, CoverageSeen, Progress, Cost> m_last;
    ObserverSink &m_sink;
};

// The part that is the same in every observer that keeps its snapshots itself.
class KeepingObserver : public Observer {
public:
    [[nodiscard]] Completion<bool> firstSnapshot() const override { return m_firstSnapshot; }
    [[nodiscard]] std::vector<LockSnapshot> snapshots() const override { return m_snapshots.all(); }
    [[nodiscard]] std::vector<SessionSnapshot> sessions() const override { return m_reporter.sessions(); }

protected:
    // `sink` must outlive it. Moments of expiry that differ by no more than `wavering` are no news.
    KeepingObserver(Loop &loop, ConnectionName name, ObserverOptions options, ObserverSink &sink,
                    std::chrono::milliseconds wavering = {})
        : m_loop(loop), m_name(std::move(name)), m_options(std::move(options)), m_sink(sink), m_firstSnapshot(loop),
          m_snapshots(wavering), m_reporter(m_name, sink)
    {
    }
    void notifyCoverage() { m_reporter.tell(coverage()); }

    Loop &m_loop;
    const ConnectionName m_name;
    const ObserverOptions m_options;
    ObserverSink &m_sink;
    Completion<bool> m_firstSnapshot;
    SnapshotStore m_snapshots;
    UsualHolds m_usual;
    ChangeReporter m_reporter;
};

} // namespace lockscope::inspect
