// SPDX-License-Identifier: Apache-2.0
// What can be wrong with a lock: one table, from which --help, the window's help and docs/findings.md are made; and
// the findings that need a snapshot only. What needs the servers' word is found where that is read.
#pragma once

#include "core/inspect/snapshot.h"

#include <map>
#include <span>

namespace lockscope::inspect {

// From when on an age is worth a finding: the values, their defaults, and who has others. The user's stand in a file
// (core/workspace/settingsfile.h).

struct Thresholds {
    std::chrono::milliseconds longHeld{std::chrono::minutes(10)};
    std::chrono::milliseconds longWait{std::chrono::minutes(2)};
    // Held so many times longer than ever seen of this lock: said before longHeld has passed. 0: never.
    int unusual = 10;
    friend bool operator==(const Thresholds &, const Thresholds &) = default;
};

// What some locks have other than the rest; a value that is not said is looked for further down.
struct ThresholdRule {
    QString pattern; // see matchesGlob()
    std::optional<std::chrono::milliseconds> longHeld{};
    std::optional<std::chrono::milliseconds> longWait{};
    std::optional<int> unusual{};
    friend bool operator==(const ThresholdRule &, const ThresholdRule &) = default;
};

struct ThresholdRules {
    Thresholds usual;
    std::vector<ThresholdRule> rules; // of each value, the first rule that matches and says it counts
    [[nodiscard]] Thresholds of(const LockName &lock) const;
    friend bool operator==(const ThresholdRules &, const ThresholdRules &) = default;
};

// Patterns of locks, as people write them: a shell's glob on CONNECTION:NAME, or on NAME.

// `*` goes beyond a slash. The lock is matched as it is shown: escaped.
[[nodiscard]] bool matchesGlob(const LockName &lock, const QString &glob);

// How long a lock is usually held, by the holds that were seen from their beginning to their end. What is held
// long by its nature is told apart by it from what changed.
struct Usual {
    int seen = 0; // the last so many holds
    std::chrono::milliseconds median{};
    std::chrono::milliseconds most{};
    friend bool operator==(const Usual &, const Usual &) = default;
};

class UsualHolds {
public:
    // How it looks now. A hold whose beginning was not seen does not count.
    void note(const LockSnapshot &lock);
    // Of what is looked at one by one: empty when nothing is left of it.
    void note(const QByteArray &name, const std::optional<LockSnapshot> &lock, ServerTime now)
    {
        lock ? note(*lock) : noteGone(name, now);
    }
    // Nobody holds it any more, and nothing is left of it.
    void noteGone(const QByteArray &name, ServerTime now)
    {
        auto *kept = find(name);
        if (!kept)
            return;
        for (const auto &holding : std::exchange(kept->holding, {}))
            end(*kept, holding, now);
    }
    // Empty until enough was seen to say so.
    [[nodiscard]] std::optional<Usual> of(const QByteArray &name) const;

private:
    struct Holding {
        QByteArray id;
        ServerTime since;
    };
    struct Kept {
        std::vector<Holding> holding;
        std::vector<qint64> holds; // in ms, the newest last
    };
    [[nodiscard]] Kept *find(const QByteArray &name);
    static void end(Kept &kept, const Holding &holding, ServerTime now);

    // Names come and go (a lock per order): those that were not used since the younger half was begun are forgotten.
    std::map<QByteArray, Kept> m_young;
    std::map<QByteArray, Kept> m_old;
};

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
