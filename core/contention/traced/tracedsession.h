// SPDX-License-Identifier: Apache-2.0
// A ZooKeeper session that tells the trace what one contender sends and hears. In the simulated world and on
// real servers alike; several contenders may share what stands behind it. Outlived by both.
#pragma once

#include "core/async/freelist.h"
#include "core/contention/trace.h"
#include "core/zookeeper/passingsession.h"

#include <array>

namespace lockscope::contention {

class TracedSession : public zk::PassingSession<TracedSession>, public OnFreeList {
public:
    TracedSession(zk::Session &inner, Trace &trace, int contender)
        : PassingSession(inner), m_context(freelist::makeShared<TraceContext>(TraceContext{&trace, contender}))
    {
    }
    ~TracedSession() override { m_context->trace = nullptr; }

private:
    friend PassingSession;
    // Whom what is heard belongs to; what comes after this session has gone is not written down.
    struct TraceContext {
        Trace *trace; // null once this session has gone
        int contender;
    };
    // What a packet takes beside the path, the data and the names in it: header, lengths, flags. By the layout of
    // ZooKeeper's jute records; good enough to compare recipes.
    static constexpr qint64 packetBytes = 24;
    static constexpr qint64 nameBytes = 4;
    static const std::array<QByteArray, 12> verbs; // of each request, in the order of the enumeration

    template <class T>
    static qint64 sizeOf(const T &)
    {
        return packetBytes;
    }
    static qint64 sizeOf(const zk::Children &children);
    static qint64 sizeOf(const zk::Node &node) { return packetBytes + node.data.size(); }

    template <class T, class Send>
    Reply<T> pass(zk::Request request, const ZPath &path, qsizetype bytes, Send &&send)
    {
        const auto &verb = verbs[static_cast<std::size_t>(request)];
        m_context->trace->sent(m_context->contender, verb, path.bytes(), packetBytes + path.bytes().size() + bytes);
        auto reply = send();
        reply.observe([&verb, context = m_context](const Result<T> &result) {
            if (context->trace)
                context->trace->answered(context->contender, verb, !result, result ? sizeOf(*result) : packetBytes);
        });
        return reply;
    }
    [[nodiscard]] std::optional<zk::Watch> observed(std::optional<zk::Watch> watch);

    std::shared_ptr<TraceContext> m_context;
};

} // namespace lockscope::contention
