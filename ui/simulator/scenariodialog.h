// SPDX-License-Identifier: Apache-2.0
// What to play, and where: recipes, contenders, how they come, what goes wrong, by which seed. Says what is wrong
// with it before it can be played.
#pragma once

#include "ui/simulator/comparison.h"

#include <QDialog>
#include <QWidget>

#include <array>

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QVBoxLayout;

namespace lockscope::ui {

class FaultChoice;

class ScenarioDialog : public QDialog {
    Q_OBJECT
public:
    // `book` outlives the dialog.
    ScenarioDialog(const Comparison &now, const ConnectionBook &book, QWidget *parent = nullptr);

    // What the fields say, or what is wrong with them.
    [[nodiscard]] Result<Comparison> comparison() const;

signals:
    void chosen(const lockscope::ui::Comparison &comparison);

private:
    QWidget *makeRecipes();
    QWidget *makeNumbers();
    QComboBox *makeChoice(const QByteArray &name, const QStringList &items);
    QLineEdit *makeLine(const char *name);
    QLineEdit *makeDuration(const char *name, const QString &title,
                            std::chrono::milliseconds contention::Scenario::*span);
    void enableFields(const Comparison &probe);
    QWidget *makeFaults();
    void addField(QGridLayout &grid, const QString &title, QWidget *field, int row, int column);
    QSpinBox *makeSpin(const char *name, int from, int to, int contention::Scenario::*count = nullptr);
    void fill(const Comparison &now);
    void fillPlaces();
    void update_();
    [[nodiscard]] RunPlace place() const;
    [[nodiscard]] std::vector<QByteArray> recipes() const;
    void readNumbers(contention::Scenario &scenario) const;
    [[nodiscard]] Result<contention::Scenario> readDurations(contention::Scenario scenario) const;

    Comparison m_before;
    const ConnectionBook &m_book;
    std::vector<PlaceChoice> m_choices;
    QComboBox *m_place = nullptr;
    QSpinBox *m_sessions = nullptr;
    std::array<QComboBox *, 3> m_recipes{};
    std::vector<std::pair<QSpinBox *, int contention::Scenario::*>> m_counts; // and what they are in a scenario
    struct Duration {
        QLineEdit *edit = nullptr;
        QString name; // as an error says it
        std::chrono::milliseconds contention::Scenario::*span = nullptr;
    };
    std::vector<Duration> m_durations;
    QSpinBox *m_limit = nullptr;
    QSpinBox *m_readers = nullptr;
    QComboBox *m_arrival = nullptr;
    QLineEdit *m_arriveWithin = nullptr;
    QLineEdit *m_sessionTimeout = nullptr;
    QSpinBox *m_tries = nullptr;
    QSpinBox *m_acquires = nullptr;
    QComboBox *m_locks = nullptr;
    QComboBox *m_rows = nullptr;
    QComboBox *m_servers = nullptr;
    QComboBox *m_aof = nullptr;
    QSpinBox *m_latency = nullptr;
    QLineEdit *m_wait = nullptr;
    QLineEdit *m_seed = nullptr;
    QCheckBox *m_checksTokens = nullptr;
    FaultChoice *m_faults = nullptr;
    QLabel *m_why = nullptr;
    QPushButton *m_play = nullptr;
};

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
