// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ui/simulator/playedrun.h"

#include <QCoreApplication>
#include <QWidget>

namespace lockscope::ui {

// What stands on the servers of a run at a moment, and how it is said: once where several servers have the same, and
// of two locks by who has which and who waits for it.

// The servers of one run, at a moment that mostly goes on.
class ServersThen {
public:
    void setRun(PlayedRunPtr run);
    void goTo(Moment at);

    struct Server {
        bool isDown = false;
        std::vector<contention::ServerLine> lines; // in the order in which they were made: that of a queue
    };
    [[nodiscard]] std::vector<Server> servers() const;
    [[nodiscard]] Moment at() const { return m_at; }
    // Which lane watches the node of which.
    [[nodiscard]] std::vector<std::pair<int, int>> watches() const;

private:
    PlayedRunPtr m_run;
    Moment m_at{};
    std::size_t m_next = 0;                                                                       // of the changes
    std::map<std::pair<int, QByteArray>, std::pair<std::size_t, contention::ServerLine>> m_lines; // with its place
    std::vector<bool> m_isDown;
};

// Of servers that have the same.
struct ServerWords {
    Q_DECLARE_TR_FUNCTIONS(ServerStrip)
public:
    QString which; // "s1 s3"; empty where there is one, or where it is no server's
    QStringList texts;
    bool isBad = false; // down, or empty where others have something; a cycle
};
[[nodiscard]] std::vector<ServerWords> serverWordsOf(const PlayedRun &run, const ServersThen &then);

// The two locks that each contender wants: A and B, by their place in the tree.
[[nodiscard]] QString letterOfLock(const contention::Scenario &scenario, int contender, bool isSecond);

// What stands on the servers at the cursor, and what each contender believes then: the two can differ, and that is
// what a lock is about.
class ServerStrip : public QWidget {
    Q_OBJECT
public:
    explicit ServerStrip(QWidget *parent = nullptr);

    // Hidden where nothing is known of the run's servers.
    void setRun(const PlayedRunPtr &run);
    void setMoment(Moment at, bool isBeforeAll);
    // Where there is none it is left out.
    void setHasRoom(bool hasRoom);
    void setFontSize(int size) { m_fontSize = size; }
    [[nodiscard]] const ServersThen &then() const { return m_then; }
    // As they stand there: "sim-lock = c00's token · 2.1 s left"; of several servers "s1 s3  …" in front.
    [[nodiscard]] QStringList serverWords() const;
    // Of those that do anything, who believe the same together: "holds: c00", "waits: c01 c02 c03 c04 c05 … (9)".
    [[nodiscard]] QStringList beliefs() const;

    // With all that the run's servers ever have, as far as that is a few lines.
    [[nodiscard]] int heightFor(int width) const;
    [[nodiscard]] QSize sizeHint() const override { return {300, heightFor(width())}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {60, sizeHint().height()}; }

private:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    [[nodiscard]] int linesFor(int width) const;
    [[nodiscard]] double roomFor(int width) const;
    // What `count` of them do alike; the first are named.
    struct Belief {
        LaneState state = LaneState::Away;
        bool isPaused = false, isReader = false;
        QString does;
        QStringList first;
        qsizetype count = 0;
    };
    [[nodiscard]] std::vector<Belief> grouped() const;
    [[nodiscard]] QString beliefOf(int lane, const LaneSpan &span) const;
    [[nodiscard]] static QString beliefText(const Belief &belief, qsizetype most);

    PlayedRunPtr m_run;
    ServersThen m_then;
    [[nodiscard]] bool isKnown() const
    {
        return m_run && m_run->recording().history.isKept && m_run->eventCount() > 0;
    }

    mutable std::map<std::pair<int, double>, int> m_linesFor; // by width and size of the text
    bool m_hasRoom = true;
    int m_fontSize = 12;
    bool m_isBeforeAll = true;
};

} // namespace lockscope::ui
