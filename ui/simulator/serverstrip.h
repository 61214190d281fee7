// SPDX-License-Identifier: Apache-2.0
// What stands on the servers at the cursor, and what each contender believes then: the two can differ, and that is
// what a lock is about.
#pragma once

#include <version>

#include "ui/simulator/playedrun.h"

#include <QWidget>

#include <map>

namespace lockscope::ui {

// The servers of one run, at a moment that mostly goes on.
class ServersThen {
public:
    void setRun(PlayedRunPtr run);
    void goTo(Moment at);

    struct Server {
        bool isDown = false;
        std::vector<contention::ServerLine> lines; // by name
    };
    [[nodiscard]] std::vector<Server> servers() const;
    [[nodiscard]] Moment at() const { return m_at; }

private:
    PlayedRunPtr m_run;
    Moment m_at{};
    std::size_t m_next = 0; // of the changes
    std::map<std::pair<int, QByteArray>, contention::ServerLine> m_lines;
    std::vector<bool> m_isDown;
};

class ServerStrip : public QWidget {
    Q_OBJECT
public:
    explicit ServerStrip(QWidget *parent = nullptr);

    // Hidden where nothing is known of the run's servers.
    void setRun(const PlayedRunPtr &run);
    void setMoment(Moment at, bool isBeforeAll);
    // Where there is none it is left out.
    void setHasRoom(bool hasRoom);
    // As they stand there: "sim-lock = c00's token · 2.1 s left"; of several servers "s1  …" in front.
    [[nodiscard]] QStringList serverWords() const;
    // "c00 holds", "c01 waits": of those that do anything.
    [[nodiscard]] QStringList beliefs() const;

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return {60, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    [[nodiscard]] QString wordsOf(const contention::ServerLine &line) const;
    [[nodiscard]] QString named(QByteArray text) const;

    PlayedRunPtr m_run;
    ServersThen m_then;
    [[nodiscard]] bool isKnown() const;
    [[nodiscard]] QStringList groupedBeliefs() const;

    int m_most = 1; // of what is there at any moment
    bool m_hasRoom = true;
    bool m_isBeforeAll = true;
};

} // namespace lockscope::ui
