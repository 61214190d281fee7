// SPDX-License-Identifier: Apache-2.0
#include "core/redis/hashslot.h"

namespace lockscope::redis {

QByteArrayView hashTag(QByteArrayView key)
{
    const auto open = key.indexOf('{');
    if (open < 0)
        return key;
    const auto close = key.indexOf('}', open + 1);
    return close <= open + 1 ? key : key.sliced(open + 1, close - open - 1);
}

int hashSlot(QByteArrayView key)
{
    constexpr quint32 polynomial = 0x1021;
    quint32 crc = 0;
    for (const char byte : hashTag(key)) {
        crc ^= static_cast<quint32>(static_cast<unsigned char>(byte)) << 8;
        for (int bit = 0; bit < 8; ++bit)
            crc = ((crc & 0x8000) != 0 ? (crc << 1) ^ polynomial : crc << 1) & 0xffff;
    }
    return static_cast<int>(crc % slotCount);
}

} // namespace lockscope::redis
