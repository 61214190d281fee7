// SPDX-License-Identifier: Apache-2.0
// What the form of a force-release shows of a plan: the facts, the danger, the warnings.
#pragma once

#include "core/workspace/backend.h"
#include "ui/models/lockfacts.h"

class QVBoxLayout;
class QWidget;

namespace lockscope::ui {

class Banner;
class FactsForm;

class ReleasePreview {
    Q_DECLARE_TR_FUNCTIONS(ReleasePreview)
public:
    static void fillFacts(FactsForm &facts, const operate::ForceReleasePlan &plan, SystemTime now);
    // Those before it go.
    static void fillWarnings(QVBoxLayout &warnings, QWidget *parent, const operate::ForceReleasePlan &plan);
    static void sayDanger(Banner &danger, const operate::ForceReleasePlan &plan);
    // What a button that does it says, and the sentence while it is done; `from`: the holder's host.
    [[nodiscard]] static QString buttonText(const operate::ForceReleasePlan &plan, const QString &from);
    [[nodiscard]] static QString sendingText(const operate::ForceReleasePlan &plan);
    // In a word what came of it.
    [[nodiscard]] static QString outcomeWord(const operate::ForceReleasePlan &plan,
                                             const operate::ForceReleaseOutcome &outcome, const QString &from);
};

} // namespace lockscope::ui
