// SPDX-License-Identifier: Apache-2.0
// What the tests of the C++ library share. They see it as other programs do, through its headers; only its namespace
// is named, as the core's types have some of the same names.
#pragma once

#define LOCKSCOPE_CLIENT_INTERNAL
#include <lockscope/etcd.h>
#include <lockscope/lockscope.h>
#include <lockscope/mariadb.h>
#include <lockscope/postgresql.h>
#include <lockscope/redis.h>
#include <lockscope/zookeeper.h>

#include "core/base/connectionuri.h"
#include "tests/support/patience.h"
#include "tests/support/startedserver.h"
#include "tests/support/testmain.h"

#include <atomic>
#include <future>
#include <thread>

namespace lockscope::testing {

using Client = v0::Client;
using Millis = std::chrono::milliseconds;

inline std::string uriOf(const char *scheme, const sandbox::Server &server, const char *rest = "")
{
    return scheme + displayHost(server.address()).toStdString() + rest;
}

// Why it failed; "no error" if it did not.
template <class T>
QByteArray textOf(const v0::Result<T> &result)
{
    return result ? QByteArray("no error") : QByteArray::fromStdString(result.error().message);
}

// -1 when it went well.
template <class T>
int codeOf(const v0::Result<T> &result)
{
    return result ? -1 : static_cast<int>(result.error().code);
}
constexpr int code(v0::ErrorCode wanted)
{
    return static_cast<int>(wanted);
}

inline Millis since(v0::Clock::time_point begun)
{
    return std::chrono::duration_cast<Millis>(v0::Clock::now() - begun);
}

// Counts the calls of onLost(), and keeps what they say.
struct Losses {
    std::atomic_int count = 0;
    std::promise<v0::Error> first;

    void watch(v0::Hold &hold)
    {
        hold.onLost([this](const v0::Error &why) {
            if (count++ == 0)
                first.set_value(why);
        });
    }
    // An error with an empty text if none came in time.
    v0::Error next(Millis atMost = 30s)
    {
        auto future = first.get_future();
        return future.wait_for(atMost) == std::future_status::ready ? future.get() : v0::Error{};
    }
};

// Runs to the end of it whatever is on the background thread by now: what was posted before is done.
inline void drain(v0::Hold &hold)
{
    (void)hold.release(5s);
}

} // namespace lockscope::testing

// The value of a Result, or the end of the test function.
#define GOT(declaration, ...)                                                                                        \
    auto LOCKSCOPE_NAME_OF_LINE(got, __LINE__) = __VA_ARGS__;                                                        \
    QVERIFY2(LOCKSCOPE_NAME_OF_LINE(got, __LINE__), textOf(LOCKSCOPE_NAME_OF_LINE(got, __LINE__)).constData());      \
    declaration = std::move(*LOCKSCOPE_NAME_OF_LINE(got, __LINE__))
