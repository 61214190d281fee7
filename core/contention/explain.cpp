// SPDX-License-Identifier: Apache-2.0
#include "core/contention/explain.h"

#include "core/base/text.h"

#include <algorithm>

namespace lockscope::contention {

using namespace Qt::StringLiterals;

namespace {

QString seconds(Moment at)
{
    return u"%1 s"_s.arg(static_cast<double>(at.count()) / 1e6, 0, 'f', at < std::chrono::milliseconds(10) ? 4 : 2);
}

QString befell(const QByteArray &fault, const QByteArray &how)
{
    const auto kind = faultByName(fault);
    if (!kind)
        return label(fault, 40);
    switch (*kind) {
    case FaultKind::Pause: return u"was paused"_s;
    case FaultKind::Crash: return u"died"_s;
    case FaultKind::LoseRequest: return u"sent a request that was lost"_s;
    case FaultKind::LoseReply: return u"was answered, and the reply was lost"_s;
    case FaultKind::Delay: return u"sent a message that came late"_s;
    case FaultKind::Partition: return u"was cut off (%1)"_s.arg(label(how, 40));
    case FaultKind::Expire: return u"lost its session: the server ended it"_s;
    case FaultKind::Lag: return u"a follower lagged behind"_s;
    case FaultKind::ClockJump: return u"%1 clock jumped"_s.arg(label(how, 40));
    case FaultKind::Drift: return u"had a clock that went wrong"_s;
    case FaultKind::RestartEmpty: return u"the server came back without its data"_s;
    case FaultKind::Failover: return u"a replica took over that had not seen the last writes"_s;
    case FaultKind::LostPublish: return u"a published message reached nobody"_s;
    case FaultKind::DeadThread: return u"lost its thread, but not its process"_s;
    case FaultKind::ForceRelease: return u"an operator took the lock away"_s;
    }
    return {};
}

class Story {
public:
    Story(const Recording &recording, const Violation &violation) : m_recording(recording), m_violation(violation)
    {
        const auto &events = recording.events;
        const auto at = std::find_if(events.begin(), events.end(), [&](const Event &event) {
            return event.mark == Mark::Breaks && event.what == violation.invariant && event.at == violation.at;
        });
        m_end = static_cast<std::size_t>(at - events.begin());
    }

    [[nodiscard]] QString tell()
    {
        if (m_end >= m_recording.events.size())
            return {};
        const auto &broken = m_recording.events[m_end];
        if (broken.what == "exclusion" || broken.what == "effect")
            twoBelieved(broken);
        else
            stuck(broken);
        return m_parts.join(u"; "_s);
    }

private:
    [[nodiscard]] QString name(int contender) const { return label(m_recording.laneName(contender), 20); }
    void say(const QString &what, Moment at) { m_parts << u"%1 at %2"_s.arg(what, seconds(at)); }

    // The last event of that kind before that place; none: the end.
    [[nodiscard]] std::size_t lastBefore(std::size_t place, auto matches) const
    {
        for (std::size_t i = place; i-- > 0;) {
            if (matches(m_recording.events[i]))
                return i;
        }
        return m_end;
    }

    // Of a fault that is over by itself: when.
    [[nodiscard]] QString forHowLong(std::size_t fault) const
    {
        const auto &event = m_recording.events[fault];
        if (event.what != "pause")
            return {};
        for (std::size_t i = fault; i < m_recording.events.size(); ++i) {
            const auto &later = m_recording.events[i];
            if (later.contender == event.contender && later.mark == Mark::Resumes)
                return u", for "_s + seconds(later.at - event.at);
        }
        return {};
    }

    // What went wrong from one place to another, with those two or with the servers.
    void faults(std::size_t from, std::size_t to, int one, int other)
    {
        constexpr int most = 4;
        int told = 0;
        for (std::size_t i = from; i < to && told < most; ++i) {
            const auto &event = m_recording.events[i];
            const bool concerns = event.contender == nobody || event.contender == one || event.contender == other;
            if (event.mark != Mark::Fault || !concerns)
                continue;
            const auto words = befell(event.what, event.where);
            say(event.contender == nobody ? words : name(event.contender) + u' ' + words, event.at);
            m_parts.back() += forHowLong(i);
            ++told;
        }
    }

