// SPDX-License-Identifier: Apache-2.0
// Hive's and HBase's table locks, DistributedLock for .NET, zk-ruby, the latch of Rust's zookeeper crate.
#include "core/inspect/zookeeper/layouts.h"

#include <algorithm>

namespace lockscope::inspect {

using recipes::Access;

namespace {

std::optional<LayoutMatch> matchHBase(const Layout &layout, const ZnodeView &node)
{
    auto sequence = recipes::readSequence(node.name);
    if (!sequence)
        return std::nullopt;
    const bool reads = sequence->prefix().startsWith("read-");
    const bool isNamed = (reads || sequence->prefix().startsWith("write-")) && sequence->prefix().contains('@');
    // HBase puts a header that begins with this byte before everything it stores.
    if (!isNamed || !node.data || !node.data->startsWith('\xff'))
        return std::nullopt;
    return LayoutMatch{&layout, std::move(*sequence), reads ? Access::Shared : Access::Exclusive};
}

// "latch-<id>-<seq>": each has an id of its own, so that no two share the text before the number.
std::optional<LayoutMatch> matchRustLatch(const Layout &layout, const ZnodeView &node)
{
    static const QByteArray mark = "latch-";
    auto sequence = recipes::readSequence(node.name);
    const bool isNamed = sequence && sequence->prefix().startsWith(mark) && sequence->prefix().endsWith('-');
    if (!isNamed || sequence->prefix().size() < mark.size() + 2)
        return std::nullopt;
    return LayoutMatch{&layout, std::move(*sequence), Access::Exclusive, {}};
}

void sharedIfRead(Description &description, const std::vector<Member> &members, const ZPath &)
{
    if (std::ranges::none_of(members, [](const auto &one) { return one.match.access == Access::Shared; }))
        return;
    description.recipe = "zk-shared";
    description.discipline = Discipline::ReadWrite;
    description.mode = Mode::Write;
}

// LOCK-SEMI_SHARED- excludes neither of the two others.
bool isSemiShared(const NodeName &name)
{
    return name.bytes().startsWith("LOCK-SEMI_SHARED-");
}

bool excludes(const recipes::Queued &earlier, const recipes::Queued &later)
{
    return (earlier.access == Access::Exclusive || later.access == Access::Exclusive)
           && !isSemiShared(earlier.node.name) && !isSemiShared(later.node.name);
}

} // namespace

recipes::Turn turnWithoutQueue(const std::vector<recipes::Queued> &queue, const NodeName &me)
{
    const auto mine = std::ranges::find(queue, me, [](const recipes::Queued &one) { return one.node.name; });
    if (mine == queue.end())
        return {};
    const auto first = std::find_if(queue.begin(), mine, [&](const auto &one) { return excludes(one, *mine); });
    if (first == mine)
        return {recipes::Turn::Kind::Mine, std::nullopt};
    return {recipes::Turn::Kind::WaitFor, first->node.name};
}

// The folders of a table's partitions lie beside its locks. A LOCK TABLE makes a persistent node.
extern const Layout hiveTable{
    .names = {{"LOCK-SHARED-", Protection::None, Access::Shared},
              {"LOCK-SEMI_SHARED-", Protection::None, Access::Shared},
              {"LOCK-EXCLUSIVE-"}},
    .description = {.recipe = "zk-shared",
                    .client = u"Hive"_s,
                    .form = u"LOCK-SHARED-<seq>, LOCK-SEMI_SHARED-<seq> or LOCK-EXCLUSIVE-<seq>"_s,
                    .note = u"a client that meets a conflict deletes its node and tries again later"_s,
                    .confidence = Confidence::High,
                    .discipline = Discipline::NoQueue,
                    .mode = Mode::Write},
    .isUnmistakable = true,
    .liesAmongFolders = true,
};

extern const Layout hbaseTable{
    .matches = matchHBase,
    .description = {.recipe = "zk-shared",
                    .client = u"HBase before 2.0"_s,
                    .form = u"read-<pid@host><seq> or write-…"_s,
                    .note = u"with HBase's data header"_s,
                    .confidence = Confidence::High,
                    .discipline = Discipline::ReadWrite,
                    .mode = Mode::Write},
};

extern const Layout dotNetReadWrite{
    .names = {{"read-", Protection::None, Access::Shared}, {"write-"}},
    .description = {.recipe = "zk-shared",
                    .client = u"DistributedLock (.NET)"_s,
                    .form = u"read-<seq> or write-<seq>"_s,
                    .confidence = Confidence::Medium,
                    .discipline = Discipline::ReadWrite,
                    .mode = Mode::Write},
};

extern const Layout dotNetSemaphore{
    .names = {{"semaphore-"}},
    .description = {.recipe = "zk-mutex",
                    .client = u"DistributedLock (.NET)"_s,
                    .form = u"semaphore-<seq>"_s,
                    .note = u"a semaphore; how many may enter is not stored"_s,
                    .confidence = Confidence::Medium,
                    .mode = Mode::Permit,
                    .maybeSemaphore = true},
};

extern const Layout rubyLock{
    .names = {{"ex"}, {"sh", Protection::None, Access::Shared}},
    .below = "_zklocking",
    .description = {.recipe = "zk-mutex",
                    .client = u"zk-ruby"_s,
                    .form = u"ex<seq> or sh<seq> below _zklocking"_s,
                    .confidence = Confidence::High,
                    .watchesAreCertain = true},
    .refine = sharedIfRead,
};

extern const Layout rubySemaphore{
    .names = {{"sem"}},
    .below = "_zksemaphore",
    .description = {.recipe = "zk-mutex",
                    .client = u"zk-ruby"_s,
                    .form = u"sem<seq> below _zksemaphore"_s,
                    .note = u"a semaphore; how many may enter is not stored"_s,
                    .confidence = Confidence::High,
                    .mode = Mode::Permit,
                    .maybeSemaphore = true},
};

extern const Layout rubyElection{
    .names = {{"ballot"}},
    .below = "_zkelection",
    .description = {.recipe = "zk-election",
                    .client = u"zk-ruby"_s,
                    .form = u"ballot<seq> below _zkelection"_s,
                    .confidence = Confidence::High,
                    .watchesAreCertain = true},
};

extern const Layout rustLatch{
    .isEphemeralOnly = true,
    .matches = matchRustLatch,
    .description = {.recipe = "zk-election",
                    .client = u"Rust zookeeper"_s,
                    .form = u"latch-<id>-<seq>"_s,
                    .confidence = Confidence::Medium,
                    .watchesAreCertain = true},
};

} // namespace lockscope::inspect
