// SPDX-License-Identifier: Apache-2.0
// Logging categories. Every line carries session and path; secrets never.
#pragma once

#include <QLoggingCategory>

namespace lockscope {

Q_DECLARE_LOGGING_CATEGORY(logZooKeeper) // lockscope.zk
Q_DECLARE_LOGGING_CATEGORY(logRedis)     // lockscope.redis
Q_DECLARE_LOGGING_CATEGORY(logMariaDb)   // lockscope.sql
Q_DECLARE_LOGGING_CATEGORY(logTransport) // lockscope.passage
Q_DECLARE_LOGGING_CATEGORY(logInspect)   // lockscope.inspect
Q_DECLARE_LOGGING_CATEGORY(logSandbox)   // lockscope.sandbox

} // namespace lockscope
