// SPDX-License-Identifier: Apache-2.0
// One contender of ours: acquires a lock by a recipe, holds it, watches its own node or key so that it
// learns at once when it is taken away, and gives it back. For the window and the terminal alike.
//
// The watching stands beside the recipe and is not counted as part of it. A ZooKeeper contender has a
// session of its own, as any other client would. Loop thread only; destroying it while it waits
// cancels, destroying it while it holds releases in the background.
#pragma once

#include "core/workspace/workspace.h"

namespace lockscope {

class HeldLock {
public:
    HeldLock(Workspace &workspace, HoldRequest request);

    [[nodiscard]] const HoldRequest &request() const { return m_request; }
    // The wait counts from connected. Errors as recipes::Lock::acquire; Refused on a read-only link.
    [[nodiscard]] Task<Result<recipes::Grant>> acquire(std::optional<std::chrono::milliseconds> wait);
    // Completes with why, when the lock is lost while held.
    [[nodiscard]] Completion<QString> lost() const { return m_lost; }
    // On a link made read-only since, the contender's own session is closed instead: it holds nothing else.
    // Refused where the lock is not the session's: a Redis key ends with its lease, a version is not written.
    [[nodiscard]] Task<Result<void>> release(Deadline deadline);
    // Whether a release that got no answer is still being followed up. The link may have such work, too.
    [[nodiscard]] bool isCleaningUp() const { return m_contender && m_contender->isCleaningUp(); }
    // Where it ends with a session of our own: how long after the servers last had word of that. Else zero.
    [[nodiscard]] std::chrono::milliseconds sessionTimeout() const
    {
        return m_contender ? m_contender->sessionTimeout() : std::chrono::milliseconds{};
    }

private:
    Task<Result<void>> refuseBesideOthers(Link *link, Deadline deadline);
    Task<Result<void>> refuseBeside(Link *link, QByteArray name, Deadline deadline);
    Task<Result<void>> refuseUnderOtherNames(Link *link, Deadline deadline);
    Task<Error> explained(Link *link, Error timedOut);
    [[nodiscard]] Error couldNotLook(const Error &why) const;
    void watchOver(const recipes::Grant &grant);
    void closeSession();
    Task<void> heedRecipe();

    Workspace &m_workspace;
    HoldRequest m_request;
    const recipes::RecipeInfo &m_recipe;
    std::unique_ptr<OwnContender> m_contender;
    std::unique_ptr<recipes::Lock> m_lock;
    Completion<QString> m_lost;
    bool m_releasing = false;
    Scope m_scope; // last: its coroutines use everything above
};

} // namespace lockscope
