// SPDX-License-Identifier: Apache-2.0
// The locks of etcd v3.
#include "core/rules/catalogue.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

std::vector<RecipeInfo> recipesOfEtcd()
{
    constexpr auto etcd = BackendKind::Etcd;
    using enum ReleaseMechanism;
    return {
        {.id = "etcd-mutex",
         .backend = etcd,
         .summary = u"keys prefix/<lease> in order of creation; each waiter watches the key before its own"_s,
         .title = QT_TRANSLATE_NOOP("Recipe", "etcd mutex"),
         .shape = Shape::Leases,
         .endsBy = EndsBy::Lease,
         .release = DeleteAtRevision,
         .preferred = true,
         .fair = true,
         .tellsClientsTokens = true,
         .renewed = true,
         .requestsAcquireFree = u"2"_s,
         .requestsAcquireQueued = u"6"_s,
         .requestsRelease = u"2"_s,
         .wakeupsPerRelease = u"1"_s,
         .flaws = {u"a holder whose lease ran out is not kept from working on: use the fencing token"_s}},
        {.id = "etcd-election",
         .backend = etcd,
         .summary = u"the same keys with a value: what each candidate proposes; the first is the leader"_s,
         .shape = Shape::Leases,
         .endsBy = EndsBy::Lease,
         .release = DeleteAtRevision,
         .fair = true,
         .electsLeader = true,
         .tellsClientsTokens = true,
         .renewed = true},
    };
}

} // namespace lockscope::recipes
