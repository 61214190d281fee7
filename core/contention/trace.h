// SPDX-License-Identifier: Apache-2.0
// What one run writes down while it goes: events, counters, waits. The ports tell it what is sent and heard,
// the contenders what they believe, the faults what went wrong; the checkers read along.
//
// One thread: that of the run.
#pragma once

#include "core/contention/recording.h"

#include <functional>
#include <limits>

namespace lockscope::contention {

// What a run's waits come to: percentiles, and how far who came first was served first.

// From a contender's first try until it holds, or gives up for good: acquire(2 s), twice, is one wait of up to 4 s.
struct Wait {
    Moment joined{};
    // Its place was had, or refused, on the server: the first answer. Until then nobody can say who came first.
    Moment answered{};
    Moment ended{};
    bool isGranted = false; // else it gave up, or still waited at the end
    bool isReader = false;
};

// Of all waits, those that ended in vain too, or a lock that nobody gets would look quick. By nearest rank: the
// smallest that at least so many of a hundred do not exceed. Sorts in place.
[[nodiscard]] Waits percentilesOf(std::vector<Wait> &waits);

struct Fairness {
    double share = 1;
    qint64 pairs = 0; // 0: nobody waited beside another, and there is nothing to be fair about
};
// First come, first served, after L. Lamport, "A New Solution of Dijkstra's Concurrent Programming Problem", CACM
// 17(8), 1974: of all pairs of which one had been answered before the other came, and still waited then, the share in
// which the later one did not get the lock before it. Two readers get in together and take nothing from each other:
// such pairs are none. A queue scores 1; who is served by chance about a half.
[[nodiscard]] Fairness fairnessOf(const std::vector<Wait> &waits);

class Trace {
public:
    // `now` counts from the start of the run. At most so many events are kept; all of them count.
    Trace(const Scenario &scenario, std::function<Moment()> now, std::size_t mostEventsKept);

    // Fills in the moment. Every event passes here, in its order.
    void add(Event &&event);
    // Called for each event, after it was counted.
    void onEvent(std::function<void(const Event &)> listener) { m_listeners.push_back(std::move(listener)); }

    // Request and answer of a contender's port, with their size on the wire as far as it is known.
    void sent(int contender, const QByteArray &verb, const QByteArray &where, qint64 bytes);
    void answered(int contender, const QByteArray &verb, bool isError, qint64 bytes);
    // A watch event or message that reached a contender.
    void woken(int contender, Mark mark, const QByteArray &what, const QByteArray &where);

    [[nodiscard]] bool isWaiting(int contender) const { return m_lanes[std::size_t(contender)].isWaiting; }
    // When something was sent or answered last.
    [[nodiscard]] Moment lastTraffic() const { return m_lastTraffic; }
    [[nodiscard]] qint64 grants() const { return m_counters.grants; }
    [[nodiscard]] Moment now() const { return m_now(); }
    void breaks(const QByteArray &invariant, int contender, const QString &message);

    // The drain of a round: counting of requests and watch events begins with its first release.
    void beginRound() { m_isDraining = false; }

    // The rounds are over: who waits yet has waited until now.
    void noteEnd() { m_end = m_now(); }
    // What is known at the end. Leaves the trace empty.
    [[nodiscard]] Recording take(QByteArray world);

private:
    // A moment or none, in the room of a moment.
    class MaybeMoment {
    public:
        MaybeMoment(std::nullopt_t = std::nullopt) {}
        MaybeMoment(Moment moment) : m_moment(moment) {}
        explicit operator bool() const { return m_moment != none; }
        // Only when there is one.
        [[nodiscard]] Moment operator*() const { return m_moment; }
        [[nodiscard]] Moment value_or(Moment otherwise) const { return *this ? m_moment : otherwise; }
        void reset() { m_moment = none; }

    private:
        static constexpr Moment none = Moment::min();
        Moment m_moment = none;
    };
    // There are as many as contenders, of whom there may be 100,000.
    struct Lane {
        bool isWaiting = false, isReader = false;
        bool wasWoken = false;
        bool wokenInDrain = false;
        Moment since{};
        MaybeMoment answered; // first, of this wait
        MaybeMoment begun;    // optimistic: the try that may yet have been in vain
        // When the last try ended in vain (optimistic: turned out to have been), and no other has begun yet.
        MaybeMoment failed;
        quint8 failedBecause = 0; // index among the reasons
        // A wake-up after which it has neither got the lock nor been woken again: index among the kept events.
        static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
        std::size_t wakeUp = none;
    };
    void wasted(Lane &lane);
    void note(Lane &lane, const Event &event);
    void noteTry(Lane &lane, const Event &event);
    void gaveUpForGood(Lane &lane);
    void noteReason(Lane &lane, const Event &event);
    void countGivenUp(const Lane &lane);
    void endWait(Lane &lane, Moment end, bool isGranted);
    void countWaits();

    const Scenario m_scenario;
    std::optional<Moment> m_end;
    std::function<Moment()> m_now;
    const std::size_t m_mostEventsKept;
    const bool m_isOptimistic;
    std::vector<std::function<void(const Event &)>> m_listeners;
    std::vector<Lane> m_lanes;
    std::vector<Event> m_events;
    qint64 m_notKept = 0;
    std::vector<Violation> m_violations;
    std::vector<Wait> m_waits;
    std::vector<QByteArray> m_reasons{QByteArray()}; // why contenders gave up; the first: not known
    Counters m_counters;
    bool m_isDraining = false;
    Moment m_lastTraffic{};
    quint64 m_hash = 0xcbf29ce484222325;
};

} // namespace lockscope::contention
