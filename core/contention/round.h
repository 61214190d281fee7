// SPDX-License-Identifier: Apache-2.0
// One round of a scenario, on whatever servers: everybody joins, and in the end everybody is done.
//
// Queued: the first contender takes the lock, the others join while it holds, and when all of them have come to
// rest it begins to release. Spread: they come when the seed says. Belongs to the thread of `loop`.
#pragma once

#include "core/contention/trace.h"
#include "core/recipes/lockbase.h"

#include <set>

namespace lockscope::contention {

// One contender of a run: joins, holds, writes to what the lock guards, releases; and tells the trace what it
// believes. The same on simulated and on real servers.

// What the lock guards. It takes every write, or (checksTokens) none with an older fencing token than it saw.
class Resource {
public:
    // `rows`: so many things, each with a lock of its own; contender 0 writes to the first, and so on.
    Resource(Trace &trace, bool checksTokens, int rows = 1)
        : m_trace(trace), m_checksTokens(checksTokens), m_newestGrant(std::size_t(rows))
    {
    }
    // `grant` counts the grants of the run: a write of an earlier grant after one of a later grant is the
    // damage that locks are to prevent.
    void write(int contender, qint64 grant, std::optional<qint64> token, bool isShared);
    // An optimistic lock's: it was accepted, as the successor of `version`, of which there is one.
    void writeAfter(int contender, qint64 version);

private:
    Trace &m_trace;
    const bool m_checksTokens;
    std::vector<qint64> m_newestGrant; // by row
    qint64 m_highestToken = 0;
    std::set<qint64> m_succeeded; // versions
};

struct ContenderPlan {
    int number = 0;
    bool reads = false;
    bool isShared = false;     // others may hold at the same time: readers, permits
    bool isOptimistic = false; // writes when it releases, if that succeeds; and comes again after a conflict
    std::chrono::milliseconds hold{50};
    std::optional<std::chrono::milliseconds> wait;
    int tries = 1; // acquires in a row that each wait so long
};

class ContenderActor : public OnFreeList {
public:
    // Small: there may be 100,000 of them.
    using WhenDone = MoveOnlyFunction<void(), 16>;
    // `lock` is made for this contender; everything is on `loop` and outlives it. `whenDone` is called there once
    // it has released, given up, or lost what it held.
    ContenderActor(Loop &loop, std::unique_ptr<recipes::Lock> lock, ContenderPlan plan, Trace &trace,
                   Resource &resource, WhenDone whenDone);
    ~ContenderActor();

    void join() { m_playing.launch(play()); }
    // Keeps what it holds until then; without: as long as its plan says, from when it got it.
    void holdUntil(Completion<bool> mayRelease)
    {
        m_mayRelease = std::make_unique<const Completion<bool>>(std::move(mayRelease));
    }
    // Its thread dies: it neither works nor releases any more, while what renews its lease goes on.
    void stopWorking() { m_isStopped = true; }
    [[nodiscard]] bool holds() const { return m_holds; }

private:
    Task<void> play();
    // False: all of it was in vain, and has to be done again. The grant is whoever's that awaits it: of those who
    // wait for one none keeps room for another.
    Task<bool> work(const recipes::Grant &grant);
    void write(const recipes::Grant &grant);
    [[nodiscard]] bool isWritten(const recipes::Grant &grant, const Result<void> &released);

    Loop &m_loop;
    const ContenderPlan m_plan;
    Trace &m_trace;
    Resource &m_resource;
    WhenDone m_whenDone;
    std::unique_ptr<const Completion<bool>> m_mayRelease; // the first one's, mostly
    qint64 m_grant = 0;
    bool m_holds = false, m_isStopped = false;
    std::unique_ptr<recipes::Lock> m_lock;
    SoleTask m_playing; // before everything it uses goes
};

// One lock that is taken several times by the same contender, one inside the other.

// Of a reentrant recipe it is the same lock each time; of another one each is a lock of its own, as a second object
// in the same thread would be: it waits for the first. `make` is called at once.
[[nodiscard]] Result<std::unique_ptr<recipes::MultiLock>> nestedLock(
    Loop &loop, int times, bool isReentrant, const std::function<Result<std::unique_ptr<recipes::Lock>>()> &make);

// What must hold, checked while a run goes on: reads the trace, and writes into it what does not hold.
//
//   exclusion    never more believe to hold than may (a writer alone; so many permits)
//   order        of a fair recipe: granted in the order of the queue's numbers
//   tokens       a later grant has a larger fencing token
// Beside these: "effect" (ContenderActor: the guarded resource), "progress" and "cleanliness" (simulation.cpp: at
// the end). An optimistic lock keeps nobody out: of it only these.
class Checkers {
public:
    Checkers(const Scenario &scenario, Trace &trace);

    // How long at most more believed to hold than may.
    [[nodiscard]] Moment longestOverlap() const { return m_longestOverlap; }
    void see(const Event &event);

private:
    void begins(const Event &event);
    void ends(const Event &event);
    [[nodiscard]] bool isTooMany() const;

    const Scenario m_scenario;
    Trace &m_trace;
    bool m_isFair = false;
    const bool m_isOptimistic;   // its holders exclude nobody
    std::vector<bool> m_readers; // by contender: how it joined last
    std::map<int, Moment> m_believers;
    std::optional<Moment> m_overlapSince;
    Moment m_longestOverlap{};
    std::optional<qint64> m_lastSequence;
    qint64 m_highestToken = 0;
};

class Round {
public:
    struct Pace {
        Duration apart; // between two that join a queue, so that it stands in the order of the lanes
        Duration quiet; // with nothing asked or answered: all have come to rest; longer than an answer takes
    };
    Round(Loop &loop, const Scenario &scenario, Trace &trace, Resource &resource, Pace pace);

    // Before join(): contender `number`, whose lock lives on `loop` (its process's).
    void add(int number, Loop &loop, std::unique_ptr<recipes::Lock> lock);
    // It died, or could not be made: it does not come to an end otherwise.
    void remove(int number);

    // Until all have joined; the Round outlives it.
    [[nodiscard]] Task<void> join(Random random);
    // True when the last one is done; waited for by one at a time.
    [[nodiscard]] Completion<bool> allDone() const { return m_allDone; }
    [[nodiscard]] int notDone() const { return m_notDone; }
    [[nodiscard]] bool isDone(int number) const { return m_isDone[std::size_t(number)]; }
    [[nodiscard]] bool holds(int number) const;
    void stopWorking(int number);

private:
    Task<void> joinQueued();
    Task<void> joinSpread(Random random);
    Task<void> untilQuiet();
    void done(int number);
    [[nodiscard]] bool reads(int number) const;

    Loop &m_loop;
    const Scenario m_scenario;
    Trace &m_trace;
    Resource &m_resource;
    const Pace m_pace;
    Completion<bool> m_allDone;
    int m_notDone;
    std::vector<bool> m_isDone;
    std::vector<std::unique_ptr<ContenderActor>> m_contenders; // empty where one died
};

// Whether this contender of a read/write lock reads.
[[nodiscard]] bool isReader(const Scenario &scenario, int contender);

} // namespace lockscope::contention
