// SPDX-License-Identifier: Apache-2.0
// Which queue locks a directory is, or holds: one lock, several flat ones, or siblings that merely look like a queue.
#include "core/inspect/findings.h"
#include "core/inspect/lockterms.h"
#include "core/inspect/zookeeper/queue.h"

#include <QRegularExpression>
#include <QSet>

namespace lockscope::inspect {

namespace {

bool isEphemeral(const Member &member)
{
    return !member.node->stat.ephemeralOwner.isNone();
}

std::vector<Member> matchedMembers(const DirectoryView &directory)
{
    std::vector<Member> out;
    for (const auto &child : directory.children) {
        if (isNoLock(directory.path, child.name))
            continue;
        if (auto matched = matchLayout(child, directory.path))
            out.push_back({&child, std::move(*matched)});
    }
    return out;
}

// Clients may give their nodes numbers of their own, such as an order's: then each node is a lock by itself. A server
// gives its numbers in the order in which it makes the nodes, and none beyond their count.
bool areOwnNumbers(std::vector<const Member *> group, const zk::Stat &folder)
{
    const auto given = std::ranges::count_if(
        group, [&folder](const Member *one) { return mayHaveGiven(folder, one->match.sequence.sequence); });
    std::ranges::sort(group, [](const Member *a, const Member *b) { // those of one transaction have the same czxid
        const auto made = a->node->stat.czxid <=> b->node->stat.czxid;
        return made != 0 ? made < 0 : recipes::comesBefore(a->match.sequence, b->match.sequence);
    });
    const auto isLater = [](const Member *a, const Member *b) {
        return a->node->stat.czxid != 0 && recipes::comesBefore(b->match.sequence, a->match.sequence);
    };
    return 2 * given <= std::ssize(group) || std::ranges::adjacent_find(group, isLater) != group.end();
}

OwnNumbered ownNumbered(const std::vector<Member> &members, const DirectoryView &directory)
{
    std::map<std::pair<const Layout *, QByteArray>, std::vector<const Member *>> groups;
    for (const auto &one : members) {
        if (isEphemeral(one) && !one.match.layout->description.client)
            groups[{one.match.layout, one.match.group}].push_back(&one);
    }
    OwnNumbered own;
    for (const auto &[key, group] : groups) {
        const bool areAll = areOwnNumbers(group, directory.stat);
        for (const auto *one : group) {
            if (areAll || !mayHaveGiven(directory.stat, one->match.sequence.sequence))
                own.insert(one->node);
        }
    }
    return own;
}

// Persistent sequential siblings are messages, not locks, unless a client's own names say otherwise.
const Layout *leadingLayout(const std::vector<Member> &members)
{
    const auto leads = [&members](const Layout &layout) {
        return std::ranges::any_of(members, [&layout](const Member &one) {
            return one.match.layout == &layout && (layout.isUnmistakable || isEphemeral(one));
        });
    };
    const auto found = std::ranges::find_if(layouts(), leads);
    return found == layouts().end() ? nullptr : &*found;
}

// Names say little here; a server that lists each waiter's watch of its predecessor says much.
bool watchesProveIt(const LockSnapshot &lock)
{
    const auto isProven = [&lock](const Contender &one) {
        if (one.role == Role::Holder)
            return true;
        auto before = *one.position - 1;
        while (one.mode == Mode::Read && before >= 0
               && lock.contenders[static_cast<std::size_t>(before)].mode == Mode::Read)
            --before; // a reader waits for the writer before it
        return before >= 0 && std::ranges::any_of(one.watches, [&](const WatchEdge &edge) {
                   return edge.evidence == Evidence::Server && !edge.children
                          && edge.target == lock.contenders[static_cast<std::size_t>(before)].id;
               });
    };
    return lock.waiterCount() > 0 && std::ranges::all_of(lock.contenders, isProven);
}

using Groups = std::map<QByteArray, std::vector<Member>>;

// A persistent node is a contender where ephemeral ones have the same form.
Groups grouped(const std::vector<Member> &members, const Layout &layout)
{
    Groups out;
    for (const auto &member : members) {
        if (member.match.layout == &layout)
            out[member.match.group].push_back(member);
    }
    std::erase_if(out, [](const auto &entry) {
        return std::ranges::none_of(entry.second, [](const Member &one) { return one.node->mayBeEphemeral(); });
    });
    return out;
}

QueueFolder folderAround(const DirectoryView &directory, const std::vector<Member> &members)
{
    const auto known = mapped<std::set<const ZnodeView *>>(members, &Member::node);
    QueueFolder folder;
    folder.others = nodesWhere(directory.children, [&](const ZnodeView &child) { return !known.contains(&child); });
    folder.created = createdIn(directory.stat);
    return folder;
}

// The names of a directory's children. A lock that is the nodes of one text gets none of them: the child of that name
// may be another lock.
class ChildNames {
public:
    explicit ChildNames(const DirectoryView &directory) : m_directory(directory.path)
    {
        for (const auto &child : directory.children)
            m_names.insert(child.name.bytes());
    }
    [[nodiscard]] bool contains(const QByteArray &name) const { return m_names.contains(name); }
    [[nodiscard]] QByteArray lockName(const QByteArray &name, const QByteArray &text) const
    {
        const auto free = !contains(name) ? name : !contains(text) ? text : text + "<seq>";
        return m_directory.child(NodeName(free)).bytes();
    }

private:
    ZPath m_directory;
    QSet<QByteArray> m_names;
};

std::vector<LockSnapshot> flatLocks(const Layout &layout, const std::vector<Member> &members,
                                    const DirectoryView &directory, const RecogniseContext &context)
{
    const ChildNames names(directory);
    std::vector<LockSnapshot> locks;
    for (auto &[group, queue] : grouped(members, layout)) {
        const Description description = layout.describe(queue, directory.path);
        const auto name = names.lockName(group, queue.front().match.sequence.prefix());
        locks.push_back(queueLock(name, description, queue, directory.path, context));
    }
    return locks;
}

// The lowest of a group, by the order of the queue.
const Member &firstOf(const std::vector<Member> &queue)
{
    return *std::ranges::min_element(queue, [](const Member &a, const Member &b) {
        return recipes::comesBefore(a.match.sequence, b.match.sequence);
    });
}

// The text before the number may be each client's own: where the first of a text is seen to watch an earlier node of
// another one, both are one queue. Where no server lists watches, texts that differ in a UUID only are.
class JoinedGroups {
public:
    JoinedGroups(const Groups &groups, const ZPath &directory, const RecogniseContext &context)
        : m_groups(groups), m_servers(context)
    {
        for (const auto &[text, queue] : groups) {
            for (const auto &one : queue) {
                ++m_nodesOf[one.node->stat.ephemeralOwner];
                for (const auto session : m_servers.watchers(directory.child(one.node->name)))
                    m_watchedBy[session].push_back(&one);
            }
        }
    }

