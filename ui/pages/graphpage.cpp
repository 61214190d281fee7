// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/graphpage.h"

#include "core/base/text.h"
#include "ui/models/locksmodel.h"
#include "ui/parts/notices.h"

#include <QShortcut>

namespace lockscope::ui {

constexpr std::size_t locksPerTurn = 1000;
constexpr auto leastRest = 120ms;
constexpr int restPerWork = 10;
constexpr qsizetype mostUnseen = 3;

GraphPage::GraphPage(const ConnectionBook &book, QWidget *parent) : Page(parent), m_book(book)
{
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &GraphPage::gather);
    connect(&m_maker, &GraphMaker::made, this, &GraphPage::show);
    connect(&book, &ConnectionBook::changed, this, [this] {
        lookSoon();
        showWords();
        showNotice();
    });
    m_view = new GraphView(this);
    connect(m_view, &GraphView::activated, this, &GraphPage::open);
    connect(m_view, &GraphView::resized, this, &GraphPage::lookSoon);
    connect(m_view, &GraphView::currentChanged, this, &GraphPage::showChosen);
    auto *breaking = new QShortcut(Qt::Key_B, this, nullptr, nullptr, Qt::WidgetWithChildrenShortcut);
    connect(breaking, &QShortcut::activated, this, &GraphPage::breakDeadlock);
    if (auto *theme = Theme::instance())
        connect(theme, &Theme::changed, m_view, [this] { m_view->viewport()->update(); });
    m_empty = new EmptyNotice(this);
    connect(m_empty, &EmptyNotice::actionRequested, this, [this] { m_all->setChecked(true); });
    m_stack = new QStackedWidget(this);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_view);
    makeColumn(this, {.spacing = 0}, {makeStrip(), makeHairline(this), {m_stack, 1}, makeHairline(this), makeFoot()});
    showWords();
    showNotice();
}

QWidget *GraphPage::makeStrip()
{
    auto *strip = new QFrame(this);
    m_pill = new PillLabel(strip);
    m_sentence = named(new ClauseLabel(u"heading"_s, strip), u"graphSentence"_s);
    m_more = named(new ClauseLabel(u"muted"_s, strip), u"graphMore"_s);
    m_unseen = named(new ClauseLabel(u"muted"_s, strip), u"graphUnseen"_s);
    const auto button = [&](const QString &text, const QString &name, const QString &tip) {
        auto *one = new QPushButton(text, strip);
        one->setAccessibleName(name);
        one->setToolTip(tip);
        return one;
    };
    m_all = named(makeChip(u"All locks"_s, strip), u"graphAll"_s, u"All locks"_s);
    m_all->setToolTip(u"Include locks without waiters, and elections"_s);
    keepChoice(u"all"_s, m_all);
    connect(m_all, &QPushButton::toggled, this, [this](bool isOn) {
        m_choice.all = isOn;
        lookSoon();
    });
    auto *smaller = button(u"−"_s, u"Smaller"_s, u"Smaller (−)"_s);
    m_zoom = button(u"100 %"_s, u"Zoom"_s, u"Back to 100 % (0)"_s);
    auto *larger = button(u"+"_s, u"Larger"_s, u"Larger (+)"_s);
    auto *fit = button(u"Fit"_s, u"Fit"_s, u"All of it, where that can be read (F)"_s);
    connect(smaller, &QPushButton::clicked, m_view, [this] { m_view->zoomBy(-1); });
    connect(m_zoom, &QPushButton::clicked, m_view, [this] { m_view->zoomBy(0); });
    connect(larger, &QPushButton::clicked, m_view, [this] { m_view->zoomBy(1); });
    connect(fit, &QPushButton::clicked, m_view, &GraphView::fit);
    connect(m_view, &GraphView::zoomChanged, m_zoom, [this] {
        m_zoom->setText(u"%1 %"_s.arg(qRound(m_view->zoom() * 100)));
        showChosen();
    });
    auto *row = makeRow({.spacing = 8}, {{m_pill, 0, Qt::AlignTop}, {m_sentence, 1, Qt::AlignTop}});
    for (auto *one : {m_all, smaller, m_zoom, larger, fit})
        row->addWidget(one, 0, Qt::AlignTop);
    // Below the buttons, too: in a narrow window each line of words is one less of the graph.
    makeColumn(strip, {.margins = {12, 8, 12, 8}, .spacing = 2}, {row, m_more, m_unseen});
    return strip;
}

