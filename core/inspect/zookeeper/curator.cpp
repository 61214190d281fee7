// SPDX-License-Identifier: Apache-2.0
// Apache Curator's queue nodes, and go-zookeeper's, which copy them without the dashes of the UUID.
#include "core/inspect/zookeeper/layouts.h"

#include <QHostAddress>

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using recipes::Access;

namespace {

// Curator writes the local address when it is given nothing to write.
bool isAddressOfHost(const QByteArray &data)
{
    QHostAddress address;
    return address.setAddress(QString::fromUtf8(data));
}

bool hasTextOfItsOwn(const Member &member)
{
    const auto &data = member.node->data;
    return data && !data->isEmpty() && !isAddressOfHost(*data) && !isRevocation(*member.node);
}

void mutexOrLeader(Description &description, const std::vector<Member> &members, const ZPath &directory)
{
    const auto isOfCurator = [](const Member &one) { return one.match.layout == &curatorLock; };
    const auto saysNothing = [&](const Member &one) { return isOfCurator(one) && !hasTextOfItsOwn(one); };
    if (directory.parent().name().bytes() == "SpringIntegration-LockRegistry") {
        description.client = u"Spring Integration"_s;
        description.recipeOfSemaphore = {};
    } else if (std::ranges::any_of(members, isOfCurator) && std::ranges::none_of(members, saysNothing)) {
        description.recipe = "curator-leader";
        description.note = u"the data is an id of its own, as LeaderSelector writes"_s;
    } else {
        description.note = u"a leader selector looks the same"_s;
    }
}

} // namespace

bool isRevocation(const ZnodeView &node)
{
    return node.data && *node.data == "__REVOKE__";
}

extern const Layout curatorReadWrite{
    .names = {{"__WRIT__", Protection::Dashed}, {"__READ__", Protection::Dashed, Access::Shared}},
    .description = {.recipe = "curator-rwlock",
                    .client = u"Curator"_s,
                    .form = u"_c_<uuid>-__WRIT__<seq> or __READ__"_s,
                    .confidence = Confidence::High,
                    .discipline = Discipline::CuratorReadWrite,
                    .mode = Mode::Write,
                    .watchesAreCertain = true},
    .isUnmistakable = true,
    .countsEveryChild = true,
};

const Layout curatorLease{
    .names = {{"lease-", Protection::Dashed}},
    .description = {.recipe = "curator-semaphore",
                    .client = u"Curator"_s,
                    .form = u"_c_<uuid>-lease-<seq>"_s,
                    .confidence = Confidence::High,
                    .mode = Mode::Permit,
                    .watchesAreCertain = true},
    .isUnmistakable = true,
};

extern const Layout curatorLatch{
    .names = {{"latch-", Protection::Dashed}},
    .description = {.recipe = "curator-leader",
                    .client = u"Curator"_s,
                    .form = u"_c_<uuid>-latch-<seq>"_s,
                    .confidence = Confidence::High,
                    .watchesAreCertain = true},
    .isUnmistakable = true,
    .countsEveryChild = true,
};

const Layout curatorLock{
    .names = {{"lock-", Protection::Dashed}},
    .description = {.recipe = "curator-mutex",
                    .client = u"Curator"_s,
                    .form = u"_c_<uuid>-lock-<seq>"_s,
                    .confidence = Confidence::Medium,
                    .watchesAreCertain = true,
                    .maybeSemaphore = true,
                    .recipeOfSemaphore = "curator-semaphore"},
    .refine = mutexOrLeader,
    .queues = Layout::CuratorLikeQueue,
    .isUnmistakable = true,
    .countsEveryChild = true,
};

// Reads Curator's and kazoo's names, and breaks on any other.
const Layout goLock{
    .names = {{"lock-", Protection::Plain}},
    .description = {.recipe = "zk-mutex",
                    .client = u"go-zookeeper"_s,
                    .form = u"_c_<uuid without dashes>-lock-<seq>"_s,
                    .confidence = Confidence::High,
                    .watchesAreCertain = true},
    .queues = Layout::CuratorLikeQueue,
    .isUnmistakable = true,
    .breaksBesideForeignNodes = true,
};

} // namespace lockscope::inspect
