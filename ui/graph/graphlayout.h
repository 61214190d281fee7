// SPDX-License-Identifier: Apache-2.0
// Where the boxes of a graph stand: each connected part laid out by Graphviz, one below or beside the other. What
// was there before keeps its order, above and below, and its place from left to right, so that somebody else's
// coming moves nothing past anything else. Any thread but the window's, one at a time.
#pragma once

#include "core/workspace/values.h"
#include "ui/graph/dotgraph.h"
#include "ui/theme/pill.h"

#include <QPainterPath>
#include <QThreadPool>

#include <limits>

namespace lockscope::ui {

// The graph in words: one sentence for all of it, and names.

// Who waits for whom, with what the page asks beside: which locks are elections, which session a client is.
struct GraphFacts {
    struct Session {
        ConnectionName connection;
        QByteArray id; // as SessionSnapshot has it
        friend bool operator==(const Session &, const Session &) = default;
    };

    inspect::WaitGraph graph;                   // of its cycles those that the findings of their locks say, too
    std::vector<char> isElection;               // by lock: who stands by is not held up
    std::vector<std::vector<Session>> sessions; // by client
    bool isCycleOpen = false;                   // one was seen that no finding says (yet)
    int unseenWaiters = 0;                      // locks of which no server says who waits
};

[[nodiscard]] GraphFacts graphFactsOf(const std::vector<inspect::LockSnapshot> &locks,
                                      const std::vector<inspect::ClientLabel> &labels,
                                      std::chrono::system_clock::time_point now);

struct GraphHeading {
    Pill pill;
    QString sentence;                            // "2 clients block each other: …"
    QString more;                                // what else is to be known of it, and what is not shown first
    std::optional<int> client{};                 // of the graph: the victim, or the root blocker that it speaks of
    std::vector<inspect::FindingPlace> victim{}; // of the deadlock that it speaks of: what its victim holds
    friend bool operator==(const GraphHeading &, const GraphHeading &) = default;
};
[[nodiscard]] GraphHeading headingOf(const GraphFacts &facts);

// Who somebody waits for, elections aside, where nobody is held up.
[[nodiscard]] std::vector<const inspect::RootBlocker *> blockersOf(const GraphFacts &facts);
// "app-9 (10.0.3.7:56332)".
[[nodiscard]] QString nameOf(const inspect::Client &client);
// A lock's name; with its connection where there are several.
[[nodiscard]] QString nameOf(const GraphFacts &facts, int lock);

// What the graph page draws, before anything has a place: which clients and locks, what stands on them, and what is
// folded into one where there are too many. Pure.
struct GraphNode {
    enum class Kind { Client, Lock, Waiters, Locks }; // the last two: several, folded into one
    enum class Mark { None, Root, Cycle };

    Kind kind = Kind::Client;
    Mark mark = Mark::None;
    QByteArray key; // stays its own from one picture to the next
    QString title;  // its name
    QString note;   // "holds up 7", "in the deadlock", "waits 12 s"
    QString spoken; // all of it, for a tool tip and for who cannot see it
    std::optional<inspect::LockName> lock;
    std::vector<GraphFacts::Session> sessions;
    friend bool operator==(const GraphNode &, const GraphNode &) = default;

    [[nodiscard]] bool isFold() const { return kind == Kind::Waiters || kind == Kind::Locks; }
};

struct GraphArc {
    int client = 0; // a node: a client, or folded waiters
    int lock = 0;   // a node: a lock, or folded locks
    bool holds = false;
    bool isCycle = false;
    friend bool operator==(const GraphArc &, const GraphArc &) = default;
    friend auto operator<=>(const GraphArc &, const GraphArc &) = default;
};

struct GraphPicture {
    std::vector<GraphNode> nodes;
    std::vector<GraphArc> arcs;
    int hiddenLocks = 0; // nobody waits for them, and they were not asked for

    [[nodiscard]] int find(const QByteArray &key) const; // -1 if it is not there
};

struct GraphChoice {
    bool all = false;                                 // also what holds nobody up
    ConnectionName connection;                        // empty: all
    QString text;                                     // in a lock's name, or in a client's name or address
    QByteArray chosen;                                // the key of one that is shown in any case
    std::optional<GraphFacts::Session> chosenSession; // whose client is, too
    std::set<QByteArray> unfolded;                    // the keys of what shall not be folded
};

// Of a lock with many waiters the first stand there, and one node for all others. More nodes than these are folded,
// but for those in a deadlock and who holds others up; of locks that hold others up, where these alone are more,
// those with most waiters are drawn, and one node says how many more there are.
constexpr int mostGraphNodes = 200;

[[nodiscard]] QByteArray keyOfLock(const inspect::LockName &lock);
[[nodiscard]] QByteArray keyOfClient(const inspect::Client &client);
[[nodiscard]] GraphPicture graphPictureOf(const GraphFacts &facts, const GraphChoice &choice);

// Smaller than that, its smallest letters, of 11 pixels, would have less than 9.
constexpr qreal leastReadableZoom = 9.0 / 11;

struct GraphLine {
    QPainterPath path;  // of the holds: from the lock; of the waits: from the client
    QPointF tip;        // where it ends
    qreal tipAngle = 0; // degrees, the way it comes in
};

struct GraphLayout {
    std::vector<QRectF> boxes;    // by node of the picture
    std::vector<GraphLine> lines; // by arc
    QSizeF size;
};

class GraphLayouter {
public:
    // No wider than that, where a part of it is not; or as much wider as it takes to stay in that shape, up to what
    // can still be read when it is made smaller. What is too high even so is that wide: it scrolls up and down.
    // `stop` ends it, with ErrorCode::Cancelled.
    [[nodiscard]] Result<GraphLayout> layOut(const GraphPicture &picture, qreal width,
                                             qreal height = std::numeric_limits<qreal>::max(),
                                             const std::stop_token &stop = {});

private:
    // Of one part: by the places in `nodes` and `arcs`.
    struct Part {
        std::vector<int> nodes, arcs;
        QByteArray content; // the same content has the same layout
    };
    struct PlaceBefore {
        int place = 0; // of its part, among the others
        qreal left = 0;
    };
    enum class Places { Kept, Anew };
    [[nodiscard]] std::vector<Part> partsOf(const GraphPicture &picture) const;
    // The places of those parts, in order of each part's nodes and arcs.
    [[nodiscard]] Result<QList<DotPlaces>> placesOf(const GraphPicture &picture, const std::vector<Part> &parts,
                                                    const std::stop_token &stop) const;
    // The top left of each part, all of them in that width, or as they fit into the view; they are in m_placed.
    [[nodiscard]] std::vector<QPointF> packed(const GraphPicture &picture, const std::vector<Part> &parts,
                                              qreal width, Places places) const;
    [[nodiscard]] std::vector<QPointF> fitted(const GraphPicture &picture, const std::vector<Part> &parts,
                                              QSizeF view) const;
    [[nodiscard]] GraphLayout drawn(const GraphPicture &picture, const std::vector<Part> &parts,
                                    const std::vector<QPointF> &corners) const;

    std::map<QByteArray, DotPlaces> m_placed;       // of the last layout, by content
    std::map<QByteArray, QPointF> m_before;         // centres, by the key of the node
    std::map<QByteArray, PlaceBefore> m_partBefore; // by the key of the node
};

// Beside others, what is connected has shorter boxes: two of them then stand side by side at a size that can be read.
[[nodiscard]] QSizeF boxSizeOf(const GraphNode &node, bool isAlone);

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

// Makes the graph of many locks, its picture and its layout, on a thread of its own: one look at a time, the last one
// that was asked for next. GUI thread.
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
