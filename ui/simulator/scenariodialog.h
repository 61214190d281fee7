// What to play: recipes, contenders, how they come, what goes wrong, by which seed. Says what is wrong with it before it
// can be played.
#pragma once

#include <version>

#include "ui/simulator/comparison.h"

#include <QDialog>

#include <array>
#include <map>

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace lockscope::ui {

class ScenarioDialog : public QDialog {
    Q_OBJECT
public:
    explicit ScenarioDialog(const Comparison &now, QWidget *parent = nullptr);

    // What the fields say, or what is wrong with them.
    [[nodiscard]] Result<Comparison> comparison() const;

signals:
    void chosen(const lockscope::ui::Comparison &comparison);

private:
    QWidget *makeRecipes();
    QWidget *makeNumbers();
    QWidget *makeFaults();
    void addField(QGridLayout &grid, const QString &title, QWidget *field, int row, int column);
    QSpinBox *makeSpin(const char *name, int from, int to, int value);
    void fill(const Comparison &now);
    void update_();
    [[nodiscard]] std::vector<QByteArray> recipes() const;
    [[nodiscard]] Result<simulate::Scenario> readDurations(simulate::Scenario scenario) const;

    Comparison m_before;
    std::array<QComboBox *, 3> m_recipes{};
    QSpinBox *m_contenders = nullptr;
    QSpinBox *m_rounds = nullptr;
    QSpinBox *m_limit = nullptr;
    QSpinBox *m_readers = nullptr;
    QSpinBox *m_perProcess = nullptr;
    QComboBox *m_arrival = nullptr;
    QLineEdit *m_arriveWithin = nullptr;
    QLineEdit *m_hold = nullptr;
    QLineEdit *m_ttl = nullptr;
    QLineEdit *m_wait = nullptr;
    QLineEdit *m_seed = nullptr;
    QCheckBox *m_checksTokens = nullptr;
    std::map<simulate::FaultKind, QCheckBox *> m_faults;
    QLabel *m_why = nullptr;
    QPushButton *m_play = nullptr;
};

} // namespace lockscope::ui
