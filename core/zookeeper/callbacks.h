// SPDX-License-Identifier: Apache-2.0
// What libzookeeper calls: from its own threads, copying only, see Mailbox.
#pragma once

#include "core/zookeeper/clientsession.h"

#include <deque>

#include <zookeeper/zookeeper.h>

namespace lockscope::zk::callbacks {

// The handle's context is its Mailbox.
void onSession(zhandle_t *handle, int type, int state, const char *path, void *mailbox);
// One pair of functions with one context for all watches: so the library keeps a single entry per path.
void onDataWatch(zhandle_t *handle, int type, int state, const char *path, void *mailbox);
void onChildWatch(zhandle_t *handle, int type, int state, const char *path, void *mailbox);
void onLog(const char *line);

// `data` is a Call.
void onCreated(int returnCode, const char *path, const ::Stat *stat, const void *data);
void onDone(int returnCode, const void *data);
void onSynced(int returnCode, const char *path, const void *data);
void onNode(int returnCode, const char *value, int length, const ::Stat *stat, const void *data);
void onStat(int returnCode, const ::Stat *stat, const void *data);
void onChildren(int returnCode, const String_vector *names, const ::Stat *stat, const void *data);
void onAcls(int returnCode, ACL_vector *acls, ::Stat *stat, const void *data);
// `data` is an UnwatchCall.
void onUnwatched(int returnCode, const void *data);
// `data` is a MultiCall.
void onMulti(int returnCode, const void *data);

// ACLs in the library's form, valid as long as this.
class CAcls {
public:
    explicit CAcls(Acls acls);
    Q_DISABLE_COPY(CAcls)
    [[nodiscard]] ::ACL_vector *vector() { return &m_vector; }

private:
    Acls m_acls;
    std::vector<::ACL> m_entries;
    ::ACL_vector m_vector{};
};

struct UnwatchCall : Call {
    WatchKind kind;
};

// A multi under way: the library writes the results into it. Owned like a Call by its callback.
class MultiCall : public Call {
public:
    MultiCall(Mailbox *mailbox, quint64 id, std::vector<Op> ops, qsizetype prefixBytes);
    [[nodiscard]] int send(zhandle_t *handle);
    [[nodiscard]] std::vector<OpResult> results() const;
    // The part that made the whole fail.
    [[nodiscard]] std::size_t failedPart() const;
    [[nodiscard]] int failedCode(int returnCode) const;
    [[nodiscard]] Attempt attempt(std::size_t part) const { return attemptOf(m_ops[part]); }

private:
    std::vector<Op> m_ops;
    std::deque<CAcls> m_acls;
    std::vector<QByteArray> m_created; // buffers for the paths
    std::vector<::Stat> m_stats;
    std::vector<zoo_op_t> m_parts;
    std::vector<zoo_op_result_t> m_results;
};

[[nodiscard]] int libraryMode(CreateMode mode);

} // namespace lockscope::zk::callbacks