QWidget *GraphPage::makeFoot()
{
    auto *foot = new QWidget(this);
    m_chosen = named(makeLabel({}, u"muted"_s, foot), u"graphChosen"_s);
    m_chosen->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    makeRow(foot, {.margins = {12, 5, 12, 5}, .spacing = 16}, {new GraphLegend(foot), {m_chosen, 1}});
    return foot;
}

void GraphPage::useLocks(const LocksModel &locks)
{
    m_locks = &locks;
    lookSoon();
}

void GraphPage::setBackend(Backend *backend)
{
    m_backend = backend;
    connect(backend, &Backend::updated, this, [this](const Batch &batch) {
        if (!batch.locks.empty() || !batch.connections.empty())
            lookSoon();
    });
}

void GraphPage::lookSoon()
{
    if (m_isGathering || m_maker.isBusy() || m_timer.isActive() || !m_locks || !isVisible()) {
        m_isStale = true;
        return;
    }
    const auto rest = std::max<std::chrono::milliseconds>(leastRest, m_maker.took() * restPerWork);
    m_timer.start(rest);
}

void GraphPage::gather()
{
    if (!m_isGathering) {
        m_isGathering = true;
        m_isStale = false;
        m_isWhole = isFirstLookOver();
        m_gathered.clear();
        m_left.clear();
        for (const auto *row : m_locks->all())
            m_left.push_back(row->snapshot.lock);
    }
    for (std::size_t i = 0; i < locksPerTurn && !m_left.empty(); ++i) {
        if (const auto *lock = m_locks->snapshot(m_left.back()))
            m_gathered.push_back(*lock);
        m_left.pop_back();
    }
    if (!m_left.empty()) {
        m_timer.start(0);
        return;
    }
    m_isGathering = false;
    const auto labels = m_backend ? m_backend->clientLabels() : std::vector<inspect::ClientLabel>();
    m_maker.make({std::exchange(m_gathered, {}), labels, clock().now(), m_choice, qreal(m_view->viewport()->width()),
                  qreal(m_view->viewport()->height())});
}

void GraphPage::show(std::shared_ptr<const GraphSight> sight)
{
    m_sight = std::move(sight);
    m_view->show(m_sight);
    if (m_wanted && m_view->choose(keyOf(*m_wanted)))
        m_wanted.reset();
    showWords();
    showNotice();
    if (m_isWhole && !m_sight->isCycleOpen && !std::exchange(m_isSettled, true))
        emit settled();
    if (m_isStale)
        lookSoon();
}

bool GraphPage::isFirstLookOver() const
{
    return !m_book.all().empty() && std::ranges::all_of(m_book.all(), [](const ConnectionStatus &status) {
        return status.progress.firstSnapshotComplete || status.state == ConnectionStatus::State::AuthFailed;
    });
}

// What may be missing in the graph, in words; empty if nothing is known to be.
QString GraphPage::unseen() const
{
    QStringList gaps;
    for (const auto &status : m_book.all()) {
        const auto name = label(status.name.bytes(), 40);
        if (status.state != ConnectionStatus::State::Connected) {
            gaps << u"%1 is not connected"_s.arg(name);
            continue;
        }
        for (const auto &part : m_book.coverageOf(status.name)) {
            if (!part.complete)
                gaps << name + u": "_s + label(part.message.toUtf8(), 160);
        }
    }
    const int waiters = m_sight->unseenWaiters;
    if (waiters > 0)
        gaps << (waiters == 1 ? u"waiters unknown for 1 lock"_s : u"waiters unknown for %1 locks"_s.arg(waiters));
    if (gaps.size() > mostUnseen)
        gaps = gaps.mid(0, mostUnseen) + QStringList(u"%1 more gaps"_s.arg(gaps.size() - mostUnseen));
    return gaps.isEmpty() ? QString() : u"Not all was seen: %1"_s.arg(gaps.join(u" · "_s));
}

void GraphPage::showWords()
{
    const auto &heading = m_sight->heading;
    m_pill->setVisible(!heading.sentence.isEmpty());
    m_pill->setPill(heading.pill);
    auto sentence = harmless(heading.sentence);
    if (!sentence.isEmpty())
        sentence[0] = sentence[0].toUpper();
    m_sentence->say(sentence.isEmpty() ? u"Who waits for whom"_s : sentence);
    m_more->say(harmless(heading.more));
    m_more->setVisible(!heading.more.isEmpty());
    const auto gaps = unseen();
    m_unseen->say(gaps);
    m_unseen->setVisible(!gaps.isEmpty());
    showChosen();
}

