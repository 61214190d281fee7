// SPDX-License-Identifier: Apache-2.0
// The wire format of Redis (RESP2): commands to bytes, bytes to Values.
//
// hiredis does the formatting and the parsing; this puts its own limit on what a server may make us
// hold, because the parser alone would believe a header that announces two thousand million items.
#pragma once

#include "core/redis/connection.h"

struct redisReader;

namespace lockscope::redis {

// The bytes of one command. The command has at least its name.
[[nodiscard]] QByteArray encode(const Command &command);

// An error reply as an Error: what it means for the caller, and the server's words in a safe form.
[[nodiscard]] Error errorFrom(const Value &reply);

// Cuts a stream of bytes into replies. Movable by nobody: the parser holds its address.
class RespReader {
public:
    // A single reply may take `limitBytes`, counted as what it takes in memory.
    explicit RespReader(qint64 limitBytes);
    ~RespReader();
    Q_DISABLE_COPY(RespReader)

    void feed(QByteArrayView bytes);
    // The next whole reply; empty when more bytes are needed. An Error (TooLarge, or Server when this
    // is not RESP2) means that the stream cannot be followed any more: every later call repeats it.
    [[nodiscard]] Result<std::optional<Value>> next();

    // For the parser's call-backs: takes so much of the reply's limit, false when it is used up.
    [[nodiscard]] bool charge(qint64 bytes);
    // For them, too: this is not what we speak.
    void refuse(const QString &why);

private:
    [[nodiscard]] Error tooLarge() const;

    redisReader *m_reader = nullptr;
    qint64 m_limitBytes;
    qint64 m_usedBytes = 0; // by the reply being read
    std::optional<Error> m_failure;
};

} // namespace lockscope::redis
