// SPDX-License-Identifier: Apache-2.0
// What a contender is called, so that its name never comes to mean another one: recipes say it when they
// have a lock, the inspector shows it, force-release takes it.
#pragma once

#include "core/base/bytes.h"

namespace lockscope::recipes {

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
