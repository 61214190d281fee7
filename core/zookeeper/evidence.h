// SPDX-License-Identifier: Apache-2.0
// What the servers of an ensemble say about sessions, ephemerals, connections and watches: the
// four-letter words and the AdminServer's JSON, from every member, merged.
//
// Each member is asked for each command first by four-letter word, then over the AdminServer;
// whichever answers counts. Watches and connections are per member, so they are complete only when
// every member that the configuration names answered (Membership); ephemerals come from the tree and are the same
// everywhere.
// Sources: ZooKeeper administrator's guide; formats as in DataTree, ServerCnxn and Commands.
#pragma once

#include "core/base/connectionuri.h"
#include "core/zookeeper/session.h"

#include <set>

namespace lockscope::zk {

// Who the members of an ensemble are: asked of the servers, never assumed. A connection names some of them, or a
// virtual address before them; what each server says of sessions and watches is about its own clients only, so that
// all is known only when every configured server has answered. Pure.

// One line of an ensemble's configuration: server.2=zk2:2888:3888:participant;0.0.0.0:2181
struct ConfiguredServer {
    qint64 id = 0;
    QString host;
    std::optional<HostPort> client; // where clients reach it; not every configuration says
};
// The lines of `conf` or of /zookeeper/config; anything else in the text is passed over.
[[nodiscard]] std::vector<ConfiguredServer> readConfiguration(const QByteArray &text);

// What a server says about itself.
struct MemberFacts {
    QByteArray mode;                // standalone, leader, follower, observer; empty: it did not say
    std::optional<qint64> serverId; // of `conf`; 0 or none where it is standalone
    std::vector<ConfiguredServer> configured;
    QByteArray version{}; // "3.8.0"; empty: it did not say
    [[nodiscard]] bool isStandalone() const { return mode == "standalone"; }
};
// "ZooKeeper 3.8.0, standalone", "ZooKeeper 3.8.0 and 3.9.3 on 3 members: 1 leader, 2 followers; 1 did not say".
// Empty where nobody said a version. `silent`: how many did not say.
[[nodiscard]] QString serverWords(const std::vector<MemberFacts> &members, int silent);
// What stands before the build in "3.8.0-5a02a05eddb59aee6ac762f7ea82e92a68eb9c0f, built on …".
[[nodiscard]] QByteArray versionIn(const QByteArray &said);

class Membership {
public:
    // Whom to ask, and who is expected to answer there.
    struct Place {
        HostPort at;
        std::optional<qint64> expected; // named so by the configuration
        friend bool operator==(const Place &, const Place &) = default;
    };

    explicit Membership(std::vector<HostPort> named) : m_named(std::move(named)) {}

    // Every place worth asking: the hosts of the connection, and the members that the configuration adds.
    [[nodiscard]] std::vector<Place> places() const;
    // What the servers at those places said in one round.
    void learn(const std::vector<std::pair<HostPort, MemberFacts>> &said);
    // The content of /zookeeper/config, read through a session. Empty where a server is standalone.
    void learnConfiguration(const QByteArray &text);

    // Whose answer that is; empty where it cannot be told. Behind one address may be another server each time, so
    // that `said` has to be of the same round.
    [[nodiscard]] std::optional<qint64> whoIs(const Place &place, const MemberFacts &said) const;
    // How many servers there are; empty: not known.
    [[nodiscard]] std::optional<int> size() const;
    [[nodiscard]] bool isStandalone() const { return m_isStandalone; }
    [[nodiscard]] const std::vector<ConfiguredServer> &configured() const { return m_configured; }
    // "server 2 (zk2:2181)"
    [[nodiscard]] QString nameOf(qint64 id) const;
    [[nodiscard]] bool isKnown() const { return m_isStandalone || !m_configured.empty(); }

private:
    std::vector<HostPort> m_named;
    std::vector<ConfiguredServer> m_configured;
    std::map<qint64, HostPort> m_seenAt; // where a server was found that the configuration gives no address for
    bool m_isStandalone = false;
};

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
        QString refusal;           // of those that did not: "server 2 (zk2:2181): connection refused"
    };
    std::map<QByteArray, Answer> answers;
    // Not empty: how many members there are could not be found out, and why. Nothing is complete then.
    QString membersUnknown;
    [[nodiscard]] bool isComplete(const QByteArray &command) const;
    [[nodiscard]] bool hasAny(const QByteArray &command) const;

    std::map<SessionId, std::vector<ZPath>> ephemerals;       // dump; full paths, chroot included
    std::map<SessionId, ConnectionFacts> connections;         // cons
    std::map<SessionId, std::chrono::milliseconds> expiresIn; // dump of the leader or standalone
    std::map<ZPath, std::set<SessionId>> dataWatches;         // wchp; exists and get watches only
    std::optional<qint64> childWatchTotal;                    // mntr's watch count minus wchs' total
    std::optional<qint64> requestsServed;                     // mntr's packets received, of whom it says them
    std::chrono::system_clock::time_point askedAt;            // our clock
    std::vector<MemberFacts> members;                         // srvr; one for each that said what it is
    Instant answeredAt{};                                     // when the last answer was there
    Duration work{};                                          // what it cost the busiest member, at most
    std::chrono::milliseconds serverAhead{};                  // the server's clock minus ours, where known beforehand

    // What a single member said, in its own terms; settle() makes `silence`, `expiresIn` and `childWatchTotal` of it.
    // Another member's monotonic clock has nothing to do with it, so settle before merging.
    struct Raw {
        std::map<SessionId, std::chrono::milliseconds> expiries;      // monotonic (AdminServer's dump)
        std::map<SessionId, std::chrono::milliseconds> lastResponses; // monotonic (cons)
        std::optional<qint64> watchTotal;                             // mntr
        std::optional<qint64> dataWatchTotal;                         // wchs
        MemberFacts member;                                           // srvr, conf
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

// Asks every member for `commands` (four-letter names): the named ones, and those that their configuration adds.
// Never blocks; one try per member and command within the deadline. A member that is silent holds back nobody: the
// others' answers are the round's, and it is asked whether it is back. The answer says per command who answered.
class EvidenceSource {
public:
    // Where to connect so as to ask this place; nothing: it is not to be asked, as only what the connection names is
    // reached safely. Without it a place is where it says.
    using Reach = std::function<std::optional<HostPort>(const HostPort &)>;
    // `adminPort` is that of every member's AdminServer; 0: there is none to be asked.
    EvidenceSource(Loop &loop, std::vector<HostPort> named, quint16 adminPort, Reach reach = {});
    ~EvidenceSource();

    // Never fails: who did not answer stands in Evidence::answers.
    [[nodiscard]] Reply<Evidence> ask(std::vector<QByteArray> commands, Deadline deadline);
    // The servers' clock minus ours, once known: their dump gives expiry by the clock on the wall.
    void setServerAhead(std::chrono::milliseconds ahead);
    // How many questions were sent so far, of all members taken together.
    [[nodiscard]] qint64 questions() const;
    // What /zookeeper/config holds, for servers that do not answer `conf`.
    void setConfiguration(const QByteArray &text);

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace lockscope::zk
