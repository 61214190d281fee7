// SPDX-License-Identifier: Apache-2.0
#include "core/base/logging.h"
#include "core/base/text.h"
#include "core/mariadb/worker.h"

namespace lockscope::mariadb {

namespace {

// How long a server may take to end a statement by KILL QUERY, which is sent by a connection of its own: 5 s to
// connect, as any other, and 2 to answer (killOptions()). Then it counts as gone.
constexpr auto killTakesAtMost = 7s;

class Client final : public EndSession, private WorkerNews {
public:
    Client(Loop &loop, SessionOptions options) : EndSession(loop, killTakesAtMost), m_options(std::move(options))
    {
        startWorker();
        lookLater();
    }
    ~Client() override
    {
        static_cast<void>(m_worker->close());
        finishAll(Error{ErrorCode::NotConnected, u"the session was closed"_s});
    }

    Features features() const override { return m_features; }

private:
    void startWorker()
    {
        WorkerNews &news = *this;
        m_looksWhileConnecting = 0;
        m_worker = std::make_shared<Worker>(loop(), news, m_options, m_numbers);
        m_worker->start();
    }

    void run(quint64 number, Statement statement, Deadline deadline) override
    {
        m_worker->run({number, std::move(statement), deadline});
    }
    bool takeBack(quint64 number) override { return !m_worker->kill(number); }
    void giveUpOnServer(const QString &why) override
    {
        qCDebug(logMariaDb).noquote() << "session" << m_connection << "at" << m_options.host.host
                                      << m_options.host.port << "is left:" << why;
        const auto unsent = m_worker->close();
        startWorker();
        notConnected(Error{ErrorCode::NotConnected, why, true});
        for (const auto &job : unsent)
            finish(job.number, Worker::notSent(job.statement, why));
        finishAll(Error{ErrorCode::UnknownOutcome, why, true});
    }

    void lookLater()
    {
        m_lookTimer = loop().callAt(loop().now() + m_options.askIdleEvery, [this] {
            lookAfterIdle();
            lookLater();
        });
    }

    void lookAfterIdle()
    {
        // It may let us connect and then say nothing: Qt SQL has no limit for the statements after that.
        if (state() == SessionState::Connecting
            && ++m_looksWhileConnecting * m_options.askIdleEvery >= m_options.connectsWithin)
            giveUpOnServer(u"the server accepts connections, but has sent nothing more for %1 ms"_s.arg(
                m_options.connectsWithin.count()));
        checkIdle(
            m_options.askIdleEvery, m_options.idleAnswersWithin,
            u"the idle connection has not replied to a check for %1 ms"_s.arg(m_options.idleAnswersWithin.count()),
            {m_options.dialect->nothing(), {}, std::nullopt, false});
    }

    // WorkerNews
    void connected(ConnectionId connection, QByteArray version, Features features) override
    {
        m_connection = connection;
        m_looksWhileConnecting = 0;
        m_version = std::move(version);
        m_features = std::move(features);
        m_lastError.clear();
        qCDebug(logMariaDb).noquote() << "session" << connection << "at" << m_options.host.host
                                      << m_options.host.port;
        become(SessionState::Connected);
    }
    void notConnected(Error why) override
    {
        m_connection = 0;
        m_question = 0;
        m_looksWhileConnecting = 0;
        m_lastError = why.message;
        m_isExplained = why.isExplained;
        become(why.code == ErrorCode::AuthFailed    ? SessionState::AuthFailed
               : why.code == ErrorCode::Unsupported ? SessionState::Closed
                                                    : SessionState::Connecting);
    }
    void answered(quint64 number, Result<Rows> answer) override { finish(number, std::move(answer)); }

    SessionOptions m_options;
    Features m_features;
    int m_looksWhileConnecting = 0;
    Timer m_lookTimer;
    std::shared_ptr<UsedNumbers> m_numbers = std::make_shared<UsedNumbers>();
    std::shared_ptr<Worker> m_worker;
};

} // namespace

std::unique_ptr<Session> openSession(Loop &loop, SessionOptions options)
{
    addClosing(&waitForClosingSessions);
    return std::make_unique<Client>(loop, std::move(options));
}

} // namespace lockscope::mariadb
