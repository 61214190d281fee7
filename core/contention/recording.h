// SPDX-License-Identifier: Apache-2.0
// What happened in one run: every event in its order, the counters, and what did not hold.
//
// A plain value that outlives the world it came from: the page plays it, the export writes it, the hash of its
// events is what two runs of one seed are compared by.
#pragma once

#include "core/contention/scenario.h"

#include <QLocale>

#include <map>

namespace lockscope::contention {

using Moment = std::chrono::microseconds; // since the start of the run, by the world's own clock

// What a run's servers had when, and the messages between them and the contenders, as plain values.
[[nodiscard]] inline double inMs(Moment moment)
{
    return static_cast<double>(moment.count()) / 1000;
}

constexpr int nobody = -1;

// A node, a key, a row or a named lock, as a person reads it: "/sim/lock", "c00's, watched by c01".
struct ServerLine {
    int server = 0;
    QByteArray name; // empty: the server itself; its text is "up" or "down"
    QByteArray text;
    std::optional<Moment> ends; // when it goes by itself, as far as its server knows now
    int owner = nobody; // whose ephemeral node it is, and who is told when it goes: contenders, each the first
    std::vector<int> watchers{}; // of its process; nobody and none in older files
    friend bool operator==(const ServerLine &, const ServerLine &) = default;
};

struct ServerChange {
    Moment at{};
    ServerLine line; // from then on
    bool isGone = false;
};

struct SentMessage {
    Moment at{};
    std::optional<Moment> arrives; // none: lost, or held back by a partition
    int contender = 0;             // whose connection: the first one of its process
    int server = 0;
    bool toServer = false;
};

struct History {
    bool isKept = false; // else there is none: too many contenders, real servers, an older file
    int servers = 0;
    std::vector<ServerChange> changes;
    std::vector<SentMessage> messages;
    std::optional<Moment> until; // more happened afterwards than was kept

