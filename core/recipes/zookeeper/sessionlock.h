// What the ZooKeeper recipes share: they differ only in how they enter. Release, "still mine?", loss
// with the session, cancelling and the fencing token are the same for all of them.
#pragma once

#include "core/async/scope.h"
#include "core/base/random.h"
#include "core/recipes/lock.h"
#include "core/recipes/zookeeper/place.h"

namespace lockscope::recipes {

class SessionLock : public Lock {
public:
    SessionLock(zk::Session &session, ZPath path, Random random);
    ~SessionLock() override;

    Task<Result<Grant>> acquire(Deadline deadline) final;
    Task<Result<bool>> release(Deadline deadline) final;
    Task<Result<bool>> isStillMine(Deadline deadline) final;
    [[nodiscard]] OneShot<Loss> lost() const final { return m_lost; }

protected:
    // The recipe: comes back with the place that holds the lock.
    virtual Task<Result<Place>> enter(Deadline deadline) = 0;

    [[nodiscard]] zk::Session *session() const { return m_session; }
    [[nodiscard]] const Janitor &janitor() const { return m_janitor; }
    [[nodiscard]] const ZPath &path() const { return m_path; }
    [[nodiscard]] Random &random() { return m_random; }

private:
    class Attempt;

    Task<void> run(Deadline deadline, OneShot<Result<Grant>> outcome);
    void abandon();
    void sessionChanged(zk::SessionState state);
    [[nodiscard]] QString name() const;

    zk::Session *m_session;
    ZPath m_path;
    Random m_random;
    Janitor m_janitor;
    std::optional<Place> m_held;
    std::optional<OneShot<Result<Grant>>> m_attempt;
    OneShot<Loss> m_lost;
    std::shared_ptr<SessionLock *> m_self; // lets an acquire() know whether we still live
    zk::StateSubscription m_states;
    Scope m_entering; // last: its coroutines use everything above
};

} // namespace lockscope::recipes
