// SPDX-License-Identifier: Apache-2.0
// Names by convention, whoever writes them: textbook shared lock, herd, flat layout, lock-<seq>, and
// at last any ephemeral sequential siblings.
#include "core/inspect/zookeeper/layouts.h"
#include "core/inspect/zookeeper/names.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using recipes::Access;

namespace {

bool isNpmLock(const Member &member)
{
    return member.node->data && *member.node->data == "lock";
}

Description describePlainLock(const std::vector<Member> &members)
{
    Description out;
    out.form = u"lock-<seq>"_s;
    out.confidence = Confidence::Medium;
    if (std::ranges::all_of(members, isNpmLock)) {
        out.recipe = "zk-herd-mutex";
        out.client = u"npm zk-lock"_s;
        out.note = u"with the data \"lock\""_s;
        out.discipline = Discipline::Herd;
    } else {
        out.recipe = "zk-mutex";
        out.note = u"no known client's name"_s;
        out.mayWatchChildren = true;
    }
    return out;
}

} // namespace

std::optional<Claim> claimConvention(const ZnodeView &node, const ZPath &)
{
    auto sequence = recipes::readSequence(node.name);
    if (!sequence)
        return std::nullopt;
    const QByteArray prefix = sequence->prefix;
    if (prefix.endsWith("-R-"))
        return Claim{Layout::TextbookShared, *sequence, Access::Shared, {}};
    if (prefix.endsWith("-W-"))
        return Claim{Layout::TextbookShared, *sequence, Access::Exclusive, {}};
    if (const auto herd = sequenceAt(node.name, 0, "herd-"))
        return Claim{Layout::Herd, *herd, Access::Exclusive, {}};
    if (prefix.endsWith("_lock_") && prefix.size() > 6)
        return Claim{Layout::Flat, *sequence, Access::Exclusive, prefix.chopped(6)};
    if (const auto lock = sequenceAt(node.name, 0, "lock-"))
        return Claim{Layout::PlainLock, *lock, Access::Exclusive, {}};
    if (const auto lock = sequenceAt(node.name, 0, "lock_"))
        return Claim{Layout::PlainLock, *lock, Access::Exclusive, {}};
    return Claim{Layout::Generic, *sequence, Access::Exclusive, prefix.mid(readProtection(prefix).length)};
}

Description describeConvention(Layout layout, const std::vector<Member> &members)
{
    if (layout == Layout::PlainLock)
        return describePlainLock(members);
    Description out;
    out.confidence = Confidence::Medium;
    out.mayWatchChildren = true;
    if (layout == Layout::TextbookShared) {
        out.recipe = "zk-shared";
        out.form = u"<host>-R-<seq> or <host>-W-<seq>"_s;
        out.discipline = Discipline::ReadWrite;
        out.mode = Mode::Write;
    } else if (layout == Layout::Herd) {
        out.recipe = "zk-herd-mutex";
        out.form = u"herd-<seq>"_s;
        out.discipline = Discipline::Herd;
    } else if (layout == Layout::Flat) {
        out.recipe = "zk-flat-mutex";
        out.form = u"<lock>_lock_<seq>"_s;
    } else {
        out.recipe = "zk-mutex";
        out.form = u"<name><seq>"_s;
        out.note = u"a queue lock or an election, by the order alone"_s;
        out.confidence = Confidence::Low;
    }
    return out;
}

} // namespace lockscope::inspect
