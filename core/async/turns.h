// SPDX-License-Identifier: Apache-2.0
// What only one at a time may do, in the order in which they came. Loop thread only.
#pragma once

#include "core/async/completion.h"

#include <memory>
#include <optional>
#include <utility>

namespace lockscope {

struct Turns {
    std::optional<Completion<bool>> last; // completes when all who came have had their turn
    int count = 0;
    Instant over{}; // when the last one ended
};

// Lives in the frame of a task, which may be destroyed half-way, and also while it waits.
class InTurn {
public:
    InTurn(std::shared_ptr<Turns> turns, Loop &loop)
        : m_turns(std::move(turns)), m_loop(loop), m_before(m_turns->last), m_ours(loop)
    {
        m_turns->last = m_ours;
        ++m_turns->count;
    }
    Q_DISABLE_COPY(InTurn)
    ~InTurn()
    {
        if (--m_turns->count == 0)
            m_turns->last.reset();
        if (m_before && !m_before->isComplete()) {
            m_before->then([ours = m_ours](bool) { ours.complete(true); });
        } else {
            m_turns->over = m_loop.now();
            m_ours.complete(true);
        }
    }
    // To be waited for first; nothing: it is our turn.
    [[nodiscard]] const std::optional<Completion<bool>> &before() const { return m_before; }

private:
    const std::shared_ptr<Turns> m_turns;
    Loop &m_loop;
    const std::optional<Completion<bool>> m_before;
    const Completion<bool> m_ours;
};

} // namespace lockscope
