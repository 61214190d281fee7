// SPDX-License-Identifier: Apache-2.0
// What is to be played: which recipe, how many contenders, how they come, what goes wrong, by which seed.
//
// A plain value, the same for the window, the terminal, the lessons and the tests; and as JSON, which is how
// lessons and recordings keep it.
#pragma once

#include "core/base/result.h"

#include <QByteArray>
#include <QByteArrayList>
#include <QJsonObject>
#include <QtGlobal>

#include <vector>

namespace lockscope::recipes {
struct RecipeInfo;
}

namespace lockscope::contention {

// The names of the command line's --fault.
enum class FaultKind {
    Pause,
    Crash,
    LoseRequest,
    LoseReply,
    Delay,
    Partition,
    Expire,
    Lag,
    ClockJump,
    Drift,
    RestartEmpty,
    Failover,
    LostPublish,
    DeadThread,
    ForceRelease,
};
[[nodiscard]] const std::vector<FaultKind> &allFaults();
[[nodiscard]] std::optional<FaultKind> faultByName(const QByteArray &name);
// resources/faults.json; the window says them in other languages, too.
struct FaultWords {
    QByteArray name;                 // "lose-request"
    QByteArray title;                // what a menu offers
    QString summary;                 // one line a person understands: what it does, for the help and the page
    QByteArray befell, befellServer; // what it did to %1, or to a server
};
[[nodiscard]] const FaultWords &wordsOf(FaultKind fault);
[[nodiscard]] inline const QByteArray &nameOf(FaultKind fault)
{
    return wordsOf(fault).name;
}
[[nodiscard]] inline const QString &summaryOf(FaultKind fault)
{
    return wordsOf(fault).summary;
}

// Those that can happen to a lock of this recipe; none if there is no such recipe.
[[nodiscard]] std::vector<FaultKind> faultsFor(const QByteArray &recipe);

// Whether nobody is kept out by who "holds" a lock of this recipe: it only decides, when it is given back,
// whether the work counts or has to be done again.
[[nodiscard]] bool isOptimistic(const QByteArray &recipe);

// A fault that somebody chose: at this moment, on this contender. Beside the ones that are drawn by the seed.
struct PlannedFault {
    // Of a clock that jumps: whose it is, where somebody chose that; else the seed draws whose, and which way.
    enum class Clock { Drawn, Client, Server };

