// SPDX-License-Identifier: Apache-2.0
// Who may do what: ZooKeeper's access lists with the schemes world, digest, ip and auth.
#pragma once

#include "core/zookeeper/session.h"

namespace lockscope::world::zookeeper {

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

} // namespace lockscope::world::zookeeper
