// SPDX-License-Identifier: Apache-2.0
// What the window can be told to do: each thing once, with its words and its keys, for the keyboard, the menus and
// the palette alike.
#pragma once

#include <QAction>
#include <QHash>
#include <QKeySequence>
#include <QObject>

#include <functional>
#include <vector>

class QWidget;

namespace lockscope::ui {

// Ctrl+1 for the first page, which is number 0, to Ctrl+9 and Ctrl+0 for the tenth; nothing for more.
[[nodiscard]] inline QString keysOfPage(int number)
{
    return number < 10 ? QStringLiteral("Ctrl+%1").arg((number + 1) % 10) : QString();
}

// What the window can be told to do, as resources/words/actions.json lists it.
struct ActionWords {
    QString id, text;
    QList<QKeySequence> keys;
    QString menu;         // the part of the menu; none: the menu itself
    QString words;        // what else a user may look for it under, for the palette
    bool isWrite = false; // it leads to a form that writes
};
// In the order of the menu.
[[nodiscard]] const std::vector<ActionWords> &allActionWords();
// Of one that is not listed, such as a page, nothing is said.
[[nodiscard]] const ActionWords &actionWords(const QString &id);

class Actions : public QObject {
    Q_OBJECT
public:
    // Their keys work wherever the focus is in this window, which outlives them.
    explicit Actions(QWidget &window);

    // `id` is never shown and never changes: settings and tests name it.
    QAction *add(const QString &id, std::function<void()> act);
    QAction *add(const QString &id, const QString &text, const QList<QKeySequence> &keys, std::function<void()> act);
    [[nodiscard]] const std::vector<QAction *> &all() const { return m_all; }
    [[nodiscard]] QAction *find(const QString &id) const;

    // They cannot be done now, and why: they stand greyed in menus and in the palette. Without a reason they can be
    // again.
    void setRefused(const QStringList &ids, const QString &why);
    [[nodiscard]] QString whyNot(const QAction *action) const { return m_whyNot.value(action->objectName()); }
    // Does it, or says that it cannot be done.
    void trigger(QAction *action);
    // Says so where these keys are those of such an action, which a greyed one does not hear.
    bool refusesKeys(const QKeySequence &keys);

signals:
    void refused(const QString &why);

private:
    QWidget &m_window;
    std::vector<QAction *> m_all;
    QHash<QString, QString> m_whyNot; // by id
};

} // namespace lockscope::ui
