// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/live.h"

#include "core/base/text.h"
#include "core/inspect/json.h"

namespace lockscope::ctl {

namespace {

constexpr auto leastBetweenFrames = 100ms, leastBetweenReads = 500ms, agesTickEvery = 1000ms;
constexpr int shareOfTime = 10; // making the content again takes at most one part in so many
constexpr std::chrono::seconds silentAfter(10);
constexpr std::size_t mostMessages = 50;

QString timeText(std::chrono::system_clock::time_point time)
{
    return isoSeconds(std::chrono::floor<std::chrono::seconds>(time).time_since_epoch()).mid(11);
}

// How current the view is: of several connections, the worst.
Span stateOfLinks(CommandContext &context, bool isRead)
{
    const auto now = std::chrono::system_clock::time_point(context.pictures.now());
    auto oldest = now;
    QStringList lost, scanned, silent;
    for (auto *link : context.workspace.links()) {
        const auto name = escaped(link->spec().name.bytes());
        oldest = std::min(oldest, link->heardAt());
        if (!link->isConnected())
            lost << name;
        else if (!link->observer().firstSnapshot().isComplete())
            scanned << name + u' ' + u"%L1"_s.arg(link->progress().done);
        else if (now - link->heardAt() > silentAfter)
            silent << name;
    }
    const bool isKnown = oldest.time_since_epoch().count() > 0;
    const auto asOf = isKnown ? u"last snapshot %1"_s.arg(timeText(oldest)) : u"no snapshot yet"_s;
    if (!lost.isEmpty())
        return {u"! not connected: %1, %2"_s.arg(firstNamed(lost, 1), asOf), Ink::Red};
    if (!scanned.isEmpty())
        return {u"initial scan: %1 read"_s.arg(firstNamed(scanned, 1)), Ink::Yellow};
    if (!silent.isEmpty())
        return {u"! no reply for %1: %2, %3"_s.arg(
                    formatDuration(std::chrono::floor<std::chrono::milliseconds>(now - oldest)),
                    firstNamed(silent, 1), asOf),
                Ink::Yellow};
    if (!isRead)
        return {u"reading"_s, Ink::Yellow};
    return {(isUnicode() ? u"● live "_s : u"* live "_s) + timeText(oldest), Ink::Cyan};
}

QString textOf(const Line &line)
{
    QString text;
    for (const auto &span : line)
        text += span.text;
    return text;
}

bool isShown(const LiveBlock &block, const QString &filter)
{
    return block.isHeading || std::ranges::any_of(block.lines, [&filter](const Line &line) {
               return textOf(line).contains(filter, Qt::CaseInsensitive);
           });
}

// Each at its end of the line, or on two lines where they do not fit.
void addEnds(std::vector<Line> &lines, const Span &left, const Span &right, int width)
{
    const auto gap = width - cellsOf(left.text) - cellsOf(right.text);
    if (gap >= 2)
        return lines.push_back({left, {QString(gap, u' ')}, right});
    addFolded(lines, {left}, width);
    addFolded(lines, {right}, width);
}

// The view while it is shown.
class LiveScreen {
public:
    LiveScreen(CommandContext &context, LiveView &view)
        : m_context(context), m_view(view), m_ended(context.loop()), m_news(context.loop())
    {
        m_screen.emplace(context.interrupts, [this] { drawSoon(true); });
        m_screen->onKey([this](const QString &key) { press(key); });
        m_screen->onEnd([this] { m_ended.complete(true); });
        context.interrupts.setHandler([this](Interrupt) { m_ended.complete(true); });
        context.sink.onChange([this](const auto &) { m_news.complete(true); });
        context.sink.onCoverage([this](const auto &, const auto &) { m_news.complete(true); });
        for (auto *link : context.workspace.links())
            m_isConnected[link->spec().name] = link->isConnected();
        context.workspace.onLinkChanged([this](const Link &link) {
            const auto &name = link.spec().name;
            const bool isConnected = link.isConnected();
            if (std::exchange(m_isConnected[name], isConnected) != isConnected) // no attempt that failed
                m_view.forget(name);
            m_news.complete(true);
            drawSoon(true);
        });
        tick();
    }
    ~LiveScreen()
    {
        m_context.sink.onChange({});
        m_context.sink.onCoverage({});
        m_context.workspace.onLinkChanged({});
        m_context.interrupts.setHandler([](Interrupt) {});
        takeMessages();
        m_screen.reset();
        m_captured.reset();
        print(u"%1, %2"_s.arg(m_content.title, stateOfLinks(m_context, m_content.isRead).text));
        for (const auto &message : m_messages)
            printError(message);
    }
    Q_DISABLE_COPY(LiveScreen)

