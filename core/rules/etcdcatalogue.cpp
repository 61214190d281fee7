// SPDX-License-Identifier: Apache-2.0
// The locks of etcd v3.
#include "core/rules/catalogue.h"

namespace lockscope::recipes {

std::vector<RecipeInfo> recipesOfEtcd()
{
    using enum ReleaseMechanism;
    return {
        {.id = "etcd-mutex",
         .summary = u"keys prefix/<lease> in order of creation; each waiter watches the key before its own"_s,
         .title = QT_TRANSLATE_NOOP("Recipe", "etcd mutex"),
         .shape = Shape::Leases,
         .endsBy = EndsBy::Lease,
         .release = DeleteAtRevision,
         .preferred = true,
         .fair = true,
         .tellsClientsTokens = true,
         .renewed = true,
         .counts = {.acquireFree = u"2"_s, .acquireQueued = u"6"_s, .release = u"2"_s, .wakeUps = u"1"_s},
         .flaws = {u"a holder whose lease ran out is not kept from working on: use the fencing token"_s}},
        {.id = "etcd-election",
         .summary = u"the same keys with a value: what each candidate proposes; the first is the leader"_s,
         .shape = Shape::Leases,
         .endsBy = EndsBy::Lease,
         .release = DeleteAtRevision,
         .fair = true,
         .electsLeader = true,
         .tellsClientsTokens = true,
         .renewed = true},
        {.id = "etcd-key-lock",
         .summary =
             u"one key with a lease: whoever creates it has the lock (python-etcd3, etcd3gw, tooz, etcd3 for Node, "
             u"CloudTik)"_s,
         .shape = Shape::Key,
         .endsBy = EndsBy::Lease,
         .wakeUp = WakeUp::Polling,
         .release = DeleteAtRevision,
         .playedBy = "etcd-mutex",
         .fenced = false,
         .flaws = {u"not fair: who tries next gets it"_s}},
        {.id = "etcd-key-election",
         .summary = u"one key with a lease: whoever creates it is the leader (Patroni, scripts)"_s,
         .shape = Shape::Key,
         .endsBy = EndsBy::Lease,
         .wakeUp = WakeUp::Polling,
         .release = DeleteAtRevision,
         .electsLeader = true,
         .fenced = false},
    };
}

} // namespace lockscope::recipes
