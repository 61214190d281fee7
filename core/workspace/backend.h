// SPDX-License-Identifier: Apache-2.0
// What the window sees of the core, beside the values: it posts queries and commands (requests.h) and receives news.
//
// The Backend lives in the GUI thread; it never blocks. Its implementation (LiveBackend) hands every
// query to the I/O thread and the answer comes back as a call in the GUI thread, or never if the
// context object died meanwhile. What changes is told in batches, at most one per frame.
#pragma once

#include "core/workspace/news.h"
#include "core/workspace/requests.h"

namespace lockscope {

class Backend : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;
    // Posts a query. `answer` is called in the GUI thread, later, while `context` is alive. A query whose
    // connection is closed is answered with an error.
    template <class Q>
    void ask(Q query, QObject *context, AnswerTo<Q> answer)
    {
        post(Posted<Q>{std::move(query), context, std::move(answer)});
    }
    virtual void post(PostedQuery query) = 0;
    virtual void execute(Command command) = 0;
    // Executes AcquireLock and returns the number of the hold.
    quint64 acquire(AcquireRequest request)
    {
        const AcquireLock command{std::move(request)};
        execute(command);
        return command.hold;
    }

    // What the user calls clients.
    [[nodiscard]] virtual std::vector<inspect::ClientLabel> clientLabels() const { return {}; }
    // What was seen before now: this run's recorder; null where nothing is recorded. Lives as long as this.
    [[nodiscard]] virtual Past *past() { return nullptr; }

signals:
    void updated(const lockscope::Batch &batch);
    void znodesChanged(const lockscope::ConnectionName &name, const lockscope::ZPath &path);
    void holdChanged(const lockscope::Hold &hold);
    void runProgressed(quint64 runId, const lockscope::RealRunProgress &progress);
};

} // namespace lockscope
