// SPDX-License-Identifier: Apache-2.0
// Work left behind by somebody who did not wait for it, counted so that somebody else can.
//
// A handle: copies share one count. The work itself belongs to the session (or connection) in whose
// background it runs, and goes on when every handle is gone. Loop thread only.
#pragma once

#include "core/async/completion.h"
#include "core/async/freelist.h"
#include "core/async/scope.h"

#include <vector>

namespace lockscope::recipes {

class WaitGroup {
public:
    explicit WaitGroup(Loop &loop) : m_list(freelist::makeShared<List>(List{&loop, 0, false, {}})) {}

    // Starts it at once. Its value says whether it succeeded.
    void add(Scope &background, Task<bool> work) const;
    [[nodiscard]] bool isIdle() const { return m_list->running == 0; }
    // Completes when nothing is left to do: true if everything succeeded since it was asked last,
    // false if not or if the deadline passed first.
    [[nodiscard]] Completion<bool> finished(Deadline deadline) const;

private:
    struct List {
        Loop *loop;
        int running;
        bool failed;
        std::vector<Completion<bool>> waiting;
    };
    static Task<void> run(std::shared_ptr<List> list, Task<bool> work);

    std::shared_ptr<List> m_list;
};

} // namespace lockscope::recipes
