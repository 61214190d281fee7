// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/countertiles.h"

#include "ui/parts/labels.h"
#include "ui/parts/parts.h"
#include "ui/simulator/simulatortext.h"

#include <QResizeEvent>

#include <iterator>
#include <numeric>

namespace lockscope::ui {

using contention::Mark;

constexpr int narrowTiles = 330;

CounterTiles::CounterTiles(QWidget *parent, bool isLine)
    : QWidget(parent), m_isLine(isLine), m_grid(new QGridLayout(this))
{
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setSpacing(6);
    if (isLine)
        m_grid->setHorizontalSpacing(14);
    for (std::size_t i = 0; i < m_tiles.size(); ++i) {
        auto *tile = new QFrame(this);
        m_figures[i] = makeLabel(u"0"_s, isLine ? u"count"_s : u"figure"_s, tile);
        if (isLine) {
            m_names[i] = new ElidedLabel(tile);
            m_names[i]->setProperty("look", u"counted"_s);
            m_names[i]->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
            m_names[i]->setMinimumWidth(20);
            makeRow(tile, {.spacing = 6}, {m_figures[i], {m_names[i], 1}});
        } else {
            tile->setProperty("look", u"tile"_s);
            m_names[i] = makeLabel({}, u"small"_s, tile);
            makeColumn(tile, {.margins = {8, 5, 6, 6}, .spacing = 0}, {m_names[i], m_figures[i]});
        }
        m_tiles[i] = tile;
    }
    m_whole = makeWrapped({}, u"small"_s, this);
    m_whole->setVisible(!isLine);
    m_whole->setMinimumWidth(10);
    m_whole->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    choose(lessons::standardTiles());
}

void CounterTiles::choose(const QList<QByteArray> &names)
{
    m_kinds.clear();
    for (const auto &name : names) {
        if (const auto *kind = tileKind(name); kind && m_kinds.size() < m_tiles.size())
            m_kinds.push_back(kind);
    }
    for (std::size_t i = 0; i < m_tiles.size(); ++i)
        m_tiles[i]->setVisible(i < m_kinds.size());
    sayInEachLanguage(this, [this] { retranslate(); });
    m_columns = 0;
    place(static_cast<int>(m_kinds.size()));
}

void CounterTiles::retranslate()
{
    for (std::size_t i = 0; i < m_kinds.size(); ++i) {
        m_tiles[i]->setToolTip(m_kinds[i]->tip());
        m_names[i]->setText(m_kinds[i]->title());
        m_figures[i]->setAccessibleName(m_kinds[i]->title());
    }
    m_whole->setToolTip(tr(
        "Bytes: total network traffic. Wait: from a contender's first attempt until it gets the lock or gives up. Fairness: share of overlapping waits that were served in arrival order; 1 for a queue."));
    if (!m_isLine && m_columns > 0 && width() < leastWidth(m_columns)) // words of another language are longer
        place(columnsFor(width()));
}

void CounterTiles::place(int columns)
{
    columns = std::min(columns, static_cast<int>(m_kinds.size()));
    if (columns == m_columns)
        return;
    m_columns = columns;
    for (int i = 0; i < 4; ++i) {
        m_grid->addWidget(m_tiles[static_cast<std::size_t>(i)], i / columns, i % columns);
        m_grid->setColumnStretch(i, i < columns && !m_isLine ? 1 : 0);
    }
    m_grid->setColumnStretch(4, m_isLine ? 1 : 0);
    m_grid->addWidget(m_whole, 4, 0, 1, columns);
    emit widthChanged();
}

int CounterTiles::leastWidth(int columns, bool isElided) const
{
    std::vector<int> widest(static_cast<std::size_t>(columns));
    for (std::size_t i = 0; i < m_kinds.size(); ++i) {
        auto &column = widest[i % widest.size()];
        column = std::max(column, (isElided ? m_tiles[i]->minimumSizeHint() : m_tiles[i]->sizeHint()).width());
    }
    return std::accumulate(widest.begin(), widest.end(), (columns - 1) * m_grid->horizontalSpacing());
}

int CounterTiles::columnsFor(int width, bool isElided) const
{
    if (!m_isLine)
        return width >= std::max(narrowTiles, leastWidth(4)) ? 4 : 2;
    int columns = static_cast<int>(m_kinds.size());
    while (columns > 1 && leastWidth(columns, isElided) > width)
        columns /= 2;
    return columns;
}

QSize CounterTiles::minimumSizeHint() const
{
    const QSize least = QWidget::minimumSizeHint();
    return m_isLine ? least : QSize(leastWidth(2), least.height());
}

void CounterTiles::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    if (m_isLine || event->oldSize().width() == width()) // its height follows from those beside it
        return;
    place(columnsFor(width()));
    emit widthChanged();
}

