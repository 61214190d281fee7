// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM and other signals that would end the program, as calls in the event loop (a pipe carries them out
// of the handler).
#pragma once

#include <QObject>
#include <QSocketNotifier>

#include <functional>

namespace lockscope::ctl {

struct Interrupt {
    int number = 0;
    // Ctrl-C and the like: the terminal told every program of the foreground, our command too.
    bool fromTerminal = false;
};

// One per program, in its main thread.
class Interrupts : public QObject {
    Q_OBJECT
public:
    using Handler = std::function<void(Interrupt)>;
    Interrupts();
    ~Interrupts() override;
    // Replaces the one before.
    void setHandler(Handler handler) { m_handler = std::move(handler); }

private:
    void read();

    QSocketNotifier m_notifier;
    Handler m_handler;
};

} // namespace lockscope::ctl
