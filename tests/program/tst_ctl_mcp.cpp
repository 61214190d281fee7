// SPDX-License-Identifier: Apache-2.0
// mcp: the protocol as a client sends it, each tool on servers, and that nothing is written.
#include "tests/support/ctlfixture.h"
#include "tests/support/testmain.h"

namespace {

// The program with a client on its stdin.
class McpClient {
public:
    explicit McpClient(const QStringList &arguments)
    {
        m_process.start(QStringLiteral(LOCKSCOPECTL), arguments + QStringList{u"mcp"_s});
    }
    ~McpClient()
    {
        m_process.kill();
        m_process.waitForFinished();
    }
    Q_DISABLE_COPY(McpClient)

    void send(const QByteArray &line) { m_process.write(line + '\n'); }
    QJsonDocument answer()
    {
        const QDeadlineTimer limit(testing::patienceMs);
        while (!m_process.canReadLine() && !limit.hasExpired() && m_process.state() != QProcess::NotRunning)
            m_process.waitForReadyRead(50);
        return QJsonDocument::fromJson(m_process.readLine());
    }
    QJsonObject request(const QString &method, const QJsonObject &params = {})
    {
        const QJsonObject message{
            {u"jsonrpc"_s, u"2.0"_s}, {u"id"_s, ++m_id}, {u"method"_s, method}, {u"params"_s, params}};
        send(QJsonDocument(message).toJson(QJsonDocument::Compact));
        const auto answered = answer().object();
        return answered["id"_L1] == m_id ? answered : QJsonObject();
    }
    QJsonObject call(const QString &tool, const QJsonObject &arguments = {})
    {
        return request(u"tools/call"_s, {{u"name"_s, tool}, {u"arguments"_s, arguments}});
    }
    // The text of a tool's result, and "error: " before one that is none.
    QByteArray textOf(const QString &tool, const QJsonObject &arguments = {})
    {
        const auto result = call(tool, arguments)["result"_L1].toObject();
        const auto text = result["content"_L1].toArray().at(0).toObject().value("text"_L1).toString().toUtf8();
        return result["isError"_L1].toBool() ? "error: " + text : text;
    }
    QJsonObject jsonOf(const QString &tool, const QJsonObject &arguments = {})
    {
        return QJsonDocument::fromJson(textOf(tool, arguments)).object();
    }
    int finish()
    {
        m_process.closeWriteChannel();
        return m_process.waitForFinished(testing::patienceMs) ? m_process.exitCode() : -1;
    }

private:
    QProcess m_process;
    int m_id = 0;
};

} // namespace

class TestCtlMcp : public QObject {
    Q_OBJECT

    Servers m_servers;

private slots:
    void initTestCase() { SKIP_FOR(m_servers.start()); }
    void cleanupTestCase() { m_servers.stop(); }

    void theVersionIsNegotiated_data()
    {
        addRows<QString>("version",
                         {{"first", u"2024-11-05"_s}, {"second", u"2025-03-26"_s}, {"newest", u"2025-06-18"_s}});
    }
    void theVersionIsNegotiated()
    {
        QFETCH(const QString, version);
        McpClient client(m_servers.connect());
        const auto result =
            client.request(u"initialize"_s, {{u"protocolVersion"_s, version}})["result"_L1].toObject();
        QCOMPARE(result["protocolVersion"_L1].toString(), version);
        QCOMPARE(result["serverInfo"_L1].toObject().value("name"_L1).toString(), u"lockscope"_s);
        QVERIFY(result["capabilities"_L1].toObject().contains("tools"_L1));
        client.send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
        QVERIFY(client.request(u"ping"_s)["result"_L1].toObject().isEmpty());
        const auto other = client.request(u"initialize"_s, {{u"protocolVersion"_s, u"1999-01-01"_s}});
        QCOMPARE(other["result"_L1].toObject().value("protocolVersion"_L1).toString(), u"2025-06-18"_s);
        QCOMPARE(client.finish(), 0);
    }

    void eachToolAnswersAndWritesNothing()
    {
        const QStringList acquire{u"acquire"_s, u"zk:/locks/orders"_s, u"--recipe"_s, u"zk-mutex"_s, u"--json"_s};
        Ctl holder(m_servers.connect() + acquire);
        QVERIFY(holder.jsonLine()["acquired"_L1].toBool());
        Ctl waiter(m_servers.connect() + acquire);
        QTRY_COMPARE(m_servers.childrenWithZxids("/locks/orders").size(), 3);
        const auto before = m_servers.childrenWithZxids("/locks/orders");

        McpClient client(m_servers.connect());
        const QJsonObject lock{{u"lock"_s, u"zk:/locks/orders"_s}};
        QTRY_COMPARE(client.jsonOf(u"locks"_s)["locks"_L1].toArray().size(), 1);
        QCOMPARE(client.jsonOf(u"locks"_s, {{u"match"_s, u"redis:*"_s}})["locks"_L1].toArray().size(), 0);
        const auto shown = client.jsonOf(u"show"_s, lock)["lock"_L1].toObject();
        QCOMPARE(shown["contenders"_L1].toArray().size(), 2);
        const auto holderId = shown["contenders"_L1].toArray().at(0).toObject().value("id"_L1).toString();
        QVERIFY(client.jsonOf(u"findings"_s, {{u"severity"_s, u"critical"_s}}).contains("incidents"_L1));
        QVERIFY(client.jsonOf(u"graph"_s).contains("coverage"_L1));
        QVERIFY(client.jsonOf(u"note"_s, lock)["markdown"_L1].toString().startsWith("# Incident: "_L1));
        auto release = lock;
        release[u"holder"_s] = holderId;
        QCOMPARE(client.jsonOf(u"rehearse"_s, release)["holder"_L1].toString(), holderId);
        QCOMPARE(m_servers.childrenWithZxids("/locks/orders"), before);
        QCOMPARE(client.finish(), 0);
    }

