// SPDX-License-Identifier: Apache-2.0
// Every recipe id (docs/names-and-ids.md, "Recipe IDs"): what it is, what it costs, how it can fail, how it is taken
// away. The entries are in resources/recipes/<backend>.json. What other code needs to know of a recipe is a field
// here, so that no code asks for a recipe by its id. Any thread.
#pragma once

#include "core/base/backendkind.h"
#include "core/base/result.h"

namespace lockscope::recipes {

// What stands for the lock on its server.
enum class Shape {
    Node,      // ZooKeeper: one node, which is the hold
    Queue,     // a directory of sequential nodes
    FlatQueue, // the same, and the queues of several locks share it
    Permits,   // a directory: what stands in it is a permit that is out
    Key,       // Redis: a key whose value is the holder's
    Hash,      // a hash with a field per holder
    Counter,   // the number of permits left
    Row,       // SQL: a row
    NamedLock, // GET_LOCK, an advisory lock
    Table,     // SQL: a whole table
    Leases,    // etcd: keys of leases below a prefix, in the order of their creation
};

// What a hold ends by when its client is gone.
enum class EndsBy {
    Session,
    Lease,          // the TTL of its key
    Timestamp,      // a time in its value, which clients compare with their clocks; the key itself stays
    PermitDeadline, // a time beside it, which the next one who asks looks at
    Never,          // nothing: it stays until somebody takes it away
};

// How a waiter hears that it may try, or that it has the lock.
enum class WakeUp {
    Polling, // it does not
    Watch,
    Message,
    Answer, // the server answers its question when its turn has come
};

// Whether a waiter watches the node before it with exists or get, which servers list (wchp).
enum class ListedWatch {
    No,
    OfKnownClients, // others that leave the same layout may poll, or watch the children
    Always,
};

// What force-release does to a hold.
enum class ReleaseMechanism {
    None,
    DeleteNode,       // ZooKeeper: delete the contender's node, if its czxid is still the same
    CompareAndDelete, // Redis: delete the key if its value is still the holder's
    QuorumDelete,     // Redlock: the same on every node of the set
    RedissonUnlock,   // Redis: Redisson's own unlock for one field, with its publish
    RedissonPermit,   // Redis: one permit of a semaphore back to the others, with its publish
    MemberBack,       // Redis: one member of a set of holders, or field of a hash of them, taken out of it
    ByRule,           // Redis: what a rule of the user's says is one holder's: a key, a member or a field
    KillConnection,   // MariaDB, MySQL: KILL the holder's connection
    ClearRow,         // MariaDB, MySQL: clear the row that says who holds, if it still says so
    DeleteAtRevision, // etcd: delete the contender's key, if it is still the one created at that revision
    TerminateBackend, // PostgreSQL: pg_terminate_backend
    ClearPgRow,       // PostgreSQL: clear the row that says who holds, if it still says so
};

// Requests of one contender and watch events or messages of one release, as counted in the tests. Formulae in N
// contenders (the holder among them) where needed; empty when the recipe is only seen, not acquired.
struct RequestCounts {
    QString acquireFree{};
    QString acquireQueued{}; // the last of N, all others releasing one after the other
    QString release{};
    QString wakeUps{};
};

struct RecipeInfo {
    QByteArray id{};
    BackendKind backend = BackendKind::ZooKeeper;
    QByteArray namePrefix{}; // of the names of its locks, where these begin with a word: "MARK#"
    QString summary{};       // one line
    QByteArray title{};      // of a run in the window, which translates it (context "Recipe"); empty: the id
    Shape shape = Shape::Queue;
    EndsBy endsBy = EndsBy::Session;
    WakeUp wakeUp = WakeUp::Watch;
    ListedWatch listedWatch = ListedWatch::No;
    ReleaseMechanism release = ReleaseMechanism::None;
    QString releaseRefusal{}; // why there is no way, or not always
    QByteArray playedBy{};    // only seen: which of ours plays its clients in a rehearsal
    bool acquirable = false;  // it is when its requests are counted
    bool preferred = false;   // what one wants unless one knows better
    bool fair = false;
    bool reentrant = false;
    bool teachingOnly = false; // refused on a production connection
    bool readWrite = false;    // has a read mode
    bool counted = false;      // takes a limit: so many may hold it at once
    bool storesLimit = false;  // clients that disagree on the limit are told
    bool optimistic = false;   // nothing is held: who was slower finds out when it writes
    bool quorum = false;       // held on a majority of independent servers
    bool electsLeader = false;
    bool fenced = true;               // its grants have fencing tokens
    bool tellsClientsTokens = false;  // the library whose layout it is hands them to its callers
    bool losesTokensWithData = false; // they begin anew when the server's data is gone
    bool renewed = false;             // the lease is prolonged while it is held
    bool namesHolder = true;          // what it leaves says whose it is, so a release takes away nobody else's
    bool atomicAcquire = true;        // there is no moment in which a crash or a lost reply locks for ever
    bool lastingQueue = false;        // the places of waiters that died have no TTL
    bool containers = false;          // its directories are the server's to remove
    bool revocable = false;           // its holder can be asked to let go
    bool seenContended = false;       // the server shows it only while somebody waits
    bool simulated = true;            // there are simulated servers that it can be played on
    RequestCounts counts{};
    std::vector<QString> flaws{}; // one line each; what fields say (no fencing token, only seen) is added to them
};

[[nodiscard]] const std::vector<RecipeInfo> &catalogue();
[[nodiscard]] const RecipeInfo *findRecipe(const QByteArray &id);
// An entry that says nothing when there is none.
[[nodiscard]] const RecipeInfo &recipeOf(const QByteArray &id);

struct AcquireOptions {
    bool readMode = false;
    int limit = 1;
    std::chrono::milliseconds ttl{30'000};
    // False: nobody said how many permits there are to be. A semaphore that stores the number is then joined, not
    // made: it would stay, and its application's own number be refused.
    bool isLimitGiven = true;
};
// Why this recipe cannot be made on such a server with these options: unknown, of another backend,
// only seen, without a read mode or a limit.
[[nodiscard]] std::optional<Error> objectionTo(const QByteArray &id, BackendKind backend,
                                               const AcquireOptions &options);

} // namespace lockscope::recipes
