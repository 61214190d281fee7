// SPDX-License-Identifier: Apache-2.0
// Apache Curator's queue nodes, and go-zookeeper's, which copy them without the dashes of the UUID.
#include "core/inspect/zookeeper/layouts.h"
#include "core/inspect/zookeeper/names.h"

#include <QHostAddress>

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using recipes::Access;

namespace {

// Curator writes the local address when it is given nothing to write.
bool isAddress(const QByteArray &data)
{
    QHostAddress address;
    return address.setAddress(QString::fromUtf8(data));
}

bool hasTextOfItsOwn(const Member &member)
{
    const auto &data = member.node->data;
    return data && !data->isEmpty() && !isAddress(*data) && !isRevocation(*member.node);
}

Description mutexOrLeader(const std::vector<Member> &members, const ZPath &directory)
{
    Description out;
    out.form = u"_c_<uuid>-lock-<seq>"_s;
    out.confidence = Confidence::Medium;
    out.watchesAreCertain = true;
    out.maybeSemaphore = true;
    out.recipe = "curator-mutex";
    out.client = u"Curator"_s;
    std::vector<Member> curators;
    std::ranges::copy_if(members, std::back_inserter(curators),
                         [](const auto &one) { return one.claim.layout == Layout::CuratorLock; });
    if (directory.parent().name().bytes() == "SpringIntegration-LockRegistry") {
        out.client = u"Spring Integration"_s;
    } else if (!curators.empty() && std::ranges::all_of(curators, hasTextOfItsOwn)) {
        out.recipe = "curator-leader";
        out.note = u"the data is an id of its own, as LeaderSelector writes"_s;
    } else {
        out.note = u"a leader selector looks the same"_s;
    }
    return out;
}

} // namespace

bool isRevocation(const ZnodeView &node)
{
    return node.data && *node.data == "__REVOKE__";
}

std::optional<Claim> claimCurator(const ZnodeView &node, const ZPath &)
{
    const auto protection = readProtection(node.name.bytes());
    if (protection.kind == Protection::None)
        return std::nullopt;
    const auto behind = [&](const QByteArray &base) { return sequenceAt(node.name, protection.length, base); };
    if (protection.kind == Protection::Plain) {
        const auto lock = behind("lock-");
        return lock ? std::optional(Claim{Layout::GoLock, *lock, Access::Exclusive, {}}) : std::nullopt;
    }
    if (const auto writer = behind("__WRIT__"))
        return Claim{Layout::CuratorReadWrite, *writer, Access::Exclusive, {}};
    if (const auto reader = behind("__READ__"))
        return Claim{Layout::CuratorReadWrite, *reader, Access::Shared, {}};
    if (const auto lease = behind("lease-"))
        return Claim{Layout::CuratorLease, *lease, Access::Exclusive, {}};
    if (const auto latch = behind("latch-"))
        return Claim{Layout::CuratorLatch, *latch, Access::Exclusive, {}};
    if (const auto lock = behind("lock-"))
        return Claim{Layout::CuratorLock, *lock, Access::Exclusive, {}};
    return std::nullopt;
}

Description describeCurator(Layout layout, const std::vector<Member> &members, const ZPath &directory)
{
    if (layout == Layout::CuratorLock)
        return mutexOrLeader(members, directory);
    Description out;
    out.confidence = Confidence::High;
    out.client = u"Curator"_s;
    out.watchesAreCertain = true;
    if (layout == Layout::CuratorReadWrite) {
        out.recipe = "curator-rwlock";
        out.form = u"_c_<uuid>-__WRIT__<seq> or __READ__"_s;
        out.discipline = Discipline::CuratorReadWrite;
        out.mode = Mode::Write;
    } else if (layout == Layout::CuratorLease) {
        out.recipe = "curator-semaphore";
        out.form = u"_c_<uuid>-lease-<seq>"_s;
        out.mode = Mode::Permit;
    } else if (layout == Layout::CuratorLatch) {
        out.recipe = "curator-leader";
        out.form = u"_c_<uuid>-latch-<seq>"_s;
    } else {
        out.recipe = "zk-mutex";
        out.client = u"go-zookeeper"_s;
        out.form = u"_c_<uuid without dashes>-lock-<seq>"_s;
    }
    return out;
}

} // namespace lockscope::inspect
