// SPDX-License-Identifier: Apache-2.0
// Stands between the C library and its sockets: what a server sends is checked (AnswerCheck) before the library has
// it. The program's own recv(), send() and connect() take the place of the system's, as the dynamic linker lets them;
// who is not libzookeeper gets the system's. So it costs a copy, and no way through another socket.
#pragma once

#include <QByteArray>
#include <QtGlobal>

#include <deque>
#include <optional>
#include <vector>

namespace lockscope::zk {

// Whether the library's calls come through here. They do not where it was linked statically.
[[nodiscard]] bool isLibraryGuarded();

// Bytes of large answers on their way from the library to the loop. While there are many, the library gets no more.
class AnswerUnderWay {
public:
    explicit AnswerUnderWay(qint64 bytes);
    ~AnswerUnderWay();
    Q_DISABLE_COPY(AnswerUnderWay)

private:
    const qint64 m_bytes;
};

// Checks what a ZooKeeper server sends before the C library reads it. The library ignores its own errors: of an
// answer that is cut short, or that counts wrong, it frees and hands on memory that it never set. One per connection.
// Pure.
class AnswerCheck {
public:
    static constexpr qint64 prefixBytes = 4;                // each message begins with its length
    static constexpr qint64 headerBytes = 16;               // of an answer: xid, zxid, error
    static constexpr qint64 mostBytes = 32LL * 1024 * 1024; // of an answer that is handed on
    static constexpr qint64 mostSkipped = 1LL << 30;        // of one that is passed over
    static constexpr qint32 mostEntries = 1'000'000;        // of a list

    // What the library has sent, in pieces of any size.
    void sent(QByteArrayView bytes);
    // How long the message is that begins so; nothing: no server of this protocol says that.
    [[nodiscard]] static std::optional<qint64> lengthIn(QByteArrayView prefix);

    // `message` without its prefix, or its header alone where it is longer than `mostBytes`. What the library may
    // read in its place, with a prefix: the same, or, of an answer that is malformed, that the request failed by it.
    // Nothing: it cannot be told which request it answers, and the connection has to end.
    [[nodiscard]] std::optional<QByteArray> checked(QByteArray message, bool isWhole = true);

private:
    struct Request {
        qint32 xid = 0;
        qint32 type = 0;
        std::vector<qint32> parts{}; // of a transaction
    };
    void note(QByteArrayView request);

    bool m_hasGreeted = false;  // our first message, which has no header
    bool m_isGreeted = false;   // and the server's
    QByteArray m_sent;          // not yet a whole message
    std::deque<Request> m_open; // answered in this order
};

} // namespace lockscope::zk
