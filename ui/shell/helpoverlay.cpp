// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/helpoverlay.h"

#include "ui/parts/parts.h"
#include "ui/shell/actions.h"
#include "ui/theme/theme.h"

#include <QApplication>
#include <QFrame>
#include <QGridLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int wordsWidth = 400;

// In two columns: all of them stand on a screen of 768. Returns the first row that is free.
int addKeys(QGridLayout &grid, const KeyHints &keys)
{
    const int rows = static_cast<int>(keys.size() + 1) / 2;
    for (int i = 0; i < static_cast<int>(keys.size()); ++i) {
        const auto &[key, what] = keys[i];
        auto *card = grid.parentWidget();
        auto *keyLabel = new QLabel(key, card);
        keyLabel->setFont(monoFont());
        keyLabel->setProperty("look", u"code"_s);
        auto *words = new QLabel(what, card);
        words->setWordWrap(true);
        words->setFixedWidth(wordsWidth);
        grid.addWidget(keyLabel, 1 + i % rows, i / rows * 2, Qt::AlignLeft | Qt::AlignTop);
        grid.addWidget(words, 1 + i % rows, i / rows * 2 + 1, Qt::AlignTop);
    }
    return 1 + rows;
}

} // namespace

HelpOverlay::HelpOverlay(QStringList pages, std::function<KeyHints()> keys, QWidget *window)
    : QWidget(window), m_pages(std::move(pages)), m_keysOfPages(std::move(keys))
{
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Keys"));
    window->installEventFilter(this);
    hide();
}

// When it is first asked for: most never ask, and all wait for the first frame.
void HelpOverlay::fill()
{
    auto *card = named(new QFrame(this), u"helpCard"_s);
    card->setProperty("look", u"card"_s);
    auto *grid = new QGridLayout(card);
    grid->setContentsMargins(24, 20, 24, 20);
    grid->setHorizontalSpacing(20);
    grid->setVerticalSpacing(6);
    auto *title = makeLabel(tr("Keys and help"), u"heading"_s, card);
    grid->addWidget(title, 0, 0, 1, 2);
    KeyHints keys;
    if (!m_pages.isEmpty())
        keys << std::pair(keysOfPage(0) + u" … "_s + keysOfPage(int(m_pages.size()) - 1), m_pages.join(u", "_s));
    keys << std::pair(u"Ctrl+K"_s,
                      tr("go to a lock, session or page, or do anything: type a few letters, Enter goes"))
         << std::pair(
                u"B R E X"_s,
                tr("on Locks: break the deadlock, release, rehearse, cancel a wait; shows the form, sends nothing"))
         << std::pair(u"H G C"_s, tr("on Locks: the holder's session, the graph, copy the incident note"))
         << std::pair(u"F4, F6"_s, tr("choose a connection; next pane: rows, lock, pages"))
         << std::pair(u"/, Ctrl+F"_s, tr("find; Enter or ↓ goes into the rows, Esc clears"))
         << std::pair(u"↑ ↓ Home End"_s, tr("move through rows; in the graph ← → too"))
         << std::pair(u"Enter"_s, tr("open: from the list into the lock's detail"))
         << std::pair(u"Tab, Shift+Tab"_s, tr("next and previous control"))
         << std::pair(u"Ctrl+Shift+F"_s, tr("force-release of the chosen lock: shows the form, sends nothing"))
         << std::pair(u"Ctrl+Shift+A"_s, tr("acquire the chosen lock"))
         << std::pair(u"Ins F2 Del"_s, tr("on Znodes and Keys: create, edit, delete; shows the form, sends nothing"))
         << std::pair(u"Ctrl+Z"_s, tr("undo the last edit of a znode or key: shows the form, sends nothing"))
         << std::pair(u"Space"_s, tr("pause and resume live updates"))
         << std::pair(u"Ctrl+T"_s, tr("time: go back in what was recorded; ← → there by seconds, Esc is now"))
         << std::pair(u"Ctrl+Shift+← →"_s, tr("five minutes back, and on"))
         << std::pair(u"Ctrl+Shift+↑ ↓"_s, tr("to the chosen lock's change before, and after"))
         << std::pair(u"Ctrl+H, Ctrl+G"_s, tr("who holds the chosen lock, and what else; the lock in the graph"))
         << std::pair(u"Ctrl+D"_s, tr("the chosen lock in its own window, which follows it; Esc closes that"))
         << std::pair(u"Menu, Shift+F10"_s, tr("what can be copied, shown and done of a row; Ctrl+C copies the row"))
         << std::pair(u"Ctrl+E"_s, tr("export the table as it is shown: CSV, JSON"))
         << std::pair(u"Ctrl+S, Ctrl+Shift+S"_s, tr("keep this filter under a name; those kept"))
         << std::pair(u"Ctrl+Shift+C"_s, tr("copy the incident note of the chosen lock"))
         << std::pair(u"F10"_s, tr("all actions"))
         << std::pair(u"F11"_s, tr("on a projector: the page alone, with large text"))
         << std::pair(u"F5"_s, tr("read what is on screen again"))
         << std::pair(u"M U S"_s, tr("in the findings: mute, unmute, go to the session"))
         << std::pair(u"Ctrl+,, Ctrl+Q"_s, tr("settings; quit")) << std::pair(u"+ − 0"_s, tr("zoom the graph"))
         << m_keysOfPages() << std::pair(u"H"_s, tr("here: Guarantees"))
         << std::pair(u"F"_s, tr("here: what findings mean, and what to do"))
         << std::pair(u"?"_s, tr("this; while presenting, a line of the page's keys"));
    const int row = addKeys(*grid, keys);
    auto *guarantees = named(makeButton(tr("Guarantees of every recipe under every fault…"), card, this,
                                        [this] { leaveFor(&HelpOverlay::guaranteesRequested); }),
                             u"openPromises"_s);
    grid->addWidget(guarantees, row, 0, 1, 4, Qt::AlignLeft);
    auto *findings = named(makeButton(tr("What findings mean, and what to do…"), card, this,
                                      [this] { leaveFor(&HelpOverlay::findingsRequested); }),
                           u"openFindings"_s);
    grid->addWidget(findings, row + 1, 0, 1, 4, Qt::AlignLeft);
    m_guarantees = guarantees;
    m_scroll = new QScrollArea(this);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_scroll->setAlignment(Qt::AlignCenter);
    m_scroll->setStyleSheet(u"QScrollArea { background: transparent; }"_s);
    m_scroll->setWidget(card);
    m_scroll->viewport()->setAutoFillBackground(false);
    makeColumn(this, {}, {m_scroll});
}

