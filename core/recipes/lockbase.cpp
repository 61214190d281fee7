// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/lockbase.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

// Lives in the frame of acquire(). If that frame is destroyed before it had its answer, the lock must
// not end up held by nobody.
class LockBase::Waiting {
public:
    explicit Waiting(std::weak_ptr<LockBase *> lock) : m_lock(std::move(lock)) {}
    Waiting(const Waiting &) = delete;
    Waiting &operator=(const Waiting &) = delete;
    ~Waiting()
    {
        if (const auto lock = m_lock.lock())
            (*lock)->abandon();
    }
    void answered()
    {
        if (const auto lock = m_lock.lock())
            (*lock)->m_attempt.reset();
        m_lock.reset();
    }

private:
    std::weak_ptr<LockBase *> m_lock;
};

LockBase::LockBase(Loop &loop, QString name)
    : m_loop(loop), m_name(std::move(name)), m_lost(loop), m_self(std::make_shared<LockBase *>(this))
{
}

LockBase::~LockBase() = default;

void LockBase::shutDown()
{
    m_self.reset();
    m_taking.cancel();
    letGo();
    if (m_attempt)
        m_attempt->complete(Error{ErrorCode::Cancelled, u"cannot acquire %1: cancelled"_s.arg(m_name)});
}

Task<Result<Grant>> LockBase::acquire(Deadline deadline)
{
    // Of 100,000 who wait each has this frame: it has no room for an answer, that stays here.
    const Completion<Result<Grant>> outcome(m_loop);
    if (m_attempt || isHeld()) {
        co_await acquireAgain(deadline, outcome);
        co_return outcome.value();
    }
    if (m_lost.isComplete())
        m_lost = Completion<Loss>(m_loop);
    // The recipe runs in a coroutine of its own, so that destroying the lock can end it, too.
    m_attempt = outcome;
    Waiting waiting(m_self);
    m_taking.launch(run(deadline, outcome));
    co_await outcome.arrival();
    waiting.answered(); // `this` may be gone by now
    co_return outcome.value();
}

// With a frame of its own: of 100,000 who wait none needs its room.
Task<void> LockBase::acquireAgain(Deadline deadline, Completion<Result<Grant>> outcome)
{
    if (m_attempt) {
        outcome.complete(Error{ErrorCode::BadInput, u"%1 is being acquired by this object already"_s.arg(m_name)});
        co_return;
    }
    auto again = co_await reenter(deadline);
    outcome.complete(std::move(again));
}

Task<Result<Grant>> LockBase::reenter(Deadline /*deadline*/)
{
    co_return Error{ErrorCode::BadInput, u"%1 is held by this object already, and not reentrant"_s.arg(m_name)};
}

Task<void> LockBase::run(Deadline deadline, Completion<Result<Grant>> outcome)
{
    auto taken = co_await take(deadline);
    if (!taken)
        taken = refused(taken.error());
    outcome.complete(std::move(taken));
}

Error LockBase::refused(Error why) const
{
    why.message = u"cannot acquire %1: %2"_s.arg(m_name, why.message);
    return why;
}

void LockBase::abandon()
{
    m_taking.cancel();
    m_attempt.reset();
    letGo();
}

} // namespace lockscope::recipes
