// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/topbar.h"

#include "ui/parts/labels.h"
#include "ui/parts/parts.h"
#include "ui/shell/connectionchooser.h"

#include <QKeyEvent>
#include <QPainter>

namespace lockscope::ui {

namespace {

constexpr int barHeight = 46;
constexpr int stripesHeight = 5; // below the bar, a line of them or a hairline
constexpr int titleFrom = 900;   // of the window's width: its own title says it
constexpr int wideFrom = 1200;
constexpr int wordsFrom = 860; // history and pause have their words beside their icons

// The sign of the program and its name.
class Title : public QWidget {
public:
    explicit Title(QWidget *parent) : QWidget(parent) { setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed); }
    [[nodiscard]] QSize sizeHint() const override
    {
        return {28 + QFontMetrics(textFont(13, QFont::DemiBold)).horizontalAdvance(u"Lockscope"_s), 28};
    }

private:
    void paintEvent(QPaintEvent *) override
    {
        const Tokens &t = Theme::tokens();
        QPainter painter(this);
        paintIcon(painter, QRectF(0, 0, 20, height()), u"logo"_s, t.text);
        painter.setFont(textFont(13, QFont::DemiBold));
        painter.setPen(t.text);
        painter.drawText(rect().adjusted(28, 0, 0, 0), Qt::AlignVCenter, u"Lockscope"_s);
    }
};

} // namespace

TopBar::TopBar(const ConnectionBook &book, QWidget *parent)
    : QFrame(parent), m_title(new Title(this)), m_find(named(new QLineEdit(this), u"find"_s, tr("Find"))),
      m_findKey(new QLabel(u"/"_s, m_find)),
      m_filters(named(new QPushButton(u"▾"_s, this), u"filtersButton"_s, tr("Saved filters"))),
      m_chooser(named(new ConnectionChooser(book, this), u"environment"_s)),
      m_history(named(makeButton(tr("History"), this, &TopBar::timeRequested), u"timeButton"_s, tr("History"))),
      m_pause(named(makeButton({}, this, &TopBar::pauseToggled), u"pauseButton"_s)),
      m_help(named(makeButton(u"?"_s, this, &TopBar::helpRequested), u"helpButton"_s, tr("Keys and help"))),
      m_menu(named(new QPushButton(u"⋯"_s, this), u"menuButton"_s, tr("Menu"))), m_findIcon(nullptr)
{
    setProperty("look", u"topbar"_s);
    setObjectName(u"topBar"_s);
    setFixedHeight(barHeight + stripesHeight);
    makeFind();
    m_history->setToolTip(tr("View recorded history (Ctrl+T)"));
    m_help->setToolTip(tr("Keys and help (?)"));
    m_filters->setFixedWidth(34);
    m_filters->setToolTip(tr("Saved filters (Ctrl+Shift+S)"));
    m_menu->setToolTip(tr("Menu (F10)"));
    m_pause->setToolTip(tr(
        "Freeze the display (Space). Changes that arrive in the meantime are counted below. Actions always check the live state."));
    auto *finding = makeRow({.spacing = 4}, {{m_find, 1}, m_filters});
    makeRow(this, {.margins = {14, 0, 14, stripesHeight}, .spacing = 10},
            {m_title, Gap{8}, {finding, 3}, Stretch{2}, m_chooser, m_history, m_pause, m_help, m_menu});
    connect(&book, &ConnectionBook::changed, this, qOverload<>(&QWidget::update));
    if (auto *theme = Theme::instance())
        connect(theme, &Theme::changed, this, &TopBar::showIcons);
    setPaused(false);
}

void TopBar::makeFind()
{
    m_find->setProperty("look", u"find"_s);
    m_find->setClearButtonEnabled(true);
    m_find->setMinimumWidth(120);
    m_find->setMaximumWidth(420);
    m_find->installEventFilter(this);
    m_findIcon = m_find->addAction(QIcon(), QLineEdit::LeadingPosition);
    m_findKey->setProperty("look", u"key"_s);
    m_findKey->setAttribute(Qt::WA_TransparentForMouseEvents);
    connect(m_find, &QLineEdit::textChanged, this,
            [this](const QString &text) { m_findKey->setVisible(text.isEmpty()); });
    // A filter over 100,000 rows need not run for every letter.
    auto *pauseInTyping = new QTimer(this);
    pauseInTyping->setSingleShot(true);
    pauseInTyping->setInterval(120);
    connect(m_find, &QLineEdit::textChanged, pauseInTyping, qOverload<>(&QTimer::start));
    connect(pauseInTyping, &QTimer::timeout, this, [this] { emit findChanged(m_find->text()); });
    connect(m_find, &QLineEdit::returnPressed, this, [this, pauseInTyping] {
        pauseInTyping->stop();
        emit findChanged(m_find->text());
        emit findDone();
    });
}

void TopBar::showIcons()
{
    const Tokens &t = Theme::tokens();
    m_history->setIcon(lineIcon(u"history"_s, t.text));
    m_pause->setIcon(lineIcon(m_isPaused ? u"resume"_s : u"pause"_s, t.text));
    m_findIcon->setIcon(lineIcon(u"find"_s, t.muted));
}

void TopBar::resizeEvent(QResizeEvent *event)
{
    QFrame::resizeEvent(event);
    fit();
}

void TopBar::fit()
{
    m_title->setVisible(width() >= titleFrom);
    const bool isWide = width() >= wideFrom;
    m_find->setPlaceholderText(isWide ? tr("Find a lock, client, host or statement") : tr("Find"));
    const bool hasWords = width() >= wordsFrom;
    m_history->setText(hasWords ? u' ' + tr("History") : QString());
    const auto pause = m_isPaused ? tr("Resume") : tr("Pause");
    m_pause->setText(hasWords ? u' ' + pause : QString());
    m_pause->setAccessibleName(pause);
}

void TopBar::setContext(const ConnectionName &connection, bool showsServers)
{
    m_chooser->setContext(connection);
    m_chooser->setShowsServers(showsServers);
    update();
}

void TopBar::focusFind()
{
    m_find->setFocus(Qt::ShortcutFocusReason);
    m_find->selectAll();
}

void TopBar::setPaused(bool paused)
{
    m_isPaused = paused;
    fit();
    showIcons();
}

void TopBar::paintEvent(QPaintEvent *event)
{
    QFrame::paintEvent(event);
    const Tokens &t = Theme::tokens();
    QPainter painter(this);
    const QRectF below(0, barHeight, width(), stripesHeight);
    if (m_chooser->isProduction())
        paintStripes(painter, below.adjusted(0, 0, 0, -1), t.production);
    painter.fillRect(QRectF(0, height() - 1, width(), 1), t.line);
}

bool TopBar::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_find && event->type() == QEvent::Resize) {
        const QSize size = m_findKey->sizeHint();
        m_findKey->setGeometry(m_find->width() - size.width() - 8, (m_find->height() - size.height()) / 2,
                               size.width(), size.height());
    }
    if (watched == m_find && event->type() == QEvent::KeyPress) {
        const auto *key = static_cast<QKeyEvent *>(event);
        if (key->key() == Qt::Key_Escape) {
            m_find->clear();
            emit findDone();
            return true;
        }
        if (key->key() == Qt::Key_Down) {
            emit findDone();
            return true;
        }
    }
    return QFrame::eventFilter(watched, event);
}

} // namespace lockscope::ui

#include "moc_topbar.cpp"