    void noToolWrites()
    {
        McpClient client(m_servers.connect() + QStringList{u"--allow-writes"_s, u"zk"_s});
        QStringList names;
        for (const auto &tool : client.request(u"tools/list"_s)["result"_L1].toObject().value("tools"_L1).toArray()) {
            const auto object = tool.toObject();
            names << object["name"_L1].toString();
            QVERIFY(object["annotations"_L1].toObject().value("readOnlyHint"_L1).toBool());
            QCOMPARE(object["inputSchema"_L1].toObject().value("type"_L1).toString(), u"object"_s);
        }
        QCOMPARE(names, words("locks show findings graph note rehearse"));
        for (const auto &name : words("acquire force-release record sandbox simulate"))
            QCOMPARE(client.call(name)["error"_L1].toObject().value("code"_L1).toInt(), -32602);
    }

    void failuresAreResults()
    {
        McpClient client(m_servers.connect());
        const auto missing = client.textOf(u"show"_s, {{u"lock"_s, u"zk:/nothing"_s}});
        QVERIFY2(missing.startsWith("error: ") && missing.contains("/nothing"), missing);
        const auto noConnection = client.textOf(u"show"_s, {{u"lock"_s, u"other:/x"_s}});
        QVERIFY2(noConnection.startsWith("error: "), noConnection);
        // A server that is not there: the answer says what is unknown.
        McpClient alone({u"--connect"_s, u"redis://127.0.0.1:1"_s});
        const auto coverage = alone.jsonOf(u"findings"_s)["coverage"_L1].toArray();
        QVERIFY(!coverage.isEmpty() && !coverage.at(0).toObject().value("complete"_L1).toBool());
    }

    void badMessagesAreRefused_data()
    {
        const Rows<QByteArray, int> row("message", "code");
        const auto call = [](const QByteArray &params) {
            return R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)" + params + '}';
        };
        row("no JSON", "hello", -32700);
        row("no version", R"({"id":1,"method":"ping"})", -32600);
        row("no method", R"({"jsonrpc":"2.0","id":1})", -32600);
        row("ID of a bad type", R"({"jsonrpc":"2.0","id":{},"method":"ping"})", -32600);
        row("empty batch", "[]", -32600);
        row("unknown method", R"({"jsonrpc":"2.0","id":1,"method":"resources/list"})", -32601);
        row("params no object", call("[]"), -32602);
        row("unknown tool", call(R"({"name":"x"})"), -32602);
        row("missing argument", call(R"({"name":"show"})"), -32602);
        row("unknown argument", call(R"({"name":"graph","arguments":{"dot":"1"}})"), -32602);
        row("value of a bad type", call(R"({"name":"show","arguments":{"lock":7}})"), -32602);
        row("value out of the list", call(R"({"name":"findings","arguments":{"severity":"bad"}})"), -32602);
        row("line too long", QByteArray(3'000'000, 'x'), -32600);
    }
    void badMessagesAreRefused()
    {
        QFETCH(const QByteArray, message);
        McpClient client(m_servers.connect());
        client.send(message);
        const auto error = client.answer().object()["error"_L1].toObject();
        QTEST(error["code"_L1].toInt(), "code");
        QVERIFY(!error["message"_L1].toString().isEmpty());
        QVERIFY(client.request(u"ping"_s).contains("result"_L1));
    }

    void batchesAndNotificationsAreTaken()
    {
        McpClient client(m_servers.connect());
        client.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
        client.send(R"({"jsonrpc":"2.0","id":5,"result":{}})");
        client.send(R"([{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","method":"x"},7])");
        const auto answers = client.answer().array();
        QCOMPARE(answers.size(), 2);
        QCOMPARE(answers.at(0).toObject().value("id"_L1).toString(), u"a"_s);
        QCOMPARE(answers.at(1).toObject().value("error"_L1).toObject().value("code"_L1).toInt(), -32600);
    }
};

LOCKSCOPE_TEST(TestCtlMcp)
#include "tst_ctl_mcp.moc"
