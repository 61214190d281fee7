// SPDX-License-Identifier: Apache-2.0
// What stands on the servers at the cursor, and what each contender believes then: the two can differ, and that is
// what a lock is about.
#pragma once

#include <version>

#include "ui/simulator/serverwords.h"

#include <QWidget>

#include <map>

namespace lockscope::ui {

class ServerStrip : public QWidget {
    Q_OBJECT
public:
    explicit ServerStrip(QWidget *parent = nullptr);

    // Hidden where nothing is known of the run's servers.
    void setRun(const PlayedRunPtr &run);
    void setMoment(Moment at, bool isBeforeAll);
    // Where there is none it is left out.
    void setHasRoom(bool hasRoom);
    // As they stand there: "sim-lock = c00's token · 2.1 s left"; of several servers "s1 s3  …" in front.
    [[nodiscard]] QStringList serverWords() const;
    // "c00 holds", "c01 waits": of those that do anything.
    [[nodiscard]] QStringList beliefs() const;

    // With all that the run's servers ever have, as far as that is a few lines.
    [[nodiscard]] int heightFor(int width) const;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return {60, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    [[nodiscard]] int linesFor(int width) const;
    [[nodiscard]] static double roomFor(int width);

    PlayedRunPtr m_run;
    ServersThen m_then;
    [[nodiscard]] bool isKnown() const;
    [[nodiscard]] QStringList groupedBeliefs() const;

    mutable std::map<std::pair<int, double>, int> m_linesFor; // by width and size of the text
    bool m_hasRoom = true;
    bool m_isBeforeAll = true;
};

} // namespace lockscope::ui
