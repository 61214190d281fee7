// SPDX-License-Identifier: Apache-2.0
// The locks that the window itself acquires, holds and releases. Loop thread only.
#pragma once

#include "core/async/scope.h"
#include "core/workspace/hold.h"
#include "core/workspace/requests.h"

namespace lockscope {

class OwnHolds {
public:
    // `tell` hears of every change of a hold; `launch` runs a task that ends with that connection.
    using Tell = std::function<void(const Hold &)>;
    using Launch = std::function<void(const ConnectionName &, Task<void>)>;
    OwnHolds(Workspace &workspace, Tell tell, Launch launch);
    ~OwnHolds();

    void acquire(quint64 id, AcquireRequest request);
    void release(quint64 id);
    // Whether something is held or waited for there.
    [[nodiscard]] bool areOn(const ConnectionName &name) const;
    // The connection is closed, after its tasks. A session of its own lets go when it closes; what is left of a lease
    // ends with its TTL.
    void abandon(const ConnectionName &name);
    // Gives back what is held and gives up what is waited for; then, or when the time is over, what is not known to
    // be free, in words.
    void releaseAll(Duration atMost, std::function<void(QStringList)> done);

private:
    struct OwnHold {
        Hold hold;
        std::unique_ptr<HeldLock> lock;
        std::unique_ptr<Scope> scope; // of the coroutine inside `lock`; dies first
        bool isReleasing = false;     // the release is under way
        bool isLeft = false;          // it was not given back, as far as we know
    };

    Task<void> run(quint64 id);
    Task<void> end(quint64 id);
    Task<void> endAll(Duration atMost, std::function<void(QStringList)> done);

    Workspace &m_workspace;
    Tell m_tell;
    Launch m_launch;
    std::map<quint64, OwnHold> m_holds;
    Scope m_farewell; // last: its coroutine uses everything above
};

} // namespace lockscope
