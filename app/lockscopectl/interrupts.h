// SPDX-License-Identifier: Apache-2.0
// What reaches the program from its terminal and from other processes, as calls in the event loop: SIGINT, SIGTERM
// and other signals that would end it (a pipe carries them out of the handler); and keys as they are pressed, with
// the screen that they steer, whose rows are redrawn in place.
#pragma once

#include <QObject>
#include <QSize>
#include <QSocketNotifier>
#include <QStringDecoder>
#include <QStringList>

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
    // Called with the signals of a terminal that interrupt nothing: SIGWINCH, SIGTSTP and SIGCONT.
    void onTerminal(std::function<void(int number)> listener) { m_terminal = std::move(listener); }
    // Whether the program takes that signal, or it has its usual effect.
    static void take(int number, bool isTaken);

private:
    void read();

    QSocketNotifier m_notifier;
    Handler m_handler;
    std::function<void(int)> m_terminal;
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

// Switches to the alternate screen, without echo; the destructor restores what was there, and so do a stop of the
// program and a crash. One at a time. Ctrl+C and Ctrl+Z stay signals; Ctrl+L draws all rows again.
class TerminalScreen {
public:
    // `changed`: the rows have to be shown again, as of a window of another size.
    TerminalScreen(Interrupts &interrupts, std::function<void()> changed);
    ~TerminalScreen();
    Q_DISABLE_COPY(TerminalScreen)

    // A character as it was typed, or the name of another key: "up", "page down", "enter", "escape".
    void onKey(std::function<void(const QString &key)> listener) { m_listener = std::move(listener); }
    // The terminal no longer exists.
    void onEnd(std::function<void()> listener) { m_ended = std::move(listener); }
    // Columns and rows.
    [[nodiscard]] static QSize size();
    // At most a row for each of the terminal, with control sequences of our own. Writes what differs from the rows
    // before, at once; nothing where nothing does.
    void show(const QStringList &rows);

private:
    void handleSignal(int number);
    void read();

    Interrupts &m_interrupts;
    QSocketNotifier m_notifier;
    std::function<void()> m_changed;
    std::function<void(const QString &)> m_listener;
    std::function<void()> m_ended;
    QStringDecoder m_decoder{QStringDecoder::Utf8};
    QString m_typed; // the begin of a key's sequence
    QStringList m_rows;
    QSize m_size; // of the rows that are shown; none: all are to be drawn
};

// As the destructor does, for a signal handler: waits for nothing. Nothing where no screen is there.
void restoreTerminal();

} // namespace lockscope::ctl
