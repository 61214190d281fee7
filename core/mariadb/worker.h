// SPDX-License-Identifier: Apache-2.0
// The thread of one session: it alone touches the connection, runs statements as they come, and connects
// again. What it has to say goes to the loop.
//
// The thread may hang in a statement for longer than the session lives. So it owns what it needs, and
// whoever does not want to hear it any more lets it go: close().
#pragma once

#include "core/mariadb/dialect.h"

#include <condition_variable>
#include <set>

namespace lockscope::mariadb {

class SqlConnection;

// What a thread tells the session. Called in the loop, and only while the session wants to hear.
class WorkerNews {
public:
    virtual ~WorkerNews() = default;
    virtual void connected(ConnectionId connection, QByteArray version, Features features) = 0;
    virtual void notConnected(Error why) = 0; // an attempt failed, or the connection was lost
    virtual void answered(quint64 number, Result<Rows> answer) = 0;
};

// The numbers that the connections of one session have had. A server that was started anew gives them again; here
// none comes twice, so that what was meant for an earlier connection is never taken for a later one.
class UsedNumbers {
public:
    // False: it was used before.
    [[nodiscard]] bool add(ConnectionId number)
    {
        const std::lock_guard lock(m_mutex);
        return m_used.insert(number).second;
    }

private:
    std::mutex m_mutex;
    std::set<ConnectionId> m_used;
};

class Worker : public std::enable_shared_from_this<Worker> {
public:
    struct Job {
        quint64 number = 0;
        Statement statement;
        Deadline deadline = Deadline::never(); // the session's matter: it calls kill()
    };

    Worker(Loop &loop, WorkerNews &news, SessionOptions options, std::shared_ptr<UsedNumbers> numbers);
    // Loop thread, all of them.
    void start();
    // Those that follow each other, belong to no connection of their own and have one deadline are sent together: a
    // long line is waited for once. They are ended together, too.
    void run(Job job);
    // Ends this statement: true if it runs (KILL QUERY, on a connection of its own, is on its way; of several that
    // run together KILL, and all end that have no answer yet, with their connection) or its answer is; false if it
    // was only queued, and is not going to be sent.
    [[nodiscard]] bool kill(quint64 number);
    // Not heard from then on. What runs is ended by KILL; then the thread closes its connection and ends.
    // Returns what was queued and is not going to be sent.
    std::deque<Job> close();
    // The answer of what was not sent.
    [[nodiscard]] static Error notSent(const Statement &statement, const QString &why);

private:
    void main();
    void work(SqlConnection &connection);
    [[nodiscard]] bool connectNow(SqlConnection &connection);
    [[nodiscard]] bool serve(SqlConnection &connection); // until the connection is lost (true) or closed (false)
    void takeJobs();
    // With the mutex held.
    void finish(std::vector<Result<Rows>> answers);
    // An answer each; up to the first that failed, where what follows was not run.
    [[nodiscard]] std::vector<Result<Rows>> runTogether(SqlConnection &connection, const std::deque<Job> &jobs,
                                                        bool *isLost) const;
    void pauseForGood();
    void notifyLost(const Error &why);
    // With the mutex held.
    void notifyLostLocked(const Error &why);
    void post(std::function<void(WorkerNews &)> call);
    static void sendKill(const std::shared_ptr<Worker> &worker, const QByteArray &text,
                         std::chrono::milliseconds after);

    std::mutex m_mutex;
    std::condition_variable m_changed;
    Loop *m_loop;                 // null when closed
    WorkerNews *m_news;           // touched in the loop only; null when closed
    std::shared_ptr<void> m_keep; // the options', for as long as it may connect
    const SessionOptions m_options;
    const std::shared_ptr<UsedNumbers> m_numbers;
    std::deque<Job> m_jobs;
    std::deque<Job> m_running; // together
    bool m_areEnded = false;   // a KILL for these was sent
    ConnectionId m_connection = 0;
    QByteArray m_birth;
    QByteArray m_server; // which one m_connection is on
    int m_killsOut = 0;
    bool m_wasKilled = false; // a KILL QUERY may have come too late for its statement
    bool m_isClosing = false;
    bool m_areJobsDue = false;              // not before all that is asked for in one turn of the loop is there
    std::chrono::milliseconds m_backOff{0}; // the thread's
};

} // namespace lockscope::mariadb
