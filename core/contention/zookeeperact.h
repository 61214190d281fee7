// SPDX-License-Identifier: Apache-2.0
// What a client of ZooKeeper does beside its lock, in the words of ZooKeeper's own shell (zkCli.sh):
//
//     create [-e] [-s] PATH [DATA]   set PATH DATA   delete PATH   sync PATH
//     get [-w] PATH   stat [-w] PATH   ls [-w] PATH          (-w leaves a watch)
//
// and, for data nobody wants to write out, `-size N` bytes in the place of DATA.
#pragma once

#include "core/base/result.h"
#include "core/zookeeper/session.h"

namespace lockscope::contention {

// BadInput says what can be done.
[[nodiscard]] Result<void> checkZooKeeperAct(const QByteArray &command);
// What came of it, in a few words; of what cannot be done, why. The session outlives it.
[[nodiscard]] Completion<QByteArray> doOnZooKeeper(zk::Session &session, const QByteArray &command);

} // namespace lockscope::contention
