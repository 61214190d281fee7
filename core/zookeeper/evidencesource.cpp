// SPDX-License-Identifier: Apache-2.0
// Asks every member: one short connection per question, four-letter word first, then the AdminServer,
// or the other way round where that worked the last time.
#include "core/zookeeper/evidence.h"

#include "core/base/text.h"

#include <QHostAddress>
#include <QTcpSocket>

using namespace Qt::StringLiterals;

namespace lockscope::zk {

namespace {

constexpr qint64 answerLimitBytes = 256LL * 1024 * 1024;

// One connection: sends, reads until the other side closes. Tells once, through `done`, never from
// inside the constructor. Destroying it gives up silently.
class Exchange : public QObject {
public:
    using Done = std::function<void(QByteArray answer, QString failure)>;

    Exchange(Loop &loop, const HostPort &to, QByteArray question, Instant until, Done done)
        : m_done(std::move(done)), m_timer(loop.callAt(until, [this] { finish(u"no answer in time"_s); }))
    {
        connect(&m_socket, &QTcpSocket::connected, this, [this, question] { m_socket.write(question); });
        connect(&m_socket, &QTcpSocket::readyRead, this, [this] { read(); });
        connect(&m_socket, &QTcpSocket::disconnected, this, [this] { finish({}); });
        connect(&m_socket, &QTcpSocket::errorOccurred, this, [this](QAbstractSocket::SocketError error) {
            if (error == QAbstractSocket::ConnectionRefusedError)
                finish(u"connection refused"_s);
            else if (error == QAbstractSocket::RemoteHostClosedError)
                finish({});
            else
                finish(m_socket.errorString());
        });
        // Queued: a refusal on loopback may be known before this returns.
        QMetaObject::invokeMethod(
            this, [this, to] { m_socket.connectToHost(to.host, to.port); }, Qt::QueuedConnection);
    }
    ~Exchange() override { m_socket.disconnect(this); }

private:
    void read()
    {
        m_answer += m_socket.readAll();
        if (m_answer.size() > answerLimitBytes)
            finish(u"its answer is too large"_s);
    }
    void finish(const QString &failure)
    {
        if (!m_done)
            return;
        m_answer += m_socket.readAll();
        m_timer.cancel();
        m_socket.disconnect(this);
        const auto done = std::exchange(m_done, {});
        done(std::move(m_answer), failure); // may destroy this
    }

    Done m_done;
    QTcpSocket m_socket;
    QByteArray m_answer;
    Timer m_timer;
};

// The body of an HTTP/1.x answer with status 200; empty otherwise.
QByteArray bodyOf(const QByteArray &http)
{
    const auto end = http.indexOf("\r\n\r\n");
    const auto status = http.left(http.indexOf('\r'));
    if (end < 0 || !status.startsWith("HTTP/1.") || status.mid(9, 3) != "200")
        return {};
    return http.mid(end + 4);
}

QString refusalIn(const QByteArray &answer)
{
    if (answer.contains("is not executed because it is not in the whitelist"))
        return u"not in the whitelist"_s;
    if (answer.contains("not currently serving requests"))
        return u"not serving requests"_s;
    return answer.isEmpty() ? u"empty answer"_s : u"not understood: "_s + label(answer.left(80));
}

// All members' answers to one ask().
struct Round {
    Reply<Evidence> reply;
    std::vector<Evidence> members;
    int open = 0;
};

} // namespace

struct EvidenceSource::Private {
    Private(Loop &l, std::vector<HostPort> m, quint16 port) : loop(l), members(std::move(m)), adminPort(port) {}

    struct Question {
        std::shared_ptr<Round> round;
        std::size_t member;
        QByteArray command;
        Instant deadline;
        bool viaAdmin = false;
        bool isLastWay = false;
    };

    void ask(Question question);
    void answered(const Question &question, const QByteArray &answer, const QString &failure);
    void settle(const Question &question);

