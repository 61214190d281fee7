// SPDX-License-Identifier: Apache-2.0
// The sandbox of the programs: private servers for one run, and the connections to them.
//
// Lives in the main thread (the servers die with the thread that started them). begin() returns at
// once and the window goes on; start() blocks, for the terminal. The destructor ends the servers and
// removes their folders, so whoever handles SIGINT and SIGTERM (EndSignals) and returns from main()
// leaves nothing behind; after a crash the servers die with us and the next sandbox sweeps.
#pragma once

#include "core/sandbox/server.h"

#include <QObject>
#include <QTimer>
#include <map>
#include <QSocketNotifier>

namespace lockscope::sandbox {

struct SandboxVariant;

struct SandboxOptions {
    std::map<BackendKind, int> servers = usual(); // how many of each
    QStringList variants = {};                    // "redis-cluster": besides, one of each of these
    std::chrono::milliseconds atMost{60'000};     // for all of them to answer
    bool tls = false;                             // and nothing in clear
    // After this, a server that has ended (somebody killed it) is started again, on its port, with what it has on
    // disk; where that fails, again after twice as long each time, at most a minute. Empty: it stays away.
    std::optional<std::chrono::milliseconds> restartAfter{5'000};

    static std::map<BackendKind, int> usual();
    static SandboxOptions everything();
};

class Sandbox : public QObject {
    Q_OBJECT
public:
    explicit Sandbox(SandboxOptions options = {}, QObject *parent = nullptr);
    ~Sandbox() override;

    // Launches; answered() and failed() tell of each server, finished() when that was all.
    void begin();
    // The same, and waits. An error when no server could be started.
    [[nodiscard]] Result<void> start();

    [[nodiscard]] bool isFinished() const { return m_starting.empty(); }
    // It has been so once: what happens now happens to servers that somebody is connected to.
    [[nodiscard]] bool isSettled() const { return m_wasFinished; }
    // Named zk, redis, redis2 …, mariadb; only those that answer, in this order.
    [[nodiscard]] std::vector<ConnectionSpec> connections() const;
    // One line for each server that there is not: why, and which package has it.
    [[nodiscard]] const QStringList &problems() const { return m_problems; }

signals:
    void answered(const lockscope::ConnectionSpec &connection);
    void failed(const QString &problem);
    void finished();
    // Later: a server is gone, and when all that belongs to the connection answers again; failed() of a try between.
    // `why`: a sentence.
    void ended(const QString &why);
    void answeredAgain(const lockscope::ConnectionSpec &connection);

private:
    struct Entry {
        QByteArray name;
        std::vector<std::unique_ptr<Server>> servers; // several: an ensemble
        BackendKind backend;
        const SandboxVariant *variant = nullptr;
        bool hasAnswered = false;
        bool isLeft = false;                               // it has ended, and is not started again
        std::chrono::steady_clock::time_point restartAt{}; // after it has ended; else the epoch
        std::chrono::milliseconds nextPause{};             // before the next try, once one has failed
        [[nodiscard]] Result<bool> poll();
        [[nodiscard]] bool isRunning();
        [[nodiscard]] Result<void> startAgain();
    };
    void add(const QByteArray &name, BackendKind backend, int count);
    void add(Entry entry, Result<std::vector<std::unique_ptr<Server>>> made);
    void addProblem(const Error &error);
    void step();
    void settle(Entry &entry, const Result<bool> &ready);
    void tryLater(Entry &entry, const Error &error);
    void lookAfter();
    void noteEnd(Entry &entry);
    [[nodiscard]] ConnectionSpec specOf(const Entry &entry) const;

    SandboxOptions m_options;
    std::unique_ptr<Certificates> m_certificates; // of tls; outlive the servers
    std::vector<std::unique_ptr<Entry>> m_entries;
    std::vector<Entry *> m_starting;
    QStringList m_problems;
    QTimer m_poll;
    QTimer m_watch; // once they run
    bool m_wasFinished = false;
    std::chrono::steady_clock::time_point m_begunAt;
};

// "zk=zk://127.0.0.1:12345?admin=23456": what --connect takes, for sandbox connections, which have no password.
[[nodiscard]] QString connectArgument(const ConnectionSpec &connection);

// SIGINT, SIGTERM and SIGHUP as a Qt signal, so that a program can leave its event loop and clean up.
// The same signal a second time ends the program at once, as if nobody had caught it.

// At most one at a time, in the main thread.
class EndSignals : public QObject {
    Q_OBJECT
public:
    explicit EndSignals(QObject *parent = nullptr);
    ~EndSignals() override;

signals:
    void asked(int signalNumber);

private:
    void read();

    QSocketNotifier *m_notifier = nullptr;
};

} // namespace lockscope::sandbox
