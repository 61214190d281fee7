// SPDX-License-Identifier: Apache-2.0
// Cuts what a client sends into commands.
//
// A client of the simulated world sends whole commands, which need no parser that can stop anywhere: they are cut out
// as they stand. From the first byte on that is otherwise, a connection is read by the parser of the real clients.
#pragma once

#include "core/redis/resp.h"

namespace lockscope::world {

class RequestReader {
public:
    // A single request may take `limitBytes`.
    explicit RequestReader(qint64 limitBytes) : m_reader(limitBytes) {}

    void feed(const QByteArray &bytes);
    // The next command, which may be without a word; none when more bytes are needed, or when what came cannot be
    // followed.
    [[nodiscard]] std::optional<redis::Command> next();

private:
    [[nodiscard]] std::optional<redis::Command> takeWhole();

    QByteArray m_bytes; // fed last; from `m_at` on they are to be read
    qsizetype m_at = 0;
    bool m_isParsed = false;
    redis::RespReader m_reader;
};

} // namespace lockscope::world
