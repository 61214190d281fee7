// SPDX-License-Identifier: Apache-2.0
// A count in the desktop's tray and its messages; where there is no tray, the desktop's notifications.
#pragma once

#include "ui/models/alertwatch.h"

class QSystemTrayIcon;

namespace lockscope::ui {

// The desktop's notifications (org.freedesktop.Notifications, Desktop Notifications Specification 1.2), which need no
// tray. Without a session bus, or a service there, nothing is shown.
class DesktopNotifications : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    // `text` has no markup of a client's.
    void show(const QString &text, bool isCritical, const inspect::LockName &lock);

signals:
    void activated(const lockscope::inspect::LockName &lock);

private slots:
    void onAction(uint id, const QString &action);
    void onClosed(uint id, uint) { m_shown.erase(id); }

private:
    std::map<uint, inspect::LockName> m_shown; // by the service's number
    bool m_listens = false;
};

class Tray : public QObject {
    Q_OBJECT
public:
    explicit Tray(QObject *parent = nullptr);

    // Of what nobody has looked at yet.
    void tell(const std::vector<Alert> &alerts);
    // The window was looked at.
    void seen();
    [[nodiscard]] int unseen() const { return m_unseen; }
    // What a notification says: kinds of findings and names of locks, escaped; no value of a client.
    [[nodiscard]] static QString textOf(const std::vector<Alert> &alerts);

signals:
    // A notification, or the icon, was clicked; of the newest lock it told of.
    void activated(const lockscope::inspect::LockName &lock);

private:
    void showCount();

    QPointer<QSystemTrayIcon> m_icon;
    DesktopNotifications m_notifications; // where there is no tray
    inspect::LockName m_newest;
    int m_unseen = 0;
};

} // namespace lockscope::ui
