// SPDX-License-Identifier: Apache-2.0
// All or none.
//   1. Acquire the members one after the other, all by one deadline.
//   2. One fails: give back those we have, the last one first, and report that failure.
//   3. To release, give all back, the last one first, whatever becomes of each.
#include "core/recipes/multilock.h"

#include <QStringList>

namespace lockscope::recipes {

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
