// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/startpage.h"

#include "core/base/text.h"
#include "ui/dialogs/connectform.h"

#include <QKeyEvent>
#include <QPainter>
#include <QShortcut>

namespace lockscope::ui {

namespace {

constexpr int doorsWidth = 366;
constexpr int narrowDoorsWidth = 320;
constexpr int leastCardWidth = 270;
constexpr int largeDoorsWidth = 760; // where there are no cards
constexpr int narrowDoorsBelow = 1100;
constexpr std::chrono::seconds keychainTimeout{30}; // it may ask its user

QString groupFacts(const std::vector<ConnectionCard *> &cards)
{
    const bool isLastSession = std::ranges::any_of(cards, &QAbstractButton::isChecked);
    if (cards.size() == 1)
        return isLastSession ? StartPage::tr("1 connection of the last session") : StartPage::tr("1 connection");
    return (isLastSession ? StartPage::tr("%1 connections, some of the last session")
                          : StartPage::tr("%1 connections"))
        .arg(cards.size());
}

} // namespace

StartPage::StartPage(const ConnectionBook &book, QWidget *parent)
    : QWidget(parent), m_book(book), m_left(new QWidget(this)), m_list(new QWidget(m_left)),
      m_doors(new QWidget(this)), m_title(makeLabel(tr("Nothing is connected"), u"lessonTitle"_s, m_left)),
      m_problem(makeWrapped({}, u"critical"_s, m_left)),
      m_open(makeButton({}, m_left, this, &StartPage::openChecked, u"primary"_s)), m_uri(new QLineEdit(m_doors)),
      m_checklist(new TrialChecklist(m_doors))
{
    auto *text = makeWrapped(tr("Open a connection to see its locks: who holds them, who waits, and what is wrong. "
                                "Reading changes nothing on a server."),
                             u"muted"_s, m_left);
    m_problem->setTextFormat(Qt::PlainText);
    auto *files = makeLabel(tr("Drop a recording or a lockscope.toml on this window."), u"muted"_s, m_left);
    auto *import = makeButton(tr("Import connections…"), m_left, this, &StartPage::importRequested, u"link"_s);
    auto *replay = makeButton(tr("Open recording…"), m_left, this, &StartPage::recordingRequested, u"link"_s);
    makeColumn(m_list, {.spacing = 8}, {});
    makeColumn(m_left, {.margins = {24, 22, 24, 22}, .spacing = 6},
               {makeRow({.spacing = 12}, {m_title, Stretch{1}, m_open}), text, m_problem, Gap{8}, m_list, Gap{8},
                makeRow({.spacing = 12}, {files, import, replay, Stretch{1}}), Stretch{1}});
    buildDoors();
    m_panes = makeRow(this, {.spacing = 0},
                      {{makeScroll(m_left, this), 1}, named(makeScroll(m_doors, this), u"startDoors"_s)});
    m_left->installEventFilter(this);
    for (auto *area : findChildren<QScrollArea *>())
        area->setFocusPolicy(Qt::NoFocus); // what has the keyboard in it is scrolled to
    connect(&book, &ConnectionBook::changed, this, &StartPage::follow);
    const auto addKey = [this](Qt::Key key, auto act) {
        new QShortcut(key, this, this, act, Qt::WidgetWithChildrenShortcut);
    };
    addKey(Qt::Key_U, [this] { m_uri->setFocus(Qt::ShortcutFocusReason); });
    addKey(Qt::Key_S, [this] { emit demoRequested(); });
    addKey(Qt::Key_L, [this] { emit lessonsRequested(); });
    fill();
}

void StartPage::useConnections(ConnectionStore &store)
{
    m_store = &store;
    connect(&store, &ConnectionStore::changed, this, &StartPage::fill);
    fill();
}

void StartPage::fill()
{
    m_cards.clear();
    m_groups.clear();
    clearLayout(*m_list->layout());
    for (const auto &[title, connections] : m_store ? m_store->groups() : std::vector<ConnectionGroup>())
        addGroup(title, connections);
    const auto problem = m_store ? m_store->problem() : QString();
    m_problem->setText(label(problem.toUtf8(), 400));
    m_problem->setVisible(!problem.isEmpty());
    m_isLastSession = !checked().empty();
    m_columns = 0;
    arrange();
    showSelection();
    follow();
}

void StartPage::addGroup(const QString &title, const std::vector<SavedConnection> &connections)
{
    auto *box = new QWidget(m_list);
    std::vector<ConnectionCard *> cards;
    for (const auto &saved : connections) {
        const auto seen = m_store->lastSeen(saved);
        auto *card = new ConnectionCard(saved, seen, static_cast<int>(m_cards.size()), box);
        card->setChecked(seen.isOfLastSession);
        card->installEventFilter(this);
        connect(card, &QAbstractButton::clicked, this, [this] {
            m_isLastSession = false;
            showSelection();
        });
        connect(card, &ConnectionCard::openRequested, this, [this, card] { open({card}, false); });
        connect(card, &ConnectionCard::cancelRequested, this, [this, card] { cancel(*card); });
        connect(card, &ConnectionCard::editRequested, this, [this, card] { emit editRequested(card->name()); });
        connect(card, &ConnectionCard::menuRequested, this,
                [this, card](const QPoint &at) { emit menuRequested(card->saved(), at); });
        cards.push_back(card);
        m_cards.push_back(card);
    }
    auto *name = makeLabel(title, u"title"_s, box);
    auto *facts = makeLabel(groupFacts(cards), u"muted"_s, box);
    auto *all = makeButton(tr("Open all"), box, this, [this, cards] { open(cards, false); });
    all->setAccessibleName(tr("Open all of %1").arg(title));
    auto *grid = new QGridLayout;
    grid->setSpacing(4);
    makeColumn(box, {.margins = {0, 6, 0, 0}, .spacing = 4},
               {makeRow({.spacing = 10}, {name, facts, Stretch{1}, all}), grid});
    m_list->layout()->addWidget(box);
    m_groups.emplace_back(grid, std::move(cards));
}

void StartPage::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    arrange();
}

