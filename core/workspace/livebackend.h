// SPDX-License-Identifier: Apache-2.0
// The Backend of a running program: a Workspace on an I/O thread of its own, its news batched to at
// most one delivery per frame, and never more than one on the way.
//
// Lives in the GUI thread; destroying it stops the I/O thread after closing what is open.
#pragma once

#include "core/async/qtloop.h"
#include "core/workspace/hold.h"
#include "core/workspace/newsfeed.h"
#include "core/workspace/realrun.h"

#include <QThread>

namespace lockscope {

class IoController;

class LiveBackend : public Backend {
    Q_OBJECT
public:
    // Without `recorder` nothing is recorded.
    explicit LiveBackend(WorkspaceOptions options, std::optional<history::FlightOptions> recorder = {},
                         QObject *parent = nullptr);
    ~LiveBackend() override;

    [[nodiscard]] std::vector<inspect::ClientLabel> clientLabels() const override { return m_labels; }
    [[nodiscard]] Past *past() override { return m_past.get(); }
    void post(PostedQuery query) override
    {
        std::visit([this](auto &asked) { start(std::move(asked)); }, query);
    }
    void execute(Command command) override;

private:
    friend class IoController;
    // Runs `work` on the I/O thread.
    void onIoThread(std::function<void(IoController &)> work);
    // Wraps a callback so that it is called in the GUI thread while `context` lives.
    template <class T>
    std::function<void(T)> deliveredTo(const QPointer<QObject> &context, std::function<void(T)> callback);
    template <class Q>
    void start(Posted<Q> asked);

    std::unique_ptr<Past> m_past; // reads what the I/O side records
    std::vector<inspect::ClientLabel> m_labels;
    QThread m_thread;
    const QString m_auditPath;
    Workers m_rehearsals{2};      // they wait for nobody, and compute for a while
    Workers m_readers{2};         // of files
    IoController *m_io = nullptr; // lives and dies in m_thread
};

// The half of LiveBackend that lives on the I/O thread: handles the window's queries and commands, opens and closes
// its connections, and has a class for each other job: NewsFeed, OwnHolds, Runs, ZnodeFollower.

// The locks that the window itself acquires, holds and releases. Loop thread only.
class OwnHolds {
public:
    // `tell` hears of every change of a hold; `launch` runs a task that ends with that connection.
    using Tell = std::function<void(const Hold &)>;
    using Launch = std::function<void(const ConnectionName &, Task<void>)>;
    OwnHolds(Workspace &workspace, Tell tell, Launch launch);
    ~OwnHolds() { m_farewell.cancelAll(); }

    void acquire(quint64 id, AcquireRequest request);
    void release(quint64 id);
    // Whether something is held or waited for there.
    [[nodiscard]] bool areOn(const ConnectionName &name) const;
    // The connection is closed, after its tasks. A session of its own lets go when it closes; what is left of a lease
    // ends with its TTL.
    void abandon(const ConnectionName &name);
    // Gives back what is held and gives up what is waited for; then, or when the time is over, what is not known to
    // be free, in words.
    void releaseAll(Duration atMost, std::function<void(QStringList)> done);

private:
    struct OwnHold {
        Hold hold;
        std::unique_ptr<HeldLock> lock;
        std::unique_ptr<Scope> scope; // of the coroutine inside `lock`; dies first
        bool isReleasing = false;     // the release is under way
        bool isLeft = false;          // it was not given back, as far as we know
    };

    Task<void> run(quint64 id);
    Task<void> end(quint64 id);
    Task<void> endAll(Duration atMost, std::function<void(QStringList)> done);

    Workspace &m_workspace;
    Tell m_tell;
    Launch m_launch;
    std::map<quint64, OwnHold> m_holds;
    Scope m_farewell; // last: its coroutine uses everything above
};

// Follows the children of the znodes that are expanded in the window. Loop thread only.
class ZnodeFollower {
public:
    // `changed` is told of every change of the children of a followed path. The workspace outlives this.
    using Changed = std::function<void(const ConnectionName &, const ZPath &)>;
    ZnodeFollower(Workspace &workspace, Changed changed) : m_workspace(workspace), m_changed(std::move(changed)) {}

    // Follows these paths of the connection and no others.
    void follow(const ConnectionName &name, const std::vector<ZPath> &paths);
    // The window was given the children of this folder, which was so then.
    void listed(const ConnectionName &name, const ZPath &path, const zk::Stat &folder);
    // The session ends.
    void stop(const ConnectionName &name) { m_followed.erase(name); }
    // The connection was closed.
    void forget(const ConnectionName &name);

private:
    [[nodiscard]] bool isAsListed(const ConnectionName &name, const ZPath &path, const zk::Stat &folder) const;
    Task<void> followOne(ConnectionName name, ZPath path);

    struct Listed {
        ConnectionName name;
        ZPath path;
        qint64 pzxid = 0; // the last change of its children
    };
    Workspace &m_workspace;
    Changed m_changed;
    std::deque<Listed> m_listed; // newest first; a few, for a list is followed at once or not
    std::map<ConnectionName, std::map<ZPath, std::unique_ptr<Scope>>> m_followed; // they use everything above
};

class IoController {
public:
    IoController(LiveBackend &front, const WorkspaceOptions &options);
    ~IoController();

    [[nodiscard]] Loop &loop() { return m_loop; }
    [[nodiscard]] Workspace &workspace() { return m_workspace; }
    [[nodiscard]] NewsFeed &news() { return m_news; }
    [[nodiscard]] OwnHolds &holds() { return m_holds; }
    [[nodiscard]] Runs &runs() { return m_runs; }
    [[nodiscard]] ZnodeFollower &znodes() { return m_znodes; }
    void record(history::FlightOptions options, std::shared_ptr<history::RecordedFiles> files);
    void answer(const PostedQuery &query);
    void execute(const Command &command);

private:
    // Calls it with the LiveBackend, in the GUI thread.
    template <class F>
    void notifyFront(F call)
    {
        QMetaObject::invokeMethod(
            &m_front, [front = &m_front, call = std::move(call)] { call(*front); }, Qt::QueuedConnection);
    }
    void deliver(Batch batch);
    // Runs a task that ends with that connection.
    void launch(const ConnectionName &name, Task<void> task);
    void add(const ConnectionSpec &spec);
    void remove(const ConnectionName &name);
    void close(const ConnectionName &name);
    void retry(const ConnectionName &name);
    void setReadOnly(const ConnectionName &name, bool readOnly);

    LiveBackend &m_front;
    QtLoop m_loop;
    NewsFeed m_news;
    Workspace m_workspace;
    OwnHolds m_holds;
    Runs m_runs;
    ZnodeFollower m_znodes;
    // Closed for the window, while a run still takes away there what it made; and who is to take its name then.
    std::map<ConnectionName, std::optional<ConnectionSpec>> m_closing;
    std::map<ConnectionName, std::unique_ptr<Scope>> m_tasks; // these coroutines use everything above
};

} // namespace lockscope
