// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/timebar.h"

#include "ui/models/screenclock.h"
#include "ui/parts/labels.h"
#include "ui/parts/layouts.h"
#include "ui/parts/parts.h"
#include "ui/theme/text.h"
#include "ui/theme/theme.h"

#include <QDateTime>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QPushButton>

#include <algorithm>
#include <cmath>

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
    setAccessibleDescription(
        tr("← and → go by a second, with Shift by half a minute, Page Up and Page Down by five"));
}

void TimeTrack::setSpan(Moment begin, Moment end)
{
    m_begin = begin;
    m_end = std::max(begin, end);
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

QRectF TimeTrack::line() const
{
    return {handleSize + 1, lineBelow - 2, width() - 2 * handleSize - 2, 4};
}

double TimeTrack::xOf(Moment moment) const
{
    const auto whole = static_cast<double>((m_end - m_begin).count());
    const auto part = static_cast<double>((std::clamp(moment, m_begin, m_end) - m_begin).count());
    return line().left() + (whole > 0 ? part / whole : 1.0) * line().width();
}

TimeTrack::Moment TimeTrack::momentAt(double x) const
{
    const double part = std::clamp((x - line().left()) / line().width(), 0.0, 1.0);
    return m_begin + std::chrono::milliseconds(std::llround(part * static_cast<double>((m_end - m_begin).count())));
}

void TimeTrack::paintEvent(QPaintEvent *)
{
    const auto &tokens = Theme::tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(tokens.line);
    painter.drawRoundedRect(line(), 2, 2);
    const double x = xOf(m_at.value_or(m_end));
    painter.setBrush(m_at ? tokens.past : tokens.accent);
    painter.drawRoundedRect(QRectF(line().topLeft(), QPointF(x, line().bottom())), 2, 2);
    // One mark a pixel: a busy lock has thousands.
    painter.setBrush(tokens.text);
    int last = -1;
    for (const auto mark : m_marks) {
        const int at = static_cast<int>(xOf(mark));
        if (mark >= m_begin && std::exchange(last, at) != at)
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
    drawTabular(painter, below, Qt::AlignLeft, trackTime(m_begin));
    drawTabular(painter, below, Qt::AlignRight, trackTime(m_end));
}

void TimeTrack::mousePressEvent(QMouseEvent *event)
{
    if (event->button() == Qt::LeftButton)
        emit sought(momentAt(event->position().x()));
}

void TimeTrack::mouseMoveEvent(QMouseEvent *event)
{
    const auto moment = momentAt(event->position().x());
    setToolTip(trackTime(moment));
    if (event->buttons() & Qt::LeftButton)
        emit sought(moment);
}

void TimeTrack::keyPressEvent(QKeyEvent *event)
{
    const bool isLong = event->modifiers() & Qt::ShiftModifier;
    if (event->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) {
        QWidget::keyPressEvent(event);
        return;
    }
    switch (event->key()) {
    case Qt::Key_Left: emit stepped(isLong ? -30s : -1s); break;
    case Qt::Key_Right: emit stepped(isLong ? 30s : 1s); break;
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
        setFixedHeight(38);
        m_words->setFont(textFont(15, QFont::Bold));
        makeRow(this, {.margins = {stripes + 12, 3, stripes + 12, 3}, .spacing = 14}, {m_words, {m_more, 1}, m_back});
        if (auto *theme = Theme::instance())
            QObject::connect(theme, &Theme::changed, this, [this] { recolour(); });
        recolour();
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
    }

private:
    static constexpr int stripes = 64;
    void recolour()
    {
        const auto colour = u"color: %1; background: transparent;"_s.arg(Theme::tokens().onPast.name());
        m_words->setStyleSheet(colour);
        m_more->setStyleSheet(colour);
    }

    QLabel *m_words;
    QLabel *m_more;
    QPushButton *m_back;
};

TimeBar::TimeBar(QWidget *parent)
    : QFrame(parent), m_banner(new NotNowBanner(this)), m_track(new TimeTrack(this)),
      m_about(named(makeLabel({}, u"small"_s, this), u"timeAbout"_s)),
      m_previous(makeButton(tr("◂ Change"), this, &TimeBar::previousChangeRequested)),
      m_next(makeButton(tr("Change ▸"), this, &TimeBar::nextChangeRequested)),
      m_more(new QPushButton(tr("File"), this))
{
    setObjectName(u"timeBar"_s);
    setProperty("look", u"panel"_s);
    m_about->setMaximumWidth(300);
    m_previous->setToolTip(tr("To the chosen lock's change before (Ctrl+Shift+↑)"));
    m_next->setToolTip(tr("To the chosen lock's next change (Ctrl+Shift+↓)"));
    auto *five = makeButton(tr("− 5 min"), this, [this] { emit stepped(-5min); });
    five->setToolTip(tr("Five minutes back (Ctrl+Shift+←)"));
    auto *row =
        makeRow({.margins = {12, 4, 12, 2}, .spacing = 8}, {five, m_previous, {m_track, 1}, m_next, m_about, m_more});
    m_more->hide();
    makeColumn(this, {.spacing = 0}, {m_banner, row, makeHairline(this)});
    m_warned.setSingleShot(true);
    m_warned.setInterval(6s);
    connect(&m_warned, &QTimer::timeout, this, &TimeBar::updateRestLabel);
    connect(m_track, &TimeTrack::stepped, this, &TimeBar::stepped);
    connect(&m_banner->back(), &QPushButton::clicked, this, [this] {
        if (m_file.isEmpty())
            emit backRequested();
        else
            emit fileCloseRequested();
    });
    showSource({}, {});
    showMoment({}, {});
}

void TimeBar::addMenu(const QList<QAction *> &actions)
{
    auto *menu = new QMenu(m_more);
    menu->addActions(actions);
    m_more->setMenu(menu);
    m_more->show();
}

void TimeBar::showMoment(std::optional<Moment> at, const QString &howFar)
{
    m_track->setMoment(at);
    m_banner->setVisible(at.has_value());
    if (!at)
        return;
    const auto time = timeOfDay(*at);
    const bool isToday = time.date() == QDate::currentDate();
    m_banner->words().setText(tr("Viewing the past: %1, %2")
                                  .arg(time.toString(isToday ? u"HH:mm:ss"_s : u"yyyy-MM-dd HH:mm:ss"_s), howFar));
}

void TimeBar::showSource(const QString &file, const QString &about)
{
    m_file = file;
    m_rest = file.isEmpty() ? tr("Nothing can be done here.") : about;
    updateRestLabel();
    m_banner->back().setText(file.isEmpty() ? tr("Return to live view (Esc)") : tr("Close recording"));
}

void TimeBar::showAbout(const QString &words)
{
    m_about->setText(words);
}

void TimeBar::updateRestLabel()
{
    m_banner->more().setText(m_rest);
    m_banner->more().setToolTip(plainToolTip(m_rest));
}

void TimeBar::warn(const QString &sentence)
{
    m_banner->more().setText(u"✕ "_s + sentence);
    m_warned.start();
}

QString TimeBar::bannerText() const
{
    return m_banner->isHidden() ? QString() : m_banner->words().text() + u' ' + m_banner->more().text();
}

} // namespace lockscope::ui

#include "moc_timebar.cpp"
