// SPDX-License-Identifier: Apache-2.0
// The terminal as a screen: rows that are redrawn in place, and keys as they are pressed.
#pragma once

#include "app/lockscopectl/interrupts.h"

#include <QSize>
#include <QStringDecoder>
#include <QStringList>

namespace lockscope::ctl {

// Switches to the alternate screen, without echo; the destructor restores what was there. One at a time. Ctrl+C stays
// a signal.
class TerminalScreen {
public:
    // `resized`: the window has another size.
    TerminalScreen(Interrupts &interrupts, std::function<void()> resized);
    ~TerminalScreen();
    Q_DISABLE_COPY(TerminalScreen)

    // A character as it was typed, or the name of another key: "up", "page down", "enter", "escape".
    void onKey(std::function<void(const QString &key)> listener) { m_listener = std::move(listener); }
    // The terminal is gone.
    void onEnd(std::function<void()> listener) { m_ended = std::move(listener); }
    // Columns and rows.
    [[nodiscard]] static QSize size();
    // At most a row for each of the terminal, with control sequences of our own. Writes what differs from the rows
    // before, at once; nothing where nothing does.
    void show(const QStringList &rows);

private:
    void read();

    Interrupts &m_interrupts;
    QSocketNotifier m_notifier;
    std::function<void(const QString &)> m_listener;
    std::function<void()> m_ended;
    QStringDecoder m_decoder{QStringDecoder::Utf8};
    QString m_typed; // the begin of a key's sequence
    QStringList m_rows;
    QSize m_size;
};

// As the destructor does, for a signal handler; nothing where no screen is there.
void restoreTerminal();

} // namespace lockscope::ctl
