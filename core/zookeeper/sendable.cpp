// SPDX-License-Identifier: Apache-2.0
#include "core/zookeeper/sendable.h"

#include "core/base/text.h"

#include <zookeeper/zookeeper.h>

namespace lockscope::zk {

Error makeError(ErrorCode code, const Attempt &attempt, const QString &why, bool retryable)
{
    const auto what = QString::fromLatin1(attempt.verb);
    return {code, u"cannot "_s + what + u' ' + label(attempt.path.bytes()) + u": "_s + why, retryable};
}

QString refusal()
{
    return u"rejected the credentials, or accepts only other kinds (SASL is not supported). User and password "
           u"work with the digest scheme only"_s;
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
            u"the server accepts only clients that authenticate by SASL, or by a scheme that it names "
            u"(enforce.auth.schemes). SASL is not supported: Debian's build of ZooKeeper's C client lacks it"_s);
    case ZNOAUTH:
        return error(ErrorCode::NoPermission,
                     u"no permission on %1 with these credentials"_s.arg(label(attempt.path.bytes())));
    case ZNONODE: return error(ErrorCode::NoNode, u"no such znode (or its parent is missing)"_s);
    case ZNODEEXISTS: return error(ErrorCode::NodeExists, u"the znode already exists"_s);
    case ZBADVERSION: return error(ErrorCode::BadVersion, u"its version has changed"_s);
    case ZNOTEMPTY: return error(ErrorCode::NotEmpty, u"it has children"_s);
    case ZNOCHILDRENFOREPHEMERALS:
        return error(ErrorCode::NoChildrenForEphemerals, u"an ephemeral znode cannot have children"_s);
    case ZBADARGUMENTS: return error(ErrorCode::BadInput, u"not a valid path or argument"_s);
    case ZINVALIDACL: return error(ErrorCode::BadInput, u"the server does not accept this ACL"_s);
    case ZUNIMPLEMENTED: return error(ErrorCode::Unsupported, u"this server does not know the request"_s);
    case ZEPHEMERALONLOCALSESSION:
        return error(ErrorCode::Unsupported, u"a local session cannot own ephemeral znodes"_s);
    case ZMARSHALLINGERROR:
        return error(ErrorCode::Server, u"the server's answer is malformed, or too large to read"_s);
    case ZTHROTTLEDOP: return error(ErrorCode::Server, u"the server is throttling; try again"_s, true);
    default: return error(ErrorCode::Server, QString::fromLatin1(zerror(returnCode)));
    }
}

namespace {

// A server takes requests below 1 MiB unless told otherwise (jute.maxbuffer), and breaks the
// connection of whoever sends more, with everything else that is out on it.
constexpr qsizetype requestLimitBytes = 0xfffff;
constexpr qsizetype requestHeaderBytes = 64;

constexpr std::chrono::milliseconds mostTtl((qint64(1) << 40) - 1); // the server has 40 bits for it

bool hasTtl(CreateMode mode)
{
    return mode == CreateMode::PersistentWithTtl || mode == CreateMode::PersistentSequentialWithTtl;
}

Error badCreate(const ZPath &path, const QString &why)
{
    return makeError(ErrorCode::BadInput, {"create", path}, why);
}

// The library would cut the path there and act on another node.
std::optional<Error> pathError(const Attempt &attempt)
{
    if (!attempt.path.bytes().contains('\0'))
        return {};
    return makeError(ErrorCode::BadInput, attempt, u"a path cannot hold a zero byte"_s);
}

bool isNoName(QByteArrayView name)
{
    return name.isEmpty() || (name.front() == '.' && (name == "." || name == ".."));
}

qsizetype sizeOf(const Acls &acls)
{
    qsizetype bytes = 0;
    for (const auto &acl : acls)
        bytes += 12 + acl.scheme.size() + acl.id.size();
    return bytes;
}

} // namespace

