// SPDX-License-Identifier: Apache-2.0
#include "ui/theme/portal.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QDBusVariant>
#include <QTimer>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

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

} // namespace lockscope::ui

#include "moc_portal.cpp"
