// SPDX-License-Identifier: Apache-2.0
// What blocks in libzookeeper, off the loop: name lookup when a handle is opened, the farewell when it
// is closed.
#pragma once

#include "core/zookeeper/mailbox.h"

#include <functional>
#include <memory>

namespace lockscope::zk {

// Any thread.
void runInBackground(std::function<void()> work);
// Any thread. `mailbox` is what the handle's callbacks use; it is let go when the handle is closed.
// waitForClosingSessions() waits for these.
void closeInBackground(zhandle_t *handle, std::shared_ptr<Mailbox> mailbox);

} // namespace lockscope::zk
