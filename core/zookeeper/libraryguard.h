// SPDX-License-Identifier: Apache-2.0
// Stands between the C library and its sockets: what a server sends is checked (answercheck.h) before the library has
// it. The program's own recv(), send() and connect() take the place of the system's, as the dynamic linker lets them;
// who is not libzookeeper gets the system's. So it costs a copy, and no way through another socket.
#pragma once

#include <QtGlobal>

namespace lockscope::zk {

// Whether the library's calls come through here. They do not where it was linked statically.
[[nodiscard]] bool isLibraryGuarded();

// Bytes of large answers on their way from the library to the loop. While there are many, the library gets no more.
class AnswerUnderWay {
public:
    explicit AnswerUnderWay(qint64 bytes);
    ~AnswerUnderWay();
    AnswerUnderWay(const AnswerUnderWay &) = delete;
    AnswerUnderWay &operator=(const AnswerUnderWay &) = delete;

private:
    const qint64 m_bytes;
};

} // namespace lockscope::zk
