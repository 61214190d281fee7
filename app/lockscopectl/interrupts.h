// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM and other signals that would end the program, as calls in the event loop (a pipe carries them out
// of the handler).
#pragma once

#include <QObject>
#include <QSocketNotifier>

#include <deque>

#include "core/async/completion.h"

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
    // Called when the terminal's window has another size, which interrupts nothing.
    void onResize(std::function<void()> listener) { m_resized = std::move(listener); }

private:
    void read();

    QSocketNotifier m_notifier;
    Handler m_handler;
    std::function<void()> m_resized;
};

// A command that goes on until it is interrupted, with pauses. One per command.
class UntilInterrupted {
    struct State {
        bool isOver = false;
        std::optional<Completion<bool>> pause;
    };

public:
    UntilInterrupted(Loop &loop, Interrupts &interrupts) : m_loop(&loop), m_state(std::make_shared<State>())
    {
        interrupts.setHandler([state = m_state](Interrupt) {
            state->isOver = true;
            if (state->pause)
                state->pause->complete(true);
        });
    }
    [[nodiscard]] bool isOver() const { return m_state->isOver; }
    // Ends after the span, or with the interrupt.
    [[nodiscard]] Completion<bool> pause(Duration span) const
    {
        m_state->pause.emplace(*m_loop);
        m_state->pause->completeAt(Deadline::at(m_state->isOver ? m_loop->now() : m_loop->now() + span), true);
        return *m_state->pause;
    }

private:
    Loop *m_loop;
    std::shared_ptr<State> m_state;
};

// What happens to a command that waits for several things at once, in the order it happened.

// One reader. Copies share one queue, so that whoever tells may outlive the reader.
template <class Event>
class EventQueue {
    struct State {
        std::deque<Event> waiting;
        std::optional<Completion<Event>> reader;
    };

public:
    explicit EventQueue(Loop &loop) : m_loop(&loop), m_state(std::make_shared<State>()) {}

    void push(Event event) const
    {
        if (auto reader = std::exchange(m_state->reader, {}))
            reader->complete(std::move(event));
        else
            m_state->waiting.push_back(std::move(event));
    }
    [[nodiscard]] Completion<Event> next() const
    {
        Completion<Event> event(*m_loop);
        if (m_state->waiting.empty()) {
            m_state->reader = event;
        } else {
            event.complete(std::move(m_state->waiting.front()));
            m_state->waiting.pop_front();
        }
        return event;
    }

private:
    Loop *m_loop;
    std::shared_ptr<State> m_state;
};

} // namespace lockscope::ctl
