// SPDX-License-Identifier: Apache-2.0
// Who knocks at a door on 127.0.0.1: any user of this machine can. Only this process is let in.
#pragma once

#include <QByteArray>

#include <optional>

namespace lockscope::passage {

// The inode of the socket bound to 127.0.0.1:local and connected to 127.0.0.1:remote, in the form of /proc/net/tcp.
// Pure.
[[nodiscard]] std::optional<QByteArray> socketInode(const QByteArray &table, quint16 local, quint16 remote);
// Whether the other end of what came to `door` from `peer` is a socket of this process; nothing when it is gone
// already.
[[nodiscard]] std::optional<bool> isOwnPeer(quint16 peer, quint16 door);

} // namespace lockscope::passage
