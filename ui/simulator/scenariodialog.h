// SPDX-License-Identifier: Apache-2.0
// What to play, and where: recipes, contenders, how they come, what goes wrong, by which seed. Says what is wrong
// with it before it can be played.
#pragma once

#include "ui/simulator/comparison.h"

#include <QDialog>

#include <array>

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

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

} // namespace lockscope::ui
