// SPDX-License-Identifier: Apache-2.0
#include "core/contention/recording.h"

#include "core/base/text.h"

#include <QCoreApplication>
#include <QRegularExpression>

namespace lockscope::contention {

namespace {

// What is told is told in the window's language: in a terminal nobody has installed another one.
struct Told {
    Q_DECLARE_TR_FUNCTIONS(Told)
};

// `%1` is who, and of what befalls a server or all of them nobody.
QString befell(const QByteArray &fault, const QByteArray &how, const QString &who)
{
    const auto kind = faultByName(fault);
    if (!kind)
        return u"%1 %2"_s.arg(who, label(fault, 40)).trimmed();
    const auto &words = wordsOf(*kind);
    const bool isServers =
        !words.befellServer.isEmpty() && (who.isEmpty() || how.startsWith("server")); // whose clock
    auto told = Told::tr((isServers ? words.befellServer : words.befell).constData());
    return told.replace(u"%1"_s, who);
}

// As the checkers say it (round.cpp, simulation.cpp): recordings keep it in English.
constexpr const char *sentences[] = {
    QT_TRANSLATE_NOOP("Told", "all believe they hold it: %1"),
    QT_TRANSLATE_NOOP("Told", "its fencing token %1 is not above %2"),
    QT_TRANSLATE_NOOP("Told", "number %1 was granted after number %2"),
    QT_TRANSLATE_NOOP("Told", "a write of a former holder was accepted after one of its successor"),
    QT_TRANSLATE_NOOP("Told", "a second write was accepted as the successor of version %1"),
    QT_TRANSLATE_NOOP("Told", "still holds: its process is alive, but the thread that would release it has ended"),
    QT_TRANSLATE_NOOP(
        "Told", "still waits: the holder's process keeps the lock, but the thread that would release it has ended"),
    QT_TRANSLATE_NOOP("Told", "still holds, long after everything was well again"),
    QT_TRANSLATE_NOOP("Told", "still waits, long after everything was well again"),
    QT_TRANSLATE_NOOP("Told", "left behind: %1 and %2 more"),
    QT_TRANSLATE_NOOP("Told", "left behind: %1"),
};

class Story {
public:
    Story(const Recording &recording, const Violation &violation, const QLocale &locale)
        : m_recording(recording), m_violation(violation), m_locale(locale)
    {
        m_locale.setNumberOptions(QLocale::OmitGroupSeparator);
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
        else if (broken.what == "cleanliness")
            left(broken);
        else
            stuck(broken);
        return m_parts.join(Told::tr("; ", "between the parts of a sentence"));
    }

private:
    [[nodiscard]] QString name(int contender) const { return label(m_recording.laneName(contender), 20); }
    void say(const QString &what, Moment at) { m_parts << Told::tr("%1 at %2").arg(what, seconds(at)); }
    [[nodiscard]] QString seconds(Moment at) const
    {
        const int digits = at < std::chrono::milliseconds(10) ? 4 : 2;
        return Told::tr("%1 s").arg(m_locale.toString(static_cast<double>(at.count()) / 1e6, 'f', digits));
    }

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
                return Told::tr(", for %1").arg(seconds(later.at - event.at));
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
            say(befell(event.what, event.where, event.contender == nobody ? QString() : name(event.contender)),
                event.at);
            m_parts.back() += forHowLong(i);
            ++told;
        }
    }

