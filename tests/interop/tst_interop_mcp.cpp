// SPDX-License-Identifier: Apache-2.0
// The public Python SDK of the Model Context Protocol as a client of lockscopectl mcp.
#include "core/redis/client.h"
#include "tests/interop/fetched.h"
#include "tests/support/ctlfixture.h"
#include "tests/support/testmain.h"

using namespace lockscope::interop;

class TestInteropMcp : public QObject {
    Q_OBJECT
private slots:
    void theSdkCallsEachTool()
    {
        SKIP_FOR(whyNotFetched("PYTHON_MCP"));
        Servers servers;
        SKIP_FOR(servers.start());
        Ctl holder(
            servers.connect()
            + QStringList{u"acquire"_s, u"redis:orders-lock"_s, u"--recipe"_s, u"redis-set-nx"_s, u"--json"_s});
        QVERIFY(holder.jsonLine()["acquired"_L1].toBool());
        QProcess client;
        client.start(fetched("PYTHON_MCP"), QStringList{clientFile(u"mcp_client.py"_s), QStringLiteral(LOCKSCOPECTL)}
                                                + servers.connect() + QStringList{u"mcp"_s});
        QVERIFY(client.waitForFinished(patienceMs));
        const auto complaint = client.readAllStandardError();
        const auto answer = QJsonDocument::fromJson(client.readAllStandardOutput()).object();
        const auto tools = answer["tools"_L1].toArray();
        QVERIFY2(tools.size() == 6, complaint);
        const auto calls = answer["calls"_L1].toObject();
        for (const auto &tool : tools) {
            const auto called = calls[tool.toString()].toObject();
            QVERIFY2(!called.isEmpty() && !called["failed"_L1].toBool(), qPrintable(tool.toString()));
            QVERIFY(called["text"_L1].toString().contains("lockscope/1"_L1));
        }
        QVERIFY(calls["force-release"_L1].toObject().value("failed"_L1).toBool());
        servers.stop();
    }
};

LOCKSCOPE_TEST(TestInteropMcp)
#include "tst_interop_mcp.moc"
