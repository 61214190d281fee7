// The pending callAt calls of a loop, earliest first; calls of one moment run in the order made.
// A cancelled call is dropped at once with everything it captured.
#pragma once

#include "core/async/loop.h"

#include <map>
#include <optional>

namespace lockscope {

class TimerQueue {
public:
    TimerQueue() : m_pending(std::make_shared<Pending>()) {}

    [[nodiscard]] Timer add(Instant when, std::function<void()> call);
    // One that nobody cancels.
    void addKept(Instant when, std::function<void()> call);
    [[nodiscard]] std::optional<Instant> next() const;
    // The earliest call that is due, taken out of the queue.
    [[nodiscard]] std::function<void()> takeDue(Instant now);

private:
    using Key = std::pair<Instant, unsigned long long>; // the order made decides within a moment
    using Pending = std::map<Key, std::function<void()>>;
    std::shared_ptr<Pending> m_pending;
    unsigned long long m_nextId = 0;
};

} // namespace lockscope
