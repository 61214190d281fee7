// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/helpoverlay.h"

#include "core/base/fieldreader.h"
#include "ui/shell/actions.h"

#include <QApplication>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>

namespace lockscope::ui {

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
    KeyHints last;
    readResourceList(u"words/keys.json"_s, "keys", [&](FieldReader &reader) {
        bool isLast = false;
        reader.take("isLast", isLast);
        (isLast ? last : keys) << std::pair(reader.text("keys"), reader.text("what"));
    });
    keys << m_keysOfPages() << last;
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

bool HelpOverlay::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == parentWidget() && event->type() == QEvent::Resize && isVisible())
        resize(parentWidget()->size());
    return QWidget::eventFilter(watched, event);
}

} // namespace lockscope::ui

#include "moc_helpoverlay.cpp"
