// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ui/simulator/comparison.h"
#include "ui/simulator/playedrun.h"

#include <QLabel>
#include <QLayout>
#include <QWidget>

class QBoxLayout;
class QMenu;
class QPushButton;

namespace lockscope::ui {

struct HeadingChip {
    QString text;
    bool isWarning = false;
    QString copies;       // what a click puts on the clipboard; empty: no button
    bool isPlace = false; // where it ran; a click offers other places
    bool isReal = false;  // on real servers
    QString tip{};        // more of it, for who points at it
};

// What is played, in one line: "100 contenders, one lock", the chips beside it, and the buttons that play something
// else.
class SimulatorHeading : public QWidget {
    Q_OBJECT
public:
    // `places`: the menu of the chip that says where it ran.
    SimulatorHeading(QMenu *places, QMenu *exports, QWidget *parent);

    void setRuns(const Comparison &comparison, const std::vector<PlayedRunPtr> &runs);
    void setNarrow(bool isNarrow); // the buttons below
    [[nodiscard]] QString text() const { return m_heading->text(); }
    [[nodiscard]] QStringList chips() const
    {
        return mapped<QStringList>(m_chips, [&](const auto &chip) { return chip.text; });
    }
    [[nodiscard]] QPushButton &forkButton() { return *m_fork; }

signals:
    void comparisonChosen(const lockscope::ui::Comparison &comparison);
    void scenarioRequested();

private:
    void retranslate(); // on the buttons; setRuns says the rest
    [[nodiscard]] QLayout *makeButtons(QMenu *exports);
    [[nodiscard]] QWidget *makeChip(const HeadingChip &chip);

    QMenu *m_places;
    QBoxLayout *m_layout;
    QWidget *m_chipRow;
    QLabel *m_heading;
    QPushButton *m_compare = nullptr;
    QPushButton *m_scenario = nullptr;
    QPushButton *m_fork = nullptr;
    QPushButton *m_export = nullptr;
    std::vector<HeadingChip> m_chips;
};

} // namespace lockscope::ui
