// SPDX-License-Identifier: Apache-2.0
// The znodes as one server keeps them: names, data and every field of a Stat, changed by transactions that
// have been found good before (ensemble.h).
#pragma once

#include "core/async/freelist.h"
#include "core/simservers/zookeeper/protocol.h"
#include "core/zookeeper/session.h"

#include <string_view>

namespace lockscope::sim::zookeeper {

// The names of a znode's children, as they were made, ready to be listed again and again: a list is a window on
// them. Queues come at the end and go at the front, which moves the window; what goes elsewhere spoils the log,
// and it is written anew before the next list.
class NameLog {
public:
    void append(const NodeName &name);
    void remove(const NodeName &name);
    // Not what is listed next: it has to be written anew.
    void spoil() { m_isStale = true; }
    [[nodiscard]] bool isStale() const { return m_isStale; }
    void renew(std::vector<NodeName> names);
    // Only when not stale.
    [[nodiscard]] zk::NameList list() const { return {m_names, m_begin, m_names->size(), m_ascends}; }

private:
    using Names = std::vector<NodeName>;
    std::shared_ptr<Names> m_names = std::make_shared<Names>(); // what was listed is never changed
    std::size_t m_begin = 0;
    bool m_isStale = false;
    bool m_ascends = true;
    qint64 m_lastNumber = -1; // while it ascends
};

enum class NodeKind : quint8 { Persistent, Ephemeral, Container, TimeToLive };
using SharedAcls = std::shared_ptr<const zk::Acls>;
// What nearly every node has, kept once.
[[nodiscard]] const SharedAcls &openAcls();

struct Family;

struct Znode : OnFreeList {
    Znode();
    ~Znode();

    Znode *parent = nullptr;                    // null: the root
    Znode *older = nullptr, *younger = nullptr; // siblings, as they were made
    Znode *before = nullptr, *after = nullptr;  // the same session's, as they were made
    QByteArray name;
    QByteArray data;
    SharedAcls acls;
    qint64 czxid = 0, mzxid = 0, pzxid = 0;
    std::chrono::milliseconds ctime{}, mtime{};
    std::chrono::milliseconds timeToLive{};
    quint64 owner = 0;  // the session, of an ephemeral node
    quint64 serial = 0; // counts the nodes of the tree as they were made
    qint32 version = 0;
    qint32 creates = 0; // children ever made: the next sequence number
    qint32 aversion = 0;
    NodeKind kind = NodeKind::Persistent;
    std::unique_ptr<Family> family; // null until it has a child

    [[nodiscard]] qint32 childCount() const;
    [[nodiscard]] ZPath path() const;
    [[nodiscard]] zk::Stat stat() const;
    // In the order in which they were made.
    [[nodiscard]] zk::NameList childNames() const;
    [[nodiscard]] const Znode *eldestChild() const;
};

struct Family {
    freelist::UnorderedMap<std::string_view, std::unique_ptr<Znode>> byName; // the view is of the child's own name
    Znode *eldest = nullptr, *youngest = nullptr;
    NameLog names;
};

// One thing that a transaction does.
struct Change {
    enum class Kind { Create, Remove, SetData, SetAcls };
    Kind kind = Kind::Remove;
    ZPath path;
    QByteArray data;
    SharedAcls acls;       // the node's: the new ones, or those it has
    SharedAcls parentAcls; // both decide who is told; the parent's not where it is of no concern
    NodeKind nodeKind = NodeKind::Persistent;
    quint64 owner = 0;
    std::chrono::milliseconds timeToLive{};
    qint32 version = 0; // new: of the data, of the access list; Create: the parent's counter
};
struct Stamp {
    qint64 zxid = 0;
    std::chrono::milliseconds time{}; // since the epoch, by the leader's clock
};

class Tree {
public:
    // With what every server has: /zookeeper and its children.
    Tree();

    [[nodiscard]] Znode *find(const ZPath &path) { return findBytes(path.bytes()); }
    [[nodiscard]] const Znode *find(const ZPath &path) const { return const_cast<Tree *>(this)->find(path); }
    [[nodiscard]] Znode &root() { return m_root; }
    // Where that is, or would be; the root's is the root.
    [[nodiscard]] Znode *parentOf(const ZPath &path);

    // What takes the changes back again, the last one first.
    using Undo = std::vector<std::function<void()>>;
    void apply(const Change &change, Stamp stamp, Undo *undo = nullptr);

    using BySerial = std::map<quint64, Znode *>;
    // As they were made.
    [[nodiscard]] std::vector<ZPath> ephemeralsOf(quint64 session) const;
    // Containers and nodes with a time to live.
    [[nodiscard]] const BySerial &mortals() const { return m_mortals; }
    [[nodiscard]] qint64 count() const { return m_count; }

private:
    [[nodiscard]] Znode *findBytes(QByteArrayView path);
    void create(const Change &change, Stamp stamp, Undo *undo);
    void remove(const Change &change, Stamp stamp, Undo *undo);
    void setData(const Change &change, Stamp stamp, Undo *undo);
    void setAcls(const Change &change, Undo *undo);
    void addBuiltin(Znode &parent, const char *name);
    void enroll(Znode *node);
    void applyFault(Znode *node);
    void attach(Znode &parent, std::unique_ptr<Znode> node);
    [[nodiscard]] std::unique_ptr<Znode> detach(Znode *node);

    Znode m_root;
    freelist::UnorderedMap<quint64, Znode *> m_ephemerals; // the last one of each session
    BySerial m_mortals;
    quint64 m_lastSerial = 0;
    qint64 m_count = 1;
};

} // namespace lockscope::sim::zookeeper
