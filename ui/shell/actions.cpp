// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/actions.h"

#include "core/base/fieldreader.h"

#include <QWidget>

#include <algorithm>

namespace lockscope::ui {

const std::vector<ActionWords> &allActionWords()
{
    static const auto all = [] {
        std::vector<ActionWords> read;
        readResourceList(u"words/actions.json"_s, "actions", [&read](FieldReader &reader) {
            ActionWords one{.id = reader.text("id"),
                            .text = reader.text("text"),
                            .keys = {},
                            .menu = reader.text("menu", QString()),
                            .words = reader.text("words", QString())};
            for (const auto &keys : reader.texts("keys"))
                one.keys << QKeySequence(QString::fromUtf8(keys));
            reader.take("isWrite", one.isWrite);
            read.push_back(std::move(one));
        });
        return read;
    }();
    return all;
}

const ActionWords &actionWords(const QString &id)
{
    static const ActionWords none;
    const auto at = std::ranges::find(allActionWords(), id, &ActionWords::id);
    return at == allActionWords().end() ? none : *at;
}

Actions::Actions(QWidget &window) : QObject(&window), m_window(window) {}

QAction *Actions::add(const QString &id, std::function<void()> act)
{
    const auto &words = actionWords(id);
    if (words.id.isEmpty())
        qFatal("words/actions.json has no \"%s\"", qPrintable(id));
    return add(id, words.text, words.keys, std::move(act));
}

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
