// SPDX-License-Identifier: Apache-2.0
// One try of several commands that is never left halfway: it runs in the background of its connection,
// and whoever started it may stop waiting. What it got then is given back. Loop thread only.
#pragma once

#include "core/async/completion.h"

namespace lockscope::recipes {

class DetachedAttempt {
    struct State {
        Completion<Result<bool>> outcome;
        std::function<void()> giveBack;
        bool isWanted;
    };

public:
    // `giveBack` is called when the try got the lock and nobody is there to have it.
    DetachedAttempt(Loop &loop, std::function<void()> giveBack)
        : m_state(std::make_shared<State>(State{Completion<Result<bool>>(loop), std::move(giveBack), true}))
    {
    }
    // For whoever tries. Whether it got the lock, or why nobody knows.
    void finish(const Result<bool> &got) const
    {
        if (m_state->isWanted)
            m_state->outcome.complete(got);
        else if (got && *got)
            m_state->giveBack();
    }
    // For whoever waits.
    [[nodiscard]] Completion<Result<bool>> outcome() const { return m_state->outcome; }

    // Stands for whoever waits, until it has taken what was got.
    class Waiter {
    public:
        explicit Waiter(const DetachedAttempt &one) : m_state(one.m_state) {}
        Q_DISABLE_COPY(Waiter)
        ~Waiter()
        {
            m_state->isWanted = false;
            if (!m_isTaken && m_state->outcome.isComplete() && m_state->outcome.value() && *m_state->outcome.value())
                m_state->giveBack();
        }
        void take() { m_isTaken = true; }

    private:
        std::shared_ptr<State> m_state;
        bool m_isTaken = false;
    };

private:
    std::shared_ptr<State> m_state;
};

} // namespace lockscope::recipes
