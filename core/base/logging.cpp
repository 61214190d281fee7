// SPDX-License-Identifier: Apache-2.0
#include "core/base/logging.h"

namespace lockscope {

Q_LOGGING_CATEGORY(logZooKeeper, "lockscope.zk", QtInfoMsg)
Q_LOGGING_CATEGORY(logRedis, "lockscope.redis", QtInfoMsg)
Q_LOGGING_CATEGORY(logMariaDb, "lockscope.sql", QtInfoMsg)
Q_LOGGING_CATEGORY(logTransport, "lockscope.passage", QtInfoMsg)
Q_LOGGING_CATEGORY(logInspect, "lockscope.inspect", QtInfoMsg)
Q_LOGGING_CATEGORY(logSandbox, "lockscope.sandbox", QtInfoMsg)

} // namespace lockscope
