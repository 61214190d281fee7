// SPDX-License-Identifier: Apache-2.0
// The insides of LocksModel, shared by its files: its rows and how they move.
#pragma once

#include "ui/models/locksmodel.h"

#include "core/base/text.h"
#include "core/rules/catalogue.h"

namespace lockscope::ui {

struct LocksModel::Entry {
    explicit Entry(const inspect::LockPicture &lock) : picture(lock), facts(factsOf(lock))
    {
        // Standing by is what an election's waiters are for; days of it must not top the list.
        isElection = recipes::recipeOf(lock.recipe).electsLeader;
    }

    // Everything the filter looks into, in one lower-case string, made when first searched.
    const QString &haystack() const
    {
        if (m_haystack.isEmpty()) {
            QStringList parts{label(picture.lock.text(), 1000), QString::fromLatin1(picture.recipe),
                              picture.client.value_or(QString()), facts.pill.word, facts.finding};
            for (const auto &c : picture.contenders)
                parts << c.endpoint.value_or(QString()) << c.session.value_or(QString()) << label(c.id, 100);
            m_haystack = parts.join(QLatin1Char('\n')).toLower();
        }
        return m_haystack;
    }

    inspect::LockPicture picture;
    LockFacts facts;
    bool isElection = false;
    bool mine = false;
    bool shown = false;
    bool leaving = false; // while rows are removed
    int row = 0;          // while the layout changes

private:
    mutable QString m_haystack;
};

// An entry whose new content stands elsewhere in the order, or passes the filter differently.
struct LocksModel::Move {
    Entry *entry = nullptr;
    Entry next;
    bool showNow = false;

    void take()
    {
        next.shown = showNow;
        *entry = std::move(next);
    }
};

} // namespace lockscope::ui
