// SPDX-License-Identifier: Apache-2.0
#include "core/simservers/zookeeper/ensemble.h"

#include "core/rules/turn.h"

namespace lockscope::sim::zookeeper {

void NameLog::append(const NodeName &name)
{
    // Nothing takes a number twice, so that whatever goes the rest still ascends.
    if (m_ascends) {
        const auto number = recipes::sequenceOf(name);
        m_ascends = number && *number > m_lastNumber && *number <= std::numeric_limits<qint32>::max();
        m_lastNumber = number.value_or(-1);
    }
    if (!m_isStale)
        m_names->push_back(name);
}

void NameLog::remove(const NodeName &name)
{
    if (m_isStale)
        return;
    const bool isFirst = m_begin < m_names->size() && (*m_names)[m_begin] == name;
    if (isFirst)
        ++m_begin;
    if (m_begin == m_names->size()) {
        // Whether what comes from now on ascends has nothing to do with what was before.
        *this = NameLog();
        return;
    }
    // Names that are gone are not to outweigh those that are there.
    m_isStale = !isFirst || m_begin > 64 + m_names->size() / 2;
}

void NameLog::renew(std::vector<NodeName> names)
{
    m_names = std::make_shared<Names>(std::move(names));
    m_begin = 0;
    m_isStale = false;
}

namespace {

std::string_view viewOf(QByteArrayView bytes)
{
    return {bytes.data(), static_cast<std::size_t>(bytes.size())};
}

} // namespace

const SharedAcls &openAcls()
{
    static const auto acls = std::make_shared<const zk::Acls>(zk::openAcl());
    return acls;
}

Znode::Znode() = default;
Znode::~Znode() = default;

qint32 Znode::childCount() const
{
    return family ? static_cast<qint32>(family->byName.size()) : 0;
}

const Znode *Znode::eldestChild() const
{
    return family ? family->eldest : nullptr;
}

ZPath Znode::path() const
{
    if (!parent)
        return ZPath("/");
    return parent->path().child(NodeName(name));
}

zk::Stat Znode::stat() const
{
    zk::Stat stat;
    stat.czxid = czxid;
    stat.mzxid = mzxid;
    stat.pzxid = pzxid;
    stat.ctime = ctime;
    stat.mtime = mtime;
    stat.version = version;
    stat.numChildren = childCount();
    // Stored are the creates alone; shown are the creates and the removals. Wraps as the server's does.
    stat.cversion = static_cast<qint32>(2U * static_cast<quint32>(creates) - static_cast<quint32>(stat.numChildren));
    stat.aversion = aversion;
    stat.ephemeralOwner = {owner};
    stat.dataLength = static_cast<qint32>(data.size());
    return stat;
}

zk::NameList Znode::childNames() const
{
    if (!family)
        return {};
    if (family->names.isStale()) {
        std::vector<NodeName> names;
        names.reserve(family->byName.size());
        for (const auto *child = family->eldest; child; child = child->younger)
            names.emplace_back(child->name);
        family->names.renew(std::move(names));
    }
    return family->names.list();
}

Tree::Tree()
{
    m_root.acls = openAcls();
    addBuiltin(m_root, "zookeeper");
    auto *const own = m_root.family->eldest;
    addBuiltin(*own, "config");
    addBuiltin(*own, "quota");
}

// Not counted among the creates, as the server does not.
void Tree::addBuiltin(Znode &parent, const char *name)
{
    auto node = std::make_unique<Znode>();
    node->name = name;
    node->acls = openAcls();
    node->serial = ++m_lastSerial;
    attach(parent, std::move(node));
}

Znode *Tree::findBytes(QByteArrayView path)
{
    auto *node = &m_root;
    const auto all = viewOf(path);
    std::size_t at = 1;
    while (node && at < all.size()) {
        const auto end = std::min(all.find('/', at), all.size());
        if (!node->family)
            return nullptr;
        const auto found = node->family->byName.find(all.substr(at, end - at));
        node = found == node->family->byName.end() ? nullptr : found->second.get();
        at = end + 1;
    }
    return node;
}

Znode *Tree::parentOf(const ZPath &path)
{
    const QByteArrayView all = path.bytes();
    const auto *const slash = memrchr(all.data(), '/', static_cast<std::size_t>(all.size()));
    return findBytes(all.first(slash ? static_cast<const char *>(slash) - all.data() : 0));
}

std::vector<ZPath> Tree::ephemeralsOf(quint64 session) const
{
    std::vector<ZPath> paths;
    const auto at = m_ephemerals.find(session);
    if (at == m_ephemerals.end())
        return paths;
    for (const auto *node = at->second; node; node = node->before)
        paths.push_back(node->path());
    std::ranges::reverse(paths);
    return paths;
}

void Tree::enroll(Znode *node)
{
    if (node->kind != NodeKind::Ephemeral) {
        if (node->kind != NodeKind::Persistent)
            m_mortals.emplace(node->serial, node);
        return;
    }
    auto &last = m_ephemerals[node->owner];
    // At the end, unless a removal is taken back.
    Znode *after = nullptr;
    Znode *before = last;
    for (; before && before->serial > node->serial; before = before->before)
        after = before;
    node->before = before;
    node->after = after;
    if (before)
        before->after = node;
    (after ? after->before : last) = node;
}

void Tree::applyFault(Znode *node)
{
    if (node->kind != NodeKind::Ephemeral) {
        m_mortals.erase(node->serial);
        return;
    }
    if (node->before)
        node->before->after = node->after;
    if (node->after)
        node->after->before = node->before;
    else if (node->before)
        m_ephemerals[node->owner] = node->before;
    else
        m_ephemerals.erase(node->owner);
    node->before = node->after = nullptr;
}

void Tree::attach(Znode &parent, std::unique_ptr<Znode> node)
{
    if (!parent.family)
        parent.family = std::make_unique<Family>();
    auto &family = *parent.family;
    auto *const child = node.get();
    child->parent = &parent;
    // Back at its old place when a removal is taken back: its siblings of then are the ones of now.
    const bool isBack = child->older || child->younger;
    if (isBack)
        family.names.spoil();
    else
        family.names.append(NodeName(child->name));
    if (!isBack)
        child->older = family.youngest;
    (child->older ? child->older->younger : family.eldest) = child;
    (child->younger ? child->younger->older : family.youngest) = child;
    family.byName.emplace(viewOf(child->name), std::move(node));
    enroll(child);
    ++m_count;
}

std::unique_ptr<Znode> Tree::detach(Znode *node)
{
    auto &family = *node->parent->family;
    applyFault(node);
    (node->older ? node->older->younger : family.eldest) = node->younger;
    (node->younger ? node->younger->older : family.youngest) = node->older;
    const auto at = family.byName.find(viewOf(node->name));
    auto owned = std::move(at->second);
    family.byName.erase(at);
    family.names.remove(NodeName(owned->name));
    --m_count;
    return owned;
}

void Tree::apply(const Change &change, Stamp stamp, Undo *undo)
{
    switch (change.kind) {
    case Change::Kind::Create: return create(change, stamp, undo);
    case Change::Kind::Remove: return remove(change, stamp, undo);
    case Change::Kind::SetData: return setData(change, stamp, undo);
    case Change::Kind::SetAcls: return setAcls(change, undo);
    }
}

void Tree::create(const Change &change, Stamp stamp, Undo *undo)
{
    auto *const parent = parentOf(change.path);
    auto node = std::make_unique<Znode>();
    auto *const child = node.get();
    child->name = change.path.name().bytes();
    child->data = change.data;
    child->acls = change.acls == openAcls() || *change.acls == *openAcls() ? openAcls() : change.acls;
    child->czxid = child->mzxid = child->pzxid = stamp.zxid;
    child->ctime = child->mtime = stamp.time;
    child->kind = change.nodeKind;
    child->owner = change.owner;
    child->timeToLive = change.timeToLive;
    child->serial = ++m_lastSerial;
    const auto creates = parent->creates;
    const auto pzxid = parent->pzxid;
    attach(*parent, std::move(node));
    // Never back: past the largest number the counter stays where it is.
    if (change.version > creates) {
        parent->creates = change.version;
        parent->pzxid = stamp.zxid;
    }
    if (undo)
        undo->push_back([this, parent, child, creates, pzxid] {
            parent->creates = creates;
            parent->pzxid = pzxid;
            const auto gone = detach(child);
        });
}

void Tree::remove(const Change &change, Stamp stamp, Undo *undo)
{
    auto *const node = find(change.path);
    auto *const parent = node->parent;
    const auto pzxid = parent->pzxid;
    auto removed = detach(node);
    parent->pzxid = std::max(parent->pzxid, stamp.zxid);
    if (!undo)
        return;
    // The very same node comes back: its siblings and what else is taken back know it by its place in memory.
    undo->push_back([this, parent, kept = std::make_shared<std::unique_ptr<Znode>>(std::move(removed)), pzxid] {
        parent->pzxid = pzxid;
        attach(*parent, std::move(*kept));
    });
}

void Tree::setData(const Change &change, Stamp stamp, Undo *undo)
{
    auto *const node = find(change.path);
    if (undo)
        undo->push_back([node, data = node->data, mzxid = node->mzxid, mtime = node->mtime, version = node->version] {
            node->data = data;
            node->mzxid = mzxid;
            node->mtime = mtime;
            node->version = version;
        });
    node->data = change.data;
    node->mzxid = stamp.zxid;
    node->mtime = stamp.time;
    node->version = change.version;
}

void Tree::setAcls(const Change &change, Undo *undo)
{
    auto *const node = find(change.path);
    if (undo)
        undo->push_back([node, acls = node->acls, aversion = node->aversion] {
            node->acls = acls;
            node->aversion = aversion;
        });
    node->acls = change.acls;
    node->aversion = change.version;
}

} // namespace lockscope::sim::zookeeper
