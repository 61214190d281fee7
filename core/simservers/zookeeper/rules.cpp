// SPDX-License-Identifier: Apache-2.0
#include "core/simservers/zookeeper/ensemble.h"

#include <QCryptographicHash>

#include <charconv>

namespace lockscope::sim::zookeeper {

std::optional<Identity> identify(const QByteArray &scheme, const QByteArray &credentials)
{
    if (scheme == "ip")
        return Identity{scheme, "127.0.0.1"};
    if (scheme != "digest")
        return {};
    const auto user = credentials.left(std::max<qsizetype>(credentials.indexOf(':'), 0));
    const auto hash = QCryptographicHash::hash(credentials, QCryptographicHash::Sha1);
    return Identity{scheme, user + ':' + hash.toBase64()};
}

namespace {

// Asked of each who is told of a change: a herd's millions.
template <std::size_t size>
bool isWord(const QByteArray &bytes, const char (&word)[size])
{
    return std::size_t(bytes.size()) == size - 1 && std::memcmp(bytes.constData(), word, size - 1) == 0;
}

} // namespace

bool isAllowed(const zk::Acls &acls, int permissions, const Identities &who)
{
    return std::any_of(acls.begin(), acls.end(), [&](const zk::Acl &acl) {
        if ((acl.perms & permissions) == 0)
            return false;
        if (isWord(acl.scheme, "world"))
            return isWord(acl.id, "anyone");
        return std::find(who.begin(), who.end(), Identity{acl.scheme, acl.id}) != who.end();
    });
}

std::optional<zk::Acls> fixedUp(const zk::Acls &acls, const Identities &who)
{
    zk::Acls fixed;
    const auto add = [&fixed](zk::Acl acl) {
        if (std::find(fixed.begin(), fixed.end(), acl) == fixed.end())
            fixed.push_back(std::move(acl));
    };
    for (const auto &acl : acls) {
        if (acl.scheme == "auth") {
            // An address proves nothing that would be worth an entry.
            bool isKnown = false;
            for (const auto &identity : who) {
                if (identity.scheme == "ip")
                    continue;
                add({acl.perms, identity.scheme, identity.id});
                isKnown = true;
            }
            if (!isKnown)
                return {};
        } else if ((acl.scheme == "world" && acl.id == "anyone") || (acl.scheme == "ip" && !acl.id.isEmpty())
                   || (acl.scheme == "digest" && acl.id.count(':') == 1)) {
            add(acl);
        } else {
            return {};
        }
    }
    if (fixed.empty())
        return {};
    return fixed;
}

zk::Acls withoutSecrets(zk::Acls acls)
{
    for (auto &acl : acls) {
        if (acl.scheme == "digest")
            acl.id = acl.id.left(acl.id.indexOf(':')) + ":x";
    }
    return acls;
}

namespace {

bool isNumbered(zk::CreateMode mode)
{
    return mode == zk::CreateMode::PersistentSequential || mode == zk::CreateMode::EphemeralSequential
           || mode == zk::CreateMode::PersistentSequentialWithTtl;
}

// "%010d": ten digits, a minus being one of them. In one block: very many are kept.
QByteArray numbered(const QByteArray &name, qint32 number)
{
    std::array<char, 12> digits;
    auto *const end = std::to_chars(digits.begin(), digits.end(), std::abs(qint64(number))).ptr;
    const bool isNegative = number < 0;
    const qsizetype count = end - digits.begin(), zeros = std::max<qsizetype>((isNegative ? 9 : 10) - count, 0);
    QByteArray all(name.size() + (isNegative ? 1 : 0) + zeros + count, Qt::Uninitialized);
    auto *at = std::copy(name.begin(), name.end(), all.data());
    if (isNegative)
        *at++ = '-';
    at = std::fill_n(at, zeros, '0');
    std::copy(digits.begin(), end, at);
    return all;
}

NodeKind kindOf(zk::CreateMode mode)
{
    switch (mode) {
    case zk::CreateMode::Persistent:
    case zk::CreateMode::PersistentSequential: return NodeKind::Persistent;
    case zk::CreateMode::Ephemeral:
    case zk::CreateMode::EphemeralSequential: return NodeKind::Ephemeral;
    case zk::CreateMode::Container: return NodeKind::Container;
    case zk::CreateMode::PersistentWithTtl:
    case zk::CreateMode::PersistentSequentialWithTtl: return NodeKind::TimeToLive;
    }
    return NodeKind::Persistent;
}

// Signed, and wraps: what comes after the largest number is the smallest.
qint32 next(qint32 counter)
{
    return static_cast<qint32>(static_cast<quint32>(counter) + 1U);
}

bool isOther(qint32 asked, qint32 actual)
{
    return asked != zk::anyVersion && asked != actual;
}

Verdict judgeCreate(Tree &tree, const Request &request, const Caller &caller)
{
    // Nearly always; then there is nothing to be fixed up, nor to be kept.
    const bool isOpen = request.acls == *openAcls();
    auto fixed = isOpen ? std::nullopt : fixedUp(request.acls, *caller.identities);
    if (!isOpen && !fixed)
        return {Code::InvalidAcl, {}};
    const auto *const parent = tree.parentOf(request.path);
    if (!parent)
        return {Code::NoNode, {}};
    if (!isAllowed(*parent->acls, zk::perms::create, *caller.identities))
        return {Code::NoAuth, {}};
    Change change;
    change.kind = Change::Kind::Create;
    change.path = request.path;
    if (isNumbered(request.mode))
        change.path = ZPath(numbered(request.path.bytes(), parent->creates));
    if (change.path.bytes().endsWith('/') && !change.path.isRoot())
        return {Code::BadArguments, {}};
    if (tree.find(change.path))
        return {Code::NodeExists, {}};
    if (parent->kind == NodeKind::Ephemeral)
        return {Code::NoChildrenForEphemerals, {}};
    change.data = request.data;
    change.acls = isOpen ? openAcls() : std::make_shared<const zk::Acls>(*std::move(fixed));
    change.parentAcls = parent->acls;
    change.nodeKind = kindOf(request.mode);
    change.owner = change.nodeKind == NodeKind::Ephemeral ? caller.session : 0;
    change.timeToLive = request.timeToLive;
    change.version = next(parent->creates);
    return {Code::Ok, std::move(change)};
}

Verdict judgeRemove(Tree &tree, const Request &request, const Caller &caller)
{
    const auto &path = request.path.bytes();
    if (path == "/" || path == "/zookeeper" || path == "/zookeeper/config" || path == "/zookeeper/quota")
        return {Code::BadArguments, {}};
    const auto *const parent = tree.parentOf(request.path);
    if (!parent)
        return {Code::NoNode, {}};
    if (!isAllowed(*parent->acls, zk::perms::remove, *caller.identities))
        return {Code::NoAuth, {}};
    const auto *const node = tree.find(request.path);
    if (!node)
        return {Code::NoNode, {}};
    if (isOther(request.version, node->version))
        return {Code::BadVersion, {}};
    if (node->childCount() > 0)
        return {Code::NotEmpty, {}};
    return {Code::Ok, removalOf(*node, request.path)};
}

Verdict judgeSet(const Znode &node, const Request &request, const Identities &who)
{
    if (!isAllowed(*node.acls, zk::perms::write, who))
        return {Code::NoAuth, {}};
    if (isOther(request.version, node.version))
        return {Code::BadVersion, {}};
    Change change;
    change.kind = Change::Kind::SetData;
    change.path = request.path;
    change.data = request.data;
    change.acls = node.acls;
    change.version = next(node.version);
    return {Code::Ok, std::move(change)};
}

Verdict judgeSetAcls(const Znode &node, const Request &request, zk::Acls fixed, const Identities &who)
{
    if (!isAllowed(*node.acls, zk::perms::admin, who))
        return {Code::NoAuth, {}};
    if (isOther(request.version, node.aversion))
        return {Code::BadVersion, {}};
    Change change;
    change.kind = Change::Kind::SetAcls;
    change.path = request.path;
    change.acls = std::make_shared<const zk::Acls>(std::move(fixed));
    change.version = next(node.aversion);
    return {Code::Ok, std::move(change)};
}

Code judgeCheck(const Znode &node, const Request &request, const Identities &who)
{
    if (!isAllowed(*node.acls, zk::perms::read, who))
        return Code::NoAuth;
    return isOther(request.version, node.version) ? Code::BadVersion : Code::Ok;
}

int permissionFor(Verb verb, bool existsNeedsRead)
{
    switch (verb) {
    case Verb::Get:
    case Verb::Children: return zk::perms::read;
    case Verb::Acls: return zk::perms::read | zk::perms::admin;
    case Verb::Exists: return existsNeedsRead ? zk::perms::read : 0;
    default: return 0;
    }
}

} // namespace

bool isWrite(Verb verb)
{
    switch (verb) {
    case Verb::Create:
    case Verb::Remove:
    case Verb::Set:
    case Verb::Multi:
    case Verb::Check:
    case Verb::SetAcls:
    case Verb::Close: return true;
    default: return false;
    }
}

Change removalOf(const Znode &node, const ZPath &path)
{
    Change change;
    change.kind = Change::Kind::Remove;
    change.path = path;
    change.acls = node.acls;
    change.parentAcls = node.parent->acls;
    return change;
}

Verdict judge(Tree &tree, const Request &request, const Caller &caller)
{
    if (request.verb == Verb::Create)
        return judgeCreate(tree, request, caller);
    if (request.verb == Verb::Remove)
        return judgeRemove(tree, request, caller);
    std::optional<zk::Acls> fixed;
    if (request.verb == Verb::SetAcls) {
        fixed = fixedUp(request.acls, *caller.identities);
        if (!fixed)
            return {Code::InvalidAcl, {}};
    }
    const auto *const node = tree.find(request.path);
    if (!node)
        return {Code::NoNode, {}};
    if (request.verb == Verb::Set)
        return judgeSet(*node, request, *caller.identities);
    if (request.verb == Verb::SetAcls)
        return judgeSetAcls(*node, request, std::move(*fixed), *caller.identities);
    return {judgeCheck(*node, request, *caller.identities), {}};
}

Answer read(const Tree &tree, const Request &request, const Identities &who, bool existsNeedsRead)
{
    Answer answer;
    const auto *const node = tree.find(request.path);
    if (!node) {
        answer.code = Code::NoNode;
        return answer;
    }
    const auto permission = permissionFor(request.verb, existsNeedsRead);
    if (permission != 0 && !isAllowed(*node->acls, permission, who)) {
        answer.code = Code::NoAuth;
        return answer;
    }
    answer.stat = node->stat();
    if (request.verb == Verb::Get)
        answer.data = node->data;
    else if (request.verb == Verb::Children)
        answer.names = node->childNames();
    else if (request.verb == Verb::Acls)
        answer.acls = isAllowed(*node->acls, zk::perms::admin, who) ? *node->acls : withoutSecrets(*node->acls);
    return answer;
}

} // namespace lockscope::sim::zookeeper
