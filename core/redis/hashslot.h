// SPDX-License-Identifier: Apache-2.0
// Where a Redis Cluster keeps a key: CRC16 (XMODEM) of its hash tag, or of all of it, modulo 16384.
#pragma once

#include <QByteArray>

namespace lockscope::redis {

inline constexpr int slotCount = 16384;

// What decides: the text between the first "{" and the next "}" where there is any, else the whole key.
[[nodiscard]] QByteArrayView hashTag(QByteArrayView key);
[[nodiscard]] int hashSlot(QByteArrayView key);

} // namespace lockscope::redis
