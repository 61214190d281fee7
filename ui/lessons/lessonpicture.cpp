// SPDX-License-Identifier: Apache-2.0
#include "ui/lessons/lessonview.h"

#include "core/base/text.h"
#include "ui/parts/parts.h"
#include "ui/simulator/countertiles.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/serverstrip.h"
#include "ui/theme/theme.h"

#include <QBoxLayout>
#include <QLabel>
#include <QScopeGuard>
#include <QScrollBar>

#include <algorithm>

namespace lockscope::ui {

constexpr int mostReadableLanes = 24;
constexpr int headGap = 10;
constexpr Moment shortestSight = 6ms; // what is shown at least, however early a step stops

LessonPicture::LessonPicture(QWidget *parent) : QWidget(parent), m_cards(new QHBoxLayout)
{
    m_cards->setSpacing(12);
    m_legend = new Legend(this);
    makeColumn(this, {.spacing = 8}, {{m_cards, 1}, m_legend});
    m_timer.setInterval(16);
    connect(&m_timer, &QTimer::timeout, this, &LessonPicture::advance);
    connect(
        Theme::instance(), &Theme::changed, this,
        [this] {
            for (const auto &panel : m_panels)
                panel.recipe->setFont(monoFont());
            fit();
        },
        Qt::QueuedConnection);
    connect(&m_playback, &Playback::moved, this, &LessonPicture::showMoment);
}

LessonPicture::~LessonPicture()
{
    stopListening(this);
}

LessonPicture::Panel LessonPicture::makePanel()
{
    Panel panel;
    auto *card = new QFrame(this);
    card->setProperty("look", u"card"_s);
    panel.card = card;
    panel.title = makeLabel({}, u"lessonRun"_s, card);
    panel.recipe = makeLabel({}, u"muted"_s, card);
    panel.recipe->setFont(monoFont());
    panel.lanes = new LanesView(card);
    panel.lanes->setHidesFuture(true);
    panel.servers = new ServerStrip(card);
    panel.tiles = new CounterTiles(card);
    panel.tiles->setHidesFuture(true);
    panel.tiles->setBrief(true);
    connect(panel.tiles, &CounterTiles::widthChanged, this, &LessonPicture::alignTiles, Qt::QueuedConnection);
    panel.title->setWordWrap(true);
    panel.title->setAlignment(Qt::AlignTop | Qt::AlignLeft); // beside one that takes two lines
    panel.head = new QBoxLayout(QBoxLayout::LeftToRight);
    panel.head->addWidget(panel.title, 1);
    panel.head->addWidget(panel.recipe, 0, Qt::AlignTop);
    auto *column = new QVBoxLayout(card);
    addParts(*column, {panel.head, {panel.lanes, 1}, panel.servers, panel.tiles});
    panel.counts = makeLabel({}, u"small"_s, card);
    panel.counts->setWordWrap(true);
    panel.counts->hide();
    column->addWidget(panel.counts);
    m_cards->addWidget(card, 1);
    return panel;
}

// The same contenders and the same time in both.
void LessonPicture::connectLanes(LanesView &lanes, std::size_t run)
{
    connect(&lanes, &LanesView::momentChosen, this, [this](Moment at) {
        m_timer.stop();
        m_playback.seek(at);
        emit arrived();
    });
    connect(&lanes, &LanesView::zoomed, this, [this](double zoom, Moment around) {
        for (auto &panel : m_panels)
            panel.lanes->setZoom(zoom, around);
    });
    connect(&lanes, &LanesView::scrolledTo, this, [this](double above, int horizontal) {
        for (auto &panel : m_panels)
            panel.lanes->scrollAlong(above, horizontal);
    });
    connect(&lanes, &LanesView::menuRequested, this, [this, run](int lane, const QPoint &where) {
        emit menuRequested({run, m_playback.at(), lane, std::nullopt}, where);
    });
    connect(&lanes, &LanesView::serverMenuRequested, this, [this, run](int server, const QPoint &where) {
        emit menuRequested({run, m_playback.at(), 0, server}, where);
    });
}

void LessonPicture::clear()
{
    m_timer.stop();
    for (auto &panel : m_panels) {
        panel.card->hide();
        panel.card->deleteLater();
    }
    m_panels.clear();
    m_playback.setRuns({});
}

void LessonPicture::setRuns(const lessons::Lesson &lesson, const std::vector<PlayedRunPtr> &runs, Language language)
{
    clear();
    Moment end{};
    for (const auto &run : runs)
        end = std::max(end, run->end());
    for (std::size_t i = 0; i < runs.size(); ++i) {
        auto panel = makePanel();
        panel.recipe->setText(label(lesson.runs[i].scenario.recipe, 60));
        panel.lanes->setRun(runs[i], end);
        panel.servers->setRun(runs[i]);
        panel.lanes->setDense(runs[i]->lanes() > mostReadableLanes);
        panel.tiles->choose(lesson.tiles);
        panel.tiles->setTerse(runs.size() > 2);
        connectLanes(*panel.lanes, m_panels.size());
        m_panels.push_back(panel);
        panel.card->show();
    }
    setTitles(lesson, language);
    m_playback.setRuns(runs);
    m_playback.toStart();
    for (auto &panel : m_panels)
        panel.lanes->setHidesFuture(true); // from here
    lookUntil(shortestSight);
}

void LessonPicture::setTitles(const lessons::Lesson &lesson, Language language)
{
    for (std::size_t i = 0; i < m_panels.size() && i < lesson.runs.size(); ++i) {
        m_panels[i].title->setText(lesson.runs[i].title.in(language));
        m_panels[i].lanes->setAccessibleName(m_panels[i].title->text());
    }
    QMetaObject::invokeMethod(this, &LessonPicture::fit, Qt::QueuedConnection); // once what is new has its fonts
}

// The time axis begins at the start and goes a little beyond what has happened: what comes is not given away.
void LessonPicture::lookUntil(Moment at)
{
    const auto sight = std::clamp(std::max(at + at / 8, shortestSight), Moment(1), std::max(Moment(1), end()));
    const double zoom = static_cast<double>(std::max(Moment(1), end()).count()) / static_cast<double>(sight.count());
    for (auto &panel : m_panels) {
        panel.lanes->setZoom(std::max(1.0, zoom), Moment{});
        panel.lanes->horizontalScrollBar()->setValue(0);
    }
}

std::vector<RunPicture> LessonPicture::picturesAt(Moment at) const
{
    std::vector<RunPicture> all;
    for (std::size_t i = 0; i < m_panels.size() && i < m_playback.runs().size(); ++i) {
        RunPicture one{m_playback.runs()[i], m_panels[i].lanes->frame(), m_playback.runs()[i]->countUntil(at),
                       m_panels[i].title->text()};
        one.frame.scrolled = 0;
        one.frame.from = {};
        one.frame.to = std::max(at + at / 8, shortestSight);
        one.frame.cursor = at;
        one.frame.seen = at;
        all.push_back(std::move(one));
    }
    return all;
}

void LessonPicture::runTo(Moment at)
{
    m_timer.stop();
    m_target = std::min(at, end());
    m_from = m_playback.at();
    lookUntil(m_target);
    if (m_target <= m_from || m_pace == 0ms) {
        arrive();
        return;
    }
    m_since.start();
    m_timer.start();
}

void LessonPicture::arrive()
{
    m_timer.stop();
    m_playback.seek(m_target);
    showLegend();
    emit arrived();
}

void LessonPicture::advance()
{
    const std::chrono::milliseconds passed(m_since.elapsed());
    if (passed >= m_pace) {
        arrive();
        return;
    }
    const double share = static_cast<double>(passed.count()) / static_cast<double>(m_pace.count());
    m_playback.seek(m_from + Moment(std::llround(share * static_cast<double>((m_target - m_from).count()))));
}

void LessonPicture::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    fit();
    QMetaObject::invokeMethod(this, &LessonPicture::fit, Qt::QueuedConnection); // once the parts have their widths
}

