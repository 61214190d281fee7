// SPDX-License-Identifier: Apache-2.0
// Does a name say that it is a lock, or an election?
#pragma once

#include <QByteArray>

namespace lockscope::inspect {

// Whether lock, mutex, lease or semaphore (or their plural), or a compound such as shedlock or lockkey, stands in it
// as a word of its own.
// Whatever is no letter parts words, and so does a capital after a small letter: "order-lock",
// "OrderLock" and "lock7" say so, "block", "clock" and "release" do not.
[[nodiscard]] bool saysLock(const QByteArray &name);
// The same without lease, by itself what many things are called that are none: addresses, subnets, contracts.
[[nodiscard]] bool saysLockBesideLease(QByteArray name);
// Likewise leader, leadership or election.
[[nodiscard]] bool saysElection(const QByteArray &name);
// Whether it is that word and another one, which makes it a thing for locks or about them: lock-service,
// leader-board.
// Of a longer name it may be the lock of that thing: lock-order-service.
[[nodiscard]] bool isAboutLocks(const QByteArray &name);
[[nodiscard]] inline bool saysLockItself(const QByteArray &name)
{
    return saysLock(name) && !isAboutLocks(name);
}
// Likewise read, reader or shared, and write, writer or exclusive. A single r or w counts where the name says lock,
// or is no more than that.
[[nodiscard]] bool saysRead(const QByteArray &name);
[[nodiscard]] bool saysWrite(const QByteArray &name);
// Of a word. Bytes beyond ASCII belong to words: "блок" must not end where a Latin word would begin.
[[nodiscard]] bool isLetter(char c);

} // namespace lockscope::inspect