void HelpOverlay::open()
{
    if (isVisible()) { // the key that opened it closes it
        close();
        return;
    }
    if (!m_scroll)
        fill();
    m_focusBefore = QApplication::focusWidget();
    resize(parentWidget()->size());
    m_scroll->widget()->adjustSize();
    show();
    raise();
    setFocus();
}

void HelpOverlay::close()
{
    hide();
    if (m_focusBefore)
        m_focusBefore->setFocus();
}

void HelpOverlay::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    QColor shade = Theme::tokens().background;
    shade.setAlphaF(0.75f);
    painter.fillRect(rect(), shade);
}

void HelpOverlay::leaveFor(void (HelpOverlay::*request)())
{
    close();
    emit(this->*request)();
}

void HelpOverlay::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Tab)
        m_guarantees->setFocus();
    else if (event->key() == Qt::Key_H)
        leaveFor(&HelpOverlay::guaranteesRequested);
    else if (event->key() == Qt::Key_F)
        leaveFor(&HelpOverlay::findingsRequested);
    else if (event->key() == Qt::Key_Down || event->key() == Qt::Key_PageDown) // in a window smaller than they are
        m_scroll->verticalScrollBar()->triggerAction(QAbstractSlider::SliderPageStepAdd);
    else if (event->key() == Qt::Key_Up || event->key() == Qt::Key_PageUp)
        m_scroll->verticalScrollBar()->triggerAction(QAbstractSlider::SliderPageStepSub);
    else
        close();
}

void HelpOverlay::mousePressEvent(QMouseEvent *)
{
    close();
}

bool HelpOverlay::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == parentWidget() && event->type() == QEvent::Resize && isVisible())
        resize(parentWidget()->size());
    return QWidget::eventFilter(watched, event);
}

} // namespace lockscope::ui

#include "moc_helpoverlay.cpp"
