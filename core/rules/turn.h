// SPDX-License-Identifier: Apache-2.0
// Whose turn is it? The decision of every queue recipe as a pure function: children and me in, "mine"
// or "wait for whom" out. The recipes wait by it, the inspector draws by it, the checker judges by it.
#pragma once

#include "core/base/bytes.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

namespace lockscope::recipes {

// A queue node's name, read: base name and the server's sequence number.
struct SequencedName {
    NodeName name;
    qsizetype prefixLength = 0;
    qint64 sequence = 0; // signed 32-bit on the wire; may be negative after 2^31 creates

    // Everything before the number. Made when asked for: who waits for its turn does not.
    [[nodiscard]] QByteArray prefix() const { return name.bytes().first(prefixLength); }
};
// How long a number is, with its sign.
inline constexpr qsizetype leastDigits = 10, mostDigits = 11;
// Reads the number at the end: ten digits, or a minus and nine or ten of them; empty if there is
// none. `base` ("lock-", "__lock__") must stand right before it when given; without it a single dash
// before ten digits counts as part of the prefix.
[[nodiscard]] std::optional<SequencedName> readSequence(const NodeName &name, const QByteArray &base = {});
// The number alone, by the same rule.
[[nodiscard]] std::optional<qint64> sequenceOf(const NodeName &name, const QByteArray &base = {});

// Earlier in the queue comes first: by number, then by name (numbers can be equal). Negative numbers
// come after the positive ones: the counter wraps from 2147483647 to -2147483648.
[[nodiscard]] bool comesBefore(const SequencedName &a, const SequencedName &b);

enum class Access { Exclusive, Shared };
struct Queued {
    SequencedName node;
    Access access = Access::Exclusive;
};

struct Turn {
    enum class Kind { Mine, WaitFor, Gone } kind = Kind::Gone; // Gone: we are not in the list
    std::optional<NodeName> predecessor;                       // WaitFor
    [[nodiscard]] bool isMine() const { return kind == Kind::Mine; }
};

// Sorts by comesBefore; of one number, the writer comes before the reader it made for itself.
void sortQueue(std::vector<Queued> &queue);

// The first `permits` of the queue hold it; each other waits for the one `permits` places before it.
// (1 = mutex.) `queue` sorted.
[[nodiscard]] Turn turnInQueue(const std::vector<Queued> &queue, const NodeName &me, int permits = 1);
// Which writer a blocked reader watches: kazoo and the textbook the nearest before it, Curator the lowest.
enum class ReaderWatches { NearestWriter, LowestWriter };
// Readers share, a writer is alone: a writer waits for the node before it, a reader for a writer before it.
[[nodiscard]] Turn turnInReadWriteQueue(const std::vector<Queued> &queue, const NodeName &me,
                                        ReaderWatches readerWatches = ReaderWatches::NearestWriter);

// --- on several independent nodes ----------------------------------------------------------------

// More than half: two quorums always share a node.
[[nodiscard]] constexpr int quorumOf(int nodes)
{
    return nodes / 2 + 1;
}

// Until when a quorum of `nodes` stands, if `ends` says for each node that stands at all when it ends:
// the quorum-th latest of them. Empty when fewer than a quorum stand.
template <class Moment>
[[nodiscard]] std::optional<Moment> quorumUntil(std::vector<Moment> ends, int nodes)
{
    const auto enough = static_cast<std::size_t>(quorumOf(nodes));
    if (ends.size() < enough)
        return std::nullopt;
    std::sort(ends.begin(), ends.end(), std::greater<Moment>());
    return ends[enough - 1];
}

// What a contender is called, so that its name never comes to mean another one: recipes say it when they
// have a lock, the inspector shows it, force-release takes it.

// Whether a node's name can be given only once: the server's number behind a client's own UUID. Numbers alone
// begin anew when their folder is made anew, and names without a number are there for everybody.
[[nodiscard]] bool isGivenOnce(const NodeName &name);
// NAME where that is given only once, else NAME@CZXID: the transaction that made the node.
[[nodiscard]] QByteArray nodeContenderId(const NodeName &name, qint64 czxid);
// VALUE@EXPIRY (milliseconds since 1970, by the server): for keys whose value is the same for every holder.
[[nodiscard]] QByteArray constantContenderId(const QByteArray &value, qint64 expiryMs);
// Whether `id` is `bare` with what makes it unmistakable behind it.
[[nodiscard]] bool isFullFormOf(const QByteArray &id, const QByteArray &bare);

} // namespace lockscope::recipes
