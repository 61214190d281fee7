// SPDX-License-Identifier: Apache-2.0
// Ports that leave out one precaution of the recipes above them.
#pragma once

#include "core/contention/traced/tracedconnection.h"
#include "core/contention/traced/tracedsession.h"

namespace lockscope::contention {

// Reads without asking the follower to catch up first.
class UnsyncedSession : public TracedSession {
public:
    using TracedSession::TracedSession;
    Reply<bool> sync(ZPath, Deadline) override
    {
        Reply<bool> reply(loop());
        reply.complete(true);
        return reply;
    }
};

// Creates nodes that outlive their session.
class PersistentSession : public TracedSession {
public:
    using TracedSession::TracedSession;
    Reply<zk::Created> create(ZPath path, QByteArray data, zk::CreateMode mode, zk::Acls acls,
                              Deadline deadline) override
    {
        const auto kind = mode == zk::CreateMode::Ephemeral ? zk::CreateMode::Persistent : mode;
        return TracedSession::create(std::move(path), std::move(data), kind, std::move(acls), deadline);
    }
};

// Deletes a key without comparing whose it is.
class UncomparingConnection : public TracedConnection {
public:
    using TracedConnection::TracedConnection;
    Reply<redis::Value> script(redis::Script script, QByteArrayList keys, QByteArrayList args,
                               Deadline deadline) override
    {
        if (!script.name.startsWith("compare-and-delete"))
            return TracedConnection::script(std::move(script), std::move(keys), std::move(args), deadline);
        return command({"DEL", keys.value(0)}, deadline);
    }
};

} // namespace lockscope::contention
