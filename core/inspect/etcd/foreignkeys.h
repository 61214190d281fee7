// SPDX-License-Identifier: Apache-2.0
// Keys below a lock's PREFIX/ that are no claims of it: clients of the lock wait for each of them that is older than
// their own key, whatever it is. Pure.
#pragma once

#include "core/etcd/client.h"
#include "core/inspect/snapshot.h"

#include <set>

namespace lockscope::inspect {

// The oldest of them, by the revision that created them.
struct EtcdForeign {
    std::vector<etcd::KeyValue> keys;
    etcd::Revision knownTo = 0; // of those made later nothing is known; 0: all are here
};
// How many of one lock are kept: enough to name who is in the way.
inline constexpr std::size_t mostForeignKeys = 16;

void noteForeign(EtcdForeign &foreign, const etcd::KeyValue &entry);
[[nodiscard]] bool forgetForeign(EtcdForeign &foreign, const QByteArray &key); // whether it was there
// The youngest of them between two revisions: who came at the later one waits for it. Null: none is known.
[[nodiscard]] const etcd::KeyValue *youngestBetween(const EtcdForeign &foreign, etcd::Revision after,
                                                    etcd::Revision before);
// Every PREFIX for which the key is below PREFIX/, the outermost first.
[[nodiscard]] std::vector<QByteArray> prefixesOf(const QByteArray &key);
// "path/1, which has no lease and never ends by itself".
[[nodiscard]] QString foreignText(const etcd::KeyValue &entry);
// The command that deletes this very key and no later one of its name; empty where a shell would read its name as
// something else.
[[nodiscard]] QString etcdctlDelete(const QByteArray &key, etcd::Revision created);

// Of keys that have a lease and are no claims.
[[nodiscard]] QString unexplainedText(const std::set<QByteArray> &keys, bool areAll);
// Why nothing can be shown at that name. Free (NoNode) only where nothing is left that a client may hold or wait for.
[[nodiscard]] Error noLock(const QByteArray &name, const EtcdForeign &others);

} // namespace lockscope::inspect
