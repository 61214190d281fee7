// SPDX-License-Identifier: Apache-2.0
// The closing statement of an answer. Both programs take it from here, so that neither says "no problems" where
// something was not read or not understood.
#pragma once

#include "core/inspect/snapshot.h"

#include <QJsonObject>

#include <map>

namespace lockscope::inspect {

enum class Question { Locks, Findings, Waits };

// Everything was read, every entry belongs to a lock, and no hidden lock has a finding.
[[nodiscard]] bool isAllKnown(const std::vector<Coverage> &coverage);
// Where an answer would be empty. `isAnySeen`: there was something to read. `isLinked`: a deadlock across servers
// would be found (core/inspect/waits).
[[nodiscard]] QString noneFound(Question question, bool isAnySeen, const std::vector<Coverage> &coverage,
                                bool isLinked = true);
// A line for each thing that was not read, not understood or not shown. `howToShow` is how hidden locks are shown.
[[nodiscard]] QStringList gapsIn(const std::vector<Coverage> &coverage, const QString &howToShow = {});

// The waits that no lock explains, each as a finding of its connection.
[[nodiscard]] std::vector<std::pair<ConnectionName, Finding>> findingsOfUnexplainedWaits(
    const std::vector<Coverage> &coverage);

// The deadlocks that servers ended, each as a finding of its connection.
struct DeadlockFinding {
    ConnectionName connection;
    EndedDeadlock deadlock;
    Finding finding;
};
[[nodiscard]] std::vector<DeadlockFinding> findingsOfEndedDeadlocks(const std::vector<Coverage> &coverage);
// Its clients, their statements and the client that was rolled back, in one text without a full stop.
[[nodiscard]] QString deadlockText(const EndedDeadlock &deadlock);
// Whether a client in it waited for the lock of that name on its server.
[[nodiscard]] bool isInvolved(const EndedDeadlock &deadlock, const QByteArray &lock);
// A line for each of them, where findings of locks are listed.
[[nodiscard]] QStringList endedDeadlockLines(const std::vector<Coverage> &coverage);

// What gapsIn() says, for programs: `hidden` and `unexplained` over all connections.
void addClosing(QJsonObject &answer, const std::vector<Coverage> &coverage);

// Adds what a server shows and no lock accounts for. `coverage` has an entry.
void addUnexplained(std::vector<Coverage> &coverage, std::vector<Unexplained> unexplained);
void addEndedDeadlocks(std::vector<Coverage> &coverage, std::vector<EndedDeadlock> deadlocks);
void addHidden(std::vector<Coverage> &coverage, const HiddenLocks &hidden);
// Counts locks that are not shown into `hidden`.
void hide(HiddenLocks &hidden, const LockSnapshot &lock);
[[nodiscard]] HiddenLocks together(HiddenLocks one, const HiddenLocks &other);
// Without "everything was read", and with the gap instead. What is not understood stays.
[[nodiscard]] std::vector<Coverage> withGap(std::vector<Coverage> coverage, Coverage gap);

// The entries of a server that no lock accounts for. They are grouped by how they are named, so that ten thousand
// entries of one system are one line, and no server makes more than a few lines.

// The name without what tells an entry from its siblings: each UUID, and each word with a digit in it, becomes "*".
// "/brokers/ids/17" becomes "/brokers/ids/*".
[[nodiscard]] QByteArray namePattern(const QByteArray &name);

// Not thread-safe.
class Ledger {
public:
    // Groups that `groups` returns at most.
    static constexpr std::size_t mostGroups = 10;
    // What is said of a group: of one entry, and of several ("%1" is how many, "%2" the pattern of their names).
    struct Texts {
        QString one;
        QString many;
    };

    // `count`: entries of which `name` is an example.
    void add(const QByteArray &name, qint64 count = 1) { addTo(m_groups, namePattern(name), {count, name}); }
    [[nodiscard]] bool isEmpty() const { return m_groups.empty(); }
    // The largest first. Names of one folder are one group. Where there are too many groups, folders are joined; what
    // is still too much is one group at the end.
    [[nodiscard]] std::vector<Unexplained> groups(const Texts &texts) const;

private:
    struct Group {
        qint64 count = 0;
        QByteArray example; // the first by name, so that it stays the same from look to look
    };
    using Groups = std::map<QByteArray, Group>; // by pattern
    static void addTo(Groups &groups, const QByteArray &pattern, const Group &group);
    [[nodiscard]] static Groups bySiblings(const Groups &groups);
    [[nodiscard]] static Groups byFolder(const Groups &groups);

    Groups m_groups;
};

} // namespace lockscope::inspect