    // When the server let go of what this grant stood for, as far as its history is known.
    void letGo(const Event &grant, Moment until)
    {
        const auto owner = contenderName(grant.contender, m_recording.scenario.contenders);
        QByteArray held; // the last line that was this contender's
        for (const auto &change : m_recording.history.changes) {
            if (change.at > until)
                break;
            const auto &line = change.line;
            const bool isIts =
                !change.isGone
                && ((grant.what.size() > 5 && (line.name.contains(grant.what) || line.text.contains(grant.what)))
                    || line.text.contains("of " + owner) || line.text.contains("locked by " + owner));
            if (isIts)
                held = line.name;
            else if (!held.isEmpty() && line.name == held && change.at > grant.at) {
                say(u"on the server its lock was gone"_s, change.at);
                return;
            }
        }
    }

    void twoBelieved(const Event &broken)
    {
        // Who had it first: of two holders the one whose grant is older, of a late write its writer.
        const bool isWrite = broken.what == "effect";
        const auto isBreakers = [&](const Event &event) {
            return event.mark == Mark::Holds && event.contender == broken.contender;
        };
        const auto ofBreaker = lastBefore(m_end, isBreakers);
        const auto first = isWrite ? ofBreaker : believerBefore(ofBreaker);
        const auto newest = isWrite ? successorOf(first) : ofBreaker;
        if (newest == m_end || first == m_end)
            return stuck(broken);
        const auto &old = m_recording.events[first], &young = m_recording.events[newest];
        if (newest < first) // an optimistic write, or one whose successor was done before
            return stuck(broken);
        say(name(old.contender) + u" got the lock"_s, old.at);
        faults(first, newest, old.contender, young.contender);
        letGo(old, young.at);
        say(name(young.contender) + u" got the lock"_s, young.at);
        faults(newest, m_end, old.contender, young.contender);
        if (!isWrite) {
            m_parts << u"and %1 did not know that it had lost it"_s.arg(name(old.contender));
            return;
        }
        const auto woke = lastBefore(m_end, [&](const Event &event) {
            return event.mark == Mark::Resumes && event.contender == old.contender;
        });
        if (woke != m_end && woke > newest)
            m_parts << u"at %1 %2 woke and wrote"_s.arg(seconds(m_recording.events[woke].at), name(old.contender));
        else
            say(name(old.contender) + u" wrote"_s, broken.at);
    }

    // Who got it next.
    [[nodiscard]] std::size_t successorOf(std::size_t grant) const
    {
        for (std::size_t i = grant + 1; i < m_end; ++i) {
            const auto &event = m_recording.events[i];
            if (event.mark == Mark::Holds && event.contender != m_recording.events[grant].contender)
                return i;
        }
        return m_end;
    }

    // The one that believes at that place, and for the longest.
    [[nodiscard]] std::size_t believerBefore(std::size_t place) const
    {
        std::vector<std::size_t> holds;
        for (std::size_t i = 0; i < place; ++i) {
            const auto &event = m_recording.events[i];
            const bool ends = event.mark == Mark::Releases || event.mark == Mark::Loses || event.mark == Mark::Dies;
            if (ends)
                std::erase_if(holds,
                              [&](std::size_t one) { return m_recording.events[one].contender == event.contender; });
            if (event.mark == Mark::Holds)
                holds.push_back(i);
        }
        return holds.empty() ? m_end : holds.front();
    }

    void stuck(const Event &broken)
    {
        const auto last = lastBefore(m_end, [](const Event &event) { return event.mark == Mark::Holds; });
        if (broken.what == "progress" && last != m_end) {
            const int holder = m_recording.events[last].contender;
            faults(0, last, broken.contender, holder);
            say(u"%1 was the last to get the lock,"_s.arg(name(holder)), m_recording.events[last].at);
            faults(last, m_end, broken.contender, holder);
        } else {
            faults(0, m_end, broken.contender, broken.contender);
        }
        const auto who = broken.contender == nobody ? QString() : name(broken.contender) + u": "_s;
        say(who + m_violation.message, broken.at);
    }

    const Recording &m_recording;
    const Violation &m_violation;
    std::size_t m_end = 0;
    QStringList m_parts;
};

} // namespace

QString explain(const Recording &recording, const Violation &violation)
{
    return Story(recording, violation).tell();
}

} // namespace lockscope::contention
