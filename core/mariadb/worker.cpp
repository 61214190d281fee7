// SPDX-License-Identifier: Apache-2.0
#include "core/mariadb/worker.h"

#include "core/base/logging.h"

#include <QDateTime>
#include <QSqlDatabase>
#include <QSqlError>
#include <QSqlQuery>
#include <QSqlRecord>

#include <thread>

namespace lockscope::mariadb {

// One connection of Qt SQL to a server: made, used and destroyed in one thread.
//
// Whatever touches Qt's list of connections is out of line, in a function of its own: what Qt locks there is
// passed over by these names in tests/tsan.supp.
class SqlConnection {
public:
    // `timeouts`: options of Qt's driver.
    SqlConnection(const SessionOptions &options, const QString &timeouts);
    ~SqlConnection() { QSqlDatabase::removeDatabase(m_name); }
    Q_DISABLE_COPY(SqlConnection)

    [[nodiscard]] bool open(); // if not, database() says why
    void close();              // may be opened again
    // Which server it leads to, as the server says: its name, port, numbers and start. Empty if it does not say. A
    // host name or a proxy may stand for several servers.
    [[nodiscard]] QByteArray server() const { return m_dialect.server(database()); }
    // Not to be kept beyond this object.
    [[nodiscard]] QSqlDatabase database() const { return QSqlDatabase::database(m_name, false); }
    // Why there is no password to open it with.
    [[nodiscard]] const std::optional<Error> &problem() const { return m_problem; }

private:
    const Dialect &m_dialect;
    const std::shared_ptr<PasswordSource> m_passwords;
    std::optional<Error> m_problem;
    QString m_name; // Qt SQL knows its connections by name
};

namespace {

QString freshName()
{
    static std::atomic<quint64> next{1};
    return u"lockscope-%1"_s.arg(next++);
}

constexpr std::chrono::milliseconds firstBackOff{50}, longestBackOff{2000};

// Threads that are ending, and KILLs under way. Never destroyed: they may go on when static objects are.
struct Leaving {
    std::mutex mutex;
    std::condition_variable changed;
    int count = 0;