// The recipe stands beside its title, in all cards or in none: a card that took more room for both than its share
// would be wider than the others.
void LessonPicture::fitTitles(int each)
{
    const auto roomIn = [each](const Panel &panel) {
        const auto margins = panel.card->layout()->contentsMargins() + panel.card->contentsMargins(); // and its frame
        return each - margins.left() - margins.right();
    };
    const auto hasBoth = [&](const Panel &panel) {
        return panel.title->minimumSizeHint().width() + headGap + panel.recipe->sizeHint().width() <= roomIn(panel);
    };
    const bool isBeside = std::ranges::all_of(m_panels, hasBoth);
    int titles = 0; // as high as the highest: the lanes begin beside each other
    for (const auto &panel : m_panels) {
        panel.head->setDirection(isBeside ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
        panel.head->setSpacing(isBeside ? headGap : 0);
        panel.title->setMinimumHeight(0); // or it tells no height below the one it has
        const int room = roomIn(panel) - (isBeside ? panel.recipe->sizeHint().width() + headGap : 0);
        titles = std::max(titles, panel.title->heightForWidth(std::max(room, 40)));
    }
    for (const auto &panel : m_panels)
        panel.title->setFixedHeight(titles);
}

void LessonPicture::show(const Parts &parts)
{
    for (auto &panel : m_panels) {
        panel.servers->setHasRoom(parts.hasServers);
        panel.tiles->setVisible(parts.hasTiles);
        panel.counts->setVisible(!parts.hasTiles && parts.hasCounts);
        panel.lanes->setShowsMessages(parts.hasMessages);
        const int edge = parts.isTight ? 1 : 8;
        panel.card->layout()->setContentsMargins(12, edge, 12, edge);
        panel.card->layout()->setSpacing(parts.isTight ? 2 : 6);
        panel.recipe->setVisible(!parts.isTight);
    }
    m_legend->setVisible(parts.hasLegend);
}

// What there is no room for is left out: the legend first, then the tiles become a line, then what the servers have
// goes, then the messages, that line, and at last the recipe's name and what is free around the lanes; never they.
// A part that is shown is laid out at once, which may give the picture another height in the middle of this: that is
// looked at once more, and the rest by what resizeEvent() queues. Without an end both called each other until the
// stack was full (a window on its way to the size of a scaled projector).
void LessonPicture::fit()
{
    if (m_fitting == 2)
        return;
    ++m_fitting;
    const auto done = qScopeGuard([this] { --m_fitting; });
    const int each = cardWidth();
    fitTitles(each);
    showCounts();    // in the language that is spoken now
    int servers = 0; // the same of what stands below the lanes
    for (auto &panel : m_panels) {
        panel.servers->setHasRoom(true);
        const auto margins = panel.card->layout()->contentsMargins() + panel.card->contentsMargins();
        servers = std::max(servers, panel.servers->heightFor(each - margins.left() - margins.right()));
    }
    for (auto &panel : m_panels)
        panel.servers->setMinimumHeight(servers);
    alignTiles();
    const int legend = m_legend->heightForWidth(width()) + layout()->spacing();
    const auto needed = [&] {
        int most = 0;
        for (const auto &panel : m_panels) {
            panel.card->layout()->invalidate();
            most = std::max(most, panel.card->layout()->totalMinimumHeightForWidth(each));
        }
        return most;
    };
    static constexpr Parts stages[] = {{true, true, true, true},
                                       {true, true, false, true},
                                       {false, true, true, true},
                                       {false, true, false, true},
                                       {false, false, false, true},
                                       {false, false, false, false},
                                       {false, false, false, false, false},
                                       {false, false, false, false, false, true}};
    for (const auto &stage : stages) {
        show(stage);
        if (needed() + (stage.hasLegend ? legend : 0) <= height())
            break;
    }
}

void LessonPicture::alignTiles()
{
    std::vector<CounterTiles *> tiles;
    for (auto &panel : m_panels)
        tiles.push_back(panel.tiles);
    CounterTiles::align(tiles);
}

void LessonPicture::showLegend()
{
    if (m_panels.empty())
        return;
    m_legend->setRuns(m_playback.runs(), m_panels.front().lanes->frame().seen);
    fit();
}

void LessonPicture::showMoment()
{
    for (std::size_t i = 0; i < m_panels.size() && i < m_playback.runs().size(); ++i) {
        m_panels[i].lanes->setCursor_(m_playback.at(), m_playback.happened(i));
        m_panels[i].servers->setMoment(m_playback.at(), m_playback.happened(i) == 0);
        m_panels[i].tiles->show(*m_playback.runs()[i], m_playback.happened(i), m_playback.at());
    }
    showCounts();
    alignTiles();
}

// In as many lines in each, so that the lanes are as high.
void LessonPicture::showCounts()
{
    int most = 0;
    for (auto &panel : m_panels) {
        panel.counts->setMinimumHeight(0);
        panel.counts->setText(panel.tiles->line());
        const auto margins = panel.card->layout()->contentsMargins() + panel.card->contentsMargins();
        most = std::max(most, panel.counts->heightForWidth(cardWidth() - margins.left() - margins.right()));
    }
    for (auto &panel : m_panels)
        panel.counts->setMinimumHeight(most);
}

int LessonPicture::cardWidth() const
{
    const int gaps = m_cards->spacing() * static_cast<int>(m_panels.size() - 1);
    constexpr int uneven = 4; // a card whose tiles want more takes it from the others
    return m_panels.empty() ? 0 : (width() - gaps) / static_cast<int>(m_panels.size()) - uneven;
}

} // namespace lockscope::ui
