#include "core/recipes/zookeeper/sessionlock.h"

#include "core/base/text.h"
#include "core/recipes/zookeeper/waiting.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

namespace {

bool isOver(zk::SessionState state)
{
    return state != zk::SessionState::Connecting && state != zk::SessionState::Connected;
}

} // namespace

// Lives in the frame of acquire(). If that frame is destroyed before it had its answer, the lock
// must not be taken by nobody.
class SessionLock::Attempt {
public:
    explicit Attempt(std::weak_ptr<SessionLock *> lock) : m_lock(std::move(lock)) {}
    Attempt(const Attempt &) = delete;
    Attempt &operator=(const Attempt &) = delete;
    ~Attempt()
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
    std::weak_ptr<SessionLock *> m_lock;
};

SessionLock::SessionLock(zk::Session &session, ZPath path, Random random)
    : m_session(&session), m_path(std::move(path)), m_random(std::move(random)), m_janitor(session),
      m_lost(session.loop()), m_self(std::make_shared<SessionLock *>(this)), m_entering(session.loop())
{
    m_states = session.onState([this](zk::SessionState state) { sessionChanged(state); });
}

SessionLock::~SessionLock()
{
    m_self.reset();
    m_entering.cancelAll();
    if (m_attempt)
        m_attempt->complete(Error{ErrorCode::Cancelled, u"cancelled: "_s + name() + u" is not wanted any more"_s});
}

Task<Result<Grant>> SessionLock::acquire(Deadline deadline)
{
    if (m_attempt || m_held)
        co_return Error{ErrorCode::BadInput, name() + u" is held or being acquired by this object already"_s};
    if (m_lost.isComplete())
        m_lost = OneShot<Loss>(m_session->loop());
    // The recipe runs in a coroutine of ours, so that both ends may let go: whoever waits here, and
    // whoever destroys the lock.
    const OneShot<Result<Grant>> outcome(m_session->loop());
    m_attempt = outcome;
    Attempt attempt(m_self);
    m_entering.launch(run(deadline, outcome));
    auto result = co_await outcome;
    attempt.answered(); // `this` may be gone by now
    co_return result;
}

Task<void> SessionLock::run(Deadline deadline, OneShot<Result<Grant>> outcome)
{
    auto entered = co_await enter(deadline);
    if (entered && isOver(m_session->state()))
        entered = Error{ErrorCode::SessionExpired, u"the session ended just when the lock was ours"_s};
    if (entered) {
        m_held.emplace(std::move(*entered));
        outcome.complete(Grant{m_held->node().bytes(), m_held->created().stat.czxid});
        co_return;
    }
    Error why = entered.error();
    why.message = u"cannot acquire %1: %2"_s.arg(name(), why.message);
    auto tidied = m_janitor.tidy(answerBy(*m_session, Deadline::at(m_session->loop().now())));
    const bool clean = co_await tidied;
    if (!clean && why.code == ErrorCode::TimedOut) {
        why.code = ErrorCode::UnknownOutcome;
        why.message += u"; our node is not confirmed to be gone yet, it is being taken away in the background"_s;
    }
    outcome.complete(why);
}

void SessionLock::abandon()
{
    m_entering.cancelAll();
    m_attempt.reset();
    m_held.reset();
}

Task<Result<bool>> SessionLock::release(Deadline deadline)
{
    if (!m_held)
        co_return Error{ErrorCode::NotHeld, name() + u" is not held by us"_s};
    const auto what = name();
    const std::weak_ptr<SessionLock *> self = m_self;
    Place place(std::move(*m_held));
    m_held.reset();
    auto removal = m_session->remove(place.path(), zk::anyVersion, answerBy(*m_session, deadline));
    place.doubt(); // if the answer is lost or nobody waits for it any more, the janitor sees to it
    const auto removed = co_await removal;
    if (!removed && isConnectionTrouble(removed.error()))
        co_return Error{removed.error().code,
                        u"%1 may still be held, its node is being taken away in the background: %2"_s.arg(
                            what, removed.error().message)};
    const bool notOurs = !removed
        && (removed.error().code == ErrorCode::NoNode || removed.error().code == ErrorCode::SessionExpired);
    if (!removed && !notOurs && !self.expired() && !m_attempt && !m_held) {
        place.trust(); // refused: it stands, and it is ours still
        m_held.emplace(std::move(place));
        co_return removed.error();
    }
    place.forget();
    if (notOurs)
        co_return Error{ErrorCode::NotHeld, u"%1 was not ours any more: %2"_s.arg(what, removed.error().message)};
    co_return removed;
}

Task<Result<bool>> SessionLock::isStillMine(Deadline deadline)
{
    if (!m_held)
        co_return false;
    const zk::Created node = m_held->created();
    auto looking = m_session->exists(node.path, std::nullopt, deadline);
    const auto seen = co_await looking;
    if (seen)
        co_return seen->czxid == node.stat.czxid;
    if (seen.error().code == ErrorCode::NoNode || seen.error().code == ErrorCode::SessionExpired)
        co_return false;
    co_return seen.error();
}

void SessionLock::sessionChanged(zk::SessionState state)
{
    if (!isOver(state) || !m_held)
        return;
    m_held->forget(); // the server takes it away
    m_held.reset();
    m_lost.complete(Loss::SessionOver);
}

QString SessionLock::name() const
{
    return u"lock "_s + label(m_path.bytes());
}

} // namespace lockscope::recipes
