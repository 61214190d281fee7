// SPDX-License-Identifier: Apache-2.0
// Asking real members: both ways, refusals, members that are down, silent or something else entirely.
#include "tests/support/zookeeperfixture.h"

#include "core/zookeeper/evidence.h"
#include "tests/support/testmain.h"

using namespace lockscope::zk;

namespace {

const std::vector<QByteArray> all{"dump", "cons", "wchp", "wchs", "mntr", "srvr"};

// Answers as a member would; null: not in the whitelist.
class ScriptedMember : public QTcpServer {
public:
    std::map<QByteArray, std::function<QByteArray()>> says;
    std::chrono::milliseconds delay{};

    ScriptedMember()
    {
        listen(QHostAddress::LocalHost);
        connect(this, &QTcpServer::newConnection, this, [this] {
            auto *visitor = nextPendingConnection();
            connect(visitor, &QTcpSocket::readyRead, visitor, [this, visitor] {
                const auto word = visitor->readAll();
                QTimer::singleShot(delay, visitor, [this, visitor, word] {
                    const auto at = says.find(word);
                    const auto refusal = word + " is not executed because it is not in the whitelist.";
                    visitor->write(at == says.end() ? refusal : at->second());
                    visitor->disconnectFromHost();
                });
            });
        });
    }
    HostPort address() const { return {u"127.0.0.1"_s, serverPort()}; }
    void alwaysSays(const QByteArray &word, const QByteArray &answer)
    {
        says[word] = [answer] { return answer; };
    }
};

QByteArray consOf(int session)
{
    return " /10.0.0.1:5[1](queued=0,recved=1,sent=1,sid=0x" + QByteArray::number(session)
           + ",lop=PING,est=1,to=10000,lcxid=0x1,lzxid=0x1,lresp=5,llat=0,minlat=0,avglat=0,maxlat=0)\n";
}

// A member as the ensemble's configuration names it.
QByteArray configured(int id, const ScriptedMember &member)
{
    return "server." + QByteArray::number(id) + "=127.0.0.1:1:2:participant;"
           + QByteArray::number(member.serverPort()) + '\n';
}

} // namespace

class TestZooKeeperEvidence : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void bothWaysSayTheSame();
    void refusedWordsAreAskedOfTheAdminServer();
    void aMemberThatIsDownIsCounted();
    void oneOfAnEnsembleIsNotAll();
    void behindOneAddressAreManyButOneAtATime();
    void membersOfTheConfigurationAreAskedToo();
    void evidenceOfMembersSurvivesASharedAddress();
    void aMemberThatIsFarAwayIsWaitedFor();
    void aServerOfAnotherKindIsNoAdminServer();
    void silenceEndsAtTheDeadline();
    void destroyedWhileAsking();

private:
    Result<Evidence> ask(EvidenceSource &source, std::vector<QByteArray> commands = all)
    {
        return await(source.ask(std::move(commands), Deadline::after(m_loop, 5s)));
    }
    std::unique_ptr<sandbox::ZooKeeperServer> start(sandbox::ZooKeeperOptions options);

    QtLoop m_loop;
    std::unique_ptr<sandbox::ZooKeeperServer> m_open;   // allows everything
    std::unique_ptr<sandbox::ZooKeeperServer> m_strict; // allows what ZooKeeper allows unasked
};

std::unique_ptr<sandbox::ZooKeeperServer> TestZooKeeperEvidence::start(sandbox::ZooKeeperOptions options)
{
    auto server = sandbox::makeZooKeeper(std::move(options));
    if (!server)
        return nullptr;
    const auto started = (*server)->start(30s);
    if (!started)
        qWarning("%s", qPrintable(started.error().message));
    return started ? std::move(*server) : nullptr;
}

void TestZooKeeperEvidence::initTestCase()
{
    const auto available = sandbox::makeZooKeeper();
    if (!available)
        QSKIP(qPrintable(available.error().message));
    m_open = start({});
    sandbox::ZooKeeperOptions strict{.fourLetterWords = "srvr"};
    m_strict = start(strict);
    QVERIFY(m_open && m_strict);
}

