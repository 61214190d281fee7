// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ui/simulator/comparison.h"
#include "ui/simulator/playedrun.h"

#include <QLabel>
#include <QLayout>
#include <QList>
#include <QWidget>

class QBoxLayout;
class QMenu;
class QPushButton;

namespace lockscope::ui {

// Lays widgets out like words: as many on a line as there is room for.
class FlowLayout : public QLayout {
public:
    explicit FlowLayout(int spacing, QWidget *parent = nullptr);
    ~FlowLayout() override { qDeleteAll(m_items); }

    void addItem(QLayoutItem *item) override { m_items << item; }
    [[nodiscard]] int count() const override { return static_cast<int>(m_items.size()); }
    [[nodiscard]] QLayoutItem *itemAt(int index) const override { return m_items.value(index); }
    QLayoutItem *takeAt(int index) override;
    [[nodiscard]] Qt::Orientations expandingDirections() const override { return {}; }
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override { return layOut(QRect(0, 0, width, 0), false); }
    void setGeometry(const QRect &rect) override;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSize() const override;

private:
    int layOut(const QRect &rect, bool isReal) const;

    QList<QLayoutItem *> m_items;
};

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
    [[nodiscard]] QStringList chips() const;
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
