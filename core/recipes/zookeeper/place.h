// Place: our node in the queue, as a guard. When it goes out of scope the node is taken away in the
// background, also while the reply to its create is still out. Loop thread only.
#pragma once

#include "core/recipes/zookeeper/janitor.h"

namespace lockscope::recipes {

class Place {
public:
    // A create is out: whatever it makes is ours.
    Place(Janitor janitor, Reply<zk::Created> creating, Claim claim);
    ~Place() { leave(); }
    Place(Place &&other) noexcept;
    Place &operator=(Place &&other) noexcept;

    // The node stands.
    void settle(zk::Created created);
    // There is nothing (any more) to take away.
    void forget();
    // A removal has been sent: whoever takes the node away has to look first whether it still is ours.
    void doubt() { m_mayBeGone = true; }
    // That removal was refused.
    void trust() { m_mayBeGone = false; }

    [[nodiscard]] bool stands() const { return m_created.has_value(); }
    // Only while it stands.
    [[nodiscard]] const zk::Created &created() const { return *m_created; }
    [[nodiscard]] const ZPath &path() const { return m_created->path; }
    [[nodiscard]] NodeName node() const { return m_created->path.name(); }

private:
    void leave();

    Janitor m_janitor;
    Claim m_claim;
    std::optional<Reply<zk::Created>> m_creating;
    std::optional<zk::Created> m_created;
    bool m_mayBeGone = false;
};

// Makes the claim's node and comes back with it, whatever happens on the way: missing directories are
// made, a lost reply is followed up (found: adopted; not found: created again). All nodes are open to
// everybody (world:anyone), as the clients' own defaults are; ZooKeeper's ACLs are not inherited.
// `inTheSameBreath`, if given, is called right after each create was sent, with the deadline of its
// requests.
[[nodiscard]] Task<Result<Place>> claimPlace(Janitor janitor, Claim claim, Deadline deadline,
                                             std::function<void(Deadline by)> inTheSameBreath = {});

} // namespace lockscope::recipes