// Above the doors as high as its texts, which the style sheet makes higher.
void StartPage::fitHead()
{
    auto *left = m_left->parentWidget()->parentWidget();
    const int needed = m_left->layout()->totalHeightForWidth(width());
    left->setMinimumHeight(m_cards.empty() ? std::min(needed, height() / 2) : 0);
    left->setMaximumHeight(m_cards.empty() ? needed : QWIDGETSIZE_MAX);
}

// Without a card the doors are all there is.
void StartPage::arrange()
{
    const bool hasCards = !m_cards.empty();
    const int beside = width() < narrowDoorsBelow ? narrowDoorsWidth : doorsWidth;
    m_panes->setDirection(hasCards ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    m_panes->setStretch(0, hasCards ? 1 : 0);
    m_panes->setStretch(1, hasCards ? 0 : 1);
    fitHead();
    m_doors->layout()->setContentsMargins(hasCards ? 16 : 24, hasCards ? 22 : 0, 16, 16);
    auto *doors = findChild<QScrollArea *>(u"startDoors"_s);
    doors->setMaximumWidth(hasCards ? beside : std::min(largeDoorsWidth, width()));
    doors->setMinimumWidth(hasCards ? beside : 0);
    doors->setProperty("look", hasCards ? u"side"_s : QString());
    m_open->setVisible(hasCards);
    const int columns = std::clamp((width() - beside - 48) / leastCardWidth, 1, 5);
    if (std::exchange(m_columns, columns) == columns)
        return;
    for (const auto &[grid, cards] : m_groups) {
        for (int column = 0; column < grid->columnCount(); ++column)
            grid->setColumnStretch(column, 0);
        for (std::size_t at = 0; at < cards.size(); ++at)
            grid->addWidget(cards[at], static_cast<int>(at) / columns, static_cast<int>(at) % columns);
        for (int column = 0; column < columns; ++column)
            grid->setColumnStretch(column, 1);
        grid->parentWidget()->updateGeometry();
    }
}

bool StartPage::isNeeded() const
{
    return std::ranges::all_of(m_book.all(), [this](const ConnectionStatus &status) {
        return status.state != ConnectionStatus::State::Connected && !ConnectionBook::isStale(status)
               && m_opened.contains(status.name);
    });
}

void StartPage::focusContent()
{
    const auto chosen = checked();
    QWidget *first = !chosen.empty() ? chosen.front() : !m_cards.empty() ? m_cards.front() : nullptr;
    (first ? first : m_uri)->setFocus(Qt::OtherFocusReason);
}

KeyHints StartPage::keys() const
{
    KeyHints keys;
    if (!m_cards.empty())
        keys << std::pair(u"↑ ↓ ← →"_s, tr("Choose")) << std::pair(u"Space"_s, tr("Select"))
             << std::pair(u"⏎"_s, tr("Open the selected"));
    return keys << std::pair(u"U"_s, tr("Paste a URI")) << std::pair(u"S"_s, tr("Start the sandbox"))
                << std::pair(u"L"_s, tr("Lessons"));
}

std::vector<ConnectionCard *> StartPage::checked() const
{
    std::vector<ConnectionCard *> chosen;
    std::ranges::copy_if(m_cards, std::back_inserter(chosen), &QAbstractButton::isChecked);
    return chosen;
}

void StartPage::showSelection()
{
    const auto count = checked().size();
    m_open->setEnabled(count > 0);
    m_open->setText(count == 0                ? tr("Select connections")
                    : m_isLastSession         ? tr("Reopen the last %1").arg(count)
                    : count == m_cards.size() ? tr("Open all")
                                              : tr("Open %1").arg(count));
    m_open->setToolTip(m_isLastSession ? tr("Open the connections of the last session, read-only") : QString());
}

void StartPage::open(const std::vector<ConnectionCard *> &cards, bool isReadOnly)
{
    for (auto *card : cards) {
        const auto asked = specOf(card->saved(), {});
        if (!asked)
            card->setState(ConnectionCard::State::Failed, asked.error().message);
        if (!asked || (card->state() != ConnectionCard::State::Failed && m_opened.contains(asked->name)))
            continue;
        m_opened.insert_or_assign(asked->name, Opened::Asked);
        card->setState(ConnectionCard::State::Connecting);
        m_store->noteUsed(card->saved());
        fillInPassword(*m_store, *asked, keychainTimeout, this, [this, isReadOnly](ConnectionSpec spec) {
            spec.readOnly |= isReadOnly;
            const auto opened = m_opened.find(spec.name);
            if (opened == m_opened.end()) // cancelled since
                return;
            opened->second = m_book.find(spec.name) ? Opened::Replacing : Opened::Sent;
            emit openRequested(spec);
        });
    }
}

void StartPage::cancel(const ConnectionCard &card)
{
    const auto opened = m_opened.find(card.name());
    const bool isSent = opened != m_opened.end() && opened->second != Opened::Asked;
    if (opened != m_opened.end())
        m_opened.erase(opened);
    if (isSent || m_book.find(card.name()))
        emit cancelRequested(card.name());
    follow();
}

// What became of those that were opened.
void StartPage::follow()
{
    using State = ConnectionStatus::State;
    for (auto &[name, opened] : m_opened) {
        const bool isHere = m_book.find(name) != nullptr;
        if (opened == Opened::Replacing && !isHere)
            opened = Opened::Sent;
        else if (opened == Opened::Sent && isHere)
            opened = Opened::Here;
    }
    std::erase_if(m_opened, [this](const auto &opened) {
        const auto *status = m_book.find(opened.first);
        return status ? status->state == State::Connected : opened.second == Opened::Here;
    });
    for (auto *card : m_cards) {
        const auto *status = m_book.find(card->name());
        const bool isFailed = status && (status->state == State::Broken || status->state == State::AuthFailed);
        const auto opened = m_opened.find(card->name());
        const bool isBegunAnew =
            opened != m_opened.end() && (opened->second == Opened::Asked || opened->second == Opened::Replacing);
        if (isFailed && !isBegunAnew)
            card->setState(ConnectionCard::State::Failed, label(status->message.toUtf8(), 400));
        else if (!m_opened.contains(card->name()))
            card->setState(ConnectionCard::State::Closed);
        else
            card->setState(ConnectionCard::State::Connecting);
    }
}

bool StartPage::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_left && event->type() == QEvent::LayoutRequest)
        fitHead();
    auto *card = qobject_cast<ConnectionCard *>(watched);
    auto *area = qobject_cast<QScrollArea *>(m_left->parentWidget()->parentWidget());
    if (card && area && event->type() == QEvent::FocusIn)
        area->ensureWidgetVisible(card);
    if (!card || event->type() != QEvent::KeyPress)
        return false;
    const auto key = static_cast<QKeyEvent *>(event)->key();
    switch (key) {
    case Qt::Key_Return:
    case Qt::Key_Enter: checked().empty() ? open({card}, false) : openChecked(); return true;
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down: move(*card, key); return true;
    default: return false;
    }
}

// To the nearest card in that direction; left and right go on in the next row.
void StartPage::move(const ConnectionCard &from, int key)
{
    const bool isBack = key == Qt::Key_Left || key == Qt::Key_Up;
    const auto here = from.mapTo(m_left, QPoint());
    ConnectionCard *next = nullptr;
    if (key == Qt::Key_Left || key == Qt::Key_Right) {
        const auto at = std::ranges::find(m_cards, &from) - m_cards.begin() + (isBack ? -1 : 1);
        next = at >= 0 && at < std::ssize(m_cards) ? m_cards[static_cast<std::size_t>(at)] : nullptr;
    } else {
        std::pair<int, int> nearest;
        for (auto *card : m_cards) {
            const auto away = card->mapTo(m_left, QPoint()) - here;
            const std::pair distance(std::abs(away.y()), std::abs(away.x()));
            if ((isBack ? away.y() < 0 : away.y() > 0) && (!next || distance < nearest)) {
                next = card;
                nearest = distance;
            }
        }
    }
    if (next)
        next->setFocus(Qt::TabFocusReason);
}

} // namespace lockscope::ui

#include "moc_startpage.cpp"
