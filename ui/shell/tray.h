// SPDX-License-Identifier: Apache-2.0
// Notifications of the desktop, and a count in its tray. Where there is no tray there are none, and nothing else
// changes.
#pragma once

#include "ui/models/alertwatch.h"

#include <QPointer>

class QSystemTrayIcon;

namespace lockscope::ui {

class Tray : public QObject {
    Q_OBJECT
public:
    explicit Tray(QObject *parent = nullptr) : QObject(parent) {}

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
    inspect::LockName m_newest;
    int m_unseen = 0;
};

} // namespace lockscope::ui
