// SPDX-License-Identifier: Apache-2.0
// A ZooKeeper session that tells the trace what is sent and heard over it.
#pragma once

#include "core/contention/traced/tracedport.h"
#include "core/zookeeper/session.h"

#include <array>

namespace lockscope::contention {

struct ZooKeeperMeasures {
    // What a packet takes beside the path, the data and the names in it: header, lengths, flags. By the layout of
    // ZooKeeper's jute records; good enough to compare recipes.
    static constexpr qint64 packetBytes = 24, nameBytes = 4, errorBytes = packetBytes;
    static const std::array<QByteArray, std::variant_size_v<zk::Session::Request>> verbs; // of each request

    template <class R>
    static std::reference_wrapper<const QByteArray> verb(const R &)
    {
        return verbs[zk::Session::indexOf<R>];
    }
    template <class R>
    static QByteArray where(const R &request)
    {
        if constexpr (requires { request.path; })
            return request.path.bytes();
        else if constexpr (requires { request.ops; })
            return request.ops.empty() ? QByteArray() : request.ops.front().path.bytes();
        else
            return {};
    }
    template <class R>
    static qint64 bytes(const R &request)
    {
        if constexpr (requires { request.data; })
            return packetBytes + where(request).size() + request.data.size();
        else
            return packetBytes + where(request).size();
    }
    template <class T>
    static qint64 answerBytes(const T &)
    {
        return packetBytes;
    }
    static qint64 answerBytes(const zk::Children &children);
    static qint64 answerBytes(const zk::Node &node) { return packetBytes + node.data.size(); }
};

class TracedSession : public TracedPort<zk::ForwardingSession, ZooKeeperMeasures>, public OnFreeList {
public:
    using TracedPort::TracedPort;

    void send(Request &&request) override;
};

} // namespace lockscope::contention
