// SPDX-License-Identifier: Apache-2.0
// What a row of the table says about a lock, derived once when its snapshot changes, so that sorting
// and filtering a hundred thousand of them touches no snapshot. There is one of these for every lock: what only the
// rows on screen need is a function of the snapshot instead.
#pragma once

#include "core/workspace/values.h"
#include "ui/theme/pill.h"

namespace lockscope::ui {

using SystemTime = std::chrono::system_clock::time_point;

struct LockFacts {
    std::optional<inspect::Severity> worst; // of its findings; empty without one
    Tone tone = Tone::Hold;
    quint8 stateRank = 0; // worse first; says which pill it is
    bool heldAtMost = false;
    bool isElection = false;
    bool holderDisconnected = false;
    bool findingTicks = false; // it speaks of time: findingAt() words it
    int waiters = 0;
    int waitersTimed = 0; // whose beginning is known
    // By our clock: the server's moments less how far its clock is ahead.
    qint64 waitingSinceSumMs = 0; // over the waiters whose beginning is known
    std::optional<SystemTime> oldestWait;
    std::optional<SystemTime> heldSince;
    std::optional<SystemTime> expiresAt; // of the first holder
    QByteArray recipe;
    QString holder;
    QString finding; // as of the snapshot
    [[nodiscard]] bool isContended() const { return waiters > 0; }
    [[nodiscard]] Pill pill() const;
    // The state is that of a finding, which need not be said beside it.
    [[nodiscard]] bool isStateOfFinding() const;
};

[[nodiscard]] LockFacts factsOf(const inspect::LockSnapshot &lock);
// How many wait: "3", "1 writer", "?".
[[nodiscard]] QString waitingText(const inspect::LockSnapshot &lock);
// The worst finding of the lock, at the server's `now`; empty without one.
[[nodiscard]] QString findingAt(const inspect::LockSnapshot &lock, inspect::ServerTime now);
// What kind it is of; empty of a deadlock, whose state says that already.
[[nodiscard]] QString findingBriefly(const inspect::LockSnapshot &lock);
// What its one holder is called, without the address; empty if it is not.
[[nodiscard]] QString holderBriefly(const inspect::LockSnapshot &lock, bool isDisconnected);
// What a finding means, how to confirm it, what to do: plain text of three lines.
// The table of findings is Markdown as well; what is shown here is not.
[[nodiscard]] QString withoutCodeMarks(QStringView text);
[[nodiscard]] QString helpOn(const inspect::FindingKind &kind);
// Who a contender is, as short as possible: its endpoint, else what it wrote about itself, else its id.
[[nodiscard]] QString whoIs(const inspect::Contender &contender);
// "app-9 · 10.0.3.7:56332": what the user calls it, else it itself, before its address.
[[nodiscard]] QString whoIsByName(const inspect::Contender &contender, BackendKind backend);
// "On release, app-9 acquires it (woken by the deletion of …0041).": what is sure of that, or why nothing is. Of the
// past: who was the first in line, if that is sure. Empty without such a holder.
[[nodiscard]] QString nextHolderText(const inspect::LockSnapshot &lock, const QByteArray &holder, bool isPast);
// The id as people tell contenders apart: "…0041" for a queue node, both ends of a long token.
[[nodiscard]] QString shortId(const QByteArray &fullId);
// What is shown of a contender, with its complete ID in place of a short one.
[[nodiscard]] QString withWholeId(QString shown, const inspect::Contender &contender);
// The same of a lock's holder, where there is one.
[[nodiscard]] QString withWholeId(const QString &shown, const inspect::LockSnapshot &lock);
[[nodiscard]] Pill pillOf(const inspect::Contender &contender, const inspect::LockSnapshot &lock,
                          bool isPast = false);
// "holds", "waited"
[[nodiscard]] QString roleText(const inspect::Contender &contender, bool isPast);
[[nodiscard]] SystemTime ourTime(inspect::ServerTime server, const inspect::LockSnapshot &lock);
[[nodiscard]] inspect::ServerTime serverTimeAt(SystemTime ours, const inspect::LockSnapshot &lock);

// lockscope://open?connection=NAME&lock=NAME: a lock as a link, for a ticket or a chat. It names a connection that
// whoever opens it must know already, holds no address, and asks for nothing but to be shown.

[[nodiscard]] QString linkOf(const inspect::LockName &lock);
// Anybody may have written it: BadInput for whatever is not exactly of that form.
[[nodiscard]] Result<inspect::LockName> readLink(const QString &link);
// "herd" of lockscope://lesson/herd; empty where the link is of no lesson.
[[nodiscard]] QByteArray lessonOfLink(const QString &link);

} // namespace lockscope::ui