void CounterTiles::show(const PlayedRun &run, std::size_t happened, Moment at)
{
    for (std::size_t i = 0; i < m_kinds.size(); ++i) {
        const auto figure = m_kinds[i]->figure(run, happened, at);
        m_figures[i]->setText(figure.text);
        setStyleProperty(m_figures[i], "tone",
                         figure.isBad > 0   ? u"critical"_s
                         : figure.isBad < 0 ? u"ok"_s
                                            : QString());
    }
    if (!m_isLine
        && width()
               < leastWidth(m_columns)) // figures grow; back to one row at the next size only, or tiles would jump
        place(columnsFor(width()));
    tell(run, happened);
}

// Which of them begin when, and what happened before that.
QString CounterTiles::scope(const PlayedRun &run, std::size_t happened) const
{
    const Tally fromStart = run.wholeTallyAfter(happened);
    const bool hasDrain = std::ranges::any_of(m_kinds, &TileKind::isOfDrain);
    const QString said =
        hasDrain ? tr("above: from the first release on · since the start: %1 requests, %2 wake-ups, %3 wasted")
                 : tr("since the start: %1 requests, %2 wake-ups, %3 wasted");
    return said.arg(formatCount(fromStart.requests), formatCount(fromStart.watchEvents),
                    formatCount(fromStart.wastedWakeups));
}

QString CounterTiles::ofWholeRun(const contention::Recording &recording) const
{
    const auto &whole = recording.counters;
    QStringList facts;
    if (whole.bytes > 0 && !m_isLine)
        facts << formatSize(whole.bytes);
    facts << tr("wait p50 %1, longest %2").arg(momentText(whole.waits.p50), momentText(whole.waits.max));
    if (whole.gaveUp > 0)
        facts << tr("%n gave up", nullptr, static_cast<int>(whole.gaveUp));
    if (whole.requestsWaiting > 0)
        facts << tr("%1 requests while waiting").arg(formatCount(whole.requestsWaiting));
    facts << tr("fairness %1").arg(whole.fairnessPairs > 0 ? formatNumber(whole.fairness, 2) : u"–"_s);
    return facts.join(u" · "_s);
}

void CounterTiles::tell(const PlayedRun &run, std::size_t happened)
{
    QString all = scope(run, happened);
    if (!m_hidesFuture || happened >= run.eventCount())
        all = tr("%1 · whole run: %2").arg(all, ofWholeRun(run.recording()));
    m_all = all;
    if (m_isLine)
        setToolTip(plainToolTip(all));
    else
        m_whole->setText(all);
}

void CounterTiles::align(std::span<CounterTiles *const> all)
{
    int most = 0, columns = 4, figure = 0;
    for (auto *tiles : all) {
        for (const auto *one : tiles->m_figures)
            figure = std::max(figure, one->sizeHint().height()); // a unit may be of another, higher font than a dash
        tiles->m_whole->setMinimumHeight(0);
        most = std::max(most, tiles->m_whole->heightForWidth(tiles->width()));
        columns = std::min(columns, tiles->m_columns);
    }
    for (auto *tiles : all)
        tiles->place(columns);
    for (auto *tiles : all) {
        tiles->m_whole->setMinimumHeight(most);
        for (auto *one : tiles->m_figures)
            one->setMinimumHeight(figure);
    }
}

QString CounterTiles::figure(const QByteArray &name) const
{
    for (std::size_t i = 0; i < m_kinds.size(); ++i) {
        if (name == m_kinds[i]->name)
            return m_figures[i]->text();
    }
    return {};
}

