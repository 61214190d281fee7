// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/timebar.h"

#include "ui/models/screenclock.h"
#include "ui/parts/labels.h"
#include "ui/parts/parts.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr double lineBelow = 15; // the middle of the line
constexpr double handleSize = 7;

QString trackTime(TimeTrack::Moment moment)
{
    return timeOfDay(moment).toString(u"HH:mm:ss"_s);
}

} // namespace

TimeTrack::TimeTrack(QWidget *parent) : QWidget(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setFixedHeight(40);
    setMinimumWidth(160);
    setAccessibleName(tr("Time"));
    setAccessibleDescription(tr("← and → go to the chosen lock's events, with Shift by a second, Page Up and Page "
                                "Down by five minutes"));
}

void TimeTrack::setSpan(Moment begin, Moment end)
{
    m_begin = begin;
    m_end = std::max(begin, end);
    update();
}

void TimeTrack::setSince(Moment since)
{
    m_since = since;
    update();
}

void TimeTrack::setMoment(std::optional<Moment> at)
{
    m_at = at;
    update();
}

void TimeTrack::setMarks(std::vector<Moment> marks)
{
    m_marks = std::move(marks);
    update();
}

std::optional<TimeTrack::Moment> TimeTrack::markBefore() const
{
    const auto at = std::ranges::lower_bound(m_marks, m_at.value_or(m_end + 1ms));
    return at == m_marks.begin() ? std::nullopt : std::optional(*std::prev(at));
}

std::optional<TimeTrack::Moment> TimeTrack::markAfter() const
{
    const auto at = std::ranges::upper_bound(m_marks, m_at.value_or(m_end));
    return at == m_marks.end() ? std::nullopt : std::optional(*at);
}

TimeAxis TimeTrack::axis() const
{
    return {m_begin, m_end, handleSize + 1, width() - 2 * handleSize - 2};
}

void TimeTrack::paintEvent(QPaintEvent *)
{
    const auto &tokens = Theme::tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(tokens.line);
    const auto axis = this->axis();
    const QRectF line(axis.left, lineBelow - 2, axis.width, 4);
    painter.drawRoundedRect(line, 2, 2);
    const double x = axis.xOf(m_at.value_or(m_end));
    const double since = axis.xOf(std::max(m_since, m_begin));
    painter.setBrush(m_at ? tokens.past : tokens.accent);
    painter.drawRoundedRect(QRectF(QPointF(since, line.top()), QPointF(x, line.bottom())), 2, 2);
    painter.fillRect(QRectF(QPointF(0, lineBelow - 6), QPointF(since, lineBelow + 6)),
                     QBrush(tokens.muted, Qt::BDiagPattern)); // cannot be reached
    // One mark a pixel: a busy lock has thousands.
    painter.setBrush(tokens.text);
    int last = -1;
    for (const auto mark : m_marks) {
        const int at = static_cast<int>(axis.xOf(mark));
        if (mark >= m_since && std::exchange(last, at) != at)
            painter.drawRect(QRectF(at, lineBelow - 8, 1.5, 16));
    }
    painter.setBrush(m_at ? tokens.past : tokens.accent);
    painter.setPen(QPen(hasFocus() ? tokens.text : tokens.panel, 2));
    if (m_at) // a diamond in the past, a disc now: not by colour alone
        painter.drawPolygon(
            QPolygonF(QList<QPointF>{QPointF(x, lineBelow - handleSize - 1), QPointF(x + handleSize, lineBelow),
                                     QPointF(x, lineBelow + handleSize + 1), QPointF(x - handleSize, lineBelow)}));
    else
        painter.drawEllipse(QPointF(x, lineBelow), handleSize - 1, handleSize - 1);
    painter.setPen(tokens.muted);
    painter.setFont(textFont(11));
    const QRectF below(0, 25, width(), 15);
    drawTabular(painter, below, Qt::AlignLeft, tr("recorded since %1").arg(trackTime(std::max(m_since, m_begin))));
    drawTabular(painter, below, Qt::AlignRight, trackTime(m_end));
}