    // When the server let go of what this grant stood for, as far as its history is known.
    void letGo(const Event &grant, Moment until)
    {
        const auto owner = contenderName(grant.contender, m_recording.scenario.contenders);
        const ServerLine *held = nullptr; // the last line that was this contender's
        for (const auto &change : m_recording.history.changes) {
            if (change.at > until)
                break;
            const auto &line = change.line;
            const bool isIts =
                !change.isGone
                && ((grant.what.size() > 5 && (line.name.contains(grant.what) || line.text.contains(grant.what)))
                    || line.text.contains("of " + owner) || line.text.contains("locked by " + owner));
            if (isIts) {
                held = &line;
            } else if (held && line.name == held->name && change.at > grant.at) {
                if (held->ends && *held->ends <= change.at)
                    say(Told::tr("its lease ended on the server"), *held->ends);
                else
                    say(Told::tr("its lock no longer existed on the server"), change.at);
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
        say(Told::tr("%1 got the lock").arg(name(old.contender)), old.at);
        faults(first, newest, old.contender, young.contender);
        letGo(old, young.at);
        say(Told::tr("%1 got the lock").arg(name(young.contender)), young.at);
        faults(newest, m_end, old.contender, young.contender);
        if (!isWrite) {
            m_parts << Told::tr("and %1 did not know that it had lost it").arg(name(old.contender));
            return;
        }
        const auto woke = lastBefore(m_end, [&](const Event &event) {
            return event.mark == Mark::Resumes && event.contender == old.contender;
        });
        if (woke != m_end && woke > newest)
            m_parts
                << Told::tr("at %1 %2 woke and wrote").arg(seconds(m_recording.events[woke].at), name(old.contender));
        else
            say(Told::tr("%1 wrote").arg(name(old.contender)), broken.at);
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
            say(Told::tr("%1 was the last to get the lock").arg(name(holder)), m_recording.events[last].at);
            faults(last, m_end, broken.contender, holder);
            // Whoever came after it may have left what all wait for, without ever having the lock.
            const auto *made = whatIsLeft();
            const int maker = made && made->at >= m_recording.events[last].at ? senderOf(*made) : nobody;
            if (maker != nobody && maker != holder && maker != broken.contender)
                nameMaker(*made, maker);
        } else {
            faults(0, m_end, broken.contender, broken.contender);
        }
        const auto what = formatViolation(m_violation.message);
        say(broken.contender == nobody ? what : Told::tr("%1: %2").arg(name(broken.contender), what), broken.at);
    }

    // Who made what was left behind, and what befell it before it could take it away again.
    void left(const Event &broken)
    {
        const auto *made = whatIsLeft();
        const int maker = made ? senderOf(*made) : nobody;
        if (maker == nobody)
            return stuck(broken);
        nameMaker(*made, maker);
        say(formatViolation(m_violation.message), broken.at);
    }

    [[nodiscard]] const ServerChange *whatIsLeft() const
    {
        return m_recording.leftBehind.empty() ? nullptr : lastMade(m_recording.leftBehind.front());
    }

    void nameMaker(const ServerChange &made, int maker)
    {
        say(Told::tr("%1 made %2").arg(name(maker), label(made.line.name, 60)), made.at);
        const auto from = std::ranges::find_if(m_recording.events, [&](const Event &event) {
            return event.contender == maker && event.at >= lastSent(made);
        });
        faults(static_cast<std::size_t>(from - m_recording.events.begin()), m_end, maker, maker);
        if (!made.line.ends)
            m_parts << Told::tr("it has no TTL, and no other client may delete it");
    }

    // When that line came to be, as far as the history is known.
    [[nodiscard]] const ServerChange *lastMade(const QByteArray &lineName) const
    {
        const ServerChange *made = nullptr;
        for (const auto &change : m_recording.history.changes) {
            if (change.line.name != lineName)
                continue;
            if (change.isGone)
                made = nullptr;
            else if (!made)
                made = &change;
        }
        return made;
    }
    // Whose message came to that server last, then.
    [[nodiscard]] const SentMessage *messageBefore(const ServerChange &change) const
    {
        const SentMessage *last = nullptr;
        for (const auto &message : m_recording.history.messages) {
            const bool isEarlier = message.toServer && message.server == change.line.server && message.arrives
                                   && *message.arrives <= change.at;
            if (isEarlier && (!last || *last->arrives <= *message.arrives))
                last = &message;
        }
        return last;
    }
    [[nodiscard]] int senderOf(const ServerChange &change) const
    {
        const auto *message = messageBefore(change);
        return message ? message->contender : nobody;
    }
    [[nodiscard]] Moment lastSent(const ServerChange &change) const
    {
        const auto *message = messageBefore(change);
        return message ? message->at : change.at;
    }

    const Recording &m_recording;
    const Violation &m_violation;
    QLocale m_locale;
    std::size_t m_end = 0;
    QStringList m_parts;
};

} // namespace

QString explain(const Recording &recording, const Violation &violation, const QLocale &locale)
{
    return Story(recording, violation, locale).tell();
}

QString formatViolation(const QString &message)
{
    static const QRegularExpression place(u"%[12]"_s);
    for (const auto *sentence : sentences) {
        QString form = QRegularExpression::escape(QString::fromLatin1(sentence));
        form.replace(u"\\%"_s, u"%"_s).replace(place, u"(.+)"_s);
        const auto match = QRegularExpression(QRegularExpression::anchoredPattern(form)).match(message);
        if (!match.hasMatch())
            continue;
        auto said = Told::tr(sentence);
        for (int i = 1; i <= match.lastCapturedIndex(); ++i)
            said.replace(u"%%1"_s.arg(i), match.captured(i));
        static const QRegularExpression span(u" \\(for ([0-9]+) ms\\)"_s); // of each who believes
        for (auto at = span.match(said); at.hasMatch(); at = span.match(said, at.capturedStart() + 1))
            said.replace(at.capturedStart(), at.capturedLength(), Told::tr(" (for %1 ms)").arg(at.captured(1)));
        return said;
    }
    return message;
}

} // namespace lockscope::contention
