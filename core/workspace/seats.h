// SPDX-License-Identifier: Apache-2.0
// Where the contenders of a run on real servers sit: sessions of their own, behind the connection's gate and the
// run's trace. One implementation per backend.
#pragma once

#include "core/contention/trace.h"
#include "core/recipes/make.h"
#include "core/workspace/workspace.h"

namespace lockscope {

class Seats {
public:
    virtual ~Seats() = default;
    [[nodiscard]] virtual bool areReady() const = 0;
    // Makes what the lock needs on the server.
    [[nodiscard]] virtual Task<Result<bool>> prepare(Deadline deadline) = 0;
    [[nodiscard]] virtual Result<std::unique_ptr<recipes::Lock>> makeLock(int contender, bool readMode) = 0;
    // What is there of the lock now that everybody gave it back; then takes all of it away.
    [[nodiscard]] virtual Task<std::vector<QByteArray>> tidy(Deadline deadline) = 0;
};

struct SeatsContext {
    Link &link;
    const contention::Scenario &scenario;
    contention::Trace &trace;
    int sessions;    // so many at most
    QByteArray name; // of this run alone: letters and digits
};
[[nodiscard]] std::unique_ptr<Seats> makeZooKeeperSeats(const SeatsContext &context);
[[nodiscard]] std::unique_ptr<Seats> makeRedisSeats(const SeatsContext &context);
[[nodiscard]] std::unique_ptr<Seats> makeMariaDbSeats(const SeatsContext &context);

} // namespace lockscope
