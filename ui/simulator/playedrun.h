// SPDX-License-Identifier: Apache-2.0
// A recording made ready to be looked at: what each lane did when, and the counters after any number of its
// events, found without walking through a million of them. Made once, on the thread that played; then constant.
#pragma once

#include "core/base/text.h"
#include "core/workspace/values.h"

namespace lockscope::ui {

using contention::Moment;

class PlayedRun;

// The marks of the picture; the legend draws them too.
enum class LaneGlyph {
    Waits,
    HasOne,
    Holds,
    Reads,
    Works,
    Paused,
    Dead,
    Woken,
    WokenInVain,
    Request,
    Write,
    WriteRefused,
    Act,
    Fault,
    ServerDown,
    GivesUp,
    Loses,
    Breaks,
    SentRequest,
    SentReply,
    SentEvent,
    SentInVain,
};

// The signs of a run's picture, and when each of them is first in it: read once, on the thread that played, for a
// legend asks at each step and there may be a million events.
class SignTimes {
public:
    SignTimes() = default;
    explicit SignTimes(const PlayedRun &run);

    // By that moment; without one, ever.
    [[nodiscard]] bool isSeen(LaneGlyph sign, std::optional<contention::Moment> until) const
    {
        const auto first = m_first.find(sign);
        return first != m_first.end() && (!until || first->second <= *until);
    }

private:
    void see(LaneGlyph sign, contention::Moment at = contention::Moment::min());
    void readScenario(const contention::Scenario &scenario);
    void readEvents(const PlayedRun &run);
    void readMessages(const PlayedRun &run);

    std::map<LaneGlyph, contention::Moment> m_first;
};

enum class LaneState : quint8 {
    Away,
    Waits,
    HasOne, // of several locks that it wants: waits for the next
    Holds,
    Works, // optimistic: keeps nobody out
    Dead,
};

struct LaneSpan {
    Moment from{}, to{};
    LaneState state = LaneState::Away;
    bool isPaused = false; // while it waits or holds, without knowing of it
    bool isReader = false;
};

// The counters of the tiles, of a run's beginning.
struct Tally {
    qint64 requests = 0, watchEvents = 0, wastedWakeups = 0;
};

// Some of the events, by lane and then by time.
class LaneEvents {
public:
    // Indexes into the recording's events.
    [[nodiscard]] std::span<const quint32> of(int lane) const;
    // When each of them was: side by side, since a picture looks for thousands of places in them.
    [[nodiscard]] std::span<const Moment> momentsOf(int lane) const;
    // How many of those from `first` to before `last` of a lane were in vain.
    [[nodiscard]] quint32 wasted(int lane, std::size_t first, std::size_t last) const;

private:
    friend class PlayedRun;
    std::vector<quint32> m_start; // one more than there are lanes
    std::vector<quint32> m_events;
    std::vector<Moment> m_moments;
    std::vector<quint32> m_wasted; // before each of them
};

// A client that is woken, from the server's event to what that led to.
struct WakeUp {
    Moment cause{}; // the request that made the event leaves then; `sent` where there is none
    Moment sent{};
    Moment ends{}; // the client holds then, or has its last answer and waits again
    int lane = 0, server = 0;
    bool isWasted = false;
};

class PlayedRun {
public:
    explicit PlayedRun(contention::Recording recording);

    [[nodiscard]] const contention::Recording &recording() const { return m_recording; }
    [[nodiscard]] const contention::Event &event(std::size_t index) const { return m_recording.events[index]; }
    [[nodiscard]] std::size_t eventCount() const { return m_recording.events.size(); }
    [[nodiscard]] int lanes() const { return m_lanes; }
    [[nodiscard]] QString laneName(int lane) const { return label(m_recording.laneName(lane), 40); }
    // When its last event was; the elapsed time if none were kept.
    [[nodiscard]] Moment end() const
    {
        return m_recording.events.empty() ? m_recording.elapsed : m_recording.events.back().at;
    }

