// SPDX-License-Identifier: Apache-2.0
// What is to happen in a run at moments that somebody chose, faults and acts: each with a button that takes it out.
#pragma once

#include <version>

#include "core/workspace/values.h"

#include <QWidget>

class QVBoxLayout;

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
