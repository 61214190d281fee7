// SPDX-License-Identifier: Apache-2.0
// What a server does with one request, looking at its tree only: which change it makes or why it is refused,
// in the order in which the real server asks, and what a read answers.
#pragma once

#include "core/world/zookeeper/tree.h"
#include "core/zookeeper/session.h"

namespace lockscope::world::zookeeper {

// Who may do what: ZooKeeper's access lists with the schemes world, digest, ip and auth.
struct Identity {
    QByteArray scheme;
    QByteArray id;
    friend bool operator==(const Identity &, const Identity &) = default;
};
using Identities = std::vector<Identity>;

// What these credentials prove; none for a scheme that the servers do not know.
[[nodiscard]] std::optional<Identity> identify(const QByteArray &scheme, const QByteArray &credentials);
[[nodiscard]] bool isAllowed(const zk::Acls &acls, int permissions, const Identities &who);
// As it is stored: "auth" replaced by who asks. None if the servers do not take it.
[[nodiscard]] std::optional<zk::Acls> fixedUp(const zk::Acls &acls, const Identities &who);
// As it is shown to who may not change it.
[[nodiscard]] zk::Acls withoutSecrets(zk::Acls acls);

struct Caller {
    quint64 session = 0;
    const Identities *identities = nullptr;
};

struct Verdict {
    Code code = Code::Ok;
    std::optional<Change> change; // a check makes none
};
// Create, Remove, Set, SetAcls, Check.
[[nodiscard]] Verdict judge(Tree &tree, const Request &request, const Caller &caller);
// Of the node of that path.
[[nodiscard]] Change removalOf(const Znode &node, const ZPath &path);
// Get, Exists, Children, Acls; the watch is not its business. `existsNeedsRead`: it is of a version that asks.
[[nodiscard]] Answer read(const Tree &tree, const Request &request, const Identities &who, bool existsNeedsRead);

[[nodiscard]] bool isWrite(Verb verb);

} // namespace lockscope::world::zookeeper
