// SPDX-License-Identifier: Apache-2.0
#include "core/zookeeper/clienterrors.h"

#include "core/base/text.h"

#include <zookeeper/zookeeper.h>

using namespace Qt::StringLiterals;

namespace lockscope::zk {

Error makeError(ErrorCode code, const Attempt &attempt, const QString &why, bool retryable)
{
    const auto what = QString::fromLatin1(attempt.verb);
    return {code, u"cannot "_s + what + u' ' + label(attempt.path.bytes()) + u": "_s + why, retryable};
}

QString refusal()
{
    return u"refused the credentials, or lets in only who brings others (SASL is not carried here); user and password "
           u"help only where its scheme is digest"_s;
}

Error notSent(SessionState state, const Attempt &attempt)
{
    switch (state) {
    case SessionState::Expired: return makeError(ErrorCode::SessionExpired, attempt, u"the session has expired"_s);
    case SessionState::AuthFailed: {
        auto error = makeError(ErrorCode::AuthFailed, attempt, u"the server "_s + refusal());
        error.isExplained = true;
        return error;
    }
    case SessionState::Closed: return makeError(ErrorCode::SessionExpired, attempt, u"the session was closed"_s);
    case SessionState::Connecting:
    case SessionState::Connected: break;
    }
    return makeError(ErrorCode::NotConnected, attempt, u"not connected; nothing was sent"_s, true);
}

Error errorOf(int returnCode, const Attempt &attempt)
{
    const auto error = [&](ErrorCode code, const QString &why, bool retryable = false) {
        return makeError(code, attempt, why, retryable);
    };
    switch (returnCode) {
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
        return error(ErrorCode::UnknownOutcome, u"the connection broke while the request was out"_s, true);
    case ZCLOSING: return error(ErrorCode::UnknownOutcome, u"the session was closed while the request was out"_s);
    case ZSESSIONMOVED: return error(ErrorCode::NotConnected, u"the session has moved to another server"_s, true);
    case ZSESSIONEXPIRED: return notSent(SessionState::Expired, attempt);
    case ZAUTHFAILED: return notSent(SessionState::AuthFailed, attempt);
    case ZSESSIONCLOSEDREQUIRESASLAUTH:
        return error(
            ErrorCode::AuthFailed,
            u"the server lets in only who authenticates by SASL, or by a scheme that it names "
            "(enforce.auth.schemes); SASL is not carried here, since ZooKeeper's C client as Debian builds it "
            "has none"_s);
    case ZNOAUTH:
        return error(ErrorCode::NoPermission,
                     u"no permission on "_s + label(attempt.path.bytes()) + u" with these credentials"_s);
    case ZNONODE: return error(ErrorCode::NoNode, u"no such znode (or its parent is missing)"_s);
    case ZNODEEXISTS: return error(ErrorCode::NodeExists, u"the znode exists already"_s);
    case ZBADVERSION: return error(ErrorCode::BadVersion, u"its version has changed"_s);
    case ZNOTEMPTY: return error(ErrorCode::NotEmpty, u"it has children"_s);
    case ZNOCHILDRENFOREPHEMERALS:
        return error(ErrorCode::NoChildrenForEphemerals, u"an ephemeral znode cannot have children"_s);
    case ZBADARGUMENTS: return error(ErrorCode::BadInput, u"not a valid path or argument"_s);
    case ZINVALIDACL: return error(ErrorCode::BadInput, u"the server does not take this ACL"_s);
    case ZUNIMPLEMENTED: return error(ErrorCode::Unsupported, u"this server does not know the request"_s);
    case ZEPHEMERALONLOCALSESSION:
        return error(ErrorCode::Unsupported, u"a local session cannot own ephemeral znodes"_s);
    case ZMARSHALLINGERROR:
        return error(ErrorCode::Server, u"the server's answer is malformed, or larger than is read here"_s);
    case ZTHROTTLEDOP: return error(ErrorCode::Server, u"the server is throttling; try again"_s, true);
    default: return error(ErrorCode::Server, QString::fromLatin1(zerror(returnCode)));
    }
}

} // namespace lockscope::zk
