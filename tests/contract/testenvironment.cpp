// SPDX-License-Identifier: Apache-2.0
#include "testenvironment.h"

namespace lockscope::contract {

bool eventually(const std::function<bool()> &holds, std::chrono::milliseconds atMost)
{
    const QDeadlineTimer enough(atMost);
    QTimer wakeUp;
    wakeUp.start(2ms);
    while (!holds()) {
        if (enough.hasExpired())
            return false;
        // Some look by asking the server: not at every event, or the asking itself keeps the loop busy.
        const QDeadlineTimer pause(2ms);
        do
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
        while (!pause.hasExpired());
    }
    return true;
}

void linger(std::chrono::milliseconds span)
{
    eventually([] { return false; }, span);
}

Client &TestEnvironment::client(size_t i)
{
    if (m_clients.size() <= i)
        m_clients.resize(i + 1);
    auto &client = m_clients[i];
    if (!client || client->isOver())
        client = connect(30s);
    client->mend();
    client->plan.forget();
    client->letThrough();
    eventually([&] { return client->isConnected(); });
    return *client;
}

Client &TestEnvironment::mortal(std::chrono::milliseconds span)
{
    m_mortals.push_back(connect(span));
    auto &client = *m_mortals.back();
    eventually([&] { return client.isConnected(); });
    return client;
}

QByteArray environmentKey(const recipes::RecipeInfo &recipe)
{
    switch (recipe.backend) {
    case BackendKind::ZooKeeper: return "ZooKeeper";
    case BackendKind::Redis: return recipe.quorum ? "several Redis" : "Redis";
    case BackendKind::MariaDb: return "MariaDB";
    case BackendKind::Etcd: return "etcd";
    case BackendKind::PostgreSql: return "PostgreSQL";
    }
    return {};
}

std::unique_ptr<TestEnvironment> makeEnvironment(const recipes::RecipeInfo &recipe, Loop &loop)
{
    const auto key = environmentKey(recipe);
    if (key == "ZooKeeper")
        return makeZooKeeperEnvironment(loop);
    if (key == "Redis")
        return makeRedisEnvironment(loop);
    if (key == "several Redis")
        return makeSeveralRedisEnvironment(loop);
    if (key == "MariaDB")
        return makeMariaDbEnvironment(loop);
    if (key == "etcd")
        return makeEtcdEnvironment(loop);
    if (key == "PostgreSQL")
        return makePostgreSqlEnvironment(loop);
    return nullptr; // a new backend: its environment comes beside these
}

} // namespace lockscope::contract
