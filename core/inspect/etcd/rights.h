// SPDX-License-Identifier: Apache-2.0
// What the user of a connection may do in an etcd, by the server's own word.
#pragma once

#include "core/async/task.h"
#include "core/etcd/client.h"

#include <QStringList>

namespace lockscope::inspect {

// A sentence each.
[[nodiscard]] QStringList etcdRightsOf(const etcd::AccessRights &access);
// The prefixes below `prefix` of which the user may read every key, none of them below another, in order.
[[nodiscard]] QByteArrayList readablePrefixes(const etcd::AccessRights &access, const QByteArray &prefix);
// Which of several to name in the URI, and how; or that there is none.
[[nodiscard]] QString prefixToChoose(const QByteArrayList &prefixes);
// The rights, asked; where that is refused, that. `client` outlives the task.
[[nodiscard]] Task<QStringList> etcdRights(etcd::Client *client, Deadline deadline);

} // namespace lockscope::inspect
