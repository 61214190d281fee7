// SPDX-License-Identifier: Apache-2.0
// QueueEntry: our node in the queue, as a guard. When it goes out of scope the node is taken away in the
// background, also while the reply to its create is still out. Loop thread only.
#pragma once

#include "core/async/onfreelist.h"
#include "core/recipes/zookeeper/backgroundcleanup.h"

namespace lockscope::recipes {

class QueueEntry {
public:
    // A create is out: whatever it makes is ours.
    QueueEntry(BackgroundCleanup cleanup, Reply<zk::Created> creating, NodeClaim claim);
    ~QueueEntry() { leave(); }
    QueueEntry(QueueEntry &&other) noexcept = default;
    QueueEntry &operator=(QueueEntry &&other) noexcept;

    // The node stands.
    void settle(OwnNode created);
    // There is nothing (any more) to take away.
    void forget();
    // A removal has been sent: whoever takes the node away has to look first whether it still is ours.
    void doubt() { m_state->mayBeGone = true; }
    // That removal was refused.
    void trust() { m_state->mayBeGone = false; }

    // Whether whoever removes the node has to look first whose it is.
    [[nodiscard]] bool mayBeAnothers() const { return m_state->mayBeAnothers(); }

    [[nodiscard]] bool stands() const { return m_state && m_state->created.has_value(); }
    // Only while it stands.
    [[nodiscard]] const OwnNode &created() const { return *m_state->created; }
    [[nodiscard]] const ZPath &path() const { return m_state->created->path; }
    [[nodiscard]] NodeName node() const { return m_state->created->path.name(); }

private:
    void leave();

    struct Asked : OnFreeList {
        Asked(Reply<zk::Created> creating_, NodeClaim claim_)
            : creating(std::move(creating_)), claim(std::move(claim_))
        {
        }
        Reply<zk::Created> creating;
        NodeClaim claim;
    };
    // Behind a pointer: it is handed through half a dozen coroutines, each of which has room for two of it.
    struct State : OnFreeList {
        State(BackgroundCleanup cleanup_, bool nameComesAgain_)
            : cleanup(std::move(cleanup_)), nameComesAgain(nameComesAgain_)
        {
        }
        BackgroundCleanup cleanup;
        bool nameComesAgain;          // the claim's
        std::unique_ptr<Asked> asked; // while the reply is out: of very many who wait each would keep its words
        std::optional<OwnNode> created;
        bool mayBeGone = false;
        [[nodiscard]] bool mayBeAnothers() const { return mayBeGone || nameComesAgain; }
    };
    std::unique_ptr<State> m_state; // null when moved from
};

// Makes the claim's node and comes back with it, whatever happens on the way: missing directories are
// made, a lost reply is followed up (found: adopted; not found: created again). All nodes are open to
// everybody (world:anyone), as the clients' own defaults are; ZooKeeper's ACLs are not inherited.
// `pipelined`, if given, is called right after each create was sent, with the deadline of its
// requests.
[[nodiscard]] Task<Result<QueueEntry>> createEntry(BackgroundCleanup cleanup, NodeClaim claim, Deadline deadline,
                                                   std::function<void(Deadline by)> pipelined = {});

} // namespace lockscope::recipes
