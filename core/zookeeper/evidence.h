// SPDX-License-Identifier: Apache-2.0
// What the servers of an ensemble say about sessions, ephemerals, connections and watches: the
// four-letter words and the AdminServer's JSON, from every member, merged.
//
// Each member is asked for each command first by four-letter word, then over the AdminServer;
// whichever answers counts. Watches and connections are per member, so they are complete only when
// every member answered; ephemerals come from the tree and are the same everywhere.
// Sources: ZooKeeper administrator's guide; formats as in DataTree, ServerCnxn and Commands.
#pragma once

#include "core/base/connectionuri.h"
#include "core/zookeeper/session.h"

#include <map>
#include <set>

namespace lockscope::zk {

struct ConnectionFacts {
    QString endpoint;                        // "10.0.3.7:56332"
    std::chrono::milliseconds established{}; // the server's epoch at connect
    std::chrono::milliseconds timeout{};
    std::optional<std::chrono::milliseconds> silence; // since its last request or ping, if known
};

struct Evidence {
    // Which members answered which command ("dump", "cons", "wchp", …) and how ("4lw", "admin").
    struct Answer {
        int members = 0;
        int answered = 0;
        std::set<QByteArray> ways; // of those that answered: "4lw", "admin"
        QString refusal;           // of one that did not: "not in the whitelist", "connection refused"
    };
    std::map<QByteArray, Answer> answers;
    [[nodiscard]] bool isComplete(const QByteArray &command) const;
    [[nodiscard]] bool hasAny(const QByteArray &command) const;

    std::map<SessionId, std::vector<ZPath>> ephemerals;       // dump; full paths, chroot included
    std::map<SessionId, ConnectionFacts> connections;         // cons
    std::map<SessionId, std::chrono::milliseconds> expiresIn; // dump of the leader or standalone
    std::map<ZPath, std::set<SessionId>> dataWatches;         // wchp; exists and get watches only
    std::optional<qint64> childWatchTotal;                    // mntr's watch count minus wchs' total
    std::chrono::system_clock::time_point askedAt;            // our clock
    std::chrono::milliseconds serverAhead{};                  // the server's clock minus ours, where known beforehand

    // What a single member said, in its own terms; settle() makes `silence`, `expiresIn` and
    // `childWatchTotal` of it. Another member's monotonic clock has nothing to do with it, so settle
    // before merging.
    struct Raw {
        std::map<SessionId, std::chrono::milliseconds> expiries;      // monotonic (AdminServer's dump)
        std::map<SessionId, std::chrono::milliseconds> lastResponses; // monotonic (cons)
        std::optional<qint64> watchTotal;                             // mntr
        std::optional<qint64> dataWatchTotal;                         // wchs
    };
    Raw raw;
    void settle();
    // Adds what another member said; `answers` are added up.
    void merge(const Evidence &other);
};

// Parsers, pure: tested by tables of real answers. readDump() reckons with `askedAt` and `serverAhead`.
void readDump(const QByteArray &fourLetterAnswer, Evidence &into);
void readCons(const QByteArray &fourLetterAnswer, Evidence &into);
void readWchp(const QByteArray &fourLetterAnswer, Evidence &into);
void readWchs(const QByteArray &fourLetterAnswer, Evidence &into);
void readMntr(const QByteArray &fourLetterAnswer, Evidence &into);
// Any four-letter answer. False: a refusal, or not an answer to this command.
[[nodiscard]] bool readFourLetter(const QByteArray &command, const QByteArray &answer, Evidence &into);
// `command` is the AdminServer's name (dump, connections, watches_by_path, watch_summary, monitor,
// server_stats). False: not its JSON, or it reports an error.
[[nodiscard]] bool readAdmin(const QByteArray &command, const QByteArray &json, Evidence &into);
// The AdminServer's name of a four-letter word; empty if it has none.
[[nodiscard]] QByteArray adminName(const QByteArray &fourLetterWord);

// Asks every member for `commands` (four-letter names). Never blocks; one try per member and
// command within the deadline. The answer says per command who answered.
class EvidenceSource {
public:
    EvidenceSource(Loop &loop, std::vector<HostPort> members, quint16 adminPort);
    ~EvidenceSource();

    // Never fails: who did not answer stands in Evidence::answers.
    [[nodiscard]] Reply<Evidence> ask(std::vector<QByteArray> commands, Deadline deadline);
    // The servers' clock minus ours, once known: their dump gives expiry by the clock on the wall.
    void setServerAhead(std::chrono::milliseconds ahead);

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace lockscope::zk
