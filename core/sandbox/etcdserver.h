// SPDX-License-Identifier: Apache-2.0
// A private etcd, as those of server.h.
#pragma once

#include "core/sandbox/server.h"

namespace lockscope::sandbox {

struct EtcdOptions {
    QByteArrayList moreArguments = {};
    const Certificates *tls = nullptr; // as those of server.h
};
[[nodiscard]] Result<std::unique_ptr<Server>> makeEtcd(EtcdOptions options = {});

} // namespace lockscope::sandbox
