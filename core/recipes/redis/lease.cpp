// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/redis/lease.h"

#include "core/recipes/redis/waiting.h"
#include "core/redis/client.h"

namespace lockscope::recipes {

Lease::Lease(redis::Connection &connection, TokenKey ours, std::chrono::milliseconds ttl, Instant asked,
             std::function<void(Loss)> onEnd)
    : m_ours(std::move(ours)),
      m_life(
          connection.loop(), ttl, asked,
          [&connection, ours = m_ours](std::chrono::milliseconds more, Deadline deadline) {
              return whetherOne(connection.script(redis::loadScript("compare-and-expire"), {ours.key.bytes()},
                                                  {ours.token.bytes(), QByteArray::number(qint64(more.count()))},
                                                  deadline));
          },
          std::move(onEnd))
{
}

} // namespace lockscope::recipes
