// SPDX-License-Identifier: Apache-2.0
// The doors of the start page: connect to a server by its URI, the sandbox, the lessons. And its cards, one for each
// connection that is saved.
#include "core/base/text.h"
#include "ui/dialogs/connectform.h"
#include "ui/pages/startpage.h"

#include <QPainter>
#include <QPainterPath>

namespace lockscope::ui {

namespace {

// The icon of a door, in the color of the text.
class DoorSign : public QWidget {
public:
    DoorSign(QString icon, QWidget *parent) : QWidget(parent), m_icon(std::move(icon)) { setFixedSize(20, 20); }

private:
    void paintEvent(QPaintEvent *) override
    {
        QPainter painter(this);
        paintIcon(painter, QRectF(rect()), m_icon, Theme::tokens().text);
    }

    const QString m_icon;
};

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

QWidget *StartPage::makeDoor(const QString &icon, const QString &title, const QString &text,
                             std::initializer_list<BoxPart> parts)
{
    auto *door = new QFrame(m_doors);
    door->setProperty("look", u"door"_s);
    auto *sign = new DoorSign(icon, door);
    auto *column = makeColumn(door, {.margins = {16, 14, 16, 14}, .spacing = 8},
                              {makeRow({.spacing = 10}, {sign, makeLabel(title, u"title"_s, door), Stretch{1}}),
                               makeWrapped(text, u"muted"_s, door)});
    addParts(*column, parts);
    return door;
}

void StartPage::buildDoors()
{
    m_uri->setFont(monoFont());
    m_uri->setPlaceholderText(u"zk://zk-1.example.net:2181/shop"_s);
    m_uri->setAccessibleName(tr("URI of a server"));
    // A pasted address is tried at once, a typed one when Enter is pressed.
    connect(m_uri, &QLineEdit::textChanged, this, [this, before = QString()](const QString &text) mutable {
        const bool isPasted = text.size() > before.size() + 1;
        before = text;
        m_checklist->clear();
        m_uri->setProperty("tone", QString());
        if (isPasted && text.contains("://"_L1) && typed())
            test();
    });
    connect(m_uri, &QLineEdit::returnPressed, this, &StartPage::test);
    connect(m_checklist, &TrialChecklist::fixRequested, this, &StartPage::fix);
    auto *options = makeButton(tr("All options…"), m_doors, this, [this] { emit optionsRequested(typedFields()); });
    auto *testing = makeButton(tr("Test"), m_doors, this, &StartPage::test);
    auto *connecting = makeButton(tr("Connect"), m_doors, this, &StartPage::connectTyped, u"primary"_s);
    const auto servers = mapped<QStringList>(allBackends(), [&](const auto &backend) { return backend.title; });
    auto *demo = makeButton(tr("Start the sandbox"), m_doors, this, &StartPage::demoRequested);
    auto *lessons = makeButton(tr("Open the lessons"), m_doors, this, &StartPage::lessonsRequested);
    makeColumn(
        m_doors, {.margins = {16, 22, 16, 16}, .spacing = 14},
        {makeDoor(u"connect"_s, tr("Connect to a server"),
                  tr("Paste a URI of %1. The answer is a checklist.").arg(servers.join(u", "_s)),
                  {m_uri, m_checklist, makeRow({.spacing = 8}, {options, Stretch{1}, testing, connecting})}),
         makeDoor(u"sandbox"_s, tr("Try the sandbox"),
                  tr("Private servers on this computer, filled with demo locks: a deadlock, a herd, a row lock. They "
                     "end with this window."),
                  {makeRow({}, {Stretch{1}, demo})}),
         makeDoor(u"lessons"_s, tr("Take a lesson"),
                  tr("Short lessons with moving pictures, from a znode to fencing tokens. No server is needed."),
                  {makeRow({}, {Stretch{1}, lessons})}),
         Stretch{1}});
}

Result<ConnectionSpec> StartPage::typed()
{
    if (hasUnencodedPassword(m_uri->text().trimmed()))
        return Error{ErrorCode::BadInput, u"the password holds / or ?; write them as %2F and %3F, or give it in the "
                                          u"form (All options…)"_s};
    std::vector<ConnectionSpec> specs;
    TRY(auto &spec, parseConnection(m_uri->text().trimmed()));
    specs.push_back(std::move(spec));
    // Another server's name is no default of this one: opening it would end the other connection.
    std::set<ConnectionName> taken;
    for (const auto &status : m_book.all()) {
        if (status.uri != specs.front().displayUri())
            taken.insert(status.name);
    }
    for (const auto *card : m_cards) {
        if (card->saved().uri != uriOf(specs.front()))
            taken.insert(card->name());
    }
    for (const auto &name : taken) {
        specs.emplace_back();
        specs.back().name = name;
    }
    TRY_VOID(nameConnections(specs));
    return specs.front();
}

SavedConnection StartPage::typedFields()
{
    SavedConnection fields;
    fields.uri = m_uri->text().trimmed();
    if (const auto spec = typed())
        fields.user = spec->user;
    return fields;
}

void StartPage::test()
{
    const auto spec = typed();
    if (m_uri->text().isEmpty())
        return emit optionsRequested({});
    if (spec && spec->hosts.empty())
        return connectTyped();
    if (spec)
        m_checklist->begin(*spec);
    else
        m_checklist->show(spec.error());
}

void StartPage::connectTyped()
{
    const auto spec = typed();
    if (!spec)
        return m_checklist->show(spec.error());
    if (spec->scheme == Scheme::Sandbox)
        return emit demoRequested();
    m_checklist->clear();
    SavedConnection used;
    used.name = QString::fromUtf8(spec->name.bytes());
    used.uri = uriOf(*spec);
    used.user = spec->user;
    if (m_store)
        m_store->noteUsed(used);
    m_uri->clear(); // its password is not for the next who looks
    emit openRequested(*spec);
}

void StartPage::fix(TrialCheck::Fix fix)
{
    auto spec = typed();
    if (!spec || fix == TrialCheck::Fix::Hosts)
        return m_uri->setFocus();
    if (fix != TrialCheck::Fix::TurnOnTls)
        return emit optionsRequested(typedFields());
    const auto uri = m_uri->text().trimmed();
    m_uri->setText(uri + (uri.contains(u'?') ? u'&' : u'?') + u"tls=on"_s); // which tests it again
}

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
