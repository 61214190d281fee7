// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/tray.h"

#include "core/base/text.h"

#include <QApplication>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingReply>
#include <QPainter>
#include <QSystemTrayIcon>

namespace lockscope::ui {

namespace {

constexpr std::size_t mostAlertsNamed = 3;
constexpr int trayIconSize = 64;
constexpr int mostCounted = 99;
const QString notifications = u"org.freedesktop.Notifications"_s;
const QString notificationsPath = u"/org/freedesktop/Notifications"_s;

QIcon badged(int count)
{
    QPixmap picture = QApplication::windowIcon().pixmap(trayIconSize, trayIconSize);
    if (picture.isNull()) {
        picture = QPixmap(trayIconSize, trayIconSize);
        picture.fill(Qt::transparent);
    }
    if (count > 0) {
        const Tokens &t = Theme::tokens();
        QPainter painter(&picture);
        painter.setRenderHint(QPainter::Antialiasing);
        const QRectF badge(24, 24, 40, 40);
        painter.setPen(Qt::NoPen);
        painter.setBrush(t.critical);
        painter.drawEllipse(badge);
        painter.setPen(t.onCritical);
        QFont font = textFont(12, QFont::Bold);
        font.setPixelSize(26);
        painter.setFont(font);
        painter.drawText(badge, Qt::AlignCenter, QString::number(std::min(count, mostCounted)));
    }
    return QIcon(picture);
}

// Some desktops read what they are told as markup, and a lock's name is what a client wrote.
QString unmarked(QString text)
{
    return text.replace(u'&', u'＆').replace(u'<', u'‹');
}

} // namespace

QString Tray::textOf(const std::vector<Alert> &alerts)
{
    QStringList lines;
    for (std::size_t i = 0; i < std::min(alerts.size(), mostAlertsNamed); ++i)
        lines << u"%1: %2"_s.arg(unmarked(alerts[i].title), unmarked(label(alerts[i].lock.text(), 100)));
    if (alerts.size() > mostAlertsNamed)
        lines << tr("and %1 more").arg(alerts.size() - mostAlertsNamed);
    return lines.join(u'\n');
}

void DesktopNotifications::show(const QString &text, bool isCritical, const inspect::LockName &lock)
{
    if (qEnvironmentVariableIsEmpty("DBUS_SESSION_BUS_ADDRESS"))
        return; // libdbus would try to start a bus of its own, and wait for it
    auto bus = QDBusConnection::sessionBus();
    if (!std::exchange(m_listens, true)) {
        bus.connect(notifications, notificationsPath, notifications, u"ActionInvoked"_s, this,
                    SLOT(onAction(uint, QString)));
        bus.connect(notifications, notificationsPath, notifications, u"NotificationClosed"_s, this,
                    SLOT(onClosed(uint, uint)));
    }
    auto call = QDBusMessage::createMethodCall(notifications, notificationsPath, notifications, u"Notify"_s);
    const QVariantMap hints{{u"urgency"_s, QVariant::fromValue(uchar(isCritical ? 2 : 1))},
                            {u"desktop-entry"_s, QGuiApplication::desktopFileName()}};
    call << QCoreApplication::applicationName() << uint(0) << u"lockscope"_s << u"Lockscope"_s << text
         << QStringList{u"default"_s, tr("Show the lock")} << hints << -1;
    auto *watcher = new QDBusPendingCallWatcher(bus.asyncCall(call), this);
    connect(watcher, &QDBusPendingCallWatcher::finished, this, [this, lock](QDBusPendingCallWatcher *done) {
        done->deleteLater();
        if (const QDBusPendingReply<uint> reply = *done; reply.isValid())
            m_shown.insert_or_assign(reply.value(), lock);
    });
}

void DesktopNotifications::onAction(uint id, const QString &action)
{
    const auto shown = m_shown.find(id); // those of other programs are not ours
    if (shown != m_shown.end() && action == u"default"_s)
        emit activated(shown->second);
}

Tray::Tray(QObject *parent) : QObject(parent)
{
    connect(&m_notifications, &DesktopNotifications::activated, this, &Tray::activated);
}

void Tray::tell(const std::vector<Alert> &alerts)
{
    if (alerts.empty())
        return;
    m_newest = alerts.front().lock;
    m_unseen += static_cast<int>(alerts.size());
    const bool isCritical = std::ranges::count(alerts, inspect::Severity::Critical, &Alert::severity) > 0;
    if (!QSystemTrayIcon::isSystemTrayAvailable())
        return m_notifications.show(textOf(alerts), isCritical, m_newest);
    if (!m_icon) {
        m_icon = new QSystemTrayIcon(this);
        connect(m_icon, &QSystemTrayIcon::activated, this, [this] { emit activated(m_newest); });
        connect(m_icon, &QSystemTrayIcon::messageClicked, this, [this] { emit activated(m_newest); });
    }
    showCount();
    m_icon->show();
    m_icon->showMessage(u"Lockscope"_s, textOf(alerts),
                        isCritical ? QSystemTrayIcon::Critical : QSystemTrayIcon::Warning);
}

void Tray::seen()
{
    if (std::exchange(m_unseen, 0) != 0)
        showCount();
}

void Tray::showCount()
{
    if (!m_icon)
        return;
    m_icon->setIcon(badged(m_unseen));
    m_icon->setToolTip(m_unseen == 0   ? u"Lockscope"_s
                       : m_unseen == 1 ? tr("Lockscope: 1 new finding")
                                       : tr("Lockscope: %1 new findings").arg(m_unseen));
}

} // namespace lockscope::ui

#include "moc_tray.cpp"