    [[nodiscard]] Completion<bool> ended() const { return m_ended; }
    Task<void> keepReading()
    {
        auto &loop = m_context.loop();
        while (true) {
            const auto begun = loop.now();
            co_await m_view.read();
            drawSoon(true);
            const auto pause = std::max<Duration>(leastBetweenReads, loop.now() - begun);
            const Completion<bool> rested(loop);
            rested.completeAt(Deadline::at(loop.now() + pause), true);
            co_await rested;
            m_news.completeAt(Deadline::at(loop.now() + agesTickEvery), true);
            co_await m_news;
            m_news = Completion<bool>(loop);
        }
    }

private:
    // Ages count, and a server that sends nothing is noticed.
    void tick()
    {
        drawSoon(true);
        m_ticks = m_context.loop().callAt(m_context.loop().now() + agesTickEvery, [this] { tick(); });
    }
    void drawSoon(bool isStale)
    {
        m_isStale = m_isStale || isStale;
        if (std::exchange(m_isDrawnSoon, true))
            return;
        m_frame = m_context.loop().callAt(std::max(m_context.loop().now(), m_nextFrame), [this] { draw(); });
    }
    void press(const QString &key)
    {
        if (m_isTyping && key.size() == 1)
            m_filter += key.front().isPrint() ? key : QString();
        else if (m_isTyping && key == "backspace"_L1)
            m_filter.chop(1);
        else if (key == "escape"_L1)
            m_filter.clear();
        else if (key == "q"_L1)
            m_ended.complete(true);
        else if (key == "s"_L1 && !m_view.orders().isEmpty())
            m_order = (m_order + 1) % int(m_view.orders().size());
        else
            scroll(key);
        m_isTyping = key == "/"_L1 || (m_isTyping && key != "enter"_L1 && key != "escape"_L1);
        m_nextContent = {}; // keys are answered at once
        drawSoon(m_isTyping || key == "escape"_L1 || key == "s"_L1);
    }
    void scroll(const QString &key)
    {
        const std::map<QString, qsizetype> steps{{u"up"_s, -1},
                                                 {u"down"_s, 1},
                                                 {u"page up"_s, -m_page},
                                                 {u"page down"_s, m_page},
                                                 {u" "_s, m_page},
                                                 {u"home"_s, -m_top},
                                                 {u"end"_s, qsizetype(m_body.size())}};
        if (const auto step = steps.find(key); step != steps.end())
            scrollBy(step->second);
    }
    void scrollBy(qsizetype lines)
    {
        m_top = std::clamp<qsizetype>(m_top + lines, 0, std::max<qsizetype>(0, qsizetype(m_body.size()) - m_page));
    }
    void draw()
    {
        const auto begun = m_context.loop().now();
        const auto size = TerminalScreen::size();
        m_isDrawnSoon = false;
        m_nextFrame = begun + leastBetweenFrames;
        takeMessages();
        if (begun >= m_nextContent && std::exchange(m_isStale, false)) {
            auto content = m_view.content(size.width(), m_order, !m_filter.isEmpty());
            if (content.isUnknown)
                std::swap(content.blocks, m_content.blocks);
            m_content = std::move(content);
            fold(size.width());
            m_nextContent = begun + (m_context.loop().now() - begun) * shareOfTime;
        }
        m_screen->show(rows(size));
    }
    // What the filter leaves of the content.
    void fold(int width)
    {
        m_body.clear();
        if (!m_filter.isEmpty() && std::ranges::none_of(m_content.blocks, [this](const LiveBlock &block) {
                return !block.isHeading && isShown(block, m_filter);
            }))
            m_body.push_back({{u"no line matches the filter"_s}});
        for (const auto &block : m_content.blocks) {
            for (auto line : isShown(block, m_filter) ? block.lines : std::vector<Line>()) {
                for (auto &span : line)
                    span.ink = m_content.isUnknown ? Ink::Dim : span.ink;
                addFolded(m_body, line, width);
            }
        }
    }
    [[nodiscard]] QStringList rows(QSize size)
    {
        const int width = size.width();
        const auto height = std::size_t(size.height());
        std::vector<Line> lines, foot;
        addEnds(lines, {m_content.title, Ink::Bold}, stateOfLinks(m_context, m_content.isRead), width);
        const auto most = std::max(lines.size(), height / 2);
        for (const auto &connection : m_context.pictures.connections()) {
            if (!connection.isConnected)
                addFolded(lines,
                          {{u"! %1 is not connected; its present state is unknown. %2"_s.arg(
                                escaped(connection.name.bytes()), connection.problem),
                            Ink::Red}},
                          width);
        }
        lines.resize(std::min(lines.size(), most)); // the state names how many others are not connected
        if (!m_content.incomplete.isEmpty())
            addFolded(lines, {{m_content.incomplete, Ink::Yellow}}, width);
        addPinned(lines, most, width);
        if (m_content.isUnknown && !m_body.empty())
            addFolded(lines, {{u"The lines below are from before the connection was lost."_s, Ink::Magenta}}, width);
        lines.push_back({{QString(width, isUnicode() ? u'─' : u'-'), Ink::Dim}});
        if (!m_messages.empty())
            foot.push_back({{firstCells(m_messages.back(), width), Ink::Yellow}});
        m_page = std::max<qsizetype>(1, size.height() - qsizetype(lines.size() + foot.size()) - 1);
        scrollBy(0);
        foot.push_back({{firstCells(footText(), width)}});
        for (auto line = m_top; line < std::min(m_top + m_page, qsizetype(m_body.size())); ++line)
            lines.push_back(m_body[std::size_t(line)]);
        lines.resize(height - std::min(height, foot.size()));
        std::ranges::move(foot, std::back_inserter(lines));
        return mapped<QStringList>(lines, [](const Line &line) { return inked(line); });
    }
    // A heading and a line for each incident; the others are counted.
    void addPinned(std::vector<Line> &lines, std::size_t most, int width) const
    {
        const auto &pinned = m_content.pinned;
        for (auto line = pinned.begin(); line != pinned.end(); ++line) {
            std::vector<Line> folded;
            addFolded(folded, *line, width);
            const auto more = pinned.end() - std::max(line, pinned.begin() + 1);
            if (lines.size() + folded.size() + (more > 1 ? 1 : 0) > most) {
                const auto count = amountOf(more, "more incident"_L1, "more incidents"_L1);
                return addFolded(lines, {{(isUnicode() ? u"… and "_s : u"... and "_s) + count, Ink::Yellow}}, width);
            }
            std::ranges::move(folded, std::back_inserter(lines));
        }
    }
    [[nodiscard]] QString footText() const
    {
        if (m_isTyping)
            return u"/%1_   Enter keeps the filter, Esc clears it"_s.arg(m_filter);
        QStringList parts{u"q quit"_s, m_filter.isEmpty() ? u"/ filter"_s : u"/ filter: %1"_s.arg(m_filter)};
        if (const auto orders = m_view.orders(); !orders.isEmpty())
            parts << u"s sort: %1"_s.arg(orders[m_order]);
        const auto last = std::min(m_top + m_page, qsizetype(m_body.size()));
        parts << (isUnicode() ? u"↑↓ PgUp PgDn"_s : u"arrows PgUp PgDn"_s)
              << u"%1-%2 of %3"_s.arg(std::min(m_top + 1, last)).arg(last).arg(m_body.size());
        return parts.join(u"  "_s);
    }
    // What was reported while the screen is there is shown in it, and printed after it.
    void takeMessages()
    {
        for (const auto &line : std::exchange(m_captured->errors, {}).split('\n')) {
            const auto message = QString::fromUtf8(line).remove(u"lockscopectl: "_s);
            if (!message.isEmpty() && std::ranges::find(m_messages, message) == m_messages.end())
                m_messages.push_back(message);
        }
        if (m_messages.size() > mostMessages)
            m_messages.erase(m_messages.begin(), m_messages.end() - mostMessages);
        m_captured->out.clear();
    }