    FaultKind kind = FaultKind::Pause;
    std::chrono::microseconds at{0};    // since the start of the run
    int contender = 0;                  // whom, or whose connection; for a server's fault not used
    std::chrono::milliseconds lasts{0}; // 0: as long as the kind's own default; of a clock: how far
    Clock clock = Clock::Drawn;
    bool isBack = false; // of a chosen clock: it jumps back
    int server = 0;      // of a server's clock: which one's
    int only = -1;       // of a restart or a failover: this server alone; -1: as many of them as it takes to matter
    friend bool operator==(const PlannedFault &, const PlannedFault &) = default;
};

// What somebody does beside taking the lock, as it would be typed (ServerAct). By nobody: an operator, to a server.
struct Act {
    std::chrono::microseconds at{0}; // since the start of the run
    int contender = -1;              // nobody
    QByteArray command;
    friend bool operator==(const Act &, const Act &) = default;
};

// What of its data a Redis that is restarted finds on its disk: its append-only file, by `appendfsync`.
enum class Aof { None, EverySecond, Always };

enum class Arrival {
    Queued, // all join before the first release
    Spread, // at moments drawn by the seed, within `arriveWithin`
};

// Whether it can be played on a table of several rows, each contender with a row of its own.
[[nodiscard]] bool locksOneOfRows(const recipes::RecipeInfo &recipe);

struct Scenario;
// For how long a contender that says nothing keeps its lock: a lease, or its session.
[[nodiscard]] std::chrono::milliseconds leaseOf(const Scenario &scenario);

struct Scenario {
    QByteArray recipe = "zk-mutex";
    int contenders = 10;
    int rounds = 1;
    std::chrono::milliseconds hold{50};
    quint64 seed = 1;
    std::vector<FaultKind> faults; // each at least once per round, where it applies
    // Those of them that are drawn and then do not happen, counted from 0 as they are drawn: round by round, each
    // round's in the order above. Everything else happens as it would beside them.
    std::vector<int> withheld;
    std::vector<PlannedFault> planned;
    std::vector<Act> acts;
    Arrival arrival = Arrival::Queued;
    std::chrono::milliseconds arriveWithin{1000}; // Spread
    int perProcess = 1;                           // contenders that share a process, and its session
    int limit = 1;                                // permits of a semaphore
    int locks = 1;                                // 2: each contender wants both, one after the other
    bool isOppositeOrder = false;                 // every second one in the other order
    int rows = 1;           // of a table: contender 0 wants the first, contender 1 the second, and so on
    bool isIndexed = true;  // that table, by the column that says which row
    int readersPercent = 0; // of a read/write lock's contenders
    int acquires = 1;       // each takes it so many times before it works, and gives it back as often
    int tries = 1;          // acquires in a row, where `wait` ends without it
    int servers = 0;        // members of an ensemble, nodes of Redlock; 0: as many as the recipe needs
    Aof aof = Aof::None;
    std::chrono::microseconds leastLatency{200}, mostLatency{300}; // of a message, one way
    std::chrono::milliseconds ttl{30'000};                         // of a lease
    std::chrono::milliseconds sessionTimeout{10'000};
    std::optional<std::chrono::milliseconds> wait; // total deadline of each acquire; none: without limit
    bool checksFencingTokens = false;              // what the guarded resource does with an older token
    bool keepsEvents = true;                       // false: counters and invariants only, for very many contenders

    [[nodiscard]] QJsonObject toJson() const;
    // BadInput names the field that is wrong and what it may be, or that there is no such field.
    [[nodiscard]] static Result<Scenario> fromJson(const QJsonObject &object);
    // BadInput: an unknown recipe or one that can only be seen, no contenders, a fault that is not simulated for it …
    [[nodiscard]] Result<void> check() const;
    friend bool operator==(const Scenario &, const Scenario &) = default;
};

// How large the numbers of a scenario may be, wherever it comes from.

// Numbers in JSON are doubles: a seed has to come back as it was.
constexpr quint64 seedLimit = quint64(1) << 53;
constexpr int mostContenders = 100'000;
constexpr int mostServersPlayed = 9;
constexpr int mostAcquires = 10;
constexpr int mostRows = 1000;
constexpr int mostTries = 1000;
constexpr std::chrono::microseconds longestLatency = std::chrono::milliseconds(100);

// What somebody types while a run is played, beside the recipes: a client that does something else with its session,
// or an operator at a server.
struct ServerAct {
    bool isStop = false;
    int server = 0; // from 0
};
// "stop s1", "start s1": by the names that are shown, s1 the first.
[[nodiscard]] std::optional<ServerAct> serverAct(const QByteArray &command);

// The scenarios that a piece of JSON stands for: one by itself, those of what `simulate --json` printed, or that of a
// recording.

// At least one. BadInput: it is none of the three, or a scenario in it is wrong.
[[nodiscard]] Result<std::vector<Scenario>> scenariosOf(const QJsonObject &object);

// Recipes with one mistake each, for lessons and for the checkers' own test: whoever cannot find these finds
// nothing. They exist in the simulated world alone. What they do is in mutants.h.
struct Mutant {
    QByteArray id;                                                // "broken-…"
    QByteArray of;                                                // the recipe it is a mistake in
    const char *title;                                            // of a run in the window, as a recipe's
    QString summary;                                              // what is wrong, and when that shows
    std::optional<std::chrono::milliseconds> wait = std::nullopt; // shows only where a wait ends, such as this one
};
[[nodiscard]] const std::vector<Mutant> &mutants();
[[nodiscard]] const Mutant *findMutant(const QByteArray &id);
// What can be played by this id: the catalogue's entry, also of a mutant. Null when there is none.
[[nodiscard]] const recipes::RecipeInfo *playable(const QByteArray &id);

} // namespace lockscope::contention
