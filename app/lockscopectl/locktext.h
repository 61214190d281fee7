// SPDX-License-Identifier: Apache-2.0
// Locks in words for people: the cells of tables, escaped.
#pragma once

#include "core/history/recording.h"
#include "core/inspect/waits/waitgraph.h"
#include "core/workspace/mutes.h"

#include <QJsonArray>

namespace lockscope::ctl {

// "● held": shape and word, so that neither colour nor a font is needed to tell states apart.
// "ID (what the user calls its client)".
[[nodiscard]] QString idWithLabel(const inspect::LockSnapshot &lock, const QByteArray &id);
[[nodiscard]] QString stateWord(const inspect::LockSnapshot &lock);
[[nodiscard]] QString roleSign(inspect::Role role);
// One name for a client: its label, what it calls itself, its address, its session, the ID of the contender.
[[nodiscard]] QString clientText(const inspect::Contender &contender, BackendKind backend);
[[nodiscard]] QString roleWord(inspect::Role role);
// "session 0x1000009b4890001"; empty where it is not known.
[[nodiscard]] QString sessionText(const inspect::Contender &contender, BackendKind backend);
// The first holder, named as everywhere, and how many others there are; empty where no client holds the lock.
[[nodiscard]] QString holderText(const inspect::LockSnapshot &lock);
[[nodiscard]] QString waitingWords(const inspect::LockSnapshot &lock);
// How long the first holder holds it: "≤ 4 m 12 s" where that is the most it can be.
[[nodiscard]] QString ageWords(const inspect::LockSnapshot &lock, inspect::ServerTime now);
[[nodiscard]] QString ageWords(const inspect::Contender &contender, inspect::ServerTime now);
// What it wrote about itself, and in brackets what its connection calls itself.
[[nodiscard]] QString identityWords(const inspect::Contender &contender);
[[nodiscard]] QString watchWords(const inspect::Contender &contender);
[[nodiscard]] QString findingWords(const inspect::LockSnapshot &lock);
// Its names in JSON, of what is held beside this lock: `heldWith`.
[[nodiscard]] QJsonArray namesBeside(const inspect::LockSnapshot &lock, const std::vector<QByteArray> &others);
// "of 1 lock no server says who waits: redis:lock:job", empty where there is none: a deadlock over it cannot be seen.
[[nodiscard]] QStringList unseenWaiterWords(const inspect::WaitGraph &graph);
[[nodiscard]] QJsonArray waitersUnknownJson(const inspect::WaitGraph &graph);
// Where not all servers could be read for it.
[[nodiscard]] inspect::Coverage deadlocksUnknown(const ConnectionName &name);
// What else of a deadlock would not be found: in words, and the connections in JSON.
[[nodiscard]] QStringList unlinkedWords(const inspect::WaitGraph &graph);
[[nodiscard]] QJsonArray unlinkedJson(const inspect::WaitGraph &graph);
// The mutes of that moment. None where their file is broken, which is reported on stderr.
[[nodiscard]] std::vector<Mute> mutesAt(history::Moment moment);
// Text of ours that may hold text of theirs (an endpoint, a client's name).
[[nodiscard]] QString shown(const QString &text);
[[nodiscard]] QString shown(const std::optional<QString> &text);

} // namespace lockscope::ctl
