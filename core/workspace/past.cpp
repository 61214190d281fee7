// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/past.h"

#include "core/workspace/newsfeed.h"

namespace lockscope {

using history::FlightRecording;
using history::Moment;

namespace {

RecordedSpan spanOf(const FlightRecording &recording)
{
    return {recording.begin(), recording.end(), recording.bytes(), recording.damage()};
}

// Those that a window's own recorder was told of are there already, without the other locks and the victim.
void addDeadlocksThen(const FlightRecording &recording, inspect::StateSnapshot &picture, Moment then,
                      const std::vector<inspect::ClientLabel> &labels)
{
    // Those that somebody waits for are few; all of them, only where there seems to be one.
    std::vector<inspect::LockSnapshot> contended;
    for (const auto &[name, lock] : picture.locks) {
        if (lock.waiterCount() > 0)
            contended.push_back(lock);
    }
    if (waitGraphOf(contended, labels, then).cycles.empty())
        return;
    const auto graph = waitsThen(recording, picture, then, labels);
    for (auto &[name, lock] : picture.locks)
        addDeadlocks(lock, graph, graph.cycles);
}

// A deadlock is reported once it was seen twice.
Moment reachableFrom(Moment first, const FlightRecording &recording)
{
    constexpr std::chrono::seconds seenTwice(2);
    return first > recording.begin() ? std::min<Moment>(first + seenTwice, recording.end()) : recording.begin();
}

} // namespace

// One thread's. Files come and go while they are read: what fails is tried again with those that are there then.
class Past::Reader {
public:
    explicit Reader(std::function<QStringList()> files) : m_files(std::move(files)) {}

    // With all that is there now.
    Result<const FlightRecording *> newest()
    {
        const auto files = m_files();
        if (files.isEmpty())
            return Error{ErrorCode::NotConnected, u"nothing is recorded"_s};
        auto opened = FlightRecording::open(files);
        if (!opened)
            opened = FlightRecording::open(m_files());
        if (!opened)
            return opened.error();
        m_opened = std::move(*opened);
        return &*m_opened;
    }
    // With all up to then.
    Result<const FlightRecording *> upTo(Moment moment)
    {
        if (m_opened && m_opened->end() >= moment && m_opened->files() == m_files())
            return &*m_opened;
        return newest();
    }
    void close() { m_opened.reset(); }

    // As far as the files go, each part of which is read once for it.
    const FirstSnapshots &firsts(const FlightRecording &recording)
    {
        const auto take = [this](const inspect::LinkState &state, Moment at) {
            if (state.isLookedThrough)
                m_firsts.emplace(state.name, at);
        };
        if (m_readTo < recording.begin()) {
            m_readTo = recording.begin();
            const auto start = recording.at(m_readTo);
            for (const auto &[name, state] : start ? start->connections : decltype(start->connections)())
                take(state, m_readTo);
        }
        const auto isRead = recording.walk(m_readTo - 1ms, recording.end(), [&take](const inspect::Change &change) {
            if (const auto *state = std::get_if<inspect::LinkState>(&change.what))
                take(*state, change.at);
            return true;
        });
        if (isRead)
            m_readTo = recording.end();
        return m_firsts;
    }
    // The first moment that may be shown of this connection. Without one, that of all of the start: they come one
    // after the other, and what is recorded until each was looked through looks as if there were fewer locks.
    Moment since(const FlightRecording &recording, const ConnectionName &of)
    {
        constexpr std::chrono::seconds startTakes(60); // at most
        const auto &known = firsts(recording);
        if (const auto first = known.find(of); first != known.end())
            return reachableFrom(first->second, recording);
        auto since = recording.begin();
        for (const auto &[name, first] : known) {
            if (first <= recording.begin() + startTakes)
                since = std::max(since, first);
        }
        return reachableFrom(since, recording);
    }

