// SPDX-License-Identifier: Apache-2.0
// Snapshots as the JSON of docs/json.md ("schema": "lockscope/1"), and the one-sentence
// answer that every view of a lock begins with.
#pragma once

#include "core/inspect/snapshot.h"

#include <QJsonArray>
#include <QJsonObject>

namespace lockscope::inspect {

[[nodiscard]] QJsonObject toJson(const LockSnapshot &lock);
[[nodiscard]] QJsonObject toJson(const EndedDeadlock &deadlock);
[[nodiscard]] QJsonArray toJson(const std::vector<Coverage> &coverage);
[[nodiscard]] QJsonArray toJson(const std::vector<FindingPlace> &places); // [{lock, id}…]
// `now` is the server's clock; ours when it is not known.
[[nodiscard]] QJsonObject toJson(const SessionSnapshot &session, std::optional<ServerTime> now = std::nullopt);
[[nodiscard]] QString isoTime(ServerTime time);

// "/locks/orders is held by 10.0.3.7 for 4 m 12 s; 3 wait, the oldest 3 m 58 s", at the server's `now`. Past: "was
// held by".
enum class Tense { Present, Past };
[[nodiscard]] QString answerSentence(const LockSnapshot &lock, ServerTime now, Tense tense = Tense::Present);
// The words of the JSON: "contended", "curator-mutex" stays as it is, "waiter" …
[[nodiscard]] QString word(LockState state);
[[nodiscard]] QString word(Role role);
[[nodiscard]] QString word(Mode mode);
[[nodiscard]] QString word(Confidence confidence);
[[nodiscard]] QString word(Severity severity);
[[nodiscard]] QString word(ChangeKind change);
[[nodiscard]] QString word(FindingCode code);

} // namespace lockscope::inspect