    CommandContext &m_context;
    LiveView &m_view;
    Completion<bool> m_ended, m_news;
    std::optional<CapturedOutput> m_captured{std::in_place};
    std::optional<TerminalScreen> m_screen;
    LiveContent m_content;
    std::map<ConnectionName, bool> m_isConnected;
    std::vector<QString> m_messages;
    QString m_filter;
    bool m_isTyping = false, m_isStale = true, m_isDrawnSoon = false;
    int m_order = 0;
    std::vector<Line> m_body;
    qsizetype m_top = 0, m_page = 1; // of its lines, the first that is shown; how many are
    Instant m_nextFrame{}, m_nextContent{};
    Timer m_ticks, m_frame;
};

bool printChange(const inspect::SnapshotChange &change)
{
    const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
    return printJsonLine(QJsonObject{{u"time"_s, inspect::isoTime(now)},
                                     {u"change"_s, inspect::word(change.kind)},
                                     {u"lock"_s, inspect::toJson(change.lock)}});
}

// Says on stderr what is not seen, each thing at most once a minute: how old it is changes all the time.
class CoverageTeller {
public:
    explicit CoverageTeller(Loop &loop) : m_loop(&loop) {}
    void operator()(const ConnectionName &name, const std::vector<inspect::Coverage> &coverage)
    {
        static const QRegularExpression numbers(u"[0-9]+"_s);
        for (const auto &part : coverage) {
            const auto kind = std::pair(name, QString(part.message).remove(numbers));
            const auto told = m_told.find(kind);
            if (part.complete || (told != m_told.end() && m_loop->now() - told->second < std::chrono::minutes(1)))
                continue;
            m_told[kind] = m_loop->now();
            printError(u"%1: incomplete: %2"_s.arg(escaped(name.bytes()), harmless(part.message)));
        }
    }

private:
    Loop *m_loop;
    std::map<std::pair<ConnectionName, QString>, Instant> m_told;
};

} // namespace

std::vector<Line> linesOf(const std::vector<LiveBlock> &blocks)
{
    std::vector<Line> lines;
    for (const auto &block : blocks)
        std::ranges::copy(block.lines, std::back_inserter(lines));
    return lines;
}

QString incompleteText(const std::vector<inspect::Coverage> &coverage)
{
    std::set<ConnectionName> incomplete;
    for (const auto &part : coverage) {
        if (!part.complete)
            incomplete.insert(part.connection);
    }
    const auto count = amountOf(std::ssize(incomplete), "connection"_L1, "connections"_L1);
    return incomplete.empty() ? QString() : u"incomplete: %1, End shows why"_s.arg(count);
}

Task<Exit> runWatch(CommandContext &context, LiveView &view)
{
    if (context.json || terminalWidth() == 0 || isDumbTerminal()) {
        const auto printed = co_await view.printLines();
        co_return printed;
    }
    const auto connected = co_await connectAll(context);
    context.waiting.cancel();
    if (connected != Exit::Done)
        co_return connected;
    LiveScreen screen(context, view);
    Scope scope(context.loop());
    scope.launch(screen.keepReading());
    const auto ended = screen.ended();
    co_await ended;
    co_return Exit::Done;
}

Result<bool> isWatching(const CommandContext &context, const QString &command)
{
    if (context.has(u"watch"_s) && context.pictures.recorded())
        return Error{ErrorCode::BadInput, u"%1: --watch follows servers; a recording is over"_s.arg(command)};
    return context.has(u"watch"_s);
}

// Until interrupted, or until nobody reads our lines any more.
Task<Exit> watchLocks(CommandContext &context, std::function<bool(const inspect::LockName &)> isWatched)
{
    const Completion<Exit> ended(context.loop());
    context.interrupts.setHandler([ended](Interrupt) { ended.complete(Exit::Done); });
    context.sink.onChange([ended, isWatched, labels = context.labels](inspect::SnapshotChange change) {
        addLabels(change.lock, labels);
        if (isWatched(change.lock.lock) && !printChange(change))
            ended.complete(Exit::Done);
    });
    context.sink.onCoverage(CoverageTeller(context.loop()));
    // The sink may have heard of changes before the listener was there.
    const auto connected = co_await connectAll(context);
    if (connected != Exit::Done)
        co_return connected;
    reportBreaks(context);
    const auto status = co_await ended;
    context.sink.onChange({});
    context.sink.onCoverage({});
    co_return status;
}

} // namespace lockscope::ctl
