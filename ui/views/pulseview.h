// SPDX-License-Identifier: Apache-2.0
// A lease's last minute as a small curve: what is left of its time falls, and jumps up with each renewal.
#pragma once

#include <version>

#include "ui/models/sessionfacts.h"

#include <QWidget>

namespace lockscope::ui {

class PulseView : public QWidget {
    Q_OBJECT
public:
    explicit PulseView(QWidget *parent = nullptr);
    void show(const LeasePulse &pulse, LeasePulse::Time now);
    [[nodiscard]] QSize sizeHint() const override { return {180, 26}; }

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    LeasePulse m_pulse;
    LeasePulse::Time m_now;
};

} // namespace lockscope::ui
