// SPDX-License-Identifier: Apache-2.0
// What a virtual loop has to run now, first in, first out. Each call has a block of its own and runs where it lies.
#pragma once

#include "core/async/localptr.h"
#include "core/async/onfreelist.h"
#include "core/async/moveonlyfunction.h"

namespace lockscope {

// Stands between the loop and what is posted through it: a process that may be paused, or dead.
class ExecutorHook : public LocallyCounted {
public:
    // Calls it, or keeps it, or drops it.
    virtual void pass(Call &&call) = 0;
};

class CallQueue {
public:
    CallQueue() = default;
    CallQueue(const CallQueue &) = delete;
    CallQueue &operator=(const CallQueue &) = delete;
    ~CallQueue()
    {
        while (m_first)
            const auto dropped = take();
    }

    void push(Call &&call, LocalPtr<ExecutorHook> hook)
    {
        auto *const last = new Entry(std::move(call), std::move(hook));
        (m_first ? m_last->next : m_first) = last;
        m_last = last;
    }
    // Runs the first one, which is in the queue no more; false when there is none.
    bool runFirst()
    {
        if (!m_first)
            return false;
        const auto first = take();
        if (first->hook)
            first->hook->pass(std::move(first->call));
        else
            first->call();
        return true;
    }

private:
    struct Entry : OnFreeList {
        Entry(Call &&call_, LocalPtr<ExecutorHook> &&hook_) : call(std::move(call_)), hook(std::move(hook_)) {}
        Call call;
        LocalPtr<ExecutorHook> hook; // may be none
        Entry *next = nullptr;
    };
    [[nodiscard]] std::unique_ptr<Entry> take()
    {
        return std::unique_ptr<Entry>(std::exchange(m_first, m_first->next));
    }

    Entry *m_first = nullptr, *m_last = nullptr; // the last one only while there is a first
};

} // namespace lockscope
