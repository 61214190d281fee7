// SPDX-License-Identifier: Apache-2.0
#include "core/history/timeline.h"

#include "core/base/text.h"
#include "core/inspect/coverage.h"
#include "core/inspect/findings.h"

namespace lockscope::history {

using inspect::Contender;
using inspect::LockSnapshot;
using inspect::Role;
using std::chrono::milliseconds;
using EventKind = TimelineEvent::Kind;

namespace {

// What is known of one that is in the queue.
struct Known {
    Contender last;
    std::optional<Moment> waitsSince; // as far as that is known
    std::optional<Moment> holdsSince;
};

// What was said last of one that was ever seen.
struct Said {
    decltype(Contender::endpoint) endpoint;
    decltype(Contender::identity) identity;
    decltype(Contender::program) program;
};

class Teller {
public:
    explicit Teller(const LockHistory &history) : m_history(history) {}

    Timeline tell()
    {
        for (const auto &moment : m_history.moments)
            take(moment);
        for (const auto &[at, act] : m_history.acts)
            m_timeline.events.push_back({act.time, EventKind::AdminAction, {}, {}, actWords(act)});
        for (const auto &[at, deadlock] : m_history.deadlocks)
            m_timeline.events.push_back(
                {timeOf(deadlock, at), EventKind::DeadlockEnded, {}, {}, inspect::deadlockText(deadlock)});
        notifyUnseen();
        for (auto &event : m_timeline.events)
            addSaidLater(event.contender);
        std::ranges::stable_sort(m_timeline.events, {}, &TimelineEvent::at);
        std::ranges::sort(m_holds);
        std::ranges::sort(m_waits);
        m_timeline.holds = spansOf(m_holds);
        m_timeline.waits = spansOf(m_waits);
        m_timeline.holdSpans = std::move(m_holds);
        m_timeline.waitSpans = std::move(m_waits);
        m_timeline.gaps = spansOf(std::move(m_gaps));
        return std::move(m_timeline);
    }

private:
    static QString actWords(const Act &act)
    {
        return act.phase == "intent"_L1 ? u"%1 is started by %2"_s.arg(act.action, act.actor)
                                        : act.action + u" by "_s + act.actor + u": "_s + act.outcome;
    }

    // When the server ended it, by our clock, as far as its own was ever compared with ours; else when it was read.
    [[nodiscard]] Moment timeOf(const inspect::EndedDeadlock &deadlock, Moment seen) const
    {
        const auto compared =
            std::ranges::find_if(m_history.moments, [](const LockMoment &one) { return one.lock.has_value(); });
        return deadlock.isAtLatest || compared == m_history.moments.end()
                   ? seen
                   : std::min(seen, Moment(deadlock.at - compared->lock->serverAhead));
    }

    void take(const LockMoment &moment)
    {
        static const LockSnapshot nothing;
        const auto &now = moment.lock ? *moment.lock : nothing;
        const bool isFirst = !std::exchange(m_isBegun, true) && wasThereBefore(moment.at);
        leave(moment.at, now);
        const bool wasHeld = isAnyHolding();
        for (const auto &contender : now.contenders)
            come(moment.at, contender, now, isFirst);
        const bool isHeld = now.holderCount() > 0;
        if (isHeld && !wasHeld && m_freeSince && !isUnseenBetween(*m_freeSince, moment.at)) {
            m_gaps.push_back(moment.at - *m_freeSince);
            ++m_timeline.handOffs;
        }
        if (isHeld)
            m_freeSince.reset();
        m_neverEnds = now.find(inspect::FindingCode::NoTtl) != nullptr;
        if (!moment.lock)
            m_timeline.events.push_back({moment.at, EventKind::Disappears, {}, {}, {}});
    }

    // Where it is and what it wrote is often read a moment after it was seen to come.
    void addSaidLater(Contender &contender) const
    {
        const auto said = m_said.find(contender.id);
        if (said == m_said.end())
            return;
        if (!contender.endpoint)
            contender.endpoint = said->second.endpoint;
        if (!contender.identity)
            contender.identity = said->second.identity;
        if (!contender.program)
            contender.program = said->second.program;
    }

    // What is found by the first look was there before it, nobody knows since when.
    [[nodiscard]] bool wasThereBefore(Moment at) const
    {
        bool isLookedThrough = false;
        for (const auto &[then, state] : m_history.connection)
            isLookedThrough = then <= at ? state.isLookedThrough : isLookedThrough;
        return at == m_history.begin || !isLookedThrough;
    }
    [[nodiscard]] bool isAnyHolding() const
    {
        return std::ranges::any_of(m_known, [](const auto &one) { return one.second.last.role == Role::Holder; });
    }