    void begins()
    {
        const std::lock_guard lock(mutex);
        ++count;
    }
    void ends()
    {
        const std::lock_guard lock(mutex);
        --count;
        changed.notify_all();
    }
};

Leaving &leaving()
{
    static auto *const instance = new Leaving;
    return *instance;
}

constexpr auto killAgainAfter = 500ms; // where it had no effect

// A KILL on a connection of its own, which may lead elsewhere: a host name or a proxy stands for several servers,
// and on another one that number is somebody else's. So it is sent to the same server or not at all.
constexpr int attemptsToFindServer = 3; // who takes turns comes round again

void killOn(const QByteArray &server, const SessionOptions &options, const QByteArray &text, bool isFirst)
{
    for (int i = 0; i < attemptsToFindServer; ++i) {
        SqlConnection connection(options, options.dialect->killOptions());
        if (!connection.open()) {
            qCDebug(logMariaDb).noquote() << text << "was not sent: could not connect for it";
            return;
        }
        if (!server.isEmpty() && connection.server() == server) {
            QSqlQuery(connection.database()).exec(QString::fromUtf8(text));
            return;
        }
    }
    if (isFirst)
        qCWarning(logMariaDb).noquote() << text << "was not sent: a new connection to" << options.host.host
                                        << options.host.port << "leads to another server";
}

Rows::Cell cellOf(const QVariant &value)
{
    if (value.isNull())
        return std::nullopt;
    const bool isUnreadable = (value.typeId() == QMetaType::QDateTime && !value.toDateTime().isValid())
                              || (value.typeId() == QMetaType::QDate && !value.toDate().isValid())
                              || (value.typeId() == QMetaType::QTime && !value.toTime().isValid());
    if (isUnreadable)
        return Rows::unreadableTime.toByteArray();
    return value.typeId() == QMetaType::QByteArray ? value.toByteArray() : value.toString().toUtf8();
}

Rows rowsOf(QSqlQuery &query)
{
    Rows rows;
    rows.affected = query.numRowsAffected();
    if (!query.isSelect())
        return rows;
    const auto record = query.record();
    for (int i = 0; i < record.count(); ++i)
        rows.columns << record.fieldName(i).toLower().toUtf8();
    while (query.next()) {
        auto &row = rows.rows.emplace_back();
        for (int i = 0; i < record.count(); ++i)
            row.push_back(cellOf(query.value(i)));
    }
    return rows;
}

} // namespace

SqlConnection::SqlConnection(const SessionOptions &options, const QString &timeouts)
    : m_dialect(*options.dialect), m_passwords(options.passwords), m_name(freshName())
{
    auto database = QSqlDatabase::addDatabase(m_dialect.driver(), m_name);
    database.setHostName(options.host.host);
    database.setPort(options.host.port);
    database.setUserName(options.user);
    database.setPassword(options.password);
    database.setDatabaseName(options.database);
    database.setConnectOptions(timeouts);
}

bool SqlConnection::open()
{
    if (m_passwords) {
        const auto password = m_passwords->fetch();
        m_problem = password ? std::nullopt : std::optional(password.error());
        if (!password)
            return false;
        database().setPassword(*password);
    }
    return database().open();
}

void SqlConnection::close()
{
    database().close();
}

void waitForClosingSessions(std::chrono::milliseconds atMost)
{
    std::unique_lock lock(leaving().mutex);
    leaving().changed.wait_for(lock, atMost, [] { return leaving().count == 0; });
}

Worker::Worker(Loop &loop, WorkerNews &news, SessionOptions options, std::shared_ptr<UsedNumbers> numbers)
    : m_loop(&loop), m_news(&news), m_keep(std::exchange(options.keep, nullptr)), m_options(std::move(options)),
      m_numbers(std::move(numbers))
{
}

void Worker::start()
{
    std::thread([self = shared_from_this()] { self->main(); }).detach();
}

void Worker::run(Job job)
{
    const std::lock_guard lock(m_mutex);
    m_jobs.push_back(std::move(job));
    if (m_areJobsDue)
        m_changed.notify_all();
    if (m_areJobsDue || !m_loop || m_jobs.size() > 1)
        return;
    m_loop->post([self = shared_from_this()] {
        const std::lock_guard later(self->m_mutex);
        self->m_areJobsDue = true;
        self->m_changed.notify_all();
    });
}

bool Worker::kill(quint64 number)
{
    const std::lock_guard lock(m_mutex);
    if (std::erase_if(m_jobs, [number](const Job &job) { return job.number == number; }) > 0)
        return false;
    if (std::ranges::find(m_running, number, &Job::number) == m_running.end())
        return true;
    if (std::exchange(m_areEnded, true))
        return true;
    ++m_killsOut;
    m_wasKilled = true;
    // Between two of several, KILL QUERY would leave the client waiting for an answer that never comes.
    const auto &dialect = *m_options.dialect;
    const auto text = m_running.size() > 1 ? dialect.killConnection(m_connection, m_birth)
                                           : dialect.killQuery(m_connection, m_birth);
    sendKill(shared_from_this(), text, 0ms);
    return true;
}

std::deque<Worker::Job> Worker::close()
{
    const std::lock_guard lock(m_mutex);
    leaving().begins(); // until main() ends
    m_loop = nullptr;
    m_news = nullptr;
    m_isClosing = true;
    m_changed.notify_all();
    auto unsent = std::exchange(m_jobs, {});
    if (m_running.empty())
        return unsent;
    ++m_killsOut;
    // What is to last is given a moment: a COMMIT on its way is not to be cut off.
    sendKill(shared_from_this(), m_options.dialect->killConnection(m_connection, m_birth),
             m_running.front().statement.isLasting ? 1000ms : 0ms);
    return unsent;
}

Error Worker::notSent(const Statement &statement, const QString &why)
{
    return {statement.connection ? ErrorCode::SessionExpired : ErrorCode::NotConnected,
            u"nothing was sent: %1"_s.arg(why), true};
}

void Worker::sendKill(const std::shared_ptr<Worker> &worker, const QByteArray &text, std::chrono::milliseconds after)
{
    leaving().begins();
    std::thread([worker, keep = worker->m_keep, server = worker->m_server, text, after]() mutable {
        // Nothing else runs before this thread is done.
        const auto isOver = [&worker] { return worker->m_running.empty(); };
        std::unique_lock lock(worker->m_mutex);
        bool isNeeded = !worker->m_changed.wait_for(lock, after, isOver);
        for (bool isFirst = true; isNeeded; isFirst = false) {
            lock.unlock();
            killOn(server, worker->m_options, text, isFirst);
            lock.lock();
            // A server forgets one that comes before the statement that it is to end.
            isNeeded = !worker->m_changed.wait_for(lock, killAgainAfter, isOver) && !worker->m_isClosing;
        }
        --worker->m_killsOut;
        worker->m_changed.notify_all();
        lock.unlock();
        keep.reset();
        leaving().ends();
    }).detach();
}

void Worker::main()
{
    {
        SqlConnection connection(m_options, m_options.dialect->options(m_options.readsWithin));
        work(connection);
    }
    // Before it is said to have left: calls to the loop that were not made may keep this worker for longer.
    std::shared_ptr<void> keep;
    {
        const std::lock_guard lock(m_mutex);
        keep.swap(m_keep);
    }
    keep.reset();
    leaving().ends(); // close() began it
}

void Worker::work(SqlConnection &connection)
{
    for (;;) {
        {
            std::unique_lock lock(m_mutex);
            m_changed.wait_for(lock, m_backOff, [this] { return m_isClosing; });
            if (m_isClosing)
                return;
        }
        m_backOff = std::clamp(m_backOff * 2, firstBackOff, longestBackOff);
        if (!connectNow(connection))
            continue;
        m_backOff = 0ms;
        const bool wasLost = serve(connection);
        connection.close();
        if (!wasLost)
            return;
    }
}

bool Worker::connectNow(SqlConnection &connection)
{
    if (!connection.database().isValid()) {
        notifyLost(Error{ErrorCode::Unsupported, m_options.dialect->driverMissing()});
        pauseForGood();
        return false;
    }
    if (!connection.open()) {
        const auto &why = connection.problem()
                              ? *connection.problem()
                              : m_options.dialect->connectError(connection.database().lastError(), m_options.secured);
        notifyLost(why);
        if (m_options.passwords) // the next one may be another
            m_backOff = why.retryable ? m_backOff : longestBackOff;
        else if (!why.retryable)
            pauseForGood();
        return false;
    }
    QSqlQuery query(connection.database());
    const auto met = m_options.dialect->meet(query);
    if (!met) {
        notifyLost(m_options.dialect->connectError(query.lastError(), m_options.secured));
        query.clear();
        connection.close();
        return false;
    }
    const auto number = met->connection;
    if (!m_numbers->add(number)) { // the next one is another
        m_backOff = 0ms;
        query.clear();
        connection.close();
        return false;
    }
    const std::lock_guard lock(m_mutex);
    m_server = met->server;
    m_connection = number;
    m_birth = met->birth;
    m_wasKilled = false;
    post([number, version = met->version, features = met->features](WorkerNews &news) {
        news.connected(number, version, features);
    });
    return true;
}

void Worker::pauseForGood()
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_isClosing; });
}

