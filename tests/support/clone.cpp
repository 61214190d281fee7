// SPDX-License-Identifier: Apache-2.0
// clone() for programs that clang 16 compiles for TSan. Qt starts a child by it, in the parent's memory; the
// sanitizer's own clone() ended a fifth of the programs that start servers with "CHECK failed: tsan_rtl.cpp". Here
// the child is a fork, which the sanitizer knows. Of the flags, CLONE_PIDFD is what Qt asks for and reads.
#include <cstdarg>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" int clone(int (*run)(void *), void * /*stack*/, int flags, void *argument, ...) noexcept
{
    va_list rest;
    va_start(rest, argument);
    int *const descriptor = (flags & CLONE_PIDFD) != 0 ? va_arg(rest, int *) : nullptr;
    va_end(rest);
    const pid_t child = fork();
    if (child == 0)
        _exit(run(argument));
    if (child > 0 && descriptor != nullptr)
        *descriptor = int(syscall(SYS_pidfd_open, child, 0)); // closed on exec, as clone()'s is
    return child;
}