    // Who is not there any more, or does not hold any more.
    void leave(Moment at, const LockSnapshot &now)
    {
        bool hasOneLetGo = false;
        for (auto known = m_known.begin(); known != m_known.end();) {
            const auto *still = now.find(known->first);
            const bool wasHolder = known->second.last.role == Role::Holder;
            const bool isHolder = still && still->role == Role::Holder;
            if (wasHolder && !isHolder) {
                letGo(at, known->second);
                hasOneLetGo = true;
            } else if (!still) {
                m_timeline.events.push_back(
                    {at, EventKind::GivesUp, known->second.last, spanOf(known->second.waitsSince, at), {}});
            }
            known = still && (isHolder || !wasHolder) ? std::next(known) : m_known.erase(known);
        }
        if (hasOneLetGo && !isAnyHolding() && !m_known.empty())
            m_freeSince = at;
        if (m_known.empty())
            m_freeSince.reset();
    }

    void letGo(Moment at, const Known &known)
    {
        const bool isForced = wasForced(known.last.id, at);
        const auto span = spanOf(known.holdsSince, at);
        if (span && !isUnseenBetween(*known.holdsSince, at))
            m_holds.push_back(*span);
        m_timeline.forced += isForced ? 1 : 0;
        m_timeline.events.push_back(
            {at, isForced ? EventKind::ForceReleased : EventKind::Released, known.last, span, {}});
    }

    // A client's own renewal puts the end off. What else becomes of it is the doing of another one, of an operator's
    // say, and tells why the lock is stuck now.
    void noteTtl(Moment at, const Contender &before, const Contender &now, const LockSnapshot &lock)
    {
        constexpr milliseconds wavers(1000);
        const bool neverEnds = lock.find(inspect::FindingCode::NoTtl) && !now.expiresAt;
        const bool neverEnded = m_neverEnds && !before.expiresAt;
        const auto add = [&](EventKind kind, std::optional<milliseconds> span = {}) {
            m_timeline.events.push_back({at, kind, now, span, {}});
        };
        if (before.expiresAt && neverEnds)
            add(EventKind::TtlRemoved);
        else if (neverEnded && now.expiresAt)
            add(EventKind::TtlSet);
        else if (before.expiresAt && now.expiresAt && *before.expiresAt - *now.expiresAt > wavers)
            add(EventKind::TtlShortened, *before.expiresAt - *now.expiresAt);
    }

    void come(Moment at, const Contender &contender, const LockSnapshot &lock, bool isFirst)
    {
        const auto serverAhead = lock.serverAhead;
        const auto [known, isNew] = m_known.try_emplace(contender.id);
        auto &seen = known->second;
        const bool held = !isNew && seen.last.role == Role::Holder;
        if (contender.role == Role::Waiter && isNew) {
            seen.waitsSince = contender.waitingSince ? std::optional(*contender.waitingSince - serverAhead)
                              : isFirst              ? std::nullopt
                                                     : std::optional(at);
            m_timeline.events.push_back({at, isFirst ? EventKind::IsWaiting : EventKind::Queues, contender, {}, {}});
        }
        if (contender.role == Role::Holder && !held) {
            const auto waited = isNew ? std::nullopt : spanOf(seen.waitsSince, at);
            const bool isExact = contender.heldSince && !contender.heldAtMost;
            seen.holdsSince = !isFirst  ? std::optional(at)
                              : isExact ? std::optional(*contender.heldSince - serverAhead)
                                        : std::nullopt;
            if (waited && !isUnseenBetween(*seen.waitsSince, at))
                m_waits.push_back(*waited);
            m_timeline.events.push_back(
                {at, isFirst ? EventKind::HeldAtStart : EventKind::Holds, contender, waited, {}});
        }
        if (held && contender.role == Role::Holder && lock.backend == BackendKind::Redis)
            noteTtl(at, seen.last, contender, lock);
        seen.last = contender;
        auto &said = m_said[contender.id];
        if (contender.endpoint)
            said.endpoint = contender.endpoint;
        if (contender.identity)
            said.identity = contender.identity;
        if (contender.program)
            said.program = contender.program;
    }

    static std::optional<milliseconds> spanOf(const std::optional<Moment> &from, Moment to)
    {
        return from ? std::optional(std::max(milliseconds(0), to - *from)) : std::nullopt;
    }

    // The audit file's intent comes before the command, its result after; both near to what was seen of it.
    [[nodiscard]] bool wasForced(const QByteArray &holder, Moment at) const
    {
        constexpr auto near = std::chrono::seconds(30);
        return std::ranges::any_of(m_history.acts, [&](const auto &entry) {
            const auto &act = entry.second;
            return act.hasReleased && act.holder == holder && std::chrono::abs(act.time - at) < near;
        });
    }

