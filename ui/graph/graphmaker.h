// SPDX-License-Identifier: Apache-2.0
// Makes the graph of many locks, its picture and its layout, on a thread of its own: one look at a time, the last one
// that was asked for next. GUI thread.
#pragma once

#include <version>

#include "ui/graph/graphlayout.h"
#include "ui/graph/graphtext.h"

#include <QObject>
#include <QThreadPool>

#include <chrono>
#include <memory>
#include <stop_token>

namespace lockscope::ui {

struct GraphQuestion {
    std::vector<inspect::LockSnapshot> locks;
    std::vector<inspect::ClientLabel> labels;
    std::chrono::system_clock::time_point now;
    GraphChoice choice;
    qreal width = 1000; // of the view
    qreal height = 1000;
};

struct GraphSight {
    GraphHeading heading;
    GraphPicture picture;
    int subject = -1; // the node of the client that the heading speaks of; -1: there is none
    GraphLayout layout;
    QString failure;          // why there is no layout; empty if there is one
    int waiting = 0;          // clients
    int held = 0;             // locks
    bool isCycleOpen = false; // one was seen that is not said (yet)
    int unseenWaiters = 0;    // locks of which no server says who waits
};

class GraphMaker : public QObject {
    Q_OBJECT
public:
    explicit GraphMaker(QObject *parent = nullptr);
    ~GraphMaker() override;

    void make(GraphQuestion question);
    [[nodiscard]] bool isBusy() const { return m_isBusy; }
    // What the last one took.
    [[nodiscard]] std::chrono::milliseconds took() const { return m_took; }

signals:
    void made(std::shared_ptr<const lockscope::ui::GraphSight> sight);

private:
    void begin(GraphQuestion question);

    std::shared_ptr<GraphLayouter> m_layouter; // the worker's
    std::stop_source m_stop;                   // of the look under way
    std::optional<GraphQuestion> m_next;
    std::chrono::milliseconds m_took{0};
    bool m_isBusy = false;
    QThreadPool m_worker; // last: waits for the look under way
};

} // namespace lockscope::ui
