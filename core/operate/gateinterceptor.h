// SPDX-License-Identifier: Apache-2.0
// The way of one request through the gate: refused, or logged, sent, and its answer logged too.
#pragma once

#include "core/operate/gate.h"

namespace lockscope::operate {

// Answers and events may come after the decorator (and its gate) are gone; they then pass unlogged.
struct GateKey {
    Gate *gate;
};

template <class T, class Send, class Describe>
Reply<T> passThrough(const std::shared_ptr<GateKey> &key, Loop &loop, const QString &text, bool write, Send send,
                     Describe describe)
{
    Reply<T> outer(loop);
    const auto entry = key->gate->enter(text, write);
    if (!entry) {
        outer.complete(entry.error());
        return outer;
    }
    const auto sent = loop.now();
    const Reply<T> inner = send();
    inner.then([weak = std::weak_ptr(key), &loop, sent, number = *entry, outer, describe](const Result<T> &answer) {
        if (const auto alive = weak.lock())
            alive->gate->leave(number, answer ? describe(*answer) : answer.error().message, loop.now() - sent);
        outer.complete(answer);
    });
    return outer;
}

} // namespace lockscope::operate
