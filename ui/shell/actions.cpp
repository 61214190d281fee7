// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/actions.h"

#include <QWidget>

#include <algorithm>

namespace lockscope::ui {

Actions::Actions(QWidget &window) : QObject(&window), m_window(window) {}

QAction *Actions::add(const QString &id, const QString &text, const QList<QKeySequence> &keys,
                      std::function<void()> act)
{
    auto *action = new QAction(text, this);
    action->setObjectName(id);
    action->setShortcuts(keys);
    connect(action, &QAction::triggered, this, [act = std::move(act)] { act(); });
    m_window.addAction(action);
    m_all.push_back(action);
    return action;
}

QAction *Actions::find(const QString &id) const
{
    const auto at = std::ranges::find(m_all, id, &QAction::objectName);
    return at == m_all.end() ? nullptr : *at;
}

void Actions::setRefused(const QStringList &ids, const QString &why)
{
    for (const auto &id : ids) {
        auto *action = find(id);
        if (why.isEmpty())
            m_whyNot.remove(id);
        else
            m_whyNot.insert(id, why);
        action->setEnabled(why.isEmpty());
        action->setToolTip(why);
        action->setStatusTip(why);
    }
}

void Actions::trigger(QAction *action)
{
    if (const auto why = whyNot(action); why.isEmpty())
        action->trigger();
    else
        emit refused(why);
}

bool Actions::refusesKeys(const QKeySequence &keys)
{
    const auto at = std::ranges::find_if(m_all, [&](const QAction *action) {
        return !whyNot(action).isEmpty() && action->shortcuts().contains(keys);
    });
    if (at != m_all.end())
        emit refused(whyNot(*at));
    return at != m_all.end();
}

} // namespace lockscope::ui

#include "moc_actions.cpp"
