// SPDX-License-Identifier: Apache-2.0
// What the contenders of a run on real servers use: sessions of their own, behind the connection's gate and the
// run's trace. One implementation per backend, made by its link.
#pragma once

#include "core/contention/trace.h"
#include "core/recipes/make.h"
#include "core/workspace/workspace.h"

namespace lockscope {

class ContenderPool {
public:
    virtual ~ContenderPool() = default;
    [[nodiscard]] virtual bool isReady() const = 0;
    // Makes what the lock needs on the server.
    [[nodiscard]] virtual Task<Result<void>> prepare(Deadline deadline) = 0;
    [[nodiscard]] virtual Result<std::unique_ptr<recipes::Lock>> makeLock(int contender, bool readMode) = 0;
    // What is there of the lock now that everybody gave it back; then takes all of it away.
    [[nodiscard]] virtual Task<std::vector<QByteArray>> tidy(Deadline deadline) = 0;
};

struct ContenderPoolContext {
    const contention::Scenario &scenario;
    contention::Trace &trace;
    int sessions;    // so many at most
    QByteArray name; // of this run alone: letters and digits
};

} // namespace lockscope