    template <class T>
    Result<T> read(Moment to, const std::function<Result<T>(const FlightRecording &)> &question)
    {
        for (int tries = 0;; ++tries) {
            const auto recording = upTo(to);
            auto answer = recording ? question(**recording) : Result<T>(recording.error());
            if (answer || tries > 0 || answer.error().code == ErrorCode::Cancelled)
                return answer;
            close(); // its oldest file may just have gone
        }
    }

private:
    std::function<QStringList()> m_files;
    std::optional<FlightRecording> m_opened;
    FirstSnapshots m_firsts;
    Moment m_readTo{};
};

Past::Past(std::function<QStringList()> files, QObject *parent)
    : QObject(parent), m_isGoingOn(true), m_scrubbing(std::make_shared<Reader>(files)),
      m_telling(std::make_shared<Reader>(files)), m_scrubber(std::make_unique<Workers>(1)),
      m_teller(std::make_unique<Workers>(1))
{
}

Past::Past(QStringList files, QObject *parent) : Past([files = std::move(files)] { return files; }, parent)
{
    m_isGoingOn = false;
}

Past::~Past()
{
    for (const auto &[context, asked] : m_lockAsked)
        ++*asked;
    for (auto *pool : {m_scrubber.get(), m_teller.get()}) {
        pool->clear();
        pool->waitForDone();
    }
}

template <class T>
void Past::ask(Workers &thread, QObject *context, Answer<T> answer, std::function<Result<T>()> question)
{
    // The answer goes back to this thread, and ends here: what it holds may be of it.
    thread.start([this, question = std::move(question), context = QPointer<QObject>(context),
                  answer = std::move(answer)]() mutable {
        auto held = std::make_shared<Result<T>>(question());
        QMetaObject::invokeMethod(
            this,
            [held, context, answer = std::move(answer)] {
                const bool isDropped = !*held && held->error().code == ErrorCode::Cancelled;
                if (context && !isDropped)
                    answer(std::move(*held));
            },
            Qt::QueuedConnection);
    });
}

void Past::span(QObject *context, Answer<RecordedSpan> answer)
{
    ask<RecordedSpan>(*m_scrubber, context, std::move(answer), [reader = m_scrubbing]() -> Result<RecordedSpan> {
        TRY(const auto &recording, reader->newest());
        return spanOf(*recording);
    });
}

void Past::at(Place place, std::vector<inspect::ClientLabel> labels, QObject *context, Answer<PastPicture> answer)
{
    ask<PastPicture>(*m_scrubber, context, std::move(answer), [reader = m_scrubbing, place, labels] {
        return reader->read<PastPicture>(place.moment, [&](const FlightRecording &recording) -> Result<PastPicture> {
            const auto since = place.mayBeIncomplete ? recording.begin() : reader->since(recording, place.of);
            const auto nearest = std::clamp(place.moment, since, std::max(since, recording.end()));
            TRY(auto &picture, recording.at(nearest));
            addDeadlocksThen(recording, picture, nearest, labels);
            for (auto &[name, lock] : picture.locks)
                addLabels(lock, labels);
            return PastPicture{nearest, std::move(picture), since, reader->firsts(recording)};
        });
    });
}

void Past::lock(const inspect::LockName &lock, Moment to, std::vector<inspect::ClientLabel> labels, QObject *context,
                Answer<LockPast> answer)
{
    auto &asked = m_lockAsked[context];
    if (!asked)
        asked = std::make_shared<std::atomic<quint64>>(0);
    const auto isWanted = [asked, mine = ++*asked] { return *asked == mine; };
    ask<LockPast>(*m_teller, context, std::move(answer),
                  [reader = m_telling, lock, to, labels = std::move(labels), isWanted]() -> Result<LockPast> {
                      if (!isWanted())
                          return Error{ErrorCode::Cancelled, {}};
                      return reader->read<LockPast>(to, [&](const FlightRecording &recording) -> Result<LockPast> {
                          const auto history = recording.historyOf(lock, to, isWanted);
                          if (!history)
                              return history.error();
                          LockPast past;
                          past.span = spanOf(recording);
                          past.since = reader->since(recording, lock.connection);
                          past.timeline = history::timelineOf(*history, labels);
                          for (const auto &event : past.timeline.events) {
                              if (event.at >= past.since)
                                  past.changes.push_back(event.at);
                          }
                          std::ranges::sort(past.changes);
                          const auto same = std::ranges::unique(past.changes);
                          past.changes.erase(same.begin(), same.end());
                          return past;
                      });
                  });
}

void Past::note(NoteFacts facts, QObject *context, Answer<QString> answer)
{
    const bool isOwn = m_isGoingOn;
    ask<QString>(*m_teller, context, std::move(answer),
                 [reader = m_telling, facts = std::move(facts), isOwn]() -> Result<QString> {
                     const auto &name = facts.lock.lock;
                     const auto to = std::max(facts.asOf, facts.goneBy.value_or(facts.asOf));
                     return reader->read<QString>(to, [&](const FlightRecording &recording) -> Result<QString> {
                         auto whole = facts;
                         TRY(auto &history, recording.historyOf(name, to));
                         if (!history.connection.empty())
                             whole.connection = history.connection.back().second;
                         whole.source =
                             (isOwn ? u"Lockscope's window, which recorded from %1 to %2"_s
                                    : u"a recording, from %1 to %2"_s)
                                 .arg(inspect::isoTime(recording.begin()), inspect::isoTime(recording.end()));
                         whole.history = std::move(history);
                         addRecordedActs(whole);
                         return incidentNote(whole);
                     });
                 });
}

void Past::save(const QString &file, QObject *context, Answer<RecordedSpan> answer)
{
    ask<RecordedSpan>(*m_teller, context, std::move(answer), [reader = m_telling, file]() -> Result<RecordedSpan> {
        TRY(const auto &recording, reader->newest());
        TRY_VOID((recording)->saveTo(file));
        return spanOf(*recording);
    });
}

void Past::recorderFailed(const Error &error)
{
    m_failure = error.message;
    emit failed(m_failure);
}

void Past::recorderResumed()
{
    m_failure.clear();
    emit resumed();
}

void Past::recorderFound(const history::LeftRecording &left)
{
    m_left.push_back(left);
    emit foundLeft();
}

} // namespace lockscope

#include "moc_past.cpp"
