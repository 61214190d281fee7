// SPDX-License-Identifier: Apache-2.0
// What a simulated Redis answers, made and put into the bytes of the protocol (RESP2).
#pragma once

#include "core/redis/connection.h"

namespace lockscope::world::replies {

[[nodiscard]] redis::Value ok();
[[nodiscard]] redis::Value status(const QByteArray &text);
[[nodiscard]] redis::Value error(const QByteArray &text); // with its code: "ERR no such key"
[[nodiscard]] redis::Value integer(qint64 number);
[[nodiscard]] redis::Value bulk(const QByteArray &bytes);
[[nodiscard]] redis::Value nil();
[[nodiscard]] redis::Value array(std::vector<redis::Value> items);

void appendTo(QByteArray &bytes, const redis::Value &reply);

} // namespace lockscope::world::replies