    [[nodiscard]] Groups groups()
    {
        std::vector<const Groups::value_type *> inOrder;
        for (const auto &group : m_groups)
            inOrder.push_back(&group);
        std::ranges::sort(inOrder, [](const auto *a, const auto *b) {
            return recipes::comesBefore(firstOf(a->second).match.sequence, firstOf(b->second).match.sequence);
        });
        Groups joined;
        for (const auto *group : inOrder) {
            const auto into = textFor(*group);
            for (const auto &one : group->second) {
                m_textOf.emplace(one.node, into);
                joined[into].push_back(one);
            }
        }
        return joined;
    }

private:
    [[nodiscard]] QByteArray textFor(const Groups::value_type &group)
    {
        const auto &first = firstOf(group.second);
        const auto session = first.node->stat.ephemeralOwner;
        const auto made = madeAt(*first.node);
        const bool isProvable =
            !session.isNone() && m_nodesOf[session] == 1 && made && m_servers.wasAskedAfter(*made);
        for (const auto *watched : isProvable ? m_watchedBy[session] : std::vector<const Member *>()) {
            if (recipes::comesBefore(watched->match.sequence, first.match.sequence))
                return m_textOf.at(watched->node);
        }
        return m_servers.knowsAllWatches()
                   ? group.first
                   : m_byForm.try_emplace(withoutUuids(group.first), group.first).first->second;
    }

