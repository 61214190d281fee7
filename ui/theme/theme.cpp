// SPDX-License-Identifier: Apache-2.0
#include "ui/theme/theme.h"

#include <QApplication>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QDBusVariant>
#include <QDialogButtonBox>
#include <QEvent>
#include <QFontDatabase>
#include <QIcon>
#include <QPainter>
#include <QProxyStyle>
#include <QRegularExpression>
#include <QTextDocumentFragment>
#include <QTimer>
#include <QWidget>

#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

// A static library's resources have to be asked for; the macro wants the global namespace.
static void useThemeResources()
{
    Q_INIT_RESOURCE(lockscope_theme);
}

namespace lockscope::ui {

using namespace Qt::StringLiterals;

// Whether the desktop prefers dark: asked of the desktop portal, which may be absent. Never blocks
// for the answer; until (and unless) it comes, prefersDark() is empty.
class PortalColorScheme : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    // Asks once, and follows changes from then on.
    void ask();
    [[nodiscard]] std::optional<bool> prefersDark() const { return m_dark; }

signals:
    void answered();

private slots:
    void settingChanged(const QString &group, const QString &key, const QDBusVariant &value);

private:
    void send();
    void take(const QVariant &scheme);

    bool m_asked = false;
    std::optional<bool> m_dark;
};

namespace {

constexpr auto portalService = "org.freedesktop.portal.Desktop"_L1;
constexpr auto portalPath = "/org/freedesktop/portal/desktop"_L1;
constexpr auto portalSettings = "org.freedesktop.portal.Settings"_L1;
constexpr auto appearance = "org.freedesktop.appearance"_L1;
constexpr auto colorScheme = "color-scheme"_L1;

// The portal wraps its answer in one variant more than the setting itself.
QVariant unwrapped(QVariant value)
{
    while (value.canConvert<QDBusVariant>())
        value = value.value<QDBusVariant>().variant();
    return value;
}

Theme *g_theme = nullptr;
bool g_dark = false;
bool g_large = false;
constexpr double largeBy = 1.25;
constexpr int leastLarge = 14;

// The style sheet's own sizes, as those of the fonts.
QString enlarged(const QString &sheet)
{
    if (!g_large)
        return sheet;
    static const QRegularExpression size(u"font-size: (\\d+)px"_s);
    QString result;
    qsizetype from = 0;
    for (auto all = size.globalMatch(sheet); all.hasNext();) {
        const auto match = all.next();
        result += sheet.sliced(from, match.capturedStart() - from)
                  + u"font-size: %1px"_s.arg(shownSize(match.captured(1).toInt()));
        from = match.capturedEnd();
    }
    return result + sheet.sliced(from);
}

// Screen readers get the plain text of a tooltip where its widget has no description of its own, and would read its
// markup aloud.
class ToolTipReader : public QObject {
public:
    using QObject::QObject;

private:
    bool eventFilter(QObject *watched, QEvent *event) override;
};

// Most are made by plainToolTip(), and need no parser.
QString withoutMarkup(const QString &tip)
{
    static const QString begin = u"<p style='white-space:pre-wrap'>"_s;
    static const QString end = u"</p>"_s;
    if (!tip.startsWith(begin) || !tip.endsWith(end))
        return QTextDocumentFragment::fromHtml(tip).toPlainText();
    auto text = tip.sliced(begin.size(), tip.size() - begin.size() - end.size());
    return text.replace(u"&lt;"_s, u"<"_s)
        .replace(u"&gt;"_s, u">"_s)
        .replace(u"&quot;"_s, u"\""_s)
        .replace(u"&amp;"_s, u"&"_s);
}

// What was described by this is described again; what has a description of its own keeps it.
bool ToolTipReader::eventFilter(QObject *watched, QEvent *event)
{
    constexpr auto described = "describedByToolTip";
    if (event->type() != QEvent::ToolTipChange || !watched->isWidgetType())
        return false;
    auto *widget = static_cast<QWidget *>(watched);
    const bool isOwn = !widget->accessibleDescription().isEmpty()
                       && widget->accessibleDescription() != widget->property(described).toString();
    const auto tip = widget->toolTip();
    if (isOwn || (!Qt::mightBeRichText(tip) && !widget->property(described).isValid()))
        return false; // plain text is read as it is
    const auto text = Qt::mightBeRichText(tip) ? withoutMarkup(tip) : tip;
    widget->setProperty(described, text);
    widget->setAccessibleDescription(text);
    return false;
}

// Fonts that a widget was given by itself: neither the application's font nor the style sheet reaches them.
void rescaleOwnFonts()
{
    constexpr auto before = "sizeBefore";
    for (auto *widget : QApplication::allWidgets()) {
        if (!widget->testAttribute(Qt::WA_SetFont))
            continue;
        QFont font = widget->font();
        if (g_large && font.pixelSize() > 0 && font.pixelSize() < leastLarge) {
            widget->setProperty(before, font.pixelSize());
            font.setPixelSize(shownSize(font.pixelSize()));
            widget->setFont(font);
        } else if (const auto size = widget->property(before); !g_large && size.isValid()) {
            font.setPixelSize(size.toInt());
            widget->setFont(font);
            widget->setProperty(before, QVariant());
        }
    }
}

QString firstFamily(const QStringList &wanted, const QString &otherwise)
{
    const QStringList present = QFontDatabase::families();
    for (const auto &family : wanted) {
        if (present.contains(family))
            return family;
    }
    return otherwise;
}

QPalette paletteOf(const Tokens &t)
{
    QPalette palette;
    const std::pair<QColor, std::vector<QPalette::ColorRole>> uses[] = {
        {t.background, {QPalette::Window, QPalette::AlternateBase}},
        {t.panel, {QPalette::Base, QPalette::Button, QPalette::ToolTipBase, QPalette::Light}},
        {t.text,
         {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::ToolTipText,
          QPalette::HighlightedText}},
        {t.muted, {QPalette::PlaceholderText, QPalette::Dark}},
        {t.line, {QPalette::Midlight, QPalette::Mid, QPalette::Shadow}},
        {t.link, {QPalette::Link, QPalette::LinkVisited}},
        {t.selection, {QPalette::Highlight}},
        {t.critical, {QPalette::BrightText}},
    };
    for (const auto &[color, roles] : uses) {
        for (const auto role : roles)
            palette.setColor(role, color);
    }
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, t.muted);
    return palette;
}

