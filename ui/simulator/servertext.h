// SPDX-License-Identifier: Apache-2.0
// What stands on the servers of a run at a moment, and how it is said: once where several servers have the same, and
// of two locks by who has which and who waits for it.
#pragma once

#include <version>

#include "ui/simulator/playedrun.h"

#include <QCoreApplication>

#include <map>

namespace lockscope::ui {

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

} // namespace lockscope::ui
