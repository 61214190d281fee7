// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/lockbase.h"

#include "core/base/text.h"

#include <QNetworkInterface>
#include <QUuid>

namespace lockscope::recipes {

// Lives in the frame of acquire(). If that frame is destroyed before it had its answer, the lock must
// not end up held by nobody.
class LockBase::Waiting {
public:
    explicit Waiting(LockBase &lock) : m_lock(&lock) { lock.m_waiting = this; }
    Q_DISABLE_COPY(Waiting)
    ~Waiting()
    {
        if (auto *const lock = left())
            lock->abandon();
    }
    void answered()
    {
        if (auto *const lock = left())
            lock->m_attempt.reset();
    }
    void lockIsGone() { m_lock = nullptr; }

private:
    [[nodiscard]] LockBase *left()
    {
        auto *const lock = std::exchange(m_lock, nullptr);
        if (lock)
            lock->m_waiting = nullptr;
        return lock;
    }

    LockBase *m_lock;
};

LockBase::LockBase(Loop &loop, QByteArray lock) : m_loop(loop), m_lock(std::move(lock)) {}

LockBase::~LockBase() = default;

void LockBase::shutDown()
{
    m_isShutDown = true;
    m_self.reset();
    if (auto *const waiting = std::exchange(m_waiting, nullptr))
        waiting->lockIsGone();
    m_taking.cancel();
    letGo();
    if (m_attempt)
        m_attempt->complete(answer(Error{ErrorCode::Cancelled, u"cannot acquire %1: cancelled"_s.arg(name())}));
}

QString LockBase::name() const
{
    return u"lock "_s + label(m_lock);
}

std::weak_ptr<LockBase *> LockBase::self()
{
    if (!m_self && !m_isShutDown)
        m_self = freelist::makeShared<LockBase *>(this);
    return m_self;
}

Completion<Loss> LockBase::lost() const
{
    if (!m_lost)
        m_lost.emplace(m_loop);
    return *m_lost;
}

Task<Result<Grant>> LockBase::acquire(Deadline deadline)
{
    // Of 100,000 who wait each has this frame: it has no room for an answer, that stays here.
    const Completion<Answer> outcome(m_loop);
    if (m_attempt || isHeld()) {
        co_await acquireAgain(deadline, outcome);
        co_return std::move(*outcome.value());
    }
    if (m_lost && m_lost->isComplete())
        m_lost.reset();
    // The recipe runs in a coroutine of its own, so that destroying the lock can end it, too.
    m_attempt = outcome;
    Waiting waiting(*this);
    m_taking.launch(run(deadline, outcome));
    co_await outcome.arrival();
    waiting.answered(); // `this` may be gone by now
    co_return std::move(*outcome.value());
}

// With a frame of its own: of 100,000 who wait none needs its room.
Task<void> LockBase::acquireAgain(Deadline deadline, Completion<Answer> outcome)
{
    if (m_attempt) {
        outcome.complete(
            answer(Error{ErrorCode::BadInput, u"this lock object is already acquiring %1"_s.arg(name())}));
        co_return;
    }
    auto again = co_await reenter(deadline);
    outcome.complete(answer(std::move(again)));
}

Task<Result<Grant>> LockBase::reenter(Deadline /*deadline*/)
{
    co_return Error{ErrorCode::BadInput, u"%1 is held by this object already, and not reentrant"_s.arg(name())};
}

Task<void> LockBase::run(Deadline deadline, Completion<Answer> outcome)
{
    // Of 100,000 who wait each has this frame, too.
    auto taking = take(deadline);
    co_await taking.finish();
    auto &taken = taking.value();
    if (!taken)
        taken = refused(taken.error());
    outcome.complete(answer(std::move(taken)));
}

Error LockBase::refused(Error why) const
{
    const bool saysForWhom = why.code == ErrorCode::TimedOut && why.isExplained;
    if (!saysForWhom)
        why.message = u"cannot acquire %1: %2"_s.arg(name(), why.message);
    return why;
}

void LockBase::abandon()
{
    m_taking.cancel();
    m_attempt.reset();
    letGo();
}

void WaitGroup::add(Scope &background, Task<bool> work) const
{
    ++m_list->running;
    background.launch(run(m_list, std::move(work)));
}

Completion<bool> WaitGroup::finished(Deadline deadline) const
{
    const Completion<bool> done(*m_list->loop);
    if (m_list->running == 0) {
        done.complete(!std::exchange(m_list->failed, false));
        return done;
    }
    std::erase_if(m_list->waiting, [](const auto &waiting) { return waiting.isComplete(); });
    m_list->waiting.push_back(done);
    done.completeAt(deadline, false);
    return done;
}

Task<void> WaitGroup::run(std::shared_ptr<List> list, Task<bool> work)
{
    const bool succeeded = co_await work;
    --list->running;
    list->failed = list->failed || !succeeded;
    if (list->running > 0)
        co_return;
    for (const auto &waiting : std::exchange(list->waiting, {}))
        waiting.complete(!list->failed);
    list->failed = false;
}

Completion<bool> pauseBetweenTries(Loop &loop, Random &random, Deadline deadline)
{
    const auto pause = 25ms + std::chrono::milliseconds(random.below(51));
    return sleepUntil(loop, std::min<Instant>(loop.now() + pause, deadline.when()));
}

Error lateGrantError(Error why)
{
    if (why.code == ErrorCode::TimedOut) {
        why.code = ErrorCode::UnknownOutcome;
        why.message += clause(u"the lock may have been granted too late and is being released in the background"_s);
    }
    return why;
}

QByteArray uuidToken(Random &random)
{
    QByteArray bytes = random.bytes(16);
    // RFC 4122: version 4, variant 1.
    bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x40);
    bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);
    return QUuid::fromRfc4122(bytes).toByteArray(QUuid::WithoutBraces);
}

