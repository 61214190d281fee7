// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/snapshot.h"

#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/rules/catalogue.h"
#include "core/rules/turn.h"

namespace lockscope::inspect {

QByteArray nameInId(const QByteArray &contenderId)
{
    const auto at = contenderId.lastIndexOf('@');
    const auto name = contenderId.left(std::max<qsizetype>(at, 0));
    return !name.isEmpty() && recipes::isFullFormOf(contenderId, name) ? name : contenderId;
}

int LockSnapshot::holderCount() const
{
    return static_cast<int>(std::ranges::count(contenders, Role::Holder, &Contender::role));
}

int LockSnapshot::waiterCount() const
{
    return static_cast<int>(std::ranges::count(contenders, Role::Waiter, &Contender::role));
}

Severity LockSnapshot::worst() const
{
    Severity worst = Severity::Info;
    for (const auto &finding : findings)
        worst = std::max(worst, finding.severity);
    return worst;
}

const Contender *LockSnapshot::find(const QByteArray &id) const
{
    const auto found = std::ranges::find(contenders, id, &Contender::id);
    return found == contenders.end() ? nullptr : &*found;
}

const Finding *LockSnapshot::find(FindingCode code) const
{
    const auto found = std::ranges::find(findings, code, &Finding::code);
    return found == findings.end() ? nullptr : &*found;
}

const Contender *LockSnapshot::nextAfter(const QByteArray &id) const
{
    const Contender *leaving = find(id);
    if (!leaving || leaving->role != Role::Holder)
        return nullptr;
    // One reader of several lets nobody in: the writer behind them waits for the last.
    if (leaving->mode == Mode::Read && holderCount() > 1)
        return nullptr;
    // Where the server says who waits for whom: the first that waits for this one, and for no other.
    const bool isTold = recipes::recipeOf(recipe).wakeUp == recipes::WakeUp::Answer;
    const auto isNext = [&id, isTold](const Contender &one) {
        const bool waitsForAnother =
            one.watches.isEmpty()
            || std::ranges::any_of(one.watches, [&id](const WatchEdge &edge) { return edge.target != id; });
        return one.role == Role::Waiter && !(isTold && waitsForAnother);
    };
    const auto next = std::ranges::find_if(contenders, isNext);
    if (next == contenders.end() || !next->position || awaitedElsewhere(*this, *next))
        return nullptr;
    // A writer that reads as well goes on reading: beside it only readers get in.
    const bool goesOnReading = leaving->mode == Mode::Write && holderCount() > 1;
    return goesOnReading && next->mode != Mode::Read ? nullptr : &*next;
}

std::vector<const Contender *> LockSnapshot::waitersGrantedWithout(const QByteArray &waiter) const
{
    std::vector<const Contender *> in;
    const auto *leaving = find(waiter);
    if (!leaving)
        return in;
    // Those before it that wait for it, though the lock is theirs by the order.
    for (const auto &contender : contenders) {
        if (contender.role == Role::Waiter && contender.position < leaving->position
            && std::ranges::find(contender.watches, waiter, &WatchEdge::target) != contender.watches.end())
            in.push_back(&contender);
    }
    if (!in.empty() || leaving->mode == Mode::Read)
        return in;
    bool isBehind = false;
    for (const auto &one : contenders) {
        if (one.role == Role::Holder && one.mode != Mode::Read)
            return {};
        if (one.role != Role::Waiter || !one.position)
            continue;
        if (one.id == waiter)
            isBehind = true;
        else if (one.mode == Mode::Read && isBehind)
            in.push_back(&one);
        else if (one.mode != Mode::Read)
            return isBehind ? in : std::vector<const Contender *>(); // this one keeps them out as well
    }
    return in;
}

std::optional<QByteArray> awaitedElsewhere(const LockSnapshot &lock, const Contender &waiter)
{
    // A server that answers when a turn has come names who is before it, also by what is another lock's.
    if (waiter.watches.isEmpty() || recipes::recipeOf(lock.recipe).wakeUp != recipes::WakeUp::Watch)
        return std::nullopt;
    for (const auto &edge : waiter.watches) {
        if (edge.children || edge.target.isEmpty() || lock.find(edge.target))
            return std::nullopt;
    }
    return waiter.watches.front().target;
}

std::optional<QByteArray> firstAwaitsElsewhere(const LockSnapshot &lock)
{
    const auto first = std::ranges::find(lock.contenders, Role::Waiter, &Contender::role);
    return first == lock.contenders.end() ? std::nullopt : awaitedElsewhere(lock, *first);
}

void judgeState(LockSnapshot &lock)
{
    lock.state = lock.holderCount() == 0   ? LockState::Free
                 : lock.waiterCount() == 0 ? LockState::Held
                                           : LockState::Contended;
}

QStringList wakesBeside(const LockSnapshot &lock, const QByteArray &holder)
{
    QStringList messages;
    for (const auto &finding : lock.findings) {
        const bool isOfHolder =
            finding.code == FindingCode::ForeignNode && std::ranges::count(finding.contenders, holder) > 0;
        if (isOfHolder)
            messages << finding.message;
    }
    return messages;
}

bool isFirstInLine(const LockSnapshot &lock, const Contender &next)
{
    constexpr std::chrono::seconds clocksInSeconds(1); // some servers tell since when one waits in those
    const auto isDeaf = [&](const Finding &finding) {
        const bool isAboutHearing = finding.code == FindingCode::LostWakeup || finding.code == FindingCode::WrongWatch
                                    || finding.code == FindingCode::StaleQueue;
        return isAboutHearing && std::ranges::count(finding.contenders, next.id) > 0;
    };
    const bool isReported =
        std::ranges::any_of(next.watches, [](const WatchEdge &edge) { return edge.evidence == Evidence::Server; });
    const bool isByTime = !isReported && infoOf(lock.backend).isIdentityAnAccount; // SQL: no server reports a queue
    const auto isBehind = [&](const Contender &one) {
        return one.role == Role::Holder || one.id == next.id
               || (next.waitingSince && one.waitingSince && *next.waitingSince + clocksInSeconds < *one.waitingSince);
    };
    return lock.waitersKnown && std::ranges::none_of(lock.findings, isDeaf)
           && (!isByTime || std::ranges::all_of(lock.contenders, isBehind));
}

bool isSureToAcquire(const LockSnapshot &lock, const Contender &next)
{
    return recipes::recipeOf(lock.recipe).fair && !next.isOnlyCounted() && isFirstInLine(lock, next);
}

QStringList workLines(const SqlWork &work, ServerTime now)
{
    constexpr int mostOfStatement = 400; // five lines of a terminal
    const auto since = [now](const std::optional<ServerTime> &then) {
        return formatDuration(std::max(std::chrono::milliseconds(0), now - then.value_or(now)));
    };
    QStringList facts;
    if (work.since)
        facts << (work.isRunning ? u"runs a statement for %1"_s : u"idle for %1"_s).arg(since(work.since));
    if (work.transactionSince)
        facts << u"transaction open for %1"_s.arg(since(work.transactionSince));
    if (work.rowsModified > 0)
        facts << u"%1 modified"_s.arg(amountOf(work.rowsModified, "row"_L1, "rows"_L1));
    QStringList lines;
    if (!facts.isEmpty())
        lines << facts.join(u", "_s);
    if (!work.statement.isEmpty())
        lines << (work.isRunning ? u"statement: %1"_s : u"last statement: %1"_s)
                     .arg(label(work.statement, mostOfStatement));
    return lines;
}

} // namespace lockscope::inspect
