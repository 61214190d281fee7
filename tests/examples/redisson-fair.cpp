// SPDX-License-Identifier: Apache-2.0
// A lock in the queue of Redisson's getFairLock(). Arguments: wait and work in ms, URI.
#include <lockscope/redis.h>
#include <lockscope/lockscope.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

int main(int count, char **arguments)
{
    const std::chrono::milliseconds wait(count > 1 ? std::atoi(arguments[1]) : 10'000);
    const std::chrono::milliseconds work(count > 2 ? std::atoi(arguments[2]) : 1'000);
    const char *uri = count > 3 ? arguments[3] : "redis://127.0.0.1:6379";

    auto client = lockscope::connect(uri);
    if (!client)
        return std::fprintf(stderr, "%s\n", client.error().message.c_str()), 2;
    auto lock = client->lock("orders:42", "redisson-fair-lock");
    if (!lock)
        return std::fprintf(stderr, "%s\n", lock.error().message.c_str()), 2;
    auto hold = lock->acquire(wait);
    if (!hold)
        return std::fprintf(stderr, "%s\n", hold.error().message.c_str()), 3;

    hold->onLost([](const lockscope::Error &why) { std::fprintf(stderr, "%s\n", why.message.c_str()); });
    std::printf("held %s\n", hold->id().c_str());
    std::fflush(stdout);
    std::this_thread::sleep_for(work); // what the lock protects
    return hold->isHeld() ? 0 : 4;     // and it is released
}