qreal measuredDigit(const QFontMetricsF &metrics)
{
    qreal widest = 0;
    for (ushort digit = '0'; digit <= '9'; ++digit)
        widest = std::max(widest, metrics.horizontalAdvance(QChar(digit)));
    return widest;
}

// Each cell asks for it that is measured or drawn, in one of a few fonts: those of textFont() and monoFont().
qreal digitWidth(const QFont &font, const QFontMetricsF &metrics)
{
    static std::map<std::tuple<QString, int, int>, qreal> known; // of the thread of the window only
    if (font.pixelSize() <= 0)
        return measuredDigit(metrics);
    const auto [at, isNew] = known.try_emplace({font.family(), font.pixelSize(), font.weight()});
    if (isNew)
        at->second = measuredDigit(metrics);
    return at->second;
}

} // namespace

void PortalColorScheme::ask()
{
    // Without a bus address libdbus would try to start a bus of its own, and wait for it.
    if (m_asked || qEnvironmentVariableIsEmpty("DBUS_SESSION_BUS_ADDRESS"))
        return;
    m_asked = true;
    // In a turn of its own: connecting to the bus takes a few milliseconds, and who asks is only being made. That may
    // be before the first frame, which then is dark already where the answer comes in time.
    QTimer::singleShot(0, this, &PortalColorScheme::send);
}