void TimeTrack::mousePressEvent(QMouseEvent *event)
{
    if (event->button() == Qt::LeftButton)
        emit sought(axis().momentAt(event->position().x()));
}

void TimeTrack::mouseMoveEvent(QMouseEvent *event)
{
    const auto moment = axis().momentAt(event->position().x());
    setToolTip(trackTime(moment));
    if (event->buttons() & Qt::LeftButton)
        emit sought(moment);
}

void TimeTrack::keyPressEvent(QKeyEvent *event)
{
    const bool isByTime = event->modifiers() & Qt::ShiftModifier;
    if (event->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) {
        QWidget::keyPressEvent(event);
        return;
    }
    switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right: {
        const bool isBefore = event->key() == Qt::Key_Left;
        if (isByTime || m_marks.empty())
            emit stepped(isBefore ? -1s : 1s);
        else
            emit changeRequested(isBefore);
        break;
    }
    case Qt::Key_PageUp: emit stepped(-5min); break;
    case Qt::Key_PageDown: emit stepped(5min); break;
    case Qt::Key_Home: emit sought(m_begin); break;
    case Qt::Key_End: emit sought(m_end); break;
    default: QWidget::keyPressEvent(event);
    }
}

// Stripes at both ends, as on what must not be walked past.
class NotNowBanner : public QFrame {
public:
    explicit NotNowBanner(QWidget *parent)
        : QFrame(parent), m_words(named(makeLabel({}, {}, this), u"notNow"_s)),
          m_more(named(new ElidedLabel(this), u"notNowMore"_s)), m_back(named(new QPushButton(this), u"backToNow"_s))
    {
        m_words->setFont(textFont(15, QFont::Bold));
        makeRow(this, {.margins = {stripes + 36, 3, stripes + 12, 3}, .spacing = 14}, {m_words, {m_more, 1}, m_back});
        if (auto *theme = Theme::instance())
            QObject::connect(theme, &Theme::changed, this, [this] { recolour(); });
        recolour();
    }
    void setIcon(const QString &icon, int height)
    {
        m_icon = icon;
        setFixedHeight(shownSize(height));
        update();
    }
    [[nodiscard]] QLabel &words() { return *m_words; }
    [[nodiscard]] QLabel &more() { return *m_more; }
    [[nodiscard]] QPushButton &back() { return *m_back; }

protected:
    void paintEvent(QPaintEvent *) override
    {
        const auto &tokens = Theme::tokens();
        QPainter painter(this);
        painter.fillRect(rect(), tokens.past);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(tokens.onPast, 7));
        for (const auto &end : {QRect(0, 0, stripes, height()), QRect(width() - stripes, 0, stripes, height())}) {
            painter.setClipRect(end);
            for (int x = end.left() - height(); x < end.right() + height(); x += 18)
                painter.drawLine(x, height(), x + height(), 0);
        }
        painter.setClipping(false);
        paintIcon(painter, QRectF(stripes + 10, 0, 18, height()), m_icon, tokens.onPast);
    }

private:
    static constexpr int stripes = 64;
    void recolour()
    {
        const auto colour = u"color: %1; background: transparent;"_s.arg(Theme::tokens().onPast.name());
        m_words->setStyleSheet(colour);
        m_more->setStyleSheet(colour);
    }

    QString m_icon;
    QLabel *m_words;
    QLabel *m_more;
    QPushButton *m_back;
};

