// SPDX-License-Identifier: Apache-2.0
// What can be wrong with a lock: one table, from which --help, the window's help and docs/findings.md are made; and
// the findings that need a snapshot only. What needs the servers' word is found where that is read.
#pragma once

#include "core/inspect/thresholds.h"

#include <span>

namespace lockscope::inspect {

// In the order of the table (resources/findings.txt).
enum class FindingCode : quint8 {
    Deadlock, // across locks: core/inspect/waits
    HolderDisconnected,
    NoTtl,
    ExpiredValue,
    LostWakeup,
    WrongWatch,
    Herd,
    PersistentNode,
    NoQuorum,
    LongHeld,
    LongWait,
    StaleQueue,
    ForeignNode,
    LeftoverKeys,
    SequenceOverflow,
    RevocationRequested,
    IdleInTransaction,
    SelfWait,
    UnexplainedWait, // of no lock: Unexplained::isWait
    DeadlockEnded,   // of no lock: EndedDeadlock
};

struct FindingKind {
    FindingCode code;
    QByteArray name;   // "no-ttl", stable: scripts ask for it
    Severity severity; // unless what was seen says otherwise
    QStringView title;
    QStringView meaning;
    QStringView confirm; // how to see it without us
    QStringView remedy;  // what to do about it
};
[[nodiscard]] std::span<const FindingKind> findingKinds();
[[nodiscard]] const FindingKind &kindOf(FindingCode code);

// A message in the making. What it says of time is given as moments, so that it can be worded at any clock.
class Wording {
public:
    Wording(QString words) : m_words(std::move(words)) {} // all of it, mostly
    Wording &operator<<(const QString &words)
    {
        m_words += words;
        return *this;
    }
    Wording &since(ServerTime moment) { return add(moment, false); } // "4 m 12 s"
    Wording &until(ServerTime moment) { return add(moment, true); }  // "in 44 s", at last "now"
    [[nodiscard]] Finding formatAt(ServerTime now) &&;

private:
    Wording &add(ServerTime moment, bool isAhead)
    {
        m_moments.push_back({m_words.size(), 0, moment, isAhead});
        return *this;
    }

    QString m_words;
    std::vector<TimeInMessage> m_moments;
};

// As severe as the table says, or as told. Its message is worded as of the lock's `observed`.
void addFinding(LockSnapshot &lock, FindingCode code, Wording message, std::vector<QByteArray> contenders = {});
void addFinding(LockSnapshot &lock, FindingCode code, Severity severity, Wording message,
                std::vector<QByteArray> contenders = {});
// What the finding says at the server's `now`.
[[nodiscard]] QString messageAt(const Finding &finding, ServerTime now);

// long-held: past the threshold, or much longer than ever before, where `usual` says what that is. A warning only
// while somebody waits, the age is certain, and this lock is not usually held so long. Nothing is said of an
// election, and what is one by its name is never a warning.
// Since when: `atLeastSince`, where a holder's own beginning is not known.
void addLongHeld(LockSnapshot &lock, const Thresholds &thresholds, const std::optional<Usual> &usual,
                 std::optional<ServerTime> atLeastSince = {});
// The moment the next holder's age will be worth that, if any.
[[nodiscard]] std::optional<ServerTime> nextLongHeld(const LockSnapshot &lock, const Thresholds &thresholds,
                                                     const std::optional<Usual> &usual,
                                                     std::optional<ServerTime> atLeastSince = {});
// Who waited then and holds now holds since then at most, however long its node or entry is there.
void boundHolds(LockSnapshot &lock, const LockSnapshot &before);
// long-held, long-wait and self-wait.
void addAgeFindings(LockSnapshot &lock, const Thresholds &thresholds, const std::optional<Usual> &usual = {});
// The same, by what is said and known of this lock.
void addAgeFindings(LockSnapshot &lock, const ThresholdRules &rules, const UsualHolds &holds);

// herd: two or more waiters that one release wakes although only one of them can go on.
void addHerdFinding(LockSnapshot &lock);

} // namespace lockscope::inspect