std::optional<Error> preSendError(SessionState state, const Attempt &attempt, qsizetype payloadBytes,
                                  Deadline deadline, const Loop &loop)
{
    if (auto why = pathError(attempt))
        return why;
    if (state != SessionState::Connected)
        return notSent(state, attempt);
    if (payloadBytes + attempt.path.bytes().size() + requestHeaderBytes > requestLimitBytes)
        return makeError(ErrorCode::TooLarge, attempt,
                         u"%1 bytes exceed the limit of one ZooKeeper request (1 MiB)"_s.arg(payloadBytes));
    if (deadline.hasPassed(loop))
        return makeError(ErrorCode::TimedOut, attempt, u"no time was left; nothing was sent"_s);
    return {};
}

std::optional<Error> whyUnfit(const CreateRequest &request)
{
    const auto &ttl = request.timeToLive;
    if (hasTtl(request.mode) != ttl.has_value())
        return badCreate(request.path, ttl ? u"only persistent znodes can have a time to live"_s
                                           : u"this kind of znode needs a time to live"_s);
    if (ttl && (ttl->count() < 1 || *ttl > mostTtl))
        return badCreate(request.path, u"a time to live of %1 ms is out of range"_s.arg(ttl->count()));
    return {};
}

bool isPath(const ZPath &path, CreateMode mode)
{
    const auto &bytes = path.bytes();
    if (!bytes.startsWith('/'))
        return false;
    if (path.isRoot())
        return true;
    const bool isNumbered = mode == CreateMode::PersistentSequential || mode == CreateMode::EphemeralSequential
                            || mode == CreateMode::PersistentSequentialWithTtl;
    const auto *const end = bytes.end();
    for (const auto *name = bytes.begin() + 1;; ++name) {
        const auto *const slash = std::find(name, end, '/');
        // Whatever the last one is called, it will have a number.
        const bool isFree = isNumbered && slash == end;
        if (!isFree && isNoName(QByteArrayView(name, slash)))
            return false;
        if (slash == end)
            break;
        name = slash;
    }
    return std::none_of(bytes.begin(), bytes.end(), [](char c) { return c >= 0 && c < 0x1f; });
}

std::optional<Error> whyUnfit(const MultiRequest &request)
{
    if (request.ops.empty())
        return Error{ErrorCode::BadInput, u"a transaction needs at least one part"_s, false};
    for (const auto &op : request.ops) {
        if (auto why = pathError({"change", op.path}))
            return why;
        // The library notices too late, and frees what it never had.
        if (!isPath(op.path, op.mode))
            return errorOf(ZBADARGUMENTS, attemptOf(op));
        if (op.kind != Op::Kind::Create)
            continue;
        // The library has no call for the one, and does not know the answer to the other and aborts the process.
        if (hasTtl(op.mode) || op.mode == CreateMode::Container)
            return makeError(ErrorCode::Unsupported, {"create", op.path},
                             u"containers and znodes with a time to live cannot be part of a transaction"_s);
    }
    return {};
}

Error overBudget(const Attempt &attempt, qsizetype budgetBytes)
{
    return makeError(ErrorCode::BudgetExceeded, attempt,
                     u"watching it would exceed the budget of %1 KiB of watched paths"_s.arg(budgetBytes / 1024));
}

Error unansweredInTime(const Attempt &attempt)
{
    return makeError(ErrorCode::UnknownOutcome, attempt, u"no answer in time; it may have been executed"_s, true);
}

Error partFailed(int returnCode, const Attempt &attempt, std::size_t part)
{
    auto error = errorOf(returnCode, attempt);
    if (error.code != ErrorCode::UnknownOutcome && error.code != ErrorCode::SessionExpired)
        error.message =
            u"%1 (part %2 of a transaction; none of it was done)"_s.arg(error.message, QString::number(part + 1));
    return error;
}

Attempt attemptOf(const Op &op)
{
    static constexpr const char *verbs[] = {"create", "delete", "write", "check"};
    return {verbs[static_cast<int>(op.kind)], op.path};
}

qsizetype payloadOf(const CreateRequest &request)
{
    return request.data.size() + sizeOf(request.acls);
}

qsizetype payloadOf(const MultiRequest &request)
{
    qsizetype bytes = 0;
    for (const auto &op : request.ops)
        bytes += requestHeaderBytes + op.path.bytes().size() + op.data.size() + sizeOf(op.acls);
    return bytes;
}

qsizetype payloadOf(const SetAclsRequest &request)
{
    return sizeOf(request.acls);
}

} // namespace lockscope::zk