    Loop &loop;
    std::vector<HostPort> members;
    quint16 adminPort;
    std::chrono::milliseconds serverAhead{};
    std::set<std::pair<std::size_t, QByteArray>> adminFirst; // member and command
    quint64 nextExchange = 0;
    std::map<quint64, std::unique_ptr<Exchange>> exchanges;
    std::vector<std::weak_ptr<Round>> rounds;
};

void EvidenceSource::Private::ask(Question question)
{
    const auto &member = members[question.member];
    auto to = member;
    auto words = question.command;
    if (question.viaAdmin) {
        to.port = adminPort;
        words = "GET /commands/" + adminName(question.command) + " HTTP/1.0\r\nHost: " + member.host.toUtf8()
                + "\r\nAccept: application/json\r\nConnection: close\r\n\r\n";
    }
    // A way that is filtered answers with silence; it must leave time for the other one.
    const auto now = loop.now();
    const auto left = question.deadline - now;
    const auto until = question.isLastWay ? question.deadline : now + left / 2;
    const auto number = nextExchange++;
    auto done = [this, number, question](const QByteArray &answer, const QString &failure) {
        // The exchange calls from its own socket's signal: let it return before it is destroyed.
        if (auto over = exchanges.extract(number))
            over.mapped().release()->deleteLater();
        answered(question, answer, failure);
    };
    exchanges.emplace(number, std::make_unique<Exchange>(loop, to, words, until, std::move(done)));
}

void EvidenceSource::Private::answered(const Question &question, const QByteArray &answer, const QString &failure)
{
    auto &evidence = question.round->members[question.member];
    auto &record = evidence.answers[question.command];
    const bool isRead = question.viaAdmin ? readAdmin(adminName(question.command), bodyOf(answer), evidence)
                                          : failure.isEmpty() && readFourLetter(question.command, answer, evidence);
    const auto key = std::pair(question.member, question.command);
    if (isRead) {
        record.answered = 1;
        record.ways.insert(question.viaAdmin ? "admin" : "4lw");
        record.refusal.clear();
        if (question.viaAdmin)
            adminFirst.insert(key);
        else
            adminFirst.erase(key);
        settle(question);
        return;
    }
    // The four-letter word's refusal says more to an administrator than that of the second way.
    if (!question.viaAdmin)
        record.refusal = failure.isEmpty() ? refusalIn(answer) : failure;
    else if (record.refusal.isEmpty())
        record.refusal = u"AdminServer: "_s + (failure.isEmpty() ? u"no such JSON"_s : failure);
    if (question.isLastWay) {
        settle(question);
        return;
    }
    auto other = question;
    other.viaAdmin = !question.viaAdmin;
    other.isLastWay = true;
    ask(other);
}

void EvidenceSource::Private::settle(const Question &question)
{
    auto &round = *question.round;
    if (--round.open > 0)
        return;
    Evidence all = std::exchange(round.members.front(), {});
    all.settle();
    for (std::size_t i = 1; i < round.members.size(); ++i) {
        round.members[i].settle();
        all.merge(round.members[i]);
    }
    round.reply.complete(std::move(all));
}

EvidenceSource::EvidenceSource(Loop &loop, std::vector<HostPort> members, quint16 adminPort)
    : d(std::make_unique<Private>(loop, std::move(members), adminPort))
{
}

EvidenceSource::~EvidenceSource()
{
    for (const auto &weak : d->rounds)
        if (const auto round = weak.lock())
            round->reply.complete(Error{ErrorCode::Cancelled, u"no longer asked"_s, false});
    d->exchanges.clear();
}

Reply<Evidence> EvidenceSource::ask(std::vector<QByteArray> commands, Deadline deadline)
{
    constexpr auto longest = std::chrono::seconds(30);
    const auto until = deadline.isNever() ? d->loop.now() + longest : deadline.when();
    Evidence blank;
    blank.askedAt = d->loop.wallNow();
    blank.serverAhead = d->serverAhead;
    for (const auto &command : commands)
        blank.answers[command].members = 1;

    Reply<Evidence> reply(d->loop);
    if (d->members.empty() || commands.empty()) {
        reply.complete(blank);
        return reply;
    }
    auto round = std::make_shared<Round>(Round{reply, std::vector<Evidence>(d->members.size(), blank), 0});
    std::erase_if(d->rounds, [](const auto &over) { return over.expired(); });
    d->rounds.emplace_back(round);
    round->open = static_cast<int>(d->members.size() * commands.size());
    for (std::size_t member = 0; member < d->members.size(); ++member)
        for (const auto &command : commands) {
            const bool viaAdmin = d->adminFirst.contains({member, command});
            d->ask({round, member, command, until, viaAdmin, d->adminPort == 0});
        }
    return reply;
}

void EvidenceSource::setServerAhead(std::chrono::milliseconds ahead)
{
    d->serverAhead = ahead;
}

} // namespace lockscope::zk
