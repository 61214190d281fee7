// SPDX-License-Identifier: Apache-2.0
// Whether the desktop prefers dark: asked of the desktop portal, which may be absent. Never blocks
// for the answer; until (and unless) it comes, prefersDark() is empty.
#pragma once

#include <version>

#include <QObject>

#include <optional>

class QDBusVariant;

namespace lockscope::ui {

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

} // namespace lockscope::ui
