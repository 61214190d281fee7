// SPDX-License-Identifier: Apache-2.0
// Which keys whose names say nothing are asked for their time to live: a token lock of any name has one, most keys
// of a large store have none, and the server counts those that have (INFO keyspace, "expires").
//
// Of names made alike a few are asked, and all where one of these ends. Where at the end of the sweep fewer keys that
// end were found than the server counts, another round asks more of them, at last all: nothing is left out by a
// guess alone. Pure bookkeeping.
#pragma once

#include <QByteArray>

#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace lockscope::inspect {

class KeySieve {
public:
    enum class Round {
        Samples, // a few of each kind, all of those kinds of which one ends
        Ending,  // all of those kinds, once more: the first of them were passed over before that was known
        All,
    };

    // A sweep begins; what is known of kinds stays. `counted`: keys that end, by the server, if it says so.
    void begin(qint64 keys, std::optional<qint64> counted);
    // Whether to ask this key. Counts it: once per round and key.
    [[nodiscard]] bool isDue(const QByteArray &name);
    // Of the key that isDue() was just asked about: whether its value, too, is to be read, as a sample of its kind. A
    // few of each kind, once and for all, in the first round of a sweep.
    [[nodiscard]] bool isSample();
    // What was asked, of whatever key.
    void learn(const QByteArray &name, bool ends);
    // What has to be known at the end of a round; without, it is the last.
    [[nodiscard]] bool hasPassedOver() const { return m_passedOver > 0; }
    [[nodiscard]] bool isCounting() const { return m_round != Round::All && !m_isOverfull; }
    [[nodiscard]] const std::unordered_set<QByteArray> &ending() const { return m_ending; } // found in this sweep
    // At the end of a round: so many keys that end the server counts, so many of those found are still there.
    // Whether another round follows.
    [[nodiscard]] bool goOn(std::optional<qint64> counted, qint64 stillThere);
    void end();
    [[nodiscard]] Round round() const { return m_round; }

private:
    struct Kind {
        qint64 met = 0;
        qint64 answered = 0; // until it is enough of them, all are asked: answers come later
        qint64 passedOver = 0;
        bool ends = false;
        int samples = 0;
    };
    Kind &kindOf(const QByteArray &name);

    Round m_round = Round::All;
    std::unordered_map<quint64, Kind> m_kinds;
    Kind m_others;           // of more kinds than are told apart
    Kind *m_asked = nullptr; // the kind of the key asked about last, where samples are taken
    std::unordered_set<QByteArray> m_ending;
    bool m_takesSamples = false;
    bool m_isOverfull = false;
    qint64 m_passedOver = 0;
};

// From INFO keyspace: how many keys end, in the database of so many keys; of all of them where none, or more than one
// has as many. Empty: it does not say.
[[nodiscard]] std::optional<qint64> endingKeysIn(const QByteArray &info, qint64 keys);
// From INFO keysizes (Redis 8): that no hash is in any database of any node. False, too, where it does not say so in
// words that we know.
[[nodiscard]] bool saysThatNoHashIs(const QByteArray &info);

} // namespace lockscope::inspect