namespace {

TileFigure ofDrain(const PlayedRun &run, std::size_t happened, qint64 Tally::*what)
{
    const auto tally = run.tallyAfter(happened);
    return {tally ? formatCount((*tally).*what) : u"–"_s};
}

// Where nobody is told, none in vain is no praise.
TileFigure inVain(const PlayedRun &run, std::size_t happened, Moment)
{
    const auto tally = run.tallyAfter(happened);
    if (!tally || tally->watchEvents == 0)
        return {u"–"_s};
    return {formatCount(tally->wastedWakeups), tally->wastedWakeups > 0 ? 1 : -1};
}

TileFigure waitP99(const PlayedRun &run, std::size_t happened, Moment at)
{
    const Moment wait = run.waitP99After(happened, at);
    return {wait.count() == 0 && happened < run.eventCount() ? u"–"_s : momentText(wait)};
}

qint64 countOf(const PlayedRun &run, std::size_t happened, Mark mark)
{
    const auto begin = run.recording().events.begin();
    return std::count_if(begin, begin + static_cast<std::ptrdiff_t>(std::min(happened, run.eventCount())),
                         [mark](const contention::Event &event) { return event.mark == mark; });
}

TileFigure grants(const PlayedRun &run, std::size_t happened, Moment)
{
    const auto &counters = run.recording().counters;
    return {formatCount(happened >= run.eventCount() ? counters.grants : countOf(run, happened, Mark::Holds))};
}

// Who tries again has not given up for good; who comes for another round has, in the one before.
TileFigure gaveUp(const PlayedRun &run, std::size_t happened, Moment)
{
    if (happened >= run.eventCount())
        return {formatCount(run.recording().counters.gaveUp)};
    qint64 forGood = 0;
    std::set<int> gone;
    for (std::size_t i = 0; i < happened; ++i) {
        const auto &event = run.event(i);
        if (event.mark == Mark::GivesUp)
            gone.insert(event.contender);
        else if (event.mark == Mark::Dies)
            gone.erase(event.contender);
        else if (event.mark == Mark::Joins && gone.erase(event.contender) > 0 && event.what != "again")
            ++forGood;
    }
    return {formatCount(forGood + static_cast<qint64>(gone.size()))};
}

TileFigure allRequests(const PlayedRun &run, std::size_t happened, Moment)
{
    const auto &counters = run.recording().counters;
    return {
        formatCount(happened >= run.eventCount() ? counters.allRequests : run.wholeTallyAfter(happened).requests)};
}

TileFigure allTold(const PlayedRun &run, std::size_t happened, Moment)
{
    const auto &counters = run.recording().counters;
    return {formatCount(happened >= run.eventCount()
                            ? counters.allWatchEvents
                            : countOf(run, happened, Mark::WatchEvent) + countOf(run, happened, Mark::Message))};
}

// Who believes to hold it, and since when they are too many: the checkers say when that begins.
class TooMany {
public:
    explicit TooMany(const contention::Scenario &scenario) : m_scenario(scenario) {}

    void see(const contention::Event &event)
    {
        switch (event.mark) {
        case Mark::Joins:
            if (event.what != "again")
                m_isReader[event.contender] = event.what == "read";
            break;
        case Mark::Holds: m_believers.insert(event.contender); break;
        case Mark::Breaks:
            if (event.what == "exclusion" && !m_since)
                m_since = event.at;
            break;
        case Mark::Releases:
        case Mark::Loses:
        case Mark::Dies:
            if (m_believers.erase(event.contender) > 0 && m_since && !areTooMany()) {
                m_longest = std::max(m_longest.value_or(Moment{}), event.at - *m_since);
                m_since.reset();
            }
            break;
        default: break;
        }
    }
    // None: they never were.
    [[nodiscard]] std::optional<Moment> longestAt(Moment at) const
    {
        return m_since ? std::optional(std::max(m_longest.value_or(Moment{}), at - *m_since)) : m_longest;
    }

private:
    [[nodiscard]] bool areTooMany() const
    {
        std::set<int> rows; // each is a lock
        if (m_scenario.rows > 1)
            return std::ranges::any_of(m_believers,
                                       [&](int believer) { return !rows.insert(believer % m_scenario.rows).second; });
        return static_cast<int>(m_believers.size()) > m_scenario.limit
               && std::ranges::any_of(m_believers, [&](int believer) {
                      const auto at = m_isReader.find(believer);
                      return at == m_isReader.end() || !at->second;
                  });
    }

