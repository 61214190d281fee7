// What blocks in libzookeeper, off the loop: name lookup when a handle is opened, the farewell when it
// is closed.
#pragma once

#include <functional>
#include <memory>

typedef struct _zhandle zhandle_t;

namespace lockscope::zk {

// Any thread.
void runInBackground(std::function<void()> work);
// Any thread. `keepAlive` is what the handle's callbacks use; it is let go when the handle is closed.
// waitForClosingSessions() waits for these.
void closeInBackground(zhandle_t *handle, std::shared_ptr<void> keepAlive);

} // namespace lockscope::zk