void TestZooKeeperEvidence::bothWaysSayTheSame()
{
    const auto session = openSession(m_loop, {.hosts = {m_open->address()}});
    QVERIFY(waitForState(*session, SessionState::Connected));
    const ZPath path("/both ways");
    QVERIFY(await(session->create(path, {}, CreateMode::Ephemeral, openAcl(), Deadline::never())));
    QVERIFY(await(session->get(path, Watch(m_loop), Deadline::never())));
    QVERIFY(await(session->children(ZPath("/"), Watch(m_loop), Deadline::never())));

    EvidenceSource words(m_loop, {m_open->address()}, 0);
    const auto said = ask(words);
    QVERIFY(said);
    for (const auto &command : all) {
        QVERIFY2(said->isComplete(command), command.constData());
        QVERIFY(said->answers.at(command).ways == std::set<QByteArray>{"4lw"});
    }
    QCOMPARE(said->ephemerals.at(session->id()), std::vector{path});
    QVERIFY(said->dataWatches.at(path).contains(session->id()));
    QCOMPARE(said->childWatchTotal, qint64(1));
    const auto &facts = said->connections.at(session->id());
    QVERIFY(facts.endpoint.startsWith(u"127.0.0.1:"_s));
    QCOMPARE(facts.timeout, session->timeout());
    const auto connected =
        std::chrono::duration_cast<std::chrono::milliseconds>(session->connectedAt()->time_since_epoch());
    QVERIFY(std::chrono::abs(connected - facts.established) < 5s); // one machine, one clock
    QVERIFY(said->expiresIn.at(session->id()) <= session->timeout() + 1s);

    EvidenceSource admin(m_loop, {{m_open->address().host, 1}}, m_open->adminPort());
    const auto asked = ask(admin);
    QVERIFY(asked);
    for (const auto &command : all) {
        QVERIFY2(asked->isComplete(command), command.constData());
        QVERIFY(asked->answers.at(command).ways == std::set<QByteArray>{"admin"});
    }
    QCOMPARE(asked->ephemerals, said->ephemerals);
    QCOMPARE(asked->dataWatches, said->dataWatches);
    QCOMPARE(asked->childWatchTotal, said->childWatchTotal);
    QCOMPARE(asked->connections.at(session->id()).endpoint, facts.endpoint);
    QCOMPARE(asked->connections.at(session->id()).established, facts.established);
    QVERIFY(asked->expiresIn.at(session->id()) <= session->timeout() + 1s);
}

void TestZooKeeperEvidence::refusedWordsAreAskedOfTheAdminServer()
{
    EvidenceSource source(m_loop, {m_strict->address()}, m_strict->adminPort());
    for (int round = 0; round < 2; ++round) { // the second goes the way that worked
        const auto evidence = ask(source);
        QVERIFY(evidence);
        QVERIFY(evidence->answers.at("dump").ways == std::set<QByteArray>{"admin"});
        QVERIFY(evidence->answers.at("srvr").ways == std::set<QByteArray>{"4lw"});
    }
    EvidenceSource wordsOnly(m_loop, {m_strict->address()}, 0);
    const auto refused = ask(wordsOnly);
    QVERIFY(refused);
    QVERIFY(!refused->hasAny("dump"));
    QCOMPARE(refused->answers.at("dump").members, 1);
    QCOMPARE(refused->answers.at("dump").refusal, u"not in the whitelist"_s);
    QVERIFY(refused->isComplete("srvr"));
}

void TestZooKeeperEvidence::aMemberThatIsDownIsCounted()
{
    EvidenceSource source(m_loop, {m_open->address(), {u"127.0.0.1"_s, 1}, m_strict->address()}, 0);
    const auto evidence = ask(source, {"wchp", "srvr"});
    QVERIFY(evidence);
    QCOMPARE(evidence->answers.at("srvr").members, 3);
    QCOMPARE(evidence->answers.at("srvr").answered, 2);
    QCOMPARE(evidence->answers.at("srvr").refusal, u"connection refused"_s);
    QCOMPARE(evidence->answers.at("wchp").answered, 1);
    QVERIFY(evidence->hasAny("wchp") && !evidence->isComplete("wchp"));
}

void TestZooKeeperEvidence::oneOfAnEnsembleIsNotAll()
{
    ScriptedMember member;
    member.alwaysSays("srvr", "Zookeeper version: 3.4.14\nMode: follower\n");
    member.alwaysSays("cons", consOf(1));
    EvidenceSource source(m_loop, {member.address()}, 0);
    const auto evidence = ask(source, {"cons"});
    QVERIFY(evidence);
    QVERIFY(evidence->hasAny("cons") && !evidence->isComplete("cons"));
    QCOMPARE(evidence->membersUnknown, u"conf: not in the whitelist"_s);
    source.setConfiguration("server.1=127.0.0.1:2:3:participant\nserver.2=127.0.0.1:4:5:participant\n");
    const auto counted = ask(source, {"cons"});
    QVERIFY(counted && !counted->isComplete("cons"));
    QCOMPARE(counted->answers.at("cons").members, 2);
    QCOMPARE(counted->answers.at("cons").answered, 0); // whose answer it is, it did not say
}

void TestZooKeeperEvidence::behindOneAddressAreManyButOneAtATime()
{
    ScriptedMember balancer;
    int asked = 0;
    balancer.says["conf"] = [&asked] {
        return "serverId=" + QByteArray::number(++asked % 3 + 1)
               + "\nserver.1=zk1:2:3:participant\nserver.2=zk2:4:5:participant\nserver.3=zk3:4:5:participant\n";
    };
    balancer.alwaysSays("srvr", "Mode: follower\n");
    balancer.alwaysSays("cons", consOf(1));
    EvidenceSource source(m_loop, {balancer.address()}, 0);
    for (int round = 0; round < 4; ++round) {
        const auto evidence = ask(source, {"cons"});
        QVERIFY(evidence && !evidence->isComplete("cons"));
        QCOMPARE(evidence->answers.at("cons").members, 3);
        QCOMPARE(evidence->answers.at("cons").answered, 1);
        QVERIFY(
            evidence->answers.at("cons").refusal.contains(u"where clients reach it is not in the configuration"_s));
    }
}

