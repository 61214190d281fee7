// SPDX-License-Identifier: Apache-2.0
// A small process between us and a command: whatever the command starts belongs to it, in sessions of their own, too
// (it is their subreaper). It ends all of them when told, and when we are gone, even killed.
#pragma once

namespace lockscope::ctl {

// One byte each, through a pipe. The end of the pipe is EndAll.
enum class Order : char {
    Terminate = 't',        // SIGTERM for the command
    TerminateForGood = 'g', // the same, and SIGKILL for all that outlives it
    EndAll = 'k',           // SIGKILL for the command and all that it started
};

// Called in a child that was just forked. Returns in a child of its own, which is to become the command; the caller
// stays as the watcher, takes orders, and ends as the command does. `life`: kept open until then. `hasOwnGroup`:
// SIGTERM is for the process group.
void becomeWatched(int orders, int life, bool hasOwnGroup);

} // namespace lockscope::ctl
