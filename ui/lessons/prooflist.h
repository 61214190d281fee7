// SPDX-License-Identifier: Apache-2.0
// What a lesson ends in: its sentences, each with what was measured and whether it holds.
#pragma once

#include <version>

#include "ui/lessons/words.h"

#include <QFrame>

class QGridLayout;
class QLabel;

namespace lockscope::ui {

class ProofList : public QFrame {
    Q_OBJECT
public:
    explicit ProofList(QWidget *parent = nullptr);

    void show(const simulate::Lesson &lesson, const simulate::PlayedRuns &runs, Language language);
    // "✓ 45 wake-ups for nine hand-overs (45)".
    [[nodiscard]] const QStringList &lines() const { return m_lines; }

private:
    QLabel *m_head;
    QGridLayout *m_grid;
    QStringList m_lines;
};

} // namespace lockscope::ui