    [[nodiscard]] QJsonObject toJson() const;
    // Anybody may have written it: what cannot be is BadInput.
    [[nodiscard]] static Result<History> fromJson(const QJsonObject &object, int contenders);
};

enum class Mark : quint8 {
    Joins,      // asks for the lock: waits from here on
    Request,    // sends something; `what` is its verb, `where` the node or key
    Answer,     // hears of it
    WatchEvent, // is told by a watch; `isWasted` when it neither holds nor gave up by it
    Message,    // is told by a publish
    Holds,      // believes to hold from here on; `token` its fencing token
    Releases,   // no longer believes so, of its own will
    Loses,      // is told that it lost what it held
    GivesUp,    // ends its wait without the lock; `what` says why
    Writes,     // writes to the guarded resource, with its token; `what`: accepted or refused
    Pauses,
    Resumes,
    Dies,
    Comes,  // back, after it died
    Fault,  // something went wrong in the world; `what` is its name; the contender it befell, or none
    Breaks, // an invariant did not hold; `what` is its name, `where` the sentence
    Gets,   // has one of the locks that it wants, and goes on to the next; `what` is which
    Acts,   // did something beside its lock; `what` is the command, `where` what came of it
};
constexpr int markCount = static_cast<int>(Mark::Acts) + 1;
[[nodiscard]] QByteArray nameOf(Mark mark);

// "c07": as wide as the last one's.
[[nodiscard]] QByteArray contenderName(int contender, int contenders);

struct Event {
    Moment at{};
    qint32 contender = nobody;
    Mark mark = Mark::Fault;
    bool isWasted = false;
    qint64 token = 0;
    QByteArray what;
    QByteArray where;
};

struct Violation {
    QByteArray invariant; // "exclusion", "effect", "order", "progress", "cleanliness", "tokens"
    Moment at{};
    QString message;
};

struct Waits {
    Moment p50{}, p99{}, max{};
};

struct Counters {
    qint64 grants = 0;
    // Of the drain: from the first release to the last; a contender's own events about itself left out.
    qint64 requests = 0, watchEvents = 0, wastedWakeups = 0;
    // Of the whole run.
    qint64 allRequests = 0, allWatchEvents = 0, bytes = 0;
    qint64 requestsWaiting = 0; // of them, by who waited: what polling costs, also where nobody ever releases
    qint64 gaveUp = 0;          // waits that ended without the lock
    std::map<QByteArray, qint64> gaveUpBecause{}; // of them, by what the contender was told last
    Waits waits;                                  // of all of them, the vain ones too
    Moment longestOverlap{};                      // how long at most more believed to hold than may
    double fairness = 1;                          // trace.h; of so many pairs:
    qint64 fairnessPairs = 0;
};

// Those that are plain numbers, by their names in JSON.
struct NamedCounter {
    const char *name;
    qint64 Counters::*value;
};
inline constexpr NamedCounter namedCounters[] = {{"grants", &Counters::grants},
                                                 {"requests", &Counters::requests},
                                                 {"watchEvents", &Counters::watchEvents},
                                                 {"wastedWakeups", &Counters::wastedWakeups},
                                                 {"allRequests", &Counters::allRequests},
                                                 {"allWatchEvents", &Counters::allWatchEvents},
                                                 {"bytes", &Counters::bytes},
                                                 {"requestsWaiting", &Counters::requestsWaiting},
                                                 {"gaveUp", &Counters::gaveUp}};

struct Recording {
    Scenario scenario;
    QByteArray world = "sim";  // or the connection it ran on
    QByteArray note;           // what a reader must know: "50 sessions shared by 200 contenders"
    std::vector<Event> events; // by time; empty when the scenario keeps none
    bool isCut = false;        // more happened than was kept
    qint64 eventsNotKept = 0;  // so many; they are in the counters and in the hash
    Counters counters;
    std::vector<Violation> violations;
    Moment elapsed{};
    quint64 eventHash = 0;
    std::vector<QByteArray> leftBehind; // nodes and keys that were there at the end
    History history;                    // of the servers, where it was kept

    [[nodiscard]] QByteArray laneName(int contender) const; // "c07"
    // Whether there was a drain to count: without a release its zeros say nothing.
    [[nodiscard]] bool hasDrain() const;
    // An entry of the terminal's "runs".
    [[nodiscard]] QJsonObject toJson() const;
    // The whole of it, and back. Anybody may have written the file: BadInput says what is wrong with it.
    [[nodiscard]] QByteArray save() const;
    [[nodiscard]] static Result<Recording> load(const QByteArray &bytes);
    // One line per event: at_us,contender,mark,what,where,token
    [[nodiscard]] QByteArray toCsv() const;
};

// Why something did not hold, as one would tell it: who had the lock, what befell whom, when the server let go of it,
// who got it then, and what the first one did, who could not know.

// "c00 got the lock at 0.10 s; c00 was paused at 0.20 s, for 12.00 s; its lock no longer existed on the server at
// 4.10 s; c01 got the lock at 4.11 s; c00 woke at 12.20 s and wrote". Empty where the events were not kept. In the
// language that the application speaks; `locale`: how it writes numbers.
[[nodiscard]] QString explain(const Recording &recording, const Violation &violation,
                              const QLocale &locale = QLocale::c());
// What a checker said of a violation, in that language.
[[nodiscard]] QString formatViolation(const QString &message);

// A run told in text: the command that plays it again, and its events, one a line.

// For a shell: "lockscopectl simulate --recipe zk-mutex …"; what has no option of its own goes as --scenario.
[[nodiscard]] QString commandLine(const Scenario &scenario);

// Up to the first time that invariant breaks (empty: to the end), fit to be printed. What somebody asks and hears
// over and over stands once, and how often more. Of very many the last ones.
[[nodiscard]] QStringList eventLines(const Recording &recording, const QByteArray &invariant, std::size_t most);

} // namespace lockscope::contention
