// SPDX-License-Identifier: Apache-2.0
// What can be made to go wrong from a moment on: the menu of a lane, of a message in it, and of "Fork here";
// and what a scenario's form offers.
#pragma once

#include "core/workspace/values.h"

#include <QWidget>

class QCheckBox;
class QLabel;
class QMenu;
class QVBoxLayout;

namespace lockscope::ui {

class PlayedRun;
struct Comparison;

struct ForkPlace {
    std::chrono::microseconds at{};
    int contender = 0;
    QString name; // of the contender
    int servers = 1;
    std::optional<int> server{}; // the one alone that was pointed at
};
// Adds what applies to the comparison's recipes; those that befall a contender first.
void addFaults(QMenu &menu, const Comparison &comparison, const ForkPlace &place,
               std::function<void(const contention::PlannedFault &)> chosen);

// The last of what is planned; that contender's name is `lane`.
void addTakeBack(QMenu &menu, const Comparison &comparison, const QString &lane, std::function<void()> chosen);

// The request, or what a lane is told, nearest to the middle of a stretch of time; its index among the events.
[[nodiscard]] std::optional<std::size_t> messageBetween(const PlayedRun &run, int lane,
                                                        std::chrono::microseconds from, std::chrono::microseconds to);
// Adds what can befall this very message; each happens right before it.
void addMessageFaults(QMenu &menu, const Comparison &comparison, const PlayedRun &run, std::size_t event,
                      std::function<void(const contention::PlannedFault &)> chosen);

class PlannedList;

// What goes wrong in a scenario, as the form has it: what is planned for a moment, and what is drawn by the seed.
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

// What is to happen in a run at moments that somebody chose, faults and acts: each with a button that takes it out.
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
