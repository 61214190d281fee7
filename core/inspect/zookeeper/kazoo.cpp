// SPDX-License-Identifier: Apache-2.0
// kazoo's queue nodes: <hex32>__lock__<seq> and <hex32>__rlock__<seq>.
#include "core/inspect/zookeeper/layouts.h"
#include "core/inspect/zookeeper/names.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using recipes::Access;

namespace {
constexpr qsizetype idLength = 32;
}

std::optional<Claim> claimKazoo(const ZnodeView &node, const ZPath &)
{
    if (!isHex32(node.name.bytes().left(idLength)))
        return std::nullopt;
    if (const auto reader = sequenceAt(node.name, idLength, "__rlock__"))
        return Claim{Layout::KazooRead, *reader, Access::Shared, {}};
    if (const auto lock = sequenceAt(node.name, idLength, "__lock__"))
        return Claim{Layout::KazooLock, *lock, Access::Exclusive, {}};
    return std::nullopt;
}

Description describeKazoo(const std::vector<Member> &members)
{
    Description out;
    out.client = u"kazoo"_s;
    out.watchesAreCertain = true;
    const bool hasReaders = std::ranges::any_of(
        members, [](const auto &one) { return one.claim.layout == Layout::KazooRead; });
    if (hasReaders) {
        out.recipe = "kazoo-rwlock";
        out.form = u"<uuid>__lock__<seq> or __rlock__"_s;
        out.confidence = Confidence::High;
        out.discipline = Discipline::ReadWrite;
        out.mode = Mode::Write;
    } else {
        out.recipe = "kazoo-lock";
        out.form = u"<uuid>__lock__<seq>"_s;
        out.note = u"a write lock without readers and an election look the same"_s;
        out.confidence = Confidence::Medium;
    }
    return out;
}

} // namespace lockscope::inspect
