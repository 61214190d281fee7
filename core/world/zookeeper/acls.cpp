// SPDX-License-Identifier: Apache-2.0
#include "core/world/zookeeper/acls.h"

#include <QCryptographicHash>

#include <cstring>

namespace lockscope::world::zookeeper {

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

} // namespace lockscope::world::zookeeper
