// SPDX-License-Identifier: Apache-2.0
// What the form of a force-release is to do: one of the ways there are, gentlest first.
#pragma once

#include <version>

#include "core/workspace/backend.h"

#include <QPushButton>
#include <QWidget>

class QComboBox;

namespace lockscope::ui {

class WayPicker : public QWidget {
    Q_OBJECT
public:
    explicit WayPicker(QWidget *parent = nullptr);

    // Those for the holder, and those for a waiter chosen in the queue. The choice stays while there is such a way.
    void offer(const inspect::LockSnapshot &lock, const QByteArray &holder, const QByteArray &chosen);
    [[nodiscard]] operate::ReleaseAction way() const { return m_way; }
    [[nodiscard]] bool isRelease() const { return m_way == operate::ReleaseAction::Release; }
    [[nodiscard]] bool hasChoice() const { return m_offers.size() > 1; }
    // Whom it is about; empty: the holder.
    [[nodiscard]] const QByteArray &contender() const { return m_contender; }
    // As if a user had picked it, where it is offered.
    void pick(operate::ReleaseAction way);
    // Back to a release: what was chosen is done, or is there no more.
    void reset();

signals:
    void picked();

private:
    void take(std::size_t offer);
    [[nodiscard]] static QString titleOf(const operate::OfferedAction &offer, const inspect::LockSnapshot &lock);

    QComboBox *m_box;
    std::vector<operate::OfferedAction> m_offers;
    operate::ReleaseAction m_way = operate::ReleaseAction::Release;
    QByteArray m_contender;
};

class FactsForm;

// Rehearses the release that a form is about, and puts what came of it, and what was assumed, among the form's facts.
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
