// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/demo.h"

#include "core/sandbox/demomariadb.h"
#include "core/sandbox/demoredis.h"
#include "core/sandbox/demozookeeper.h"

#include <algorithm>

using namespace std::chrono_literals;

namespace lockscope::sandbox {

struct Demo::Private {
    Private(Loop &loop, Random random) : stage(loop, random) {}

    DemoStage stage;
    std::unique_ptr<DemoZooKeeper> zooKeeper;
    std::unique_ptr<DemoRedis> redis;
    std::unique_ptr<DemoMariaDb> mariaDb;
};

Demo::Demo(Loop &loop, const std::vector<ConnectionSpec> &connections, Random random)
    : d(std::make_unique<Private>(loop, random))
{
    const auto firstOf = [&connections](Scheme scheme) {
        return std::ranges::find(connections, scheme, &ConnectionSpec::scheme);
    };
    // Held open until all scenes are counted.
    d->stage.sceneBegins();
    if (const auto found = firstOf(Scheme::ZooKeeper); found != connections.end())
        d->zooKeeper = std::make_unique<DemoZooKeeper>(d->stage, *found);
    if (const auto found = firstOf(Scheme::Redis); found != connections.end())
        d->redis = std::make_unique<DemoRedis>(d->stage, *found);
    if (const auto found = firstOf(Scheme::MariaDb); found != connections.end())
        d->mariaDb = std::make_unique<DemoMariaDb>(d->stage, *found);
    d->stage.sceneIsUp();
    d->stage.filled().completeAt(Deadline::after(loop, 30s), false);
}

Demo::~Demo() = default;

Completion<bool> Demo::filled() const
{
    return d->stage.filled();
}

} // namespace lockscope::sandbox
