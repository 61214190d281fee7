// SPDX-License-Identifier: Apache-2.0
#include "core/contention/nestedlock.h"

namespace lockscope::contention {

namespace {

// The same lock once more.
class Again final : public recipes::Lock {
public:
    explicit Again(std::shared_ptr<recipes::Lock> lock) : m_lock(std::move(lock)) {}
    Task<Result<recipes::Grant>> acquire(Deadline deadline) override { return m_lock->acquire(deadline); }
    Task<Result<void>> release(Deadline deadline) override { return m_lock->release(deadline); }
    [[nodiscard]] int holdCount() const override { return m_lock->holdCount(); }
    Task<Result<bool>> isStillMine(Deadline deadline) override { return m_lock->isStillMine(deadline); }
    [[nodiscard]] Completion<recipes::Loss> lost() const override { return m_lock->lost(); }

private:
    std::shared_ptr<recipes::Lock> m_lock;
};

} // namespace

Result<std::unique_ptr<recipes::MultiLock>> nestedLock(
    Loop &loop, int times, bool isReentrant, const std::function<Result<std::unique_ptr<recipes::Lock>>()> &make)
{
    std::vector<std::unique_ptr<recipes::Lock>> all;
    std::shared_ptr<recipes::Lock> same;
    for (int i = 0; i < times; ++i) {
        if (!isReentrant || !same) {
            auto made = make();
            if (!made)
                return made.error();
            same = *std::move(made);
        }
        all.push_back(std::make_unique<Again>(same));
    }
    return std::make_unique<recipes::MultiLock>(loop, std::move(all));
}

} // namespace lockscope::contention
