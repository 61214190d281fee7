// SPDX-License-Identifier: Apache-2.0
// HBase's table locks, DistributedLock for .NET, zk-ruby.
#include "core/inspect/zookeeper/layouts.h"
#include "core/inspect/zookeeper/names.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using recipes::Access;

namespace {

std::optional<Claim> claimReadWrite(const ZnodeView &node)
{
    auto sequence = recipes::readSequence(node.name);
    if (!sequence)
        return std::nullopt;
    const bool read = sequence->prefix.startsWith("read-");
    if (!read && !sequence->prefix.startsWith("write-"))
        return std::nullopt;
    const Access access = read ? Access::Shared : Access::Exclusive;
    const QByteArray who = sequence->prefix.mid(read ? 5 : 6);
    // HBase puts a header that begins with this byte before everything it stores.
    if (who.contains('@') && node.data && node.data->startsWith('\xff'))
        return Claim{Layout::HBaseTable, *sequence, access, {}};
    if (who.isEmpty())
        return Claim{Layout::DotNetReadWrite, *sequence, access, {}};
    return std::nullopt;
}

std::optional<Claim> claimRuby(const ZnodeView &node, const ZPath &directory)
{
    const QByteArray root = directory.parent().name().bytes();
    if (root == "_zklocking") {
        if (const auto exclusive = sequenceAt(node.name, 0, "ex"))
            return Claim{Layout::RubyLock, *exclusive, Access::Exclusive, {}};
        if (const auto shared = sequenceAt(node.name, 0, "sh"))
            return Claim{Layout::RubyLock, *shared, Access::Shared, {}};
    } else if (root == "_zksemaphore") {
        if (const auto permit = sequenceAt(node.name, 0, "sem"))
            return Claim{Layout::RubySemaphore, *permit, Access::Exclusive, {}};
    } else if (root == "_zkelection") {
        if (const auto ballot = sequenceAt(node.name, 0, "ballot"))
            return Claim{Layout::RubyElection, *ballot, Access::Exclusive, {}};
    }
    return std::nullopt;
}

Description describeRuby(Layout layout, const std::vector<Member> &members)
{
    Description out;
    out.client = u"zk-ruby"_s;
    out.confidence = Confidence::High;
    out.recipe = "zk-mutex";
    out.watchesAreCertain = layout != Layout::RubySemaphore;
    if (layout == Layout::RubySemaphore) {
        out.form = u"sem<seq> below _zksemaphore"_s;
        out.note = u"a semaphore; how many may enter is not stored"_s;
        out.mode = Mode::Permit;
        out.maybeSemaphore = true;
    } else if (layout == Layout::RubyElection) {
        out.recipe = "zk-election";
        out.form = u"ballot<seq> below _zkelection"_s;
    } else {
        out.form = u"ex<seq> or sh<seq> below _zklocking"_s;
        if (std::ranges::any_of(members, [](const auto &one) { return one.claim.access == Access::Shared; })) {
            out.recipe = "zk-shared";
            out.discipline = Discipline::ReadWrite;
            out.mode = Mode::Write;
        }
    }
    return out;
}

} // namespace

std::optional<Claim> claimOtherClients(const ZnodeView &node, const ZPath &directory)
{
    if (auto shared = claimReadWrite(node))
        return shared;
    if (auto ruby = claimRuby(node, directory))
        return ruby;
    if (const auto permit = sequenceAt(node.name, 0, "semaphore-"))
        return Claim{Layout::DotNetSemaphore, *permit, Access::Exclusive, {}};
    return std::nullopt;
}

Description describeOtherClients(Layout layout, const std::vector<Member> &members)
{
    if (layout >= Layout::RubyLock && layout <= Layout::RubyElection)
        return describeRuby(layout, members);
    Description out;
    out.recipe = "zk-shared";
    out.discipline = Discipline::ReadWrite;
    out.mode = Mode::Write;
    if (layout == Layout::HBaseTable) {
        out.client = u"HBase before 2.0"_s;
        out.form = u"read-<pid@host><seq> or write-…"_s;
        out.note = u"with HBase's data header"_s;
        out.confidence = Confidence::High;
    } else if (layout == Layout::DotNetReadWrite) {
        out.client = u"DistributedLock (.NET)"_s;
        out.form = u"read-<seq> or write-<seq>"_s;
        out.confidence = Confidence::Medium;
    } else {
        out.recipe = "zk-mutex";
        out.client = u"DistributedLock (.NET)"_s;
        out.form = u"semaphore-<seq>"_s;
        out.note = u"a semaphore; how many may enter is not stored"_s;
        out.confidence = Confidence::Medium;
        out.discipline = Discipline::Mutex;
        out.mode = Mode::Permit;
        out.maybeSemaphore = true;
    }
    return out;
}

} // namespace lockscope::inspect