namespace {

QByteArray lookUpAddress()
{
    for (const auto &interface : QNetworkInterface::allInterfaces()) {
        if (!interface.flags().testFlags(QNetworkInterface::IsUp | QNetworkInterface::IsRunning))
            continue;
        for (const auto &entry : interface.addressEntries()) {
            if (entry.ip().protocol() == QAbstractSocket::IPv4Protocol && !entry.ip().isLoopback())
                return entry.ip().toString().toLatin1();
        }
    }
    return {};
}

} // namespace

QByteArray hostAddress()
{
    using Clock = std::chrono::steady_clock;
    // Asking the system for its interfaces takes longer than a whole lock in memory; they hardly ever change.
    static thread_local QByteArray known;
    static thread_local std::optional<Clock::time_point> since;
    const auto now = Clock::now();
    if (!since || now - *since > std::chrono::seconds(1)) {
        known = lookUpAddress();
        since = now;
    }
    return known;
}

KeepAlive::KeepAlive(Loop &loop, std::chrono::milliseconds ttl, Instant asked, Prolong prolong,
                     std::function<void(Loss)> onEnd)
    : m_loop(&loop), m_prolong(std::move(prolong)), m_onEnd(std::move(onEnd)), m_keeping(loop)
{
    restart(ttl, asked);
}

void KeepAlive::restart(std::chrono::milliseconds ttl, Instant asked)
{
    m_keeping.cancelAll();
    m_ttl = ttl;
    m_validUntil = validUntil(asked, ttl);
    m_next = m_prolong ? asked + ttl / 3 : m_validUntil;
    m_keeping.launch(keep());
}

Instant KeepAlive::validUntil(Instant asked, std::chrono::milliseconds ttl)
{
    return asked + ttl - ttl / 100 - 2ms;
}

Task<void> KeepAlive::keep()
{
    for (;;) {
        const auto until = std::min(m_next, m_validUntil);
        co_await sleepUntil(*m_loop, until);
        if (m_loop->now() < until)
            continue; // a clock whose rate changed: woken early
        if (m_loop->now() >= m_validUntil) {
            end(Loss::LeaseOver);
            co_return;
        }
        const auto sent = m_loop->now();
        const auto prolonged = co_await m_prolong(m_ttl, Deadline::at(m_validUntil));
        if (!prolonged) {
            m_next = m_loop->now() + std::max<Duration>(m_ttl / 20, 1ms); // trouble: there is time to try again
        } else if (*prolonged) {
            m_validUntil = validUntil(sent, m_ttl);
            m_next = sent + m_ttl / 3;
        } else {
            end(Loss::TakenAway);
            co_return;
        }
    }
}