void GraphPage::showChosen()
{
    const auto *node = m_view->current();
    const bool isOpened = node && !node->isFold() && (node->lock || !node->sessions.empty());
    const auto keys =
        m_view->isAllInSight() ? u"Arrows walk, Enter opens"_s : u"Not all is in sight: arrows walk, Enter opens"_s;
    const auto text = !node ? keys : isOpened ? u"Enter opens: %1"_s.arg(node->spoken) : node->spoken;
    m_chosen->setText(m_chosen->fontMetrics().elidedText(text, Qt::ElideRight, std::max(200, m_chosen->width())));
    m_chosen->setToolTip(plainToolTip(text));
}

void GraphPage::showNotice()
{
    const auto &picture = m_sight->picture;
    if (!picture.nodes.empty() && m_sight->failure.isEmpty()) {
        m_stack->setCurrentWidget(m_view);
        return;
    }
    const auto gaps = unseen();
    const auto also = gaps.isEmpty() ? QString() : u'\n' + gaps;
    const bool isOffered = !m_choice.all && picture.hiddenLocks > 0;
    if (m_book.all().empty())
        m_empty->say(u"No connection yet"_s, u"Here stand the clients that block others, and whom they block."_s);
    else if (!m_sight->failure.isEmpty())
        m_empty->say(u"The graph cannot be drawn"_s, m_sight->failure);
    else if (!isFirstLookOver())
        m_empty->say(u"Looking for locks…"_s, u"The graph appears here as soon as a client waits."_s + also);
    else if (!m_choice.text.isEmpty())
        m_empty->say(u"Nothing here matches “%1”"_s.arg(m_choice.text.left(80)),
                     u"The find field looks into the names of locks, and of clients and their hosts."_s,
                     isOffered ? u"Look in all locks"_s : QString());
    else
        m_empty->say(
            u"No client is seen waiting"_s,
            (isOffered ? u"No holder of these locks is seen to block a client."_s : u"No lock is seen held here."_s)
                + also,
            isOffered ? u"Show all locks"_s : QString());
    m_stack->setCurrentWidget(m_empty);
}

void GraphPage::open(const GraphNode &node)
{
    if (node.isFold()) {
        m_choice.unfolded.insert(node.key);
        lookSoon();
    } else if (node.lock) {
        emit subjectActivated({Subject::Kind::Lock, node.lock->connection, node.lock->name});
    } else if (!node.sessions.empty()) {
        const auto &session = node.sessions.front();
        emit subjectActivated({Subject::Kind::Session, session.connection, session.id});
    }
}

void GraphPage::showConnection(const ConnectionName &name)
{
    m_choice.connection = name;
    lookSoon();
}

void GraphPage::setFilter(const QString &text)
{
    if (std::exchange(m_choice.text, text.trimmed()) != text.trimmed())
        lookSoon();
}

QByteArray GraphPage::keyOf(const Subject &subject) const
{
    if (subject.kind == Subject::Kind::Lock)
        return keyOfLock({subject.connection, subject.name});
    const auto &nodes = m_sight->picture.nodes;
    const GraphFacts::Session session{subject.connection, subject.name};
    const auto at = std::ranges::find_if(nodes, [&](const GraphNode &node) {
        return std::ranges::find(node.sessions, session) != node.sessions.end();
    });
    return at == nodes.end() ? QByteArray() : at->key;
}

bool GraphPage::showSubject(const Subject &subject)
{
    if (subject.kind != Subject::Kind::Lock && subject.kind != Subject::Kind::Session)
        return false;
    m_choice.text.clear();
    if (subject.kind == Subject::Kind::Lock)
        m_choice.chosen = keyOf(subject);
    else
        m_choice.chosenSession = GraphFacts::Session{subject.connection, subject.name};
    m_wanted = subject;
    if (m_view->choose(keyOf(subject)))
        m_wanted.reset();
    lookSoon();
    return true;
}

// The one that the heading speaks of.
void GraphPage::breakDeadlock()
{
    if (m_sight->heading.victim.empty())
        return;
    const auto place = m_sight->heading.victim.front(); // another sight may come meanwhile
    emit releaseRequested(place.lock, place.contender);
}

void GraphPage::ticked()
{
    lookSoon(); // what counts time is counted anew
}

} // namespace lockscope::ui

#include "moc_graphpage.cpp"