    const Groups &m_groups;
    ServerView m_servers;
    std::map<zk::SessionId, int> m_nodesOf;
    std::map<zk::SessionId, std::vector<const Member *>> m_watchedBy;
    std::map<const ZnodeView *, QByteArray> m_textOf;
    std::map<QByteArray, QByteArray> m_byForm;
};

// What a client protects by a UUID and has the name of a folder beside it is left over from that folder's lock.
bool isLeftover(const std::vector<Member> &queue, const QByteArray &text, const ChildNames &names)
{
    return names.contains(text) && std::ranges::all_of(queue, [](const Member &one) {
               return readProtection(one.node->name.bytes()).kind == Protection::Dashed;
           });
}

// The text of a reader's or a writer's name without the word that says which.
QByteArray withoutMode(const QByteArray &text)
{
    static const QRegularExpression mode(
        u"(?i)read(er)?s?|write(r)?s?|shared|exclusive|[rw](?=lock)|(?<![a-z])[rw](?![a-z])"_s);
    return QString::fromLatin1(text).remove(mode).toLower().toLatin1();
}

// Readers and writers whose names differ in that word only are one queue.
Groups withWriters(const Groups &texts)
{
    std::map<QByteArray, QByteArray> readers;
    for (const auto &[text, queue] : texts) {
        if (queue.front().match.access == recipes::Access::Shared)
            readers.try_emplace(withoutMode(text), text);
    }
    Groups joined;
    for (const auto &[text, queue] : texts) {
        const auto beside = saysWrite(text) ? readers.find(withoutMode(text)) : readers.end();
        auto &into = joined[beside == readers.end() ? text : beside->second];
        into.insert(into.end(), queue.begin(), queue.end());
    }
    return joined;
}

// Siblings of no known name: a queue if there are several, or if a name says so.
std::vector<LockSnapshot> siblingLocks(const Layout &layout, const std::vector<Member> &members,
                                       const DirectoryView &directory, const RecogniseContext &context)
{
    const auto texts = withWriters(grouped(members, layout));
    auto groups = JoinedGroups(texts, directory.path, context).groups();
    const ChildNames names(directory);
    const auto folder = folderAround(directory, members);
    const bool isNamed = saysLockItself(directory.path.name().bytes());
    std::erase_if(groups, [&](const auto &entry) {
        const auto &[text, queue] = entry;
        const bool areSeveral =
            std::ranges::count_if(queue, [](const Member &one) { return one.node->mayBeEphemeral(); }) > 1;
        return isLeftover(queue, text, names) || (!areSeveral && !saysLock(text) && !isNamed);
    });
    std::vector<LockSnapshot> locks;
    for (auto &[group, queue] : groups) {
        const Description description = layout.describe(queue, directory.path);
        QByteArray base = group;
        while (base.endsWith('-') || base.endsWith('_'))
            base.chop(1);
        const bool several = groups.size() > 1 && !base.isEmpty();
        const auto name = several ? names.lockName(base, group) : directory.path.bytes();
        locks.push_back(queueLock(name, description, queue, directory.path, context, folder));
        auto &lock = locks.back();
        if (watchesProveIt(lock)) {
            lock.confidence = Confidence::Medium;
            lock.why += clause(u"each waiter watches the one before it, as a server reports"_s);
        } else if (group.isEmpty() && isNamed) {
            lock.confidence = Confidence::Medium;
            lock.why += clause(u"the folder says lock"_s);
        }
    }
    return locks;
}

// Clients that read each other's names are one queue: it is not only the leading one's.
void nameEveryClient(Description &description, const std::vector<Member> &members)
{
    const auto &goLock = layoutNamed("go-lock");
    const bool hasGo = std::ranges::any_of(members, [&](const Member &one) { return one.match.layout == &goLock; });
    if (!hasGo || !description.client || *description.client == *goLock.description.client)
        return;
    description.client = *description.client + u" and "_s + *goLock.description.client;
    description.recipeOfSemaphore = {}; // it has none
}

// Persistent nodes of a lock's form, and no others: the first one holds whatever lock it is, of the others nothing is
// known. So it is shown to whoever asks for it, and `acquire` is kept away.
std::vector<LockSnapshot> persistentLock(const std::vector<Member> &members, const DirectoryView &directory,
                                         const RecogniseContext &context)
{
    const bool isNamed = saysLockItself(directory.path.name().bytes());
    const auto saysSo = [&](const Member &one) {
        const auto &layout = *one.match.layout;
        return layout.extent != Layout::Extent::Siblings || isNamed || saysLock(one.match.group);
    };
    std::vector<Member> claims;
    std::ranges::copy_if(members, std::back_inserter(claims), saysSo);
    if (claims.empty())
        return {};
    const auto &first = firstOf(claims);
    const auto &layout = *first.match.layout;
    auto description = layout.describe({first}, directory.path);
    description.confidence = Confidence::Low;
    if (claims.size() > 1)
        description.note = u"of %1 more nothing is known"_s.arg(claims.size() - 1);
    const bool isFlat = layout.extent == Layout::Extent::Flat;
    const auto name = isFlat ? ChildNames(directory).lockName(first.match.group, first.match.sequence.prefix())
                             : directory.path.bytes();
    auto lock = queueLock(name, description, {first}, directory.path, context);
    lock.waitersKnown = false;
    return {std::move(lock)};
}

} // namespace

QueueLocks queueLocks(const DirectoryView &directory, const RecogniseContext &context)
{
    auto members = matchedMembers(directory);
    auto own = ownNumbered(members, directory);
    std::erase_if(members, [&own](const Member &one) { return own.contains(one.node); });
    const auto *leading = leadingLayout(members);
    if (!leading)
        return {persistentLock(members, directory, context), std::move(own), false};
    if (leading->extent == Layout::Extent::Flat)
        return {flatLocks(*leading, members, directory, context), std::move(own), false};
    if (leading->extent == Layout::Extent::Siblings)
        return {siblingLocks(*leading, members, directory, context), std::move(own), false};

    std::vector<Member> queue;
    std::ranges::copy_if(members, std::back_inserter(queue),
                         [leading](const Member &one) { return leading->queuesWith(*one.match.layout); });
    const auto folder = folderAround(directory, queue);
    std::vector<const ZnodeView *> foreign;
    std::ranges::copy_if(folder.others, std::back_inserter(foreign), [&](const ZnodeView *child) {
        return !leading->liesAmongFolders && !isNoLock(directory.path, child->name)
               && child->name.bytes() != "lease_holder";
    });
    Description description = leading->describe(queue, directory.path);
    nameEveryClient(description, queue);
    QueueLocks out;
    out.claimsDirectory = true;
    out.locks.push_back(
        queueLock(directory.path.bytes(), description, std::move(queue), directory.path, context, folder));
    auto &lock = out.locks.back();
    const auto isInTheWay = [](const Finding &one) {
        return one.code == FindingCode::ForeignNode && !one.contenders.empty();
    };
    if (std::ranges::none_of(lock.findings, isInTheWay))
        addForeignNodes(lock, foreign, leading->breaksBesideForeignNodes);
    return out;
}

} // namespace lockscope::inspect