    const contention::Scenario &m_scenario;
    std::map<int, bool> m_isReader;
    std::set<int> m_believers;
    std::optional<Moment> m_since, m_longest;
};

TileFigure overlap(const PlayedRun &run, std::size_t happened, Moment at)
{
    const Moment whole = run.recording().counters.longestOverlap;
    std::optional<Moment> longest = whole.count() > 0 ? std::optional(whole) : std::nullopt;
    if (happened < run.eventCount()) {
        TooMany tooMany(run.recording().scenario);
        for (std::size_t i = 0; i < happened; ++i)
            tooMany.see(run.event(i));
        longest = tooMany.longestAt(at);
    }
    if (!longest)
        return {CounterTiles::tr("never")};
    // At the moment where it begins, which is where lessons stop, "0.0 ms" would deny it.
    return {longest->count() == 0 ? CounterTiles::tr("now") : momentText(*longest), 1};
}

// No praise for none: the one that breaks nothing may simply not have come so far.
TileFigure violations(const PlayedRun &run, std::size_t happened, Moment)
{
    const auto count = happened >= run.eventCount() ? static_cast<qint64>(run.recording().violations.size())
                                                    : countOf(run, happened, Mark::Breaks);
    return {formatCount(count), count > 0 ? 1 : 0};
}

const TileKind tileKinds[] = {
    {"requests", [] { return CounterTiles::tr("requests"); },
     [] { return CounterTiles::tr("Sent from the first release on"); },
     [](const PlayedRun &run, std::size_t happened, Moment) { return ofDrain(run, happened, &Tally::requests); },
     true},
    {"watchEvents", [] { return CounterTiles::tr("wake-ups"); },
     [] { return CounterTiles::tr("Of watches, or messages of a publish, from the first release on"); },
     [](const PlayedRun &run, std::size_t happened, Moment) { return ofDrain(run, happened, &Tally::watchEvents); },
     true},
    {"wastedWakeups", [] { return CounterTiles::tr("wasted wake-ups"); },
     [] { return CounterTiles::tr("Woken, and yet not its turn"); }, &inVain, true},
    {"waitP99Ms", [] { return CounterTiles::tr("wait p99"); },
     [] { return CounterTiles::tr("99 of 100 waits so far are not longer, those that go on included"); }, &waitP99},
    {"allRequests", [] { return CounterTiles::tr("all requests"); },
     [] { return CounterTiles::tr("Sent since the start"); }, &allRequests},
    {"allWatchEvents", [] { return CounterTiles::tr("all events"); },
     [] { return CounterTiles::tr("Of watches, or messages of a publish, since the start"); }, &allTold},
    {"grants", [] { return CounterTiles::tr("grants"); },
     [] { return CounterTiles::tr("How often a client got the lock"); }, &grants},
    {"gaveUp", [] { return CounterTiles::tr("gave up"); },
     [] { return CounterTiles::tr("Who waited, got nothing, and does not try again"); }, &gaveUp},
    {"longestOverlapMs", [] { return CounterTiles::tr("two at once"); },
     [] { return CounterTiles::tr("How long, at the longest, more believed to hold it than may"); }, &overlap},
    {"violations", [] { return CounterTiles::tr("violations"); },
     [] { return CounterTiles::tr("How often a guarantee was violated"); }, &violations},
};

} // namespace

const TileKind *tileKind(const QByteArray &name)
{
    const auto *at = std::ranges::find_if(tileKinds, [&](const TileKind &kind) { return name == kind.name; });
    return at == std::end(tileKinds) ? nullptr : at;
}

} // namespace lockscope::ui

#include "moc_countertiles.cpp"