void PortalColorScheme::send()
{
    auto bus = QDBusConnection::sessionBus();
    if (!bus.isConnected())
        return;
    bus.connect(portalService, portalPath, portalSettings, u"SettingChanged"_s, this,
                SLOT(settingChanged(QString, QString, QDBusVariant)));
    auto question = QDBusMessage::createMethodCall(portalService, portalPath, portalSettings, u"Read"_s);
    question.setArguments({QString(appearance), QString(colorScheme)});
    auto *watcher = new QDBusPendingCallWatcher(bus.asyncCall(question), this);
    connect(watcher, &QDBusPendingCallWatcher::finished, this, [this](QDBusPendingCallWatcher *done) {
        const QDBusPendingReply<QVariant> reply = *done;
        if (reply.isValid())
            take(reply.value());
        done->deleteLater();
    });
}

void PortalColorScheme::settingChanged(const QString &group, const QString &key, const QDBusVariant &value)
{
    if (group == appearance && key == colorScheme)
        take(value.variant());
}

void PortalColorScheme::take(const QVariant &scheme)
{
    // 1 prefers dark, 2 prefers light, 0 has no preference.
    switch (unwrapped(scheme).toUInt()) {
    case 1: m_dark = true; break;
    case 2: m_dark = false; break;
    default: m_dark = std::nullopt; break;
    }
    emit answered();
}

// Fusion, which draws the same on every desktop and honours the palette completely; with icons of our own in message
// boxes: where a desktop has none, Qt's are of another age, and in no colour of ours.
class LockscopeStyle : public QProxyStyle {
    Q_OBJECT
public:
    LockscopeStyle();

    [[nodiscard]] QIcon standardIcon(StandardPixmap icon, const QStyleOption *option = nullptr,
                                     const QWidget *widget = nullptr) const override;
    // Cancel stands left of the button that acts, in boxes of Qt's making as well.
    int styleHint(StyleHint hint, const QStyleOption *option = nullptr, const QWidget *widget = nullptr,
                  QStyleHintReturn *data = nullptr) const override
    {
        return hint == SH_DialogButtonLayout ? QDialogButtonBox::GnomeLayout
                                             : QProxyStyle::styleHint(hint, option, widget, data);
    }
};

LockscopeStyle::LockscopeStyle() : QProxyStyle(u"Fusion"_s) {}

QIcon LockscopeStyle::standardIcon(StandardPixmap icon, const QStyleOption *option, const QWidget *widget) const
{
    const auto own = [](const QString &name) {
        return QIcon(
            u":/lockscope/theme/icons/says-%1-%2.svg"_s.arg(name, Theme::tokens().dark ? u"dark"_s : u"light"_s));
    };
    switch (icon) {
    case SP_MessageBoxInformation:
    case SP_MessageBoxQuestion: return own(u"information"_s);
    case SP_MessageBoxWarning: return own(u"warning"_s);
    case SP_MessageBoxCritical: return own(u"critical"_s);
    default: return QProxyStyle::standardIcon(icon, option, widget);
    }
}

int shownSize(int pixels)
{
    return g_large ? std::max(leastLarge, static_cast<int>(std::lround(pixels * largeBy))) : pixels;
}

std::optional<ThemeChoice> themeChoice(const QString &word)
{
    if (word == "auto"_L1)
        return ThemeChoice::Auto;
    if (word == "light"_L1)
        return ThemeChoice::Light;
    if (word == "dark"_L1)
        return ThemeChoice::Dark;
    return std::nullopt;
}

Theme::Theme(QApplication &application, ThemeChoice choice, Sheet sheet)
    : m_application(application), m_choice(choice), m_sheet(sheet), m_systemPalette(application.palette())
{
    useThemeResources();
    g_theme = this;
    QApplication::setStyle(new LockscopeStyle);
    QApplication::setFont(textFont());
    application.installEventFilter(new ToolTipReader(this));
    m_portal = std::make_unique<PortalColorScheme>();
    connect(m_portal.get(), &PortalColorScheme::answered, this, [this] {
        if (m_choice == ThemeChoice::Auto)
            apply();
    });
    if (m_choice == ThemeChoice::Auto)
        m_portal->ask();
    apply();
}

