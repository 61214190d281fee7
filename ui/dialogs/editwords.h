// SPDX-License-Identifier: Apache-2.0
// What the form of an edit says: pure functions of a request.
#pragma once

#include "core/workspace/backend.h"

#include <QCoreApplication>

namespace lockscope::ui {

class EditWords {
    Q_DECLARE_TR_FUNCTIONS(Edit)
public:
    // Of one that takes another back, `undone`, which; else empty.
    using Undone = std::optional<operate::EditRequest>;
    [[nodiscard]] static QString title(const operate::EditRequest &request, bool isNew, const Undone &undone);
    // On the button.
    [[nodiscard]] static QString act(const operate::EditRequest &request, bool isNew, bool isUndo);
    // Of the form's window, whatever is typed in it.
    [[nodiscard]] static QString window(const operate::EditRequest &request, bool isNew, bool isUndo);
    // What there was and what there will be, the lines that differ only; empty where nothing does.
    [[nodiscard]] static QStringList difference(const operate::EditPlan &plan);
    // What would be done. Of what is typed and cannot be read (`trouble`: why) nothing is said as if it were nothing.
    struct Fact {
        QString title;
        QStringList lines;
        bool isCode = false;
    };
    [[nodiscard]] static std::vector<Fact> facts(const operate::EditPlan &plan, const operate::EditPreview &preview,
                                                 const QString &trouble);
};

// Lines that both have at their beginning and end are left out.
[[nodiscard]] QStringList lineDifference(const QStringList &before, const QStringList &after);

} // namespace lockscope::ui
