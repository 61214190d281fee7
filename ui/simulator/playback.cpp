// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/playback.h"

#include "ui/simulator/simulatortext.h"

#include <cmath>
#include <numeric>

namespace lockscope::ui {

using contention::Event;
using contention::Mark;

constexpr auto frameEvery = 16ms;
constexpr double fastest = 64; // "unlimited" is at least that, and a whole run in a second

Playback::Playback(QObject *parent) : QObject(parent)
{
    const auto &all = speeds();
    m_speed = static_cast<int>(std::find(all.begin(), all.end(), 1.0) - all.begin());
    m_timer.setTimerType(Qt::PreciseTimer);
    m_timer.setInterval(frameEvery);
    connect(&m_timer, &QTimer::timeout, this, [this] { advance(Moment(m_sinceFrame.nsecsElapsed() / 1000)); });
}

void Playback::setRuns(std::vector<PlayedRunPtr> runs)
{
    pause();
    m_runs = std::move(runs);
    m_end = {};
    for (const auto &run : m_runs)
        m_end = std::max(m_end, run->end());
    m_happened.assign(m_runs.size(), 0);
    toEnd();
}

std::size_t Playback::happenedInAll() const
{
    return std::accumulate(m_happened.begin(), m_happened.end(), std::size_t(0));
}

std::size_t Playback::eventsInAll() const
{
    return std::accumulate(m_runs.begin(), m_runs.end(), std::size_t(0),
                           [](std::size_t sum, const PlayedRunPtr &run) { return sum + run->eventCount(); });
}

std::optional<std::size_t> Playback::lastRun() const
{
    std::optional<std::size_t> last;
    for (std::size_t i = 0; i < m_runs.size(); ++i) {
        if (m_happened[i] == 0)
            continue;
        if (!last || m_runs[i]->event(m_happened[i] - 1).at >= m_runs[*last]->event(m_happened[*last] - 1).at)
            last = i;
    }
    return last;
}

void Playback::seek(Moment at)
{
    m_at = std::clamp(at, Moment{}, m_end);
    for (std::size_t i = 0; i < m_runs.size(); ++i)
        m_happened[i] = m_runs[i]->countUntil(m_at);
    emit moved();
}

void Playback::stepForward()
{
    pause();
    std::optional<std::size_t> next;
    for (std::size_t i = 0; i < m_runs.size(); ++i) {
        if (m_happened[i] == m_runs[i]->eventCount())
            continue;
        if (!next || m_runs[i]->event(m_happened[i]).at < m_runs[*next]->event(m_happened[*next]).at)
            next = i;
    }
    if (!next)
        return;
    m_at = m_runs[*next]->event(m_happened[*next]++).at;
    emit moved();
}

void Playback::stepBack()
{
    pause();
    const auto last = lastRun();
    if (!last)
        return;
    --m_happened[*last];
    const auto now = lastRun();
    m_at = now ? m_runs[*now]->event(m_happened[*now] - 1).at : Moment{};
    emit moved();
}

void Playback::toStart()
{
    m_at = {};
    std::fill(m_happened.begin(), m_happened.end(), 0);
    emit moved();
}

void Playback::play()
{
    if (m_runs.empty() || isPlaying())
        return;
    if (isAtEnd())
        toStart();
    m_sinceFrame.start();
    m_timer.start();
    emit playingChanged(true);
}

void Playback::pause()
{
    if (!isPlaying())
        return;
    m_timer.stop();
    emit playingChanged(false);
}

void Playback::advance(Moment byTheWall)
{
    m_sinceFrame.restart();
    double speed = speeds()[static_cast<std::size_t>(m_speed)];
    if (speed == 0)
        speed = std::max(fastest, static_cast<double>(m_end.count()) / 1e6);
    seek(m_at + Moment(std::llround(static_cast<double>(byTheWall.count()) * speed)));
    if (m_at >= m_end)
        pause();
}

const std::vector<double> &Playback::speeds()
{
    static const std::vector<double> all{1.0 / 64, 1.0 / 32, 1.0 / 16, 1.0 / 8, 1.0 / 4, 1.0 / 2, 1,
                                         2,        4,        8,        16,      64,      0};
    return all;
}

QString Playback::speedText(double speed)
{
    if (speed == 0)
        return tr("unlimited");
    return speed < 1 ? u"1/%1 ×"_s.arg(std::lround(1 / speed)) : u"%1 ×"_s.arg(std::lround(speed));
}

void Playback::setSpeed(int speed)
{
    const int now = std::clamp(speed, 0, static_cast<int>(speeds().size()) - 1);
    if (now == m_speed)
        return;
    m_speed = now;
    emit speedChanged(now);
}

namespace {

QString shown(const QByteArray &text)
{
    return label(text, 80);
}

QString faultSentence(const Event &event, const QString &who)
{
    const auto kind = contention::faultByName(event.what);
    const QString what = kind ? faultSummary(*kind) : shown(event.what);
    return event.contender == contention::nobody ? Simulator::tr("Fault: %1").arg(what)
                                                 : Simulator::tr("Fault that befalls %1: %2").arg(who, what);
}

QString contenderSentence(const Event &event, const QString &who)
{
    const QString what = shown(event.what);
    switch (event.mark) {
    case Mark::Joins: return Simulator::tr("%1 asks for the lock.").arg(who);
    case Mark::Request:
        return event.where.isEmpty() ? Simulator::tr("%1 sends %2.").arg(who, what)
                                     : Simulator::tr("%1 sends %2 %3.").arg(who, what, shown(event.where));
    case Mark::Answer:
        return what.isEmpty() ? Simulator::tr("%1 gets its answer.").arg(who)
                              : Simulator::tr("%1 gets its answer: %2.").arg(who, what);
    case Mark::WatchEvent:
        return event.isWasted ? Simulator::tr("%1 is woken by a watch, wasted: it is not its turn.").arg(who)
                              : Simulator::tr("%1 is woken by its watch.").arg(who);
    case Mark::Message:
        return event.isWasted
                   ? Simulator::tr("%1 is woken by a publish, wasted: another client was quicker.").arg(who)
                   : Simulator::tr("%1 is woken by a publish.").arg(who);
    case Mark::Holds:
        return event.token > 0 ? Simulator::tr("%1 holds the lock, with fencing token %2.").arg(who).arg(event.token)
                               : Simulator::tr("%1 holds the lock.").arg(who);
    case Mark::Releases: return Simulator::tr("%1 released the lock.").arg(who);
    case Mark::Loses: return Simulator::tr("%1 learns that it lost the lock.").arg(who);
    case Mark::GivesUp:
        return what.isEmpty() ? Simulator::tr("%1 gives up waiting.").arg(who)
                              : Simulator::tr("%1 gives up waiting: %2.").arg(who, what);
    case Mark::Writes:
        return event.token > 0 ? Simulator::tr("%1 writes to what the lock guards, with token %2: %3.")
                                     .arg(who)
                                     .arg(event.token)
                                     .arg(what)
                               : Simulator::tr("%1 writes to what the lock guards: %2.").arg(who, what);
    case Mark::Pauses:
        return Simulator::tr("%1 is paused: it hears nothing, and does not know that time passes.").arg(who);
    case Mark::Resumes: return Simulator::tr("%1 goes on where it was paused, believing what it believed.").arg(who);
    case Mark::Dies: return Simulator::tr("%1 dies.").arg(who);
    case Mark::Comes: return Simulator::tr("%1 is back.").arg(who);
    case Mark::Gets: return Simulator::tr("%1 has %2, and goes on.").arg(who, what);
    case Mark::Acts: return Simulator::tr("%1: %2. The answer: %3.").arg(who, what, shown(event.where));
    default: return {};
    }
}

QString letGo(const Event &event, const QString &who)
{
    if (event.mark == Mark::Dies)
        return Simulator::tr("%1 died").arg(who);
    return event.mark == Mark::Loses ? Simulator::tr("%1 lost the lock").arg(who)
                                     : Simulator::tr("%1 released").arg(who);
}

} // namespace

QString eventSentence(const PlayedRun &run, std::size_t index)
{
    const Event &event = run.event(index);
    if (event.mark == Mark::Breaks)
        return Simulator::tr("A guarantee is violated: %1")
            .arg(event.where.isEmpty() ? shown(event.what) : contention::formatViolation(shown(event.where)));
    const QString who = event.contender < 0 ? Simulator::tr("The server") : run.laneName(event.contender);
    if (event.mark == Mark::Acts && event.contender < 0)
        return Simulator::tr("An operator: %1.").arg(shown(event.what));
    return event.mark == Mark::Fault ? faultSentence(event, who) : contenderSentence(event, who);
}

QString handOverSentence(const PlayedRun &run, std::size_t happened)
{
    const std::size_t release = run.lastRelease(happened);
    if (release >= happened)
        return {};
    const Event &event = run.event(release);
    const Tally then = run.wholeTallyAfter(release + 1);
    const Tally now = run.wholeTallyAfter(happened);
    const qint64 told = now.watchEvents - then.watchEvents;
    const qint64 inVain = now.wastedWakeups - then.wastedWakeups;
    const QString who = event.contender < 0 ? Simulator::tr("the server") : run.laneName(event.contender);
    QString sentence = letGo(event, who);
    if (told == 1)
        sentence = (inVain == 0 ? Simulator::tr("%1; one is woken, and only that one")
                                : Simulator::tr("%1; one is woken, wasted"))
                       .arg(sentence);
    else if (told > 1 && inVain > 0)
        sentence = Simulator::tr("%1; %2 are woken, %3 of them wasted")
                       .arg(sentence, formatCount(told), formatCount(inVain));
    else if (told > 1)
        sentence = Simulator::tr("%1; %2 are woken").arg(sentence, formatCount(told));
    const int holder = run.holderAfter(happened);
    if (holder != contention::nobody && run.holderAfter(release + 1) != holder)
        sentence = Simulator::tr("%1; %2 holds now").arg(sentence, run.laneName(holder));
    return sentence;
}

QString nameAmong(const std::vector<PlayedRunPtr> &runs, std::size_t run)
{
    if (runs.size() < 2)
        return {};
    const auto titleOf = [](const PlayedRunPtr &one) { return recipeTitle(one->recording().scenario.recipe); };
    const QString title = titleOf(runs[run]);
    const bool isAlone = std::ranges::count(runs, title, titleOf) == 1;
    return isAlone ? title : Simulator::tr("%1 (run %2)").arg(title).arg(run + 1);
}

namespace {

QString sumOf(const contention::Recording &recording)
{
    const auto &total = recording.counters;
    if (!recording.hasDrain())
        return Simulator::tr("%1 requests, and no release").arg(formatCount(total.allRequests));
    const QString inVain = total.wastedWakeups == 0
                               ? Simulator::tr("no wasted wake-up")
                               : Simulator::tr("%1 wasted wake-ups").arg(formatCount(total.wastedWakeups));
    return Simulator::tr("%1 requests and %2").arg(formatCount(total.requests), inVain);
}

} // namespace

QString sentenceAt(const Playback &playback)
{
    const auto &runs = playback.runs();
    const auto last = playback.lastRun();
    if (!last)
        return runs.empty() ? QString()
                            : Simulator::tr("Nothing has happened yet. Space plays, → steps to the first event.");
    QStringList parts;
    if (playback.isAtEnd()) {
        parts << Simulator::tr("All is over after %1.").arg(momentText(playback.end()));
        for (std::size_t i = 0; i < runs.size(); ++i) {
            const QString sum = sumOf(runs[i]->recording());
            parts << (runs.size() < 2 ? Simulator::tr("It took %1.").arg(sum)
                                      : Simulator::tr("%1: %2.", "a run, a sentence").arg(nameAmong(runs, i), sum));
        }
    } else {
        const QString what = eventSentence(*runs[*last], playback.happened(*last) - 1);
        const QString name = nameAmong(runs, *last);
        parts << (name.isEmpty() ? what : Simulator::tr("%1: %2", "a run, whole sentences").arg(name, what));
    }
    for (std::size_t i = 0; i < runs.size() && !playback.isAtEnd(); ++i) {
        const QString handOver = handOverSentence(*runs[i], playback.happened(i));
        const QString name = nameAmong(runs, i);
        if (!handOver.isEmpty())
            parts << (name.isEmpty() ? Simulator::tr("%1.", "a sentence").arg(handOver)
                                     : Simulator::tr("%1: %2.", "a run, a sentence").arg(name, handOver));
    }
    return joinedSentences(parts);
}

} // namespace lockscope::ui

#include "moc_playback.cpp"