    // What a lane did, by time; nothing where it was away.
    [[nodiscard]] std::span<const LaneSpan> spans(int lane) const;
    [[nodiscard]] const LaneEvents &signalsOf() const { return m_signals; } // watch events and messages
    [[nodiscard]] const LaneEvents &requestsOf() const { return m_requests; }
    [[nodiscard]] const LaneEvents &troublesOf() const { return m_troubles; } // faults, deaths, losses
    [[nodiscard]] const LaneEvents &writesOf() const
    {
        return m_writes;
    } // to what the lock guards, and what is done beside it
    // Faults of the servers, which are no lane's; without restarts, which the servers' own lines show.
    [[nodiscard]] const std::vector<Moment> &serverFaults() const { return m_serverFaults; }
    // Indexes of the messages that were lost, or held back, and of those by which somebody is told.
    [[nodiscard]] const std::vector<quint32> &unusualMessages() const { return m_unusual; }
    // Of those that come to a client: told without having asked.
    [[nodiscard]] bool isTold(const contention::SentMessage &message) const;
    // Those of the last event until then that woke a client. None where messages were not kept.
    [[nodiscard]] std::vector<WakeUp> wakeUpsUntil(Moment until) const;
    // Not of a session, nor of a lease that is kept alive: those are in no counter.
    [[nodiscard]] bool isCounted(const contention::SentMessage &message) const;
    // What it does at that moment; Away where it does nothing.
    [[nodiscard]] LaneSpan laneAt(int lane, Moment at) const;
    // A lock's name or token by which the server knows this lane; the longest first. Empty: it never held.
    [[nodiscard]] const std::vector<std::pair<QByteArray, int>> &heldAs() const { return m_heldAs; }

    [[nodiscard]] const SignTimes &signs() const { return m_signs; }

    // How many of its events happened until this moment, that moment included.
    [[nodiscard]] std::size_t countUntil(Moment at) const;
    // After its first `count` events; counted from the first release on, as the recording's own counters. Nothing as
    // long as nobody released: a zero there would praise a lock that nobody gets.
    [[nodiscard]] std::optional<Tally> tallyAfter(std::size_t count) const;
    // The same, counted from the start.
    [[nodiscard]] Tally wholeTallyAfter(std::size_t count) const;
    // Those that still wait at that moment, too, for as long as they have waited until then.
    [[nodiscard]] Moment waitP99After(std::size_t count, Moment at) const;
    // Who holds after them: the one that holds most recently; nobody, too.
    [[nodiscard]] int holderAfter(std::size_t count) const;
    // The last event by which the lock came free before `count`; `count` if there is none.
    [[nodiscard]] std::size_t lastRelease(std::size_t count) const;

private:
    void indexLanes();
    void indexNames();
    void indexServers();
    void indexEvents(LaneEvents &into, bool (*wanted)(const contention::Event &));
    void tally();
    [[nodiscard]] bool hasDrainAfter(std::size_t count) const;
    [[nodiscard]] bool isOfLane(const contention::Event &event) const;
    [[nodiscard]] WakeUp wakeUpBy(const contention::SentMessage &message) const;

    contention::Recording m_recording;
    int m_lanes = 0;
    std::vector<quint32> m_spanStart;
    std::vector<LaneSpan> m_spans;
    LaneEvents m_signals, m_requests, m_troubles, m_writes;
    std::vector<Moment> m_serverFaults;
    std::vector<quint32> m_unusual;
    std::vector<std::pair<QByteArray, int>> m_heldAs;
    SignTimes m_signs;
    std::vector<Tally> m_tallies;           // after each thousandth event
    std::optional<std::size_t> m_drainFrom; // the first release
    Tally m_beforeDrain;
    std::vector<bool> m_isAboutItself;        // of each event
    std::vector<quint32> m_holds, m_releases; // events
    struct Waited {
        quint32 beginning = 0, end = 0; // events; the end of one that never ends is after the last
        Moment since{}, until{};
    };
    std::vector<Waited> m_waits;
};

using PlayedRunPtr = std::shared_ptr<const PlayedRun>;

} // namespace lockscope::ui
