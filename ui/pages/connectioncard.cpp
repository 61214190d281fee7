// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "ui/pages/startpage.h"
#include "ui/theme/pill.h"
#include "ui/theme/text.h"
#include "ui/theme/theme.h"

#include <QContextMenuEvent>
#include <QDateTime>
#include <QLocale>
#include <QPainter>
#include <QPainterPath>
#include <QPushButton>

namespace lockscope::ui {

namespace {

constexpr int cardHeight = 104;
constexpr int cardWidth = 280;
constexpr int moreWidth = 28;

QString dayText(const QDateTime &at)
{
    const auto day = at.date().daysTo(QDate::currentDate());
    const auto time = at.time().toString(u"HH:mm"_s);
    return day == 0   ? ConnectionCard::tr("today %1").arg(time)
           : day == 1 ? ConnectionCard::tr("yesterday %1").arg(time)
                      : QLocale(QLocale::English).toString(at, day < 300 ? u"d MMM HH:mm"_s : u"d MMM yyyy"_s);
}

// Without what a failure repeats of the address above it.
QString causeWithoutAddress(const QString &message, const QString &uri)
{
    const auto at = message.indexOf(uri + u": "_s);
    QString cause = at < 0 ? message : message.mid(at + uri.size() + 2);
    if (!cause.isEmpty())
        cause[0] = cause[0].toUpper();
    return cause;
}

void paintCheckBox(QPainter &painter, const QRectF &box, bool isChecked)
{
    const Tokens &t = Theme::tokens();
    painter.setPen(isChecked ? t.accent : t.edge);
    painter.setBrush(isChecked ? t.accent : t.panel);
    painter.drawRoundedRect(box, 3, 3);
    if (!isChecked)
        return;
    painter.setPen(QPen(t.onAccent, 2, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(QPolygonF(QList<QPointF>{
        box.topLeft() + QPointF(3.5, 7.5), box.topLeft() + QPointF(6.5, 10.5), box.topLeft() + QPointF(11.5, 4.5)}));
}

} // namespace

ConnectionCard::ConnectionCard(SavedConnection saved, const LastSeen &seen, int number, QWidget *parent)
    : QAbstractButton(parent), m_saved(std::move(saved)), m_number(number), m_button(new QPushButton(this)),
      m_edit(new QPushButton(tr("Edit…"), this)), m_more(new QPushButton(u"⋯"_s, this))
{
    setCheckable(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    m_edit->setProperty("look", u"link"_s);
    m_more->setProperty("look", u"link"_s);
    connect(m_more, &QPushButton::clicked, this,
            [this] { emit menuRequested(m_more->mapToGlobal(QPoint(0, m_more->height()))); });
    connect(m_button, &QPushButton::clicked, this,
            [this] { m_state == State::Connecting ? emit cancelRequested() : emit openRequested(); });
    connect(m_edit, &QPushButton::clicked, this, &ConnectionCard::editRequested);

    const auto spec = parseConnection(m_saved.uri); // whose texts never have a password
    const auto kind = spec ? backendOf(spec->scheme) : std::nullopt;
    const auto address = spec ? spec->displayUri().section(u"://"_s, 1).section(u'?', 0, 0) : QString();
    m_head.name = label((m_saved.name.isEmpty() && spec ? spec->displayUri() : m_saved.name).toUtf8(), 60);
    const auto title = kind ? infoOf(*kind).title : tr("Sandbox");
    m_badge = kind ? infoOf(*kind).schemes.front().word.left(2) : title.left(2);
    m_badge[0] = m_badge[0].toUpper();
    m_head.facts = label(address.toUtf8(), 120);
    m_head.tag = m_saved.production ? u"PROD"_s : m_saved.development ? u"DEV"_s : QString();
    m_head.isProduction = m_saved.production;
    m_seen = seen.at.isValid() ? tr("Last seen %1").arg(dayText(seen.at.toLocalTime())) : tr("Never connected");
    if (seen.at.isValid()) {
        const auto locks = seen.locks == 1 ? tr("1 lock") : tr("%1 locks").arg(countText(seen.locks));
        const auto incidents = seen.incidents == 0   ? tr("no incident")
                               : seen.incidents == 1 ? tr("1 incident")
                                                     : tr("%1 incidents").arg(seen.incidents);
        m_count = locks + u", "_s + incidents;
    } else if (m_saved.hasPassword) {
        m_count = tr("Password is kept");
    }
    QStringList name{m_head.name, m_head.tag, title, m_head.facts};
    name.removeAll(QString());
    setAccessibleName(name.join(u", "_s));
    m_address = spec ? spec->displayUri() : m_head.name;
    m_edit->setAccessibleName(tr("Edit %1").arg(m_head.name));
    m_more->setAccessibleName(tr("Actions on %1").arg(m_head.name));
    m_more->setToolTip(tr("Edit, duplicate, delete, export"));
    showState();
}

void ConnectionCard::setState(State state, const QString &cause)
{
    if (m_state == state && m_cause == cause)
        return;
    m_state = state;
    m_cause = cause;
    m_since = QTime::currentTime();
    showState();
}

void ConnectionCard::showState()
{
    const bool isFailed = m_state == State::Failed;
    m_button->setText(isFailed ? tr("Retry") : m_state == State::Connecting ? tr("Cancel") : tr("Open"));
    m_button->setAccessibleName(m_button->text() + u' ' + m_head.name);
    m_edit->setVisible(isFailed);
    setAccessibleDescription(isFailed ? tr("Not connected at %1: %2").arg(m_since.toString(u"HH:mm:ss"_s), m_cause)
                             : m_state == State::Connecting ? tr("Connecting")
                                                            : (m_seen + u' ' + m_count).trimmed());
    setToolTip(plainToolTip(isFailed ? m_cause : m_address));
    resizeEvent(nullptr);
    update();
}

QSize ConnectionCard::sizeHint() const
{
    return {cardWidth, cardHeight};
}

void ConnectionCard::resizeEvent(QResizeEvent *)
{
    const auto place = [this](QPushButton *button, int right) {
        const auto size = button->sizeHint();
        button->setGeometry(right - size.width(), height() - size.height() - 11, size.width(), size.height());
        return button->x();
    };
    const int left = place(m_button, width() - 13);
    place(m_edit, left - 10);
    m_more->setGeometry(width() - 4 - moreWidth, 29, moreWidth, 20);
}

void ConnectionCard::contextMenuEvent(QContextMenuEvent *event)
{
    emit menuRequested(event->globalPos());
}

void ConnectionCard::paintEvent(QPaintEvent *)
{
    const Tokens &t = Theme::tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    m_head.edge = connectionColor(m_number); // of the theme
    const QRectF box = QRectF(rect()).adjusted(3.5, 3.5, -3.5, -3.5);
    if (hasFocus()) {
        painter.setPen(QPen(t.accent, 2));
        painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 9, 9);
    }
    painter.setPen(Qt::NoPen);
    painter.setBrush(t.panel);
    painter.drawRoundedRect(box, 7, 7);
    QPainterPath inside;
    inside.addRoundedRect(box, 7, 7);
    painter.save();
    painter.setClipPath(inside);
    paintEdge(painter, box.toAlignedRect(), m_head);
    painter.restore();
    painter.setPen(t.edge);
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(box, 7, 7);

    const QRectF badge(box.left() + 18, box.top() + 11, 28, 28);
    painter.setPen(QPen(m_head.edge, 1.8));
    painter.drawEllipse(badge);
    painter.setFont(textFont(11, QFont::DemiBold));
    painter.drawText(badge, Qt::AlignCenter, m_badge);
    const QRectF check(box.right() - 27, box.top() + 12, 15, 15);
    paintCheckBox(painter, check, isChecked());

    const auto line = [&](qreal left, qreal top, qreal right, const QString &text, const QColor &color) {
        painter.setPen(color);
        const QRectF room(left, box.top() + top, right - left, 18);
        painter.drawText(room, Qt::AlignVCenter | Qt::TextSingleLine,
                         QFontMetricsF(painter.font()).elidedText(text, Qt::ElideMiddle, room.width()));
    };
    painter.setFont(textFont(14, QFont::DemiBold));
    const qreal left = badge.right() + 10;
    const qreal tag = m_head.tag.isEmpty() ? 0 : tagWidth(m_head.tag) + 8;
    const auto right =
        std::min(check.left() - 8, left + tag + 1 + QFontMetricsF(painter.font()).horizontalAdvance(m_head.name));
    line(left, 7, right - tag, m_head.name, t.text);
    paintTag(painter, QRectF(right - tag + 8, box.top() + 7, tag, 18), m_head.tag,
             m_head.isProduction ? TagLook::Production : TagLook::Plain);
    painter.setFont(textFont(12));
    line(left, 25, box.right() - moreWidth - 4, m_head.facts, t.muted);
    const auto buttons = (m_edit->isVisibleTo(this) ? m_edit : m_button)->x() - 8;
    const bool isFailed = m_state == State::Failed;
    line(badge.left(), 54, isFailed ? box.right() - 10 : buttons,
         isFailed                       ? causeWithoutAddress(m_cause, m_address)
         : m_state == State::Connecting ? tr("Connecting…")
                                        : m_seen,
         isFailed ? t.critical : t.muted);
    const auto since = m_since.toString(u"HH:mm:ss"_s);
    line(badge.left(), 72, buttons,
         isFailed                       ? tr("Failed at %1").arg(since)
         : m_state == State::Connecting ? tr("since %1").arg(since)
                                        : m_count,
         t.muted);
}

} // namespace lockscope::ui