void TestZooKeeperEvidence::membersOfTheConfigurationAreAskedToo()
{
    ScriptedMember one;
    ScriptedMember two;
    const auto servers = configured(1, one) + configured(2, two);
    one.alwaysSays("conf", "serverId=1\n" + servers);
    two.alwaysSays("conf", "serverId=2\n" + servers);
    one.alwaysSays("cons", consOf(1));
    two.alwaysSays("cons", consOf(2));
    EvidenceSource source(m_loop, {one.address()}, 0);
    const auto evidence = ask(source, {"cons"});
    QVERIFY2(evidence && evidence->isComplete("cons"), "the first answer is whole already");
    QCOMPARE(evidence->connections.size(), std::size_t(2));
    two.says.erase("cons");
    const auto refused = ask(source, {"cons"});
    QVERIFY(refused && !refused->isComplete("cons"));
    QCOMPARE(refused->answers.at("cons").refusal,
             u"server 2 (%1): not in the whitelist"_s.arg(displayHost(two.address())));
}

// Behind the address that was named, one member says who it is and another one who is connected.
void TestZooKeeperEvidence::evidenceOfMembersSurvivesASharedAddress()
{
    ScriptedMember shared;
    ScriptedMember one;
    ScriptedMember two;
    const auto servers = configured(1, one) + configured(2, two);
    shared.alwaysSays("conf", "serverId=1\n" + servers);
    one.alwaysSays("conf", "serverId=1\n" + servers);
    two.alwaysSays("conf", "serverId=2\n" + servers);
    shared.alwaysSays("cons", consOf(2));
    one.alwaysSays("cons", consOf(1));
    two.alwaysSays("cons", consOf(2));
    EvidenceSource source(m_loop, {shared.address()}, 0);
    const auto evidence = ask(source, {"cons"});
    QVERIFY(evidence && evidence->isComplete("cons"));
    QCOMPARE(evidence->connections.size(), std::size_t(2));
}

void TestZooKeeperEvidence::aMemberThatIsFarAwayIsWaitedFor()
{
    ScriptedMember near;
    ScriptedMember far;
    far.delay = 700ms;
    const auto servers = configured(1, near) + configured(2, far);
    int id = 0;
    for (auto *member : {&near, &far}) {
        ++id;
        member->alwaysSays("conf", "serverId=" + QByteArray::number(id) + '\n' + servers);
        member->alwaysSays("srvr", "Mode: follower\n");
        member->alwaysSays("cons", consOf(id));
    }
    EvidenceSource source(m_loop, {near.address(), far.address()}, 0);
    // The first time it may be too late; once its pace is known it is not.
    QTRY_VERIFY_WITH_TIMEOUT(ask(source, {"cons"})->isComplete("cons"), 20'000);
    QVERIFY(ask(source, {"cons"})->isComplete("cons"));
}

void TestZooKeeperEvidence::aServerOfAnotherKindIsNoAdminServer()
{
    QTcpServer web;
    QVERIFY(web.listen(QHostAddress::LocalHost));
    connect(&web, &QTcpServer::newConnection, &web, [&web] {
        auto *visitor = web.nextPendingConnection();
        visitor->write("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{\"status\":\"fine\"}");
        visitor->disconnectFromHost();
    });
    EvidenceSource source(m_loop, {m_strict->address()}, web.serverPort());
    const auto evidence = ask(source, {"dump"});
    QVERIFY(evidence);
    QVERIFY(!evidence->hasAny("dump"));
}

void TestZooKeeperEvidence::silenceEndsAtTheDeadline()
{
    QTcpServer silent;
    QVERIFY(silent.listen(QHostAddress::LocalHost));
    EvidenceSource source(m_loop, {{u"127.0.0.1"_s, silent.serverPort()}}, silent.serverPort());
    const auto evidence = await(source.ask({"dump", "cons"}, Deadline::after(m_loop, 200ms)));
    QVERIFY(evidence);
    QVERIFY(!evidence->hasAny("dump"));
    QCOMPARE(evidence->answers.at("cons").refusal, u"no answer in time"_s);
}

void TestZooKeeperEvidence::destroyedWhileAsking()
{
    auto source = std::make_unique<EvidenceSource>(m_loop, std::vector{m_open->address()}, m_open->adminPort());
    const auto reply = source->ask(all, Deadline::after(m_loop, 5s));
    source.reset();
    QCOMPARE(await(reply).error().code, ErrorCode::Cancelled);
}

LOCKSCOPE_TEST(TestZooKeeperEvidence)
#include "tst_zookeeper_evidence.moc"