Theme::~Theme()
{
    g_theme = nullptr;
}

const Tokens &Theme::tokens()
{
    return g_dark ? darkTokens() : lightTokens();
}

Theme *Theme::instance()
{
    return g_theme;
}

void Theme::setChoice(ThemeChoice choice)
{
    if (choice == m_choice)
        return;
    m_choice = choice;
    if (choice == ThemeChoice::Auto)
        m_portal->ask();
    apply();
}

void Theme::useSheet()
{
    if (std::exchange(m_sheet, Sheet::AtOnce) == Sheet::Later)
        apply();
}

void Theme::setLarge(bool isLarge)
{
    if (std::exchange(g_large, isLarge) == isLarge)
        return;
    QApplication::setFont(textFont());
    apply();
    rescaleOwnFonts();
}

bool Theme::isLarge() const
{
    return g_large;
}

bool Theme::wantsDark() const
{
    if (m_choice != ThemeChoice::Auto)
        return m_choice == ThemeChoice::Dark;
    if (const auto dark = m_portal->prefersDark())
        return *dark;
    const auto lightness = [this](QPalette::ColorRole role) { return m_systemPalette.color(role).lightness(); };
    return lightness(QPalette::Window) < lightness(QPalette::WindowText);
}

void Theme::apply()
{
    g_dark = wantsDark();
    QApplication::setPalette(paletteOf(tokens()));
    if (m_sheet == Sheet::AtOnce)
        m_application.setStyleSheet(enlarged(styleSheetOf(tokens())));
    emit changed();
}

QFont textFont(int pixels, QFont::Weight weight)
{
    static const QString family =
        firstFamily({u"Inter"_s}, QFontDatabase::systemFont(QFontDatabase::GeneralFont).family());
    QFont font(family);
    font.setPixelSize(shownSize(pixels));
    font.setWeight(weight);
    font.setStyleStrategy(QFont::PreferNoShaping); // or Inter draws 0x342 as 0×342
    return font;
}

QFont monoFont(int pixels, QFont::Weight weight)
{
    static const QString family =
        firstFamily({u"JetBrains Mono"_s}, QFontDatabase::systemFont(QFontDatabase::FixedFont).family());
    QFont font(family);
    font.setPixelSize(shownSize(pixels));
    font.setWeight(weight);
    font.setFixedPitch(true);
    font.setStyleHint(QFont::Monospace);
    font.setStyleStrategy(QFont::PreferNoShaping); // no ligatures: what is pasted has to be what is seen
    return font;
}

qreal tabularWidth(const QFont &font, const QString &text)
{
    const QFontMetricsF metrics(font);
    const qreal digit = digitWidth(font, metrics);
    qreal width = 0;
    for (const QChar c : text)
        width += c >= u'0' && c <= u'9' ? digit : metrics.horizontalAdvance(c);
    return width;
}

void drawTabular(QPainter &painter, const QRectF &rect, Qt::Alignment alignment, const QString &text)
{
    const QFontMetricsF metrics(painter.font());
    const qreal digit = digitWidth(painter.font(), metrics);
    const qreal width = tabularWidth(painter.font(), text);
    qreal x = rect.left();
    if (alignment & Qt::AlignRight)
        x = rect.right() - width;
    else if (alignment & Qt::AlignHCenter)
        x = rect.center().x() - width / 2;
    const qreal y = rect.center().y() + (metrics.ascent() - metrics.descent()) / 2;
    for (const QChar c : text) {
        const qreal own = metrics.horizontalAdvance(c);
        const bool isDigit = c >= u'0' && c <= u'9';
        painter.drawText(QPointF(x + (isDigit ? (digit - own) / 2 : 0), y), QString(c));
        x += isDigit ? digit : own;
    }
}

} // namespace lockscope::ui

#include "theme.moc"

#include "moc_theme.cpp"
