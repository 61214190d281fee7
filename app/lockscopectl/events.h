// SPDX-License-Identifier: Apache-2.0
// What happens to a command that waits for several things at once, in the order it happened.
#pragma once

#include "core/async/completion.h"

#include <deque>

namespace lockscope::ctl {

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
