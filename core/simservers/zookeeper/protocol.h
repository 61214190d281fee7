// SPDX-License-Identifier: Apache-2.0
// What travels between a simulated session and the simulated servers: ZooKeeper's requests, answers and
// notifications as values, with the numbers of the protocol for what went wrong.
#pragma once

#include "core/zookeeper/session.h"

namespace lockscope::sim::zookeeper {

enum class Code : int {
    Ok = 0,
    ConnectionLoss = -4,
    BadArguments = -8,
    NoNode = -101,
    NoAuth = -102,
    BadVersion = -103,
    NoChildrenForEphemerals = -108,
    NodeExists = -110,
    NotEmpty = -111,
    InvalidAcl = -114,
    AuthFailed = -115,
    Closing = -116,
};

enum class Verb { Create, Remove, Get, Set, Exists, Children, Multi, Check, Sync, Acls, SetAcls, AddAuth, Close };

struct Request {
    Verb verb = Verb::Check;
    ZPath path;
    QByteArray data; // AddAuth: the credentials, with the scheme as the path
    zk::CreateMode mode = zk::CreateMode::Persistent;
    std::chrono::milliseconds timeToLive{};
    zk::Acls acls;
    qint32 version = zk::anyVersion;
    bool watches = false;
    std::vector<Request> parts;
};

struct Answer {
    Code code = Code::Ok;
    qint64 zxid = 0; // the last one that the server had applied
    ZPath path;
    QByteArray data;
    zk::Stat stat;
    zk::NameList names;
    zk::Acls acls;
    std::vector<zk::OpResult> results;
    std::size_t failedPart = 0;
};

// The first thing said on a connection.
struct Hello {
    zk::SessionId session; // none: a new one
    std::chrono::milliseconds timeout{};
    qint64 lastZxidSeen = 0;
    std::vector<std::pair<QByteArray, QByteArray>> credentials; // scheme, secret
    std::vector<ZPath> dataWatches, missingWatches, childWatches;
};
struct Welcome {
    zk::SessionId session; // none: it has expired
    std::chrono::milliseconds timeout{};
};

// The client's end of a connection. Called on its process.
class Receiver {
public:
    virtual ~Receiver() = default;
    virtual void welcomed(const Welcome &welcome) = 0;
    virtual void answered(quint64 number, Answer &&answer) = 0;
    virtual void notified(const zk::WatchEvent &event) = 0;
};

} // namespace lockscope::sim::zookeeper