bool Worker::serve(SqlConnection &connection)
{
    for (;;) {
        std::deque<Job> jobs;
        {
            std::unique_lock lock(m_mutex);
            m_changed.wait(lock, [this] {
                const bool isAsked = m_wasKilled || (m_areJobsDue && !m_jobs.empty());
                return m_isClosing || (isAsked && m_killsOut == 0);
            });
            if (m_isClosing)
                return false;
            if (!std::exchange(m_wasKilled, false))
                takeJobs();
            jobs = m_running;
            if (jobs.empty()) // for a KILL QUERY that comes late to hit
                jobs.push_back({0, {m_options.dialect->nothing(), {}, std::nullopt, false}});
        }
        bool isLost = false;
        auto answers = runTogether(connection, jobs, &isLost);
        const std::lock_guard lock(m_mutex);
        auto why = isLost ? answers.back().error() : Error{};
        if (m_areEnded && jobs.size() > 1) {
            if (isLost)
                answers.pop_back();
            isLost = true; // or it is going to be
            why = Error{ErrorCode::Cancelled, u"the connection was closed, to end what ran on it"_s, true};
        }
        while (isLost && answers.size() < jobs.size()) // they were sent, too
            answers.emplace_back(why);
        finish(std::move(answers));
        if (!isLost)
            continue;
        notifyLostLocked(why);
        return true;
    }
}

