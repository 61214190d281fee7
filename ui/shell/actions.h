// SPDX-License-Identifier: Apache-2.0
// What the window can be told to do: each thing once, with its words and its keys, for the keyboard, the menus and
// the palette alike.
#pragma once

#include <QKeySequence>
#include <QObject>

#include <functional>
#include <vector>

class QAction;
class QWidget;

namespace lockscope::ui {

// Ctrl+1 for the first page, which is number 0, to Ctrl+9 and Ctrl+0 for the tenth; nothing for more.
[[nodiscard]] inline QString keysOfPage(int number)
{
    return number < 10 ? QStringLiteral("Ctrl+%1").arg((number + 1) % 10) : QString();
}

class Actions : public QObject {
    Q_OBJECT
public:
    // Their keys work wherever the focus is in this window, which outlives them.
    explicit Actions(QWidget &window);

    // `id` is never shown and never changes: settings and tests name it.
    QAction *add(const QString &id, const QString &text, const QList<QKeySequence> &keys, std::function<void()> act);
    [[nodiscard]] const std::vector<QAction *> &all() const { return m_all; }
    [[nodiscard]] QAction *find(const QString &id) const;

private:
    QWidget &m_window;
    std::vector<QAction *> m_all;
};

} // namespace lockscope::ui
