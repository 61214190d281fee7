// SPDX-License-Identifier: Apache-2.0
// Names by convention, whoever writes them: textbook shared lock, herd, flat layout, lock-<seq>, and
// at last any ephemeral sequential siblings.
#include "core/inspect/lockterms.h"
#include "core/inspect/zookeeper/layouts.h"

#include <algorithm>

namespace lockscope::inspect {

using recipes::Access;

namespace {

std::optional<LayoutMatch> matchTextbook(const Layout &layout, const ZnodeView &node)
{
    auto sequence = recipes::readSequence(node.name);
    const bool reads = sequence && sequence->prefix().endsWith("-R-");
    if (!sequence || (!reads && !sequence->prefix().endsWith("-W-")))
        return std::nullopt;
    return LayoutMatch{&layout, std::move(*sequence), reads ? Access::Shared : Access::Exclusive};
}

std::optional<LayoutMatch> matchFlat(const Layout &layout, const ZnodeView &node)
{
    static const QByteArray mark = "_lock_";
    auto sequence = recipes::readSequence(node.name);
    if (!sequence || !sequence->prefix().endsWith(mark) || sequence->prefix().size() == mark.size())
        return std::nullopt;
    const QByteArray lock = sequence->prefix().chopped(mark.size());
    return LayoutMatch{&layout, std::move(*sequence), Access::Exclusive, lock};
}

std::optional<LayoutMatch> matchAny(const Layout &layout, const ZnodeView &node)
{
    auto sequence = recipes::readSequence(node.name);
    if (!sequence || isUuid36(node.name.bytes())) // a UUID may end with ten digits
        return std::nullopt;
    const auto protection = readProtection(sequence->prefix());
    const QByteArray base = sequence->prefix().mid(protection.kind == Protection::Kazoo ? 0 : protection.length);
    const bool reads = saysRead(base) && !saysWrite(base);
    return LayoutMatch{&layout, std::move(*sequence), reads ? Access::Shared : Access::Exclusive, base};
}

void sharedByName(Description &description, const std::vector<Member> &members, const ZPath &)
{
    if (std::ranges::none_of(members, [](const Member &one) { return one.match.access == Access::Shared; }))
        return;
    description.recipe = "zk-shared";
    description.note = u"the names say who reads, the order who waits"_s;
    description.discipline = Discipline::ReadWrite;
    description.mode = Mode::Write;
}

void npmLock(Description &description, const std::vector<Member> &members, const ZPath &)
{
    if (!std::ranges::all_of(members, [](const Member &one) { return one.node->data == "lock"; }))
        return;
    description.recipe = "zk-herd-mutex";
    description.client = u"npm zk-lock"_s;
    description.note = u"with the data \"lock\""_s;
    description.discipline = Discipline::Herd;
    description.mayWatchChildren = false;
}

} // namespace

extern const Layout textbookShared{
    .matches = matchTextbook,
    .description = {.recipe = "zk-shared",
                    .form = u"<host>-R-<seq> or <host>-W-<seq>"_s,
                    .confidence = Confidence::Medium,
                    .discipline = Discipline::ReadWrite,
                    .mode = Mode::Write,
                    .mayWatchChildren = true},
};

extern const Layout herdNode{
    .names = {{"herd-"}},
    .description = {.recipe = "zk-herd-mutex",
                    .form = u"herd-<seq>"_s,
                    .confidence = Confidence::Medium,
                    .discipline = Discipline::Herd,
                    .mayWatchChildren = true},
};

extern const Layout flatLock{
    .matches = matchFlat,
    .description = {.recipe = "zk-flat-mutex",
                    .form = u"<lock>_lock_<seq>"_s,
                    .confidence = Confidence::Medium,
                    .mayWatchChildren = true},
    .extent = Layout::Extent::Flat,
};

extern const Layout plainLock{
    .names = {{"lock-"}, {"lock_"}},
    .description = {.recipe = "zk-mutex",
                    .form = u"lock-<seq>"_s,
                    .note = u"no known client's name"_s,
                    .confidence = Confidence::Medium,
                    .mayWatchChildren = true},
    .refine = npmLock,
};

extern const Layout anySequence{
    .matches = matchAny,
    .description = {.recipe = "zk-mutex",
                    .form = u"<name><seq>"_s,
                    .note = u"a queue lock or an election, by the order alone"_s,
                    .confidence = Confidence::Low,
                    .mayWatchChildren = true},
    .refine = sharedByName,
    .extent = Layout::Extent::Siblings,
};

// Election queues of known systems: Solr, ZooKeeper's LeaderElectionSupport, old ClickHouse.
namespace {

std::optional<LayoutMatch> matchSolr(const Layout &layout, const ZnodeView &node)
{
    const bool isAnybodys = !node.isStatKnown && node.stat.ephemeralOwner.isNone();
    const auto owner = QByteArray::number(static_cast<qint64>(node.stat.ephemeralOwner.value));
    if (!isAnybodys && !node.name.bytes().startsWith(owner + '-'))
        return std::nullopt;
    auto sequence = recipes::readSequence(node.name, "-n_");
    return sequence ? std::optional(LayoutMatch{&layout, std::move(*sequence)}) : std::nullopt;
}

} // namespace

extern const Layout solrElection{
    .isEphemeralOnly = true,
    .matches = matchSolr,
    .description = {.recipe = "zk-election",
                    .client = u"Solr"_s,
                    .form = u"<session>-<node>-n_<seq>"_s,
                    .note = u"the session in the name is the owner"_s,
                    .confidence = Confidence::High,
                    .watchesAreCertain = true},
    .mayShareNumbers = true, // it joins at the head
};

extern const Layout electionSupport{
    .names = {{"n_"}},
    .isEphemeralOnly = true,
    .description = {.recipe = "zk-election",
                    .client = u"ZooKeeper's LeaderElectionSupport"_s,
                    .form = u"n_<seq>"_s,
                    .confidence = Confidence::Medium,
                    .watchesAreCertain = true},
};

extern const Layout clickHouseElection{
    .names = {{"leader_election-"}},
    .isEphemeralOnly = true,
    .description = {.recipe = "zk-election",
                    .client = u"ClickHouse before 21.12"_s,
                    .form = u"leader_election-<seq>"_s,
                    .confidence = Confidence::Medium},
};

// The lock recipes that come with ZooKeeper: x-<session id>-<seq>, decimal in Java, hex in C.
namespace {

// The id in the name must be the owner's, where that is known: anybody may call a node x-1-0000000001.
std::optional<LayoutMatch> matchOwned(const Layout &layout, const ZnodeView &node, QByteArray owner,
                                      bool (*isId)(const QByteArray &text))
{
    if (!node.isStatKnown && node.stat.ephemeralOwner.isNone()) {
        const auto &name = node.name.bytes();
        owner = name.mid(2, name.lastIndexOf('-') - 2);
        if (!isId(owner))
            return std::nullopt;
    }
    auto sequence = sequenceAt(node.name, 0, "x-" + owner + '-');
    return sequence ? std::optional(LayoutMatch{&layout, std::move(*sequence)}) : std::nullopt;
}

std::optional<LayoutMatch> matchDecimal(const Layout &layout, const ZnodeView &node)
{
    return matchOwned(layout, node, QByteArray::number(static_cast<qint64>(node.stat.ephemeralOwner.value)),
                      [](const QByteArray &text) {
                          bool is = false;
                          return text.toLongLong(&is) != 0 && is;
                      });
}

std::optional<LayoutMatch> matchHex(const Layout &layout, const ZnodeView &node)
{
    return matchOwned(layout, node, QByteArray::number(node.stat.ephemeralOwner.value, 16).rightJustified(16, '0'),
                      [](const QByteArray &text) {
                          bool is = false;
                          return text.size() == 16 && text.toULongLong(&is, 16) != 0 && is;
                      });
}

Description recipeOf(const QString &client, const QString &form)
{
    return {.recipe = "zookeeper-recipe-lock",
            .client = client,
            .form = form,
            .note = u"the session in the name is the owner"_s,
            .confidence = Confidence::High,
            .watchesAreCertain = true};
}

} // namespace

// The two write the same names but for the radix.
extern const Layout javaRecipe{
    .isEphemeralOnly = true,
    .matches = matchDecimal,
    .description = recipeOf(u"ZooKeeper's Java recipe"_s, u"x-<session, decimal>-<seq>"_s),
    .queues = Layout::RecipeQueue,
};

extern const Layout cRecipe{
    .isEphemeralOnly = true,
    .matches = matchHex,
    .description = recipeOf(u"ZooKeeper's C recipe"_s, u"x-<session, hex>-<seq>"_s),
    .queues = Layout::RecipeQueue,
};

// Hive's and HBase's table locks, DistributedLock for .NET, zk-ruby, the latch of Rust's zookeeper crate.

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