// With the mutex held.
void Worker::takeJobs()
{
    constexpr std::size_t mostTogether = 32;
    const auto goesWithOthers = [this](const Job &job) {
        const auto &statement = job.statement;
        return m_options.dialect->runsSeveral() && !statement.connection && !statement.isLasting
               && statement.parameters.isEmpty() && !statement.text.contains(';');
    };
    do {
        m_running.push_back(std::move(m_jobs.front()));
        m_jobs.pop_front();
    } while (!m_jobs.empty() && m_running.size() < mostTogether && goesWithOthers(m_running.back())
             && goesWithOthers(m_jobs.front()) && m_jobs.front().deadline.when() == m_running.back().deadline.when());
    m_areJobsDue = !m_jobs.empty();
}

// What follows a statement that failed was not run, and is sent again.
void Worker::finish(std::vector<Result<Rows>> answers)
{
    auto done = std::exchange(m_running, {});
    m_areEnded = false;
    m_changed.notify_all();
    if (done.empty())
        return;
    for (auto &answer : answers) {
        const auto number = done.front().number;
        post([number, answer = std::move(answer)](WorkerNews &news) { news.answered(number, answer); });
        done.pop_front();
    }
    for (; !done.empty(); done.pop_back())
        m_jobs.push_front(std::move(done.back()));
    m_areJobsDue = m_areJobsDue || !m_jobs.empty();
}

std::vector<Result<Rows>> Worker::runTogether(SqlConnection &connection, const std::deque<Job> &jobs,
                                              bool *isLost) const
{
    auto statement = jobs.front().statement;
    if (statement.connection && *statement.connection != m_connection)
        return {Error{ErrorCode::SessionExpired, u"nothing was sent: the connection was lost before"_s, true}};
    for (std::size_t i = 1; i < jobs.size(); ++i)
        statement.text += ";\n" + jobs[i].statement.text;
    QSqlQuery query(connection.database());
    query.setNumericalPrecisionPolicy(QSql::HighPrecision);
    std::vector<Result<Rows>> answers;
    bool isDone = m_options.dialect->run(query, statement);
    while (isDone) {
        auto rows = rowsOf(query);
        if (query.lastError().isValid())
            break;
        answers.emplace_back(std::move(rows));
        if (answers.size() == jobs.size())
            return answers;
        isDone = query.nextResult();
    }
    const auto error = query.lastError();
    *isLost = m_options.dialect->isLost(error);
    if (!*isLost && answers.empty() && jobs.size() > 1 && m_options.dialect->readsAllFirst()) {
        for (auto job = jobs.begin(); job != jobs.end() && !*isLost; ++job)
            answers.push_back(runTogether(connection, {*job}, isLost).front());
        return answers;
    }
    // Before the query: the client forgets its statements with the connection. One that would be given back over a
    // lost connection makes Qt's driver complain on standard error.
    if (*isLost)
        connection.close();
    answers.emplace_back(m_options.dialect->statementError(error, statement.isLasting));
    return answers;
}

void Worker::post(std::function<void(WorkerNews &)> call)
{
    if (!m_loop)
        return;
    m_loop->post([self = shared_from_this(), call = std::move(call)] {
        if (self->m_news)
            call(*self->m_news);
    });
}

void Worker::notifyLost(const Error &why)
{
    const std::lock_guard lock(m_mutex);
    notifyLostLocked(why);
}

// What queues was not sent, and is not going to be.
void Worker::notifyLostLocked(const Error &why)
{
    m_connection = 0;
    post([why](WorkerNews &news) { news.notConnected(why); });
    for (const auto &job : std::exchange(m_jobs, {})) {
        const auto error = notSent(job.statement, why.message);
        post([number = job.number, error](WorkerNews &news) { news.answered(number, error); });
    }
}

} // namespace lockscope::mariadb