TimeBar::TimeBar(QWidget *parent)
    : QFrame(parent), m_banner(new NotNowBanner(this)), m_track(new TimeTrack(this)),
      m_about(named(makeLabel({}, u"small"_s, this), u"timeAbout"_s)), m_more(new QPushButton(tr("File"), this)),
      m_line(new QWidget(this))
{
    setObjectName(u"timeBar"_s);
    setProperty("look", u"panel"_s);
    m_about->setMaximumWidth(300);
    auto *before = makeButton(tr("◂ Event"), this, [this] { emit changeRequested(true); });
    auto *after = makeButton(tr("Event ▸"), this, [this] { emit changeRequested(false); });
    before->setToolTip(tr("Previous event of the chosen lock (Ctrl+Shift+↑)"));
    after->setToolTip(tr("Next event of the chosen lock (Ctrl+Shift+↓)"));
    auto *five = makeButton(tr("− 5 min"), this, [this] { emit stepped(-5min); });
    five->setToolTip(tr("Five minutes back (Ctrl+Shift+←)"));
    makeRow(m_line, {.margins = {12, 4, 12, 2}, .spacing = 8}, {five, before, {m_track, 1}, after, m_about, m_more});
    m_more->hide();
    makeColumn(this, {.spacing = 0}, {m_banner, m_line, makeHairline(this)});
    callAfter(m_warned, 6s, this, &TimeBar::refresh);
    connect(m_track, &TimeTrack::stepped, this, &TimeBar::stepped);
    connect(m_track, &TimeTrack::changeRequested, this, &TimeBar::changeRequested);
    connect(&m_banner->back(), &QPushButton::clicked, this, [this] {
        if (!m_at)
            emit resumeRequested();
        else if (m_showsFile)
            emit fileCloseRequested();
        else
            emit backRequested();
    });
    refresh();
}

void TimeBar::addMenu(const QList<QAction *> &actions)
{
    auto *menu = new QMenu(m_more);
    menu->addActions(actions);
    m_more->setMenu(menu);
    m_more->show();
}

void TimeBar::useStrip(QWidget &strip)
{
    m_strip = &strip;
    strip.installEventFilter(this);
    refresh();
}

bool TimeBar::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_strip && (event->type() == QEvent::Show || event->type() == QEvent::Hide))
        QMetaObject::invokeMethod(this, &TimeBar::refresh, Qt::QueuedConnection);
    return QFrame::eventFilter(watched, event);
}

void TimeBar::focusTrack()
{
    auto *track = m_strip && m_strip->isVisible() ? m_strip : m_track;
    track->setFocus(Qt::ShortcutFocusReason);
}

void TimeBar::showMoment(std::optional<Moment> at, const QString &howFar, const QString &about, bool isFile)
{
    m_track->setMoment(at);
    if (!at)
        m_warned.stop(); // it was about what is not shown any more
    m_at = at;
    m_howFar = howFar;
    m_rest = about;
    m_showsFile = isFile;
    refresh();
}

void TimeBar::showPaused(std::optional<Moment> at, const QString &about)
{
    m_pausedAt = at;
    m_pausedRest = about;
    refresh();
}

// The past has room for all of it; a pause is the same, smaller.
void TimeBar::refresh()
{
    setVisible(m_at || m_pausedAt);
    m_line->setVisible(m_at && !(m_strip && m_strip->isVisible()));
    const auto shown = m_at ? m_at : m_pausedAt;
    if (!shown)
        return;
    const auto time = timeOfDay(*shown);
    const bool isToday = time.date() == QDate::currentDate();
    const auto when = time.toString(isToday ? u"HH:mm:ss"_s : u"yyyy-MM-dd HH:mm:ss"_s);
    m_banner->setIcon(m_at ? u"history"_s : u"pause"_s, m_at ? 42 : 34);
    m_banner->words().setText(m_at ? tr("Viewing %1 (%2), read-only").arg(when, m_howFar)
                                   : tr("Paused at %1").arg(when));
    m_banner->back().setText(!m_at         ? tr("Resume (Esc)")
                             : m_showsFile ? tr("Close recording")
                                           : tr("Return to live view (Esc)"));
    if (m_warned.isActive())
        return;
    const auto &rest = m_at ? m_rest : m_pausedRest;
    m_banner->more().setText(rest);
    m_banner->more().setToolTip(plainToolTip(rest));
}

void TimeBar::warn(const QString &sentence)
{
    m_banner->more().setText(u"✕ "_s + sentence);
    m_warned.start();
}

QString TimeBar::bannerText() const
{
    return isHidden() ? QString() : m_banner->words().text() + u' ' + m_banner->more().text();
}

} // namespace lockscope::ui

#include "moc_timebar.cpp"