    [[nodiscard]] bool isUnseenBetween(Moment from, Moment to) const
    {
        return std::ranges::any_of(m_history.connection, [&](const auto &entry) {
            return !entry.second.isConnected && entry.first >= from && entry.first <= to;
        });
    }

    void notifyUnseen()
    {
        bool isSeen = true;
        bool isFirst = true;
        for (const auto &[at, state] : m_history.connection) {
            const bool wasSeen = std::exchange(isSeen, state.isConnected && !state.isGone);
            if (!isSeen && wasSeen && !isFirst)
                m_timeline.events.push_back({at, EventKind::Unseen, {}, {}, {}});
            if (isSeen && !wasSeen && !isFirst)
                m_timeline.events.push_back({at, EventKind::SeenAgain, {}, {}, {}});
            isFirst = isFirst && !isSeen; // until it stood for the first time nothing was to be seen
        }
    }

    const LockHistory &m_history;
    Timeline m_timeline;
    std::map<QByteArray, Known> m_known;
    std::map<QByteArray, Said> m_said;
    std::optional<Moment> m_freeSince; // released while somebody waited
    std::vector<milliseconds> m_holds, m_waits, m_gaps;
    bool m_isBegun = false;
    bool m_neverEnds = false; // as seen last
};

QString after(const QString &words, const QString &how, const std::optional<milliseconds> &span)
{
    return span ? words + how + formatDuration(*span) : words;
}

} // namespace

Spans spansOf(std::vector<milliseconds> all)
{
    if (all.empty())
        return {};
    std::ranges::sort(all);
    const auto rank = [&all](std::size_t percent) { return percentileOf(all, percent); };
    return {static_cast<int>(all.size()), rank(50), rank(90), rank(99), all.back()};
}

milliseconds percentileOf(const std::vector<milliseconds> &sorted, std::size_t percent)
{
    return sorted.empty() ? milliseconds(0) : sorted[(percent * sorted.size() + 99) / 100 - 1];
}

Timeline timelineOf(const LockHistory &history, const std::vector<inspect::ClientLabel> &labels)
{
    auto timeline = Teller(history).tell();
    const auto seen =
        std::ranges::find_if(history.moments, [](const LockMoment &one) { return one.lock.has_value(); });
    if (seen == history.moments.end())
        return timeline;
    timeline.backend = seen->lock->backend;
    for (auto &event : timeline.events)
        inspect::addLabel(event.contender, seen->lock->lock, timeline.backend, labels);
    return timeline;
}

QString nameOf(EventKind kind)
{
    static constexpr const char16_t *names[] = {
        u"held-at-start",  u"waiting-at-start", u"enqueued",     u"acquired",    u"released",
        u"wait-abandoned", u"force-released",   u"ttl-removed",  u"ttl-set",     u"ttl-shortened",
        u"removed",        u"deadlock-ended",   u"disconnected", u"reconnected", u"admin-action"};
    return QString::fromUtf16(names[static_cast<int>(kind)]);
}

QString wordsOf(const TimelineEvent &event)
{
    switch (event.kind) {
    case EventKind::HeldAtStart: return u"already holds it"_s;
    case EventKind::IsWaiting: return u"already waits"_s;
    case EventKind::Queues: return u"starts to wait"_s;
    case EventKind::Holds:
        return event.span ? u"holds it, having waited %1"_s.arg(formatDuration(*event.span)) : u"holds it"_s;
    case EventKind::Released: return after(u"no longer holds it"_s, u", after "_s, event.span);
    case EventKind::GivesUp: return after(u"stops waiting without it"_s, u", after "_s, event.span);
    case EventKind::ForceReleased: return after(u"is force-released"_s, u", after "_s, event.span);
    case EventKind::TtlRemoved: return u"still holds it; its TTL was removed, so the lock no longer expires"_s;
    case EventKind::TtlSet: return u"still holds it; a TTL was set, so the lock expires by itself"_s;
    case EventKind::TtlShortened: return after(u"still holds it; its TTL was shortened"_s, u" by "_s, event.span);
    case EventKind::Disappears: return u"the lock no longer exists on its server"_s;
    case EventKind::Unseen: return u"the connection broke; nothing is observed from here on"_s;
    case EventKind::SeenAgain: return u"the connection is back"_s;
    case EventKind::DeadlockEnded:
    case EventKind::AdminAction: return event.words;
    }
    return {};
}

} // namespace lockscope::history
