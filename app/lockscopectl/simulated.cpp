// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/simulated.h"

#include <QThread>

namespace lockscope::ctl {

Task<Result<contention::Recording>> playSimulated(CommandContext &context, contention::Scenario scenario)
{
    const Completion<std::shared_ptr<Result<contention::Recording>>> played(context.loop());
    Loop *loop = &context.loop();
    const std::unique_ptr<QThread> thread(QThread::create([played, scenario, loop] {
        auto result = std::make_shared<Result<contention::Recording>>(contention::simulate(scenario));
        loop->post([played, result = std::move(result)] { played.complete(result); });
    }));
    thread->start();
    const auto result = co_await played;
    thread->wait();
    co_return std::move(*result);
}

} // namespace lockscope::ctl