void KeepAlive::end(Loss loss)
{
    m_isEnded = true;
    m_onEnd(loss);
}

// All or none.
//   1. Acquire the members one after the other, all by one deadline.
//   2. One fails: give back those we have, the last one first, and report that failure.
//   3. To release, give all back, the last one first, whatever becomes of each.

namespace {

Task<void> giveBack(Lock *member)
{
    const auto never = Deadline::never();
    (void)co_await member->release(never); // each follows up by itself what becomes of that
}

} // namespace

// In the frame of release(): if nobody waits for it any more, the rest is given back all the same.
class MultiLock::Remainder {
public:
    explicit Remainder(std::weak_ptr<LockBase *> lock) : m_lock(std::move(lock)) {}
    Q_DISABLE_COPY(Remainder)
    ~Remainder()
    {
        if (const auto lock = m_lock.lock())
            static_cast<MultiLock *>(*lock)->letGo();
    }
    void isDone() { m_lock.reset(); }

private:
    std::weak_ptr<LockBase *> m_lock;
};

MultiLock::MultiLock(Loop &loop, std::vector<std::unique_ptr<Lock>> members)
    : LockBase(loop, {}), m_members(std::move(members)), m_givingBack(loop)
{
}

Task<Result<Grant>> MultiLock::take(Deadline deadline)
{
    m_grants.clear();
    std::optional<Error> why;
    QByteArray ids;
    for (const auto &member : m_members) {
        auto granted = co_await member->acquire(deadline); // 1
        if (!granted) {
            why = granted.error();
            break;
        }
        m_owed.push_back(member.get());
        watchForLoss(*member);
        ids += (ids.isEmpty() ? "" : " ") + granted->id;
        m_grants.push_back(std::move(*granted));
        if (m_onMember)
            m_onMember(m_grants.size() - 1);
    }
    if (!why)
        co_return Grant{ids, std::nullopt, {}};
    m_grants.clear();
    const auto released = co_await release(deadline); // 2
    const bool clean = released || released.error().code == ErrorCode::NotHeld;
    if (!clean) {
        why->code = ErrorCode::UnknownOutcome;
        why->message += u"; "_s + released.error().message;
    }
    co_return *why;
}

Task<Result<void>> MultiLock::release(Deadline deadline)
{
    if (m_owed.empty())
        co_return Error{ErrorCode::NotHeld, u"%1 are not held by us"_s.arg(name())};
    const auto alive = self();
    Remainder rest(alive);
    std::optional<Error> first;
    QStringList failures;
    std::vector<Lock *> refused;
    while (!alive.expired() && !m_owed.empty()) { // 3
        Lock *member = m_owed.back();
        m_owed.pop_back();
        const auto released = co_await member->release(deadline);
        if (released)
            continue;
        first = first.value_or(released.error());
        failures << released.error().message;
        if (!alive.expired() && member->holdCount() > 0)
            refused.insert(refused.begin(), member);
    }
    rest.isDone();
    if (!alive.expired())
        m_owed.insert(m_owed.begin(), refused.begin(), refused.end());
    if (!first)
        co_return Result<void>();
    co_return Error{first->code, failures.join(u"; "_s), first->retryable};
}

Task<Result<bool>> MultiLock::isStillMine(Deadline deadline)
{
    const auto alive = self();
    bool all = isHeld();
    for (size_t i = 0; all && !alive.expired() && i < m_members.size(); ++i) {
        CO_TRY(const auto &mine, co_await m_members[i]->isStillMine(deadline));
        all = mine;
    }
    co_return all;
}

// All at once: after this none of them is held by us any more.
void MultiLock::letGo()
{
    for (; !m_owed.empty(); m_owed.pop_back())
        m_givingBack.launch(giveBack(m_owed.back()));
}

void MultiLock::watchForLoss(Lock &member)
{
    member.lost().then([alive = self()](const Loss &loss) {
        if (const auto lock = alive.lock())
            static_cast<MultiLock *>(*lock)->lose(loss);
    });
}

} // namespace lockscope::recipes
