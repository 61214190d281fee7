// SPDX-License-Identifier: Apache-2.0
// Several locks as one: all of them or none. Any recipes, on any servers, together; as Curator's
// InterProcessMultiLock, but not reentrant. Whoever takes some of the same locks must take them in the
// same order, else two can wait for each other until a deadline passes.
#pragma once

#include "core/recipes/lockbase.h"

namespace lockscope::recipes {

class MultiLock : public LockBase {
public:
    MultiLock(Loop &loop, std::vector<std::unique_ptr<Lock>> members);
    ~MultiLock() override { shutDown(); }

    // Every member, the last one first; one that fails does not stop the others. The error is the first
    // one's and names all that failed. Members that refused are held still: release again.
    Task<Result<void>> release(Deadline deadline) override;
    // Whether all are; the first that cannot be asked is the error.
    Task<Result<bool>> isStillMine(Deadline deadline) override;
    // Each member's, in order, as of the last acquire. The grant of the whole has no node and no fencing
    // token, only all ids; every server has tokens of its own.
    [[nodiscard]] const std::vector<Grant> &grants() const { return m_grants; }
    // Told of each member that is had, by its place, while the others are still to come.
    void onMember(std::function<void(std::size_t)> listener) { m_onMember = std::move(listener); }

private:
    class Remainder;

    [[nodiscard]] QString name() const override { return u"%1 locks together"_s.arg(m_members.size()); }
    Task<Result<Grant>> take(Deadline deadline) override;
    [[nodiscard]] bool isHeld() const override { return !m_owed.empty(); }
    void letGo() override;
    void watchForLoss(Lock &member);

    std::vector<std::unique_ptr<Lock>> m_members;
    std::function<void(std::size_t)> m_onMember;
    std::vector<Grant> m_grants;
    std::vector<Lock *> m_owed; // taken and not given back yet, in the order of taking
    Scope m_givingBack;         // last: its coroutines use the members
};

} // namespace lockscope::recipes
