// SPDX-License-Identifier: Apache-2.0
// Ports and questions on 127.0.0.1, without an event loop.
#pragma once

#include <QByteArray>

#include <optional>

namespace lockscope::sandbox {

// A port nobody listens on now. Below the range the kernel takes for outgoing connections: there a
// client that keeps calling a stopped server could end up connected to itself, and the server could
// not start again. 0 if there is none. Somebody may still take it before we do.
[[nodiscard]] quint16 freeLoopbackPort();

// Sends a few bytes and collects the answer, one non-blocking step at a time.
class LoopbackQuestion {
public:
    LoopbackQuestion(quint16 port, QByteArray words);
    // The same at a socket in the file system.
    LoopbackQuestion(const QByteArray &path, QByteArray words);
    ~LoopbackQuestion();
    LoopbackQuestion(const LoopbackQuestion &) = delete;
    LoopbackQuestion &operator=(const LoopbackQuestion &) = delete;

    // What has come so far. Empty when nobody listens, or the other side closed without a word: then
    // ask again with a new question.
    [[nodiscard]] const QByteArray &answer() const { return m_answer; }
    [[nodiscard]] bool isOver() const { return m_socket < 0; }
    void step();

private:
    void close();

    int m_socket = -1;
    QByteArray m_unsent;
    QByteArray m_answer;
};

} // namespace lockscope::sandbox
