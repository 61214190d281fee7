// SPDX-License-Identifier: Apache-2.0
// Rehearses the release that a form is about, and puts what came of it, and what was assumed, among the form's facts.
#pragma once

#include <version>

#include "core/workspace/backend.h"

#include <QPushButton>

namespace lockscope::ui {

class FactsForm;

class RehearseButton : public QPushButton {
    Q_OBJECT
public:
    // Both outlive it. `said` is called when the form has another fact.
    RehearseButton(Backend &backend, FactsForm &facts, QWidget *parent, std::function<void()> said);

    // The facts are those of this plan now. An answer about another is not shown.
    void setPlan(const operate::ForceReleasePlan &plan, bool isAgain);

private:
    void rehearse();
    void say(const QString &words);

    Backend &m_backend;
    FactsForm &m_facts;
    std::function<void()> m_said;
    std::optional<operate::ForceReleasePlan> m_plan;
    int m_plans = 0;
    bool m_isPlaying = false;
    QString m_answer; // of this plan; empty while there is none
};

} // namespace lockscope::ui
