// SPDX-License-Identifier: Apache-2.0
#include "ui/timetravel.h"

#include "core/base/text.h"
#include "ui/parts/parts.h"
#include "ui/shell/actions.h"

#include <QFileDialog>

namespace lockscope::ui {

namespace {

constexpr int refreshesPerMarks = 5;

QString dayAndTime(history::Moment moment)
{
    return timeOfDay(moment).toString(u"yyyy-MM-dd HH:mm:ss"_s);
}

// As a file has it.
QString fileTime(std::chrono::system_clock::time_point time)
{
    const auto ms = std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch().count();
    return QDateTime::fromMSecsSinceEpoch(ms).toString(u"yyyy-MM-dd HH:mm:ss"_s);
}

QString recordingFilter()
{
    return TimeTravel::tr("Recordings (*.lockscope);;All files (*)");
}

// They are found in the order of their folders' names, which says nothing.
const history::LeftRecording &newestOf(const std::vector<history::LeftRecording> &left)
{
    return *std::ranges::max_element(left, {}, &history::LeftRecording::last);
}

} // namespace

TimeTravel::TimeTravel(Backend &live, PausableBackend &screen, ScreenClock &clock, TimeBar &bar, QWidget &window)
    : QObject(&window), m_live(live), m_screen(screen), m_clock(clock), m_bar(bar), m_window(window)
{
    m_refresh.setInterval(1s);
    connect(&m_refresh, &QTimer::timeout, this, &TimeTravel::refresh);
    connect(&m_bar.track(), &TimeTrack::sought, this, [this](Moment moment) {
        const bool isEnd = moment >= m_bar.track().end(); // which was read a moment ago
        goTo(isEnd ? std::max(moment, now()) : moment);
    });
    connect(&m_bar, &TimeBar::stepped, this, &TimeTravel::step);
    connect(&m_bar, &TimeBar::changeRequested, this, &TimeTravel::goToChange);
    connect(&m_bar, &TimeBar::backRequested, this, &TimeTravel::backToNow);
    connect(&m_bar, &TimeBar::fileCloseRequested, this, &TimeTravel::closeFile);
    connect(&m_screen, &PausableBackend::refused, this, [this] { m_bar.warn(PausableBackend::notNow().message); });
    if (m_live.past())
        QTimer::singleShot(0, this, &TimeTravel::listen); // whoever hears it is not connected yet
}

void TimeTravel::addActions(Actions &actions)
{
    actions.add(u"time"_s, [this] { toggle(); });
    actions.add(u"five-minutes-ago"_s, [this] { step(-5min); });
    actions.add(u"five-minutes-on"_s, [this] { step(5min); });
    actions.add(u"lock-changed-before"_s, [this] { goToChange(true); });
    actions.add(u"lock-changed-after"_s, [this] { goToChange(false); });
    m_end = actions.add(u"now"_s, [this] { backToNow(); });
    m_end->setEnabled(false); // its key is the tables', else
    auto *open = actions.add(u"open-recording"_s, [this] { askOpen(); });
    auto *save = actions.add(u"save-recording"_s, [this] { askSave(); });
    m_openLeft = actions.add(u"open-left"_s, [this] {
        if (const auto *past = m_live.past(); past && !past->leftBehind().empty())
            openFiles(newestOf(past->leftBehind()).files, tr("a run that did not end by itself"));
    });
    m_openLeft->setEnabled(false);
    m_bar.addMenu({open, save, m_openLeft});
}

// What the recorder has to say, perhaps already.
void TimeTravel::listen()
{
    auto *past = m_live.past();
    const auto notifyFailure = [this, past] {
        if (!past->failure().isEmpty())
            emit said(tr("Not recorded: %1").arg(past->failure()));
    };
    const auto notifyLeft = [this, past] {
        if (past->leftBehind().empty())
            return;
        m_openLeft->setEnabled(true);
        emit said(tr("The previous session did not exit cleanly. Its recording up to %1 can be opened with “%2”")
                      .arg(fileTime(newestOf(past->leftBehind()).last), m_openLeft->text()));
    };
    connect(past, &Past::failed, this, notifyFailure);
    connect(past, &Past::resumed, this,
            [this] { emit said(tr("Recording resumed. Changes since it stopped are missing")); });
    connect(past, &Past::foundLeft, this, notifyLeft);
    notifyFailure();
    notifyLeft();
}

void TimeTravel::setLock(const std::optional<inspect::LockName> &lock)
{
    if (m_lock == lock)
        return;
    m_lock = lock;
    m_changeWanted.reset(); // of the other one
    if (isElsewhere())
        askMarks();
}

void TimeTravel::toggle()
{
    if (isElsewhere() && !isInFile())
        return backToNow();
    if (isElsewhere())
        return m_bar.focusTrack();
    m_takesFocus = past() != nullptr;
    seek(now());
}

void TimeTravel::step(std::chrono::milliseconds by)
{
    const auto from = m_wanted ? *m_wanted : m_at ? *m_at : now();
    if (by > 0ms && !m_at && !m_wanted)
        return;
    goTo(from + by);
}

void TimeTravel::goTo(Moment moment)
{
    if (moment >= now() && !isInFile())
        backToNow();
    else
        seek(moment);
}

void TimeTravel::seek(Moment moment, bool mayBeIncomplete)
{
    if (!past())
        return emit said(tr("Nothing is recorded: the recorder is off"));
    m_wanted = moment;
    m_mayBeIncomplete = mayBeIncomplete;
    if (!m_isAsking)
        ask();
}

// One question at a time: while it is answered, whoever moves the handle asks for a hundred.
void TimeTravel::ask()
{
    m_isAsking = true;
    const auto of = m_lock ? m_lock->connection : ConnectionName();
    past()->at({*m_wanted, of, m_mayBeIncomplete}, m_live.clientLabels(), this,
               [this, asked = *m_wanted, of = past()](Result<PastPicture> picture) {
                   if (of != past())
                       return; // another one is asked by now
                   m_isAsking = false;
                   if (!m_wanted)
                       return;
                   if (!picture) {
                       m_wanted.reset();
                       emit said(label(picture.error().message.toUtf8(), 300));
                       if (isInFile() && !m_at)
                           closeFile(); // nothing of it is on screen that could be closed
                       return;
                   }
                   const bool isLast = *m_wanted == asked;
                   if (isLast)
                       m_wanted.reset();
                   show(std::move(*picture));
                   if (!isLast)
                       ask();
               });
}

void TimeTravel::show(PastPicture picture)
{
    const auto at = picture.at;
    m_at = at;
    m_since = picture.since;
    m_bar.track().setSince(m_since);
    m_clock.standAt(at);
    m_names.clear();
    for (const auto &[name, state] : picture.picture.connections)
        m_names << label(name.bytes(), 30);
    m_screen.showPast(std::move(picture), past());
    updateProgressLabel();
    if (m_end)
        m_end->setEnabled(true);
    if (std::exchange(m_takesFocus, false))
        m_bar.focusTrack();
    if (!m_refresh.isActive()) {
        m_refresh.start();
        askSpan();
        askMarks();
    }
    emit moved(at);
}

QString TimeTravel::aboutFile() const
{
    return tr("%1, recorded of %2 from %3 to %4")
        .arg(m_title, m_names.isEmpty() ? tr("no connection") : m_names.join(u", "_s), dayAndTime(m_span.begin),
             dayAndTime(m_span.end));
}

void TimeTravel::updateProgressLabel()
{
    if (!m_at)
        return m_bar.showMoment({}, {}, {}, isInFile());
    const auto end = isInFile() ? m_span.end : now();
    const auto far = formatDuration(std::max(0ms, end - *m_at));
    if (isInFile())
        return m_bar.showMoment(m_at, *m_at >= end ? tr("the recording's end") : tr("%1 before its end").arg(far),
                                aboutFile(), true);
    const auto since = timeOfDay(m_since).toString(u"HH:mm:ss"_s);
    m_bar.showMoment(m_at, tr("%1 ago").arg(far),
                     *m_at <= m_since ? tr("Start of the recording: nothing earlier is complete.")
                                      : tr("Recorded since %1.").arg(since),
                     false);
}

void TimeTravel::backToNow()
{
    if (isInFile())
        return goTo(m_span.end);
    m_wanted.reset();
    leave();
}

void TimeTravel::leave()
{
    if (!m_at)
        return;
    m_at.reset();
    m_changeWanted.reset();
    m_clock.standAt({});
    m_screen.leavePast();
    m_refresh.stop();
    updateProgressLabel();
    if (m_end)
        m_end->setEnabled(false);
    emit moved({});
}

// --- the bar -----------------------------------------------------------------------------------

void TimeTravel::refresh()
{
    if (!past() || !past()->isGoingOn())
        return;
    updateProgressLabel();
    askSpan();
    if (--m_refreshesLeft <= 0)
        askMarks();
}

void TimeTravel::askSpan()
{
    past()->span(this, [this, of = past()](const Result<RecordedSpan> &span) {
        if (of != past())
            return;
        if (!span) {
            m_bar.showAbout(label(span.error().message.toUtf8(), 120));
            return;
        }
        m_span = *span;
        m_bar.track().setSpan(span->begin, span->end);
        updateProgressLabel();
    });
}

void TimeTravel::askMarks()
{
    if (!m_lock || !past()) {
        m_bar.track().setMarks({});
        m_bar.showAbout(tr("no lock is chosen"));
        return;
    }
    const auto to = isInFile() ? Moment::max() : now();
    m_refreshesLeft = std::numeric_limits<int>::max(); // until it is answered
    past()->lock(*m_lock, to, {}, this,
                 [this, of = past(), lock = *m_lock, asked = now()](const Result<LockPast> &history) {
                     // A tenth of the time at most goes into reading.
                     m_refreshesLeft = refreshesPerMarks + static_cast<int>((now() - asked) / 100ms);
                     if (of != past() || lock != m_lock)
                         return;
                     if (history)
                         return takeMarks(*history);
                     m_changeWanted.reset();
                     m_bar.showAbout(label(history.error().message.toUtf8(), 120));
                 });
}

void TimeTravel::takeMarks(const LockPast &lock)
{
    auto &track = m_bar.track();
    track.setSpan(lock.span.begin, lock.span.end);
    track.setSince(lock.since);
    track.setMarks(lock.changes);
    const auto count = static_cast<qint64>(lock.changes.size());
    m_bar.showAbout(count == 1 ? tr("1 event of the chosen lock")
                               : tr("%1 events of the chosen lock").arg(countText(count)));
    if (const auto before = std::exchange(m_changeWanted, std::nullopt)) {
        if (const auto mark = *before ? track.markBefore() : track.markAfter())
            goTo(*mark);
        else
            emit said(*before ? tr("No earlier event of it is recorded") : tr("No later event of it is recorded"));
    }
}

void TimeTravel::goToChange(bool before)
{
    if (!past())
        return emit said(tr("Nothing is recorded: the recorder is off"));
    if (!m_lock)
        return emit said(tr("Choose a lock first"));
    m_changeWanted = before;
    askMarks();
}

// --- files -------------------------------------------------------------------------------------

void TimeTravel::openFiles(const QStringList &files, const QString &title, std::optional<Moment> at)
{
    m_opening = std::make_unique<Past>(files);
    m_opening->span(this, [this, of = m_opening.get(), title, at](const Result<RecordedSpan> &span) {
        if (of != m_opening.get())
            return;
        if (!span) {
            m_opening.release()->deleteLater();
            return emit said(label(span.error().message.toUtf8(), 300));
        }
        if (!span->damage.isEmpty())
            emit said(label(span->damage.join(u' ').toUtf8(), 300));
        closeFile();
        m_wanted.reset();
        m_isAsking = false; // who was asked is not asked any more
        m_file = std::move(m_opening);
        setShowsFile(true);
        m_title = label(title.toUtf8(), 60);
        m_span = *span;
        seek(at.value_or(span->end), true);
        askMarks();
    });
}

void TimeTravel::closeFile()
{
    if (!m_file)
        return;
    m_wanted.reset();
    m_isAsking = false;
    setShowsFile(false);
    leave();
    m_file.release()->deleteLater(); // it may be about to answer
}

void TimeTravel::askOpen()
{
    auto *dialog = passing(new QFileDialog(&m_window, tr("Open recording"), {}, recordingFilter()));
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this,
            [this](const QString &file) { openFiles({file}, QFileInfo(file).fileName()); });
    dialog->open();
}

void TimeTravel::askSave()
{
    if (!past())
        return emit said(tr("Nothing is recorded: the recorder is off"));
    auto *dialog = passing(new QFileDialog(&m_window, tr("Save recording"), {}, recordingFilter()));
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(u"lockscope"_s);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString &file) { save(file); });
    dialog->open();
}

void TimeTravel::save(const QString &file)
{
    past()->save(file, this, [this, file](const Result<RecordedSpan> &span) {
        if (!span)
            return emit said(label(span.error().message.toUtf8(), 300));
        emit said(tr("Saved %1 to %2 in %3; `lockscopectl replay` reads it")
                      .arg(fileTime(span->begin), fileTime(span->end), label(file.toUtf8(), 200)));
    });
}

} // namespace lockscope::ui

#include "moc_timetravel.cpp"
