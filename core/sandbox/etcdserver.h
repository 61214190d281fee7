// SPDX-License-Identifier: Apache-2.0
// A private etcd, as those of server.h.
#pragma once

#include "core/sandbox/server.h"

namespace lockscope::sandbox {

[[nodiscard]] Result<std::unique_ptr<Server>> makeEtcd(QByteArrayList moreArguments = {});

} // namespace lockscope::sandbox
