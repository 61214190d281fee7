// SPDX-License-Identifier: Apache-2.0
// The recorded time as a line to move on: where the window stands, and where the chosen lock changed.
#pragma once

#include <version>

#include <QWidget>

#include <chrono>
#include <optional>
#include <vector>

namespace lockscope::ui {

class TimeTrack : public QWidget {
    Q_OBJECT
public:
    using Moment = std::chrono::sys_time<std::chrono::milliseconds>;

    explicit TimeTrack(QWidget *parent = nullptr);

    void setSpan(Moment begin, Moment end);
    // Where it stands; empty: at the end, which is now.
    void setMoment(std::optional<Moment> at);
    void setMarks(std::vector<Moment> marks);
    [[nodiscard]] Moment begin() const { return m_begin; }
    [[nodiscard]] Moment end() const { return m_end; }
    [[nodiscard]] std::optional<Moment> moment() const { return m_at; }
    [[nodiscard]] const std::vector<Moment> &marks() const { return m_marks; }
    // The nearest mark before (or after) where it stands.
    [[nodiscard]] std::optional<Moment> markBefore() const;
    [[nodiscard]] std::optional<Moment> markAfter() const;
    [[nodiscard]] QSize sizeHint() const override { return {400, 40}; }

signals:
    void sought(std::chrono::sys_time<std::chrono::milliseconds> moment);
    void stepped(std::chrono::milliseconds by);

protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;

private:
    [[nodiscard]] QRectF line() const;
    [[nodiscard]] double xOf(Moment moment) const;
    [[nodiscard]] Moment momentAt(double x) const;

    Moment m_begin{}, m_end{};
    std::optional<Moment> m_at;
    std::vector<Moment> m_marks; // in order
};

} // namespace lockscope::ui
