// SPDX-License-Identifier: Apache-2.0
#include "ui/lessons/lessonview.h"

#include "ui/parts/parts.h"
#include "ui/simulator/countertiles.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/serverstrip.h"
#include "ui/simulator/simulatortext.h"

#include <QBuffer>
#include <QDir>
#include <QFileInfo>
#include <QStyle>
#include <QTextDocument>

namespace lockscope::ui {

constexpr int headGap = 10;
constexpr int easyLane = 6;           // pixels above the height of a name
constexpr Moment shortestSight = 6ms; // of a step without a wake-up
constexpr Moment causedWithin = 20ms; // a step that follows a wake-up so closely is about that
constexpr std::chrono::milliseconds flightTime{1500}, fallTime{200}, silence{1000};

LessonPicture::LessonPicture(QWidget *parent) : QWidget(parent), m_grid(new RunGrid(m_playback, true))
{
    m_legend = new Legend(this);
    m_legend->setFontSize(stageFontSize);
    makeColumn(this, {.spacing = 8}, {{m_grid, 1}, m_legend});
    m_timer.setInterval(16);
    if (style()->styleHint(QStyle::SH_Widget_Animation_Duration, nullptr, this) == 0)
        m_pace = 0ms; // the desktop asks for no motion
    connect(&m_timer, &QTimer::timeout, this, &LessonPicture::advance);
    connect(&m_playback, &Playback::moved, m_grid, &RunGrid::showMoment);
    connect(m_grid, &RunGrid::momentChosen, this, [this] {
        m_timer.stop();
        fly(1, 1);
        emit arrived();
    });
    connect(m_grid, &RunGrid::menuRequested, this, [this](std::size_t run, int lane, const QPoint &where) {
        emit menuRequested({run, m_playback.at(), lane, std::nullopt}, where);
    });
    connect(m_grid, &RunGrid::serverMenuRequested, this, [this](std::size_t run, int server, const QPoint &where) {
        emit menuRequested({run, m_playback.at(), 0, server}, where);
    });
}

LessonPicture::~LessonPicture()
{
    stopListening(this);
    delete m_grid; // it listens to the panels, too
}

void LessonPicture::zoomBy(double factor)
{
    if (!panels().empty())
        m_grid->zoom(lanes(0).zoom() * factor, m_playback.at());
}

void LessonPicture::clear()
{
    m_timer.stop();
    m_grid->chooseLane(contention::nobody);
    m_grid->setRuns({});
    m_playback.setRuns({});
}

void LessonPicture::setRuns(const lessons::Lesson &lesson, const std::vector<PlayedRunPtr> &runs)
{
    clear();
    m_grid->setRuns(runs);
    for (auto *panel : panels())
        panel->tiles().choose(lesson.tiles);
    m_grid->place(width(), false);
    m_playback.setRuns(runs);
    m_playback.toStart();
    m_grid->setHidesFuture(true); // from here
    showSight({Moment{}, shortestSight});
}

// Where titles would answer what is asked later they are letters.
void LessonPicture::setTitles(const lessons::Lesson &lesson, Language language, bool areHidden)
{
    for (std::size_t i = 0; i < panels().size() && i < lesson.runs.size(); ++i) {
        const auto &run = lesson.runs[i];
        panels()[i]->title().setText(areHidden ? QString(QChar(u'A' + static_cast<char16_t>(i)))
                                               : run.title.in(language));
        panels()[i]->recipe().setText(areHidden ? QString() : label(run.scenario.recipe, 60));
        panels()[i]->lanes().setAccessibleName(panels()[i]->title().text());
    }
}

// Of a step that a wake-up leads to: from its cause to what came of it, and a little on: who holds is seen to.
// Of others: from the step before to this one.
LessonPicture::Stage LessonPicture::stageAt(Moment since, Moment at) const
{
    Stage stage;
    Moment last = Moment::min();
    for (const auto &run : m_playback.runs()) {
        stage.wakeUps.push_back(run->wakeUpsUntil(at));
        if (const auto &wave = stage.wakeUps.back(); !wave.empty())
            last = std::max(last, wave.front().sent);
    }
    if (at >= end() || last < since || at - last > causedWithin) {
        stage.wakeUps.assign(m_playback.runs().size(), {});
        const Moment from = std::max(Moment{}, since - (at - since) / 10);
        stage.sight = {at >= end() ? Moment{} : from, std::max(at + (at - from) / 8, from + shortestSight)};
        return stage;
    }
    Moment from = last, to = at;
    for (auto &wave : stage.wakeUps) {
        if (!wave.empty() && (wave.front().sent < since || last - wave.front().sent > causedWithin / 2))
            wave.clear();
        for (const auto &one : wave) {
            from = std::min(from, one.cause);
            to = std::max(to, one.ends);
        }
    }
    stage.sent = last;
    stage.sight = {std::max(Moment{}, from - (to - from) / 16), to + (to - from) / 6};
    return stage;
}

void LessonPicture::showSight(const Sight &sight)
{
    for (const auto *panel : panels())
        panel->lanes().setSight(sight.from, sight.to);
}

std::vector<RunPicture> LessonPicture::picturesAt(Moment since, Moment at) const
{
    auto all = m_grid->pictures();
    const auto stage = stageAt(since, at);
    for (std::size_t i = 0; i < all.size(); ++i) {
        auto &frame = all[i].frame;
        all[i].happened = all[i].run->countUntil(at);
        all[i].title = title(i);
        frame.scrolled = 0;
        frame.from = stage.sight.from;
        frame.to = stage.sight.to;
        frame.wakeUps = stage.wakeUps[i];
        frame.watches.clear();
        frame.flight = frame.fall = 1;
        frame.fontSize = 12;
        frame.cursor = at;
        frame.seen = stage.sent ? stage.sight.to : at;
    }
    return all;
}

void LessonPicture::runTo(Moment at, Moment since)
{
    m_timer.stop();
    m_target = std::clamp(at, Moment{}, end());
    m_from = m_playback.at();
    m_since = since;
    m_stage = stageAt(std::max(since, Moment{}), m_target);
    showSight(m_stage.sight);
    for (std::size_t i = 0; i < panels().size(); ++i)
        panels()[i]->lanes().setWakeUps(m_stage.wakeUps[i]);
    if (m_target <= m_from || m_pace == 0ms) {
        arrive();
        return;
    }
    if (m_stage.sent)
        fly(0, 0);
    m_playback.seek(m_from);
    showLegend();
    m_elapsed.start();
    m_timer.start();
}

void LessonPicture::replay()
{
    m_playback.seek(std::clamp(m_since, Moment{}, end()));
    runTo(m_target, m_since);
}

void LessonPicture::arrive()
{
    m_timer.stop();
    fly(1, 1);
    m_playback.seek(m_target);
    if (m_stage.sent) { // with what is in the picture behind the event
        for (const auto *panel : panels())
            panel->lanes().showUntil(m_stage.sight.to);
    }
    showLegend();
    emit arrived();
}

void LessonPicture::fly(double flight, double fall)
{
    for (const auto *panel : panels())
        panel->lanes().setFlight(flight, fall);
}

// To the event; then the wake-ups fly, those for nothing fall back, and it is quiet for a moment.
void LessonPicture::advance()
{
    const std::chrono::milliseconds passed(m_elapsed.elapsed());
    const auto share = [&](std::chrono::milliseconds from, std::chrono::milliseconds lasts) {
        return std::clamp(static_cast<double>((passed - from).count()) / static_cast<double>(lasts.count()), 0.0,
                          1.0);
    };
    const auto go = [&](Moment from, Moment to, double how) {
        m_playback.seek(from + Moment(std::llround(how * static_cast<double>((to - from).count()))));
    };
    if (!m_stage.sent) {
        go(m_from, m_target, share(0ms, m_pace));
        if (passed >= m_pace)
            arrive();
        return;
    }
    const double flight = share(m_pace, flightTime);
    if (passed < m_pace)
        go(m_from, *m_stage.sent, share(0ms, m_pace));
    else if (m_playback.at() < m_target)
        go(*m_stage.sent, m_target, flight);
    if (passed <= m_pace + flightTime + fallTime)
        fly(flight, share(m_pace + flightTime, fallTime));
    if (passed >= m_pace + flightTime + fallTime + silence)
        arrive();
}

// The recipe stands beside its title, in all cards or in none, and all are as high as the highest: the lanes begin
// beside each other.
void LessonPicture::fitTitles(int room)
{
    const auto hasBoth = [&](const RunPanel *panel) {
        return panel->title().minimumSizeHint().width() + headGap + panel->recipe().sizeHint().width() <= room;
    };
    const bool isBeside = std::ranges::all_of(panels(), hasBoth);
    int titles = 0;
    for (const auto *panel : panels()) {
        panel->stageHead().setDirection(isBeside ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
        panel->stageHead().setSpacing(isBeside ? headGap : 0);
        panel->title().setMinimumHeight(0); // or it tells no height below the one it has
        const int others = isBeside ? panel->recipe().sizeHint().width() + headGap : 0;
        titles = std::max(titles, panel->title().heightForWidth(std::max(room - others, 40)));
    }
    for (const auto *panel : panels())
        panel->title().setFixedHeight(titles);
}

// What the servers have gives way first, then the legend but for its first line, then all but a line of the counters.
// Each is tried with lanes that are easy to read; in the last the lanes may be as low as their names.
int LessonPicture::fit(const QSize &room)
{
    if (panels().empty())
        return 0;
    const int count = static_cast<int>(panels().size());
    const int each = (room.width() - m_grid->horizontalSpacing() * (count - 1)) / count;
    const auto margins = panels().front()->layout()->contentsMargins() + panels().front()->contentsMargins();
    const int inside = each - margins.left() - margins.right();
    for (const auto *panel : panels())
        panel->recipe().setFont(monoFont(stageFontSize)); // of another size on a projector
    fitTitles(inside);
    int needed = 0;
    for (const int given : {0, 1, 2, 3}) {
        int servers = 0, counts = 0, easier = 0, columns = 4;
        for (const auto *panel : panels())
            columns = std::min(columns, panel->tiles().columnsFor(inside, given == 3));
        for (const auto *panel : panels()) {
            panel->servers().setHasRoom(given < 1);
            servers = given < 1 ? std::max(servers, panel->servers().heightFor(inside)) : 0;
            panel->tiles().place(columns);
            counts = std::max(counts, panel->tiles().layout()->minimumSize().height());
            easier = std::max(easier, panel->lanes().stageRows() * easyLane);
        }
        m_legend->setFolded(given > 1);
        needed = m_legend->heightForWidth(room.width()) + layout()->spacing();
        int most = 0;
        for (const auto *panel : panels()) {
            panel->servers().setMinimumHeight(servers);
            panel->tiles().setFixedHeight(counts);
            panel->layout()->activate();
            most = std::max(most, panel->layout()->totalMinimumHeightForWidth(each));
        }
        needed += most;
        if (needed + easier <= room.height())
            break;
    }
    return needed;
}

void LessonPicture::showLegend()
{
    if (panels().empty())
        return;
    std::vector<LaneGlyph> without; // they are in the rays
    if (m_stage.sent)
        without = {LaneGlyph::Request, LaneGlyph::SentReply, LaneGlyph::SentEvent};
    m_legend->setRuns(m_playback.runs(), lanes(0).frame().seen, without);
}

HandoutWriter::HandoutWriter(Simulate simulate, Language language, bool hasAnswers, QObject *parent)
    : QObject(parent), m_runner(std::move(simulate)), m_language(language), m_hasAnswers(hasAnswers)
{
    m_picture.resize(1280, 700);
    m_picture.setPace({});
    connect(&m_runner, &Runner::finished, this, &HandoutWriter::add);
    connect(&m_runner, &Runner::failed, this, [this](const Error &error) { emit done(error.message); });
}

void HandoutWriter::write(std::vector<lessons::Lesson> lessons, const QString &file)
{
    m_lessons = std::move(lessons);
    m_file = file;
    playNext();
}

void HandoutWriter::playNext()
{
    if (m_next == m_lessons.size()) {
        finish();
        return;
    }
    const auto scenarios = mapped<std::vector<contention::Scenario>>(m_lessons[m_next].runs,
                                                                     [&](const auto &run) { return run.scenario; });
    m_runner.play(scenarios);
}

void HandoutWriter::add(const std::vector<PlayedRunPtr> &runs)
{
    lessons::PlayedRuns recordings;
    for (const auto &run : runs)
        recordings.push_back(&run->recording());
    const auto lesson = lessons::withNumbers(m_lessons[m_next], recordings);
    m_picture.setRuns(lesson, runs);
    m_picture.setTitles(lesson, m_language, !m_hasAnswers && lesson.titleAfter > 0);
    QStringList names;
    Moment since{};
    for (std::size_t step = 0; step < lesson.steps.size(); ++step) {
        const Moment at = lessons::momentOfStep(lesson, step, recordings);
        const auto number =
            (m_lessons.size() > 1 ? QString::fromLatin1(lesson.id) + u'-' : QString()) + QString::number(step + 1);
        names << (at < Moment{} ? QString() : u"%1-%2.png"_s.arg(QFileInfo(m_file).completeBaseName(), number));
        if (names.back().isEmpty())
            continue;
        QBuffer bytes;
        bytes.open(QIODevice::WriteOnly);
        const auto pictures = m_picture.picturesAt(since, at);
        imageOf(pictures, lightTokens(), pictures, 1.5).save(&bytes, "PNG");
        m_pictures.emplace_back(names.back(), bytes.data());
        since = at;
    }
    m_text += lessons::handout(lesson, recordings, m_language, names, m_hasAnswers) + u'\n';
    ++m_next;
    playNext();
}

void HandoutWriter::finish()
{
    if (m_file.endsWith(".html"_L1, Qt::CaseInsensitive)) {
        QTextDocument page;
        page.setMarkdown(m_text);
        QString html = page.toHtml();
        for (const auto &[name, bytes] : m_pictures)
            html.replace(u"src=\"%1\""_s.arg(name),
                         u"style=\"max-width:100%\" src=\"data:image/png;base64,%1\""_s.arg(
                             QString::fromLatin1(bytes.toBase64())));
        emit done(saveBytes(html.toUtf8(), m_file));
        return;
    }
    QString failure;
    for (const auto &[name, bytes] : m_pictures) {
        if (failure.isEmpty())
            failure = saveBytes(bytes, QFileInfo(m_file).dir().filePath(name));
    }
    emit done(failure.isEmpty() ? saveBytes(m_text.toUtf8(), m_file) : failure);
}

} // namespace lockscope::ui
