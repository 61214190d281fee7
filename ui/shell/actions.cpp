// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/actions.h"

#include <QAction>
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

} // namespace lockscope::ui

#include "moc_actions.cpp"
