// SPDX-License-Identifier: Apache-2.0
// The line above the status bar: the keys that act on what has the keyboard. A click does what the key does.
#pragma once

#include <version>

#include <QAbstractButton>
#include <QFrame>

#include <functional>
#include <vector>

namespace lockscope::ui {

struct FootKey {
    QString key;  // "R", "F6"
    QString text; // "Release"
    std::function<void()> act = {};
};

// A key as it stands on a keyboard, and what it does.
class FootKeyButton : public QAbstractButton {
    Q_OBJECT
public:
    FootKeyButton(const FootKey &key, QWidget *parent);

    [[nodiscard]] const QString &key() const { return m_key; }
    [[nodiscard]] QSize sizeHint() const override;

private:
    void paintEvent(QPaintEvent *event) override;
    [[nodiscard]] qreal capWidth() const;

    const QString m_key;
};

class FootBar : public QFrame {
    Q_OBJECT
public:
    explicit FootBar(QWidget *parent = nullptr);

    // In order of importance: those at the end give way where there is no room.
    void setKeys(std::vector<FootKey> keys);
    // The last one, at the right, always there.
    void setLast(FootKey key);
    // "B Break deadlock", those that are shown.
    [[nodiscard]] QStringList shown() const;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return {0, sizeHint().height()}; }

private:
    void resizeEvent(QResizeEvent *event) override;
    void place();

    std::vector<FootKey> m_keys;
    std::vector<FootKeyButton *> m_buttons;
    FootKeyButton *m_last = nullptr;
};

} // namespace lockscope::ui
