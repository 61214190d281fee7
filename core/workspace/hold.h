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

// One contender of ours on a connection: its lock, with what that stands on and what the backend has beside it. Made
// by the connection's link; HeldLock (hold.h) does with it what is the same for all.

struct HoldRequest {
    inspect::LockName lock;
    QByteArray recipe;
    bool readMode = false;
    int limit = 1;
    std::chrono::milliseconds ttl{30'000};
    bool isLimitGiven = true; // see recipes::AcquireOptions

    [[nodiscard]] recipes::AcquireOptions options() const { return {readMode, limit, ttl, isLimitGiven}; }
};

class OwnContender {
public:
    virtual ~OwnContender() = default;

    // A session of its own, as any other client would have, and a little patience until it stands; at once where the
    // link's connection does.
    [[nodiscard]] virtual Task<Result<void>> connect(Deadline) { co_return Result<void>(); }
    // It is outlived by the contender.
    [[nodiscard]] virtual Result<std::unique_ptr<recipes::Lock>> makeLock() = 0;
    // Locks below that name whose leases are parts of one that several may hold at once, the first of them (kazoo's
    // MultiNonBlockingLease: folders 0, 1, …, tried in this order).
    [[nodiscard]] virtual std::vector<QByteArray> leasesBelow() const { return {}; }
    // Other names under which somebody may hold the same, whom the recipe would not wait for.
    [[nodiscard]] virtual std::vector<QByteArray> otherNames() const { return {}; }
    // What the inspector calls our hold, as far as that is the server's to say; asked outside of the recipe's counts.
    [[nodiscard]] virtual Task<QByteArray> idOf(QByteArray granted) { co_return granted; }

    // The time it is held. All outlive what is launched.
    struct Holding {
        Scope &scope;
        recipes::Lock &lock;
        const bool &isReleasing;
        std::function<void(recipes::Loss)> lost;
    };
    // Looks to it, beside the recipe, that we learn when our node or key is taken away.
    virtual void watchOver(const Holding &holding, const recipes::Grant &grant) = 0;
    // Whether what it holds ends with its own session: to close that is no write, and so is done on a connection that
    // was made read-only meanwhile.
    [[nodiscard]] virtual bool isGivenBackBySession() const { return false; }
    // Whether a release that got no answer is still being followed up over a session of its own.
    [[nodiscard]] virtual bool isCleaningUp() const { return false; }
    // What it holds ends by itself so long after the servers last had word of it; zero: by the TTL that was asked
    // for.
    [[nodiscard]] virtual std::chrono::milliseconds sessionTimeout() const { return {}; }
};

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
