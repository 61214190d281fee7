// SPDX-License-Identifier: Apache-2.0
// What goes wrong in a scenario, as the form has it: what is planned for a moment, and what is drawn by the seed.
#pragma once

#include <version>

#include "core/workspace/values.h"
#include "ui/simulator/comparison.h"

#include <QWidget>

#include <map>

class QCheckBox;
class QGridLayout;
class QLabel;

namespace lockscope::ui {

class PlannedList;

class FaultChoice : public QWidget {
    Q_OBJECT
public:
    explicit FaultChoice(QWidget *parent = nullptr);

    void fill(const contention::Scenario &scenario);
    // What cannot happen to these recipes, or there, cannot be chosen.
    void offerFor(const Comparison &probe);
    // Into a scenario that is else as it was filled from.
    void read(contention::Scenario &scenario) const;

signals:
    void changed();

private:
    [[nodiscard]] bool isWanted(contention::FaultKind kind) const;

    bool m_isReal = false; // there nothing is broken, and nothing is done beside the lock
    QLabel *m_plannedTitle;
    PlannedList *m_planned;
    QLabel *m_drawnTitle;
    std::map<contention::FaultKind, QCheckBox *> m_drawn;
};

} // namespace lockscope::ui

class QVBoxLayout;

// What is to happen in a run at moments that somebody chose, faults and acts: each with a button that takes it out.

namespace lockscope::ui {

class PlannedList : public QWidget {
    Q_OBJECT
public:
    explicit PlannedList(QWidget *parent = nullptr);

    void fill(const contention::Scenario &scenario);
    [[nodiscard]] bool isEmpty() const { return m_faults.empty() && m_acts.empty(); }
    [[nodiscard]] const std::vector<contention::PlannedFault> &faults() const { return m_faults; }
    [[nodiscard]] const std::vector<contention::Act> &acts() const { return m_acts; }
    [[nodiscard]] QStringList texts() const { return m_texts; }

signals:
    void changed();

private:
    void show_();
    void addRow(const QString &text, std::function<void()> takeOut);

    std::vector<contention::PlannedFault> m_faults;
    std::vector<contention::Act> m_acts;
    int m_contenders = 1; // by whose number they are called
    QStringList m_texts;
    QVBoxLayout *m_rows;
};

} // namespace lockscope::ui
