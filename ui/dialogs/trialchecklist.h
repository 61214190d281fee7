// SPDX-License-Identifier: Apache-2.0
// What became of a trial of a connection, line by line: passed, failed or to be known, and a link to what fixes it.
// An edit drops the answer that is awaited. GUI thread only.
#pragma once

#include "core/workspace/values.h"

#include <QWidget>

#include <memory>

class QVBoxLayout;

namespace lockscope::ui {

class TrialChecklist : public QWidget {
    Q_OBJECT
public:
    explicit TrialChecklist(QWidget *parent = nullptr);

    // Asks for a trial; show() is told of it, unless clear() or another trial comes first.
    void begin(const ConnectionSpec &spec);
    void clear() { set({}); }
    void show(const Result<std::vector<TrialCheck>> &checks);
    void set(std::vector<TrialCheck> checks); // shown() is not emitted
    // The context of the awaited answer: gone once it is wanted no more.
    [[nodiscard]] QObject *awaited() const { return m_awaited.get(); }
    [[nodiscard]] const std::vector<TrialCheck> &checks() const { return m_checks; }

signals:
    // Whoever can try connections asks in the name of awaited().
    void trialRequested(const lockscope::ConnectionSpec &spec);
    void fixRequested(lockscope::TrialCheck::Fix fix);
    void shown(); // an answer, which is to be seen

private:
    void fill();

    QVBoxLayout *m_rows;
    std::vector<TrialCheck> m_checks;
    std::unique_ptr<QObject> m_awaited;
};

} // namespace lockscope::ui
