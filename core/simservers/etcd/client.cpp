// SPDX-License-Identifier: Apache-2.0
#include "core/simservers/etcd/server.h"

namespace lockscope::sim {

using etcd::ClientState;

namespace {

constexpr int serverNumber = 0;
constexpr Duration asksEvery = 1s, answersWithin = 5s, firstBackOff = 50ms, longestBackOff = 2s;

// The server's end of a connection: its watches go with it.
struct Far {
    EtcdServer *server = nullptr;
    std::set<quint64> watches;
};

class SimulatedEtcd final : public EndPort<etcd::Client> {
public:
    SimulatedEtcd(Process &process, EtcdServer &server, Network &network)
        : EndPort(process), m_process(process), m_server(server), m_network(network)
    {
        m_timer = m_process.callAt(m_process.now(), [this] { ask(); });
    }
    ~SimulatedEtcd() override
    {
        if (m_link)
            m_link->close(End::Client);
    }
    Q_DISABLE_COPY(SimulatedEtcd)

    [[nodiscard]] ClientState state() const override { return m_state; }
    [[nodiscard]] QString lastError() const override { return m_lastError; }
    [[nodiscard]] QByteArray serverVersion() const override { return m_version; }

    void send(Request &&request) override
    {
        std::visit([this](auto &asked) { submit(asked); }, request);
    }
    Subscription watch(etcd::WatchRequest request, std::function<void(const etcd::WatchNews &)> listener) override
    {
        const auto watching = std::make_shared<Watching>();
        watching->listener = std::move(listener);
        if (!dial()) {
            m_process.post([weak = std::weak_ptr(watching)] {
                etcd::WatchNews news;
                news.over = Error{ErrorCode::NotConnected, u"connection refused"_s, true};
                if (const auto alive = weak.lock())
                    alive->hear(news);
            });
            return Subscription(watching);
        }
        watching->link = m_link;
        watching->far = m_far;
        watching->number = m_server.newWatch();
        std::erase_if(m_watches, [](const auto &one) { return one.expired(); });
        m_watches.push_back(watching);
        m_link->toServer([link = LocalWeak<NetworkLink>(m_link), far = m_far, request, number = watching->number,
                          weak = std::weak_ptr(watching)] {
            far->watches.insert(number);
            far->server->watch(number, request, [link, weak](const etcd::WatchNews &news) {
                const auto there = link.lock();
                if (!there)
                    return;
                there->toClient([weak, news] {
                    if (const auto alive = weak.lock())
                        alive->hear(news);
                });
            });
        });
        return Subscription(watching);
    }

private:
    struct Watching {
        std::function<void(const etcd::WatchNews &)> listener;
        LocalWeak<NetworkLink> link;
        std::weak_ptr<Far> far;
        quint64 number = 0;
        bool isOver = false;

        ~Watching()
        {
            const auto alive = link.lock();
            if (alive && alive->isUp())
                alive->toServer([weak = far, which = number] { drop(weak, which); });
        }
        void hear(const etcd::WatchNews &news)
        {
            if (isOver)
                return;
            isOver = news.over.has_value();
            listener(news);
        }
        static void drop(const std::weak_ptr<Far> &weak, quint64 which)
        {
            const auto end = weak.lock();
            if (end && end->watches.erase(which) > 0)
                end->server->unwatch(which);
        }
    };
    struct Pending {
        std::function<void(const Error &)> fail;
        Timer timer;
    };

    template <class R>
    void submit(Asked<R> &asked)
    {
        const auto reply = asked.reply;
        if (!dial())
            return reply.complete(Error{ErrorCode::NotConnected, u"connection refused"_s, true});
        const auto number = ++m_lastNumber;
        auto &pending = m_out[number];
        pending.fail = [reply](const Error &why) { reply.complete(why); };
        if (!asked.deadline.isNever())
            pending.timer =
                m_process.callAt(asked.deadline.when(), [this, number] { fail(number, u"no answer in time"_s); });
        m_link->toServer([request = std::move(asked.request), link = m_link, far = m_far, number, reply, this,
                          alive = std::weak_ptr(m_alive)] {
            const Result<typename R::Answer> result = far->server->answer(request);
            link->toClient([result, number, reply, this, alive] {
                if (!alive.expired() && m_out.erase(number) > 0)
                    reply.complete(result);
            });
        });
    }

    // Whether there is a connection.
    bool dial()
    {
        if (m_link && m_link->isUp())
            return true;
        if (m_link)
            lost(u"the connection broke"_s);
        m_link = m_network.connect(m_process, serverNumber);
        if (!m_link)
            return false;
        m_far = std::make_shared<Far>();
        m_far->server = &m_server;
        m_link->onBroken(End::Client, [this, alive = std::weak_ptr(m_alive), link = LocalWeak<NetworkLink>(m_link)] {
            if (!alive.expired() && m_link == link.lock())
                lost(u"the connection broke"_s);
        });
        m_link->onBroken(End::Server, [far = m_far] {
            for (const auto number : std::exchange(far->watches, {}))
                far->server->unwatch(number);
        });
        return true;
    }
    void fail(quint64 number, const QString &why)
    {
        const auto at = m_out.find(number);
        if (at == m_out.end())
            return;
        const auto failing = std::move(at->second.fail);
        m_out.erase(at);
        failing(Error{ErrorCode::UnknownOutcome, why, true});
    }
    // Is anybody there?
    void ask()
    {
        if (!dial()) {
            lost(u"connection refused"_s);
            return;
        }
        const auto question = ++m_questions;
        m_timer =
            m_process.callAt(m_process.now() + answersWithin, [this] { lost(u"the server does not answer"_s); });
        m_link->toServer([link = m_link, question, this, alive = std::weak_ptr(m_alive)] {
            link->toClient([question, this, alive] {
                if (!alive.expired() && question == m_questions)
                    heard();
            });
        });
    }
    void heard()
    {
        m_backOff = firstBackOff;
        m_timer = m_process.callAt(m_process.now() + asksEvery, [this] { ask(); });
        m_version = EtcdServer::version();
        become(ClientState::Connected, {});
    }
    // What is out is not known any more, and what is watched ends.
    void lost(const QString &why)
    {
        ++m_questions;
        if (const auto link = std::exchange(m_link, {}))
            link->close(End::Client);
        m_timer = m_process.callAt(m_process.now() + m_backOff, [this] { ask(); });
        m_backOff = std::min(2 * m_backOff, longestBackOff);
        std::vector<quint64> numbers;
        for (const auto &[number, pending] : m_out)
            numbers.push_back(number);
        for (const auto number : numbers)
            fail(number, why);
        etcd::WatchNews news;
        news.over = Error{ErrorCode::UnknownOutcome, why, true};
        for (const auto &watch : std::exchange(m_watches, {})) {
            m_process.post([watch, news] {
                if (const auto watching = watch.lock())
                    watching->hear(news);
            });
        }
        become(ClientState::Connecting, why);
    }
    void become(ClientState state, const QString &why)
    {
        m_lastError = why;
        if (state == m_state && state == ClientState::Connected)
            return;
        m_state = state;
        notifyState(state);
    }

    Process &m_process;
    EtcdServer &m_server;
    Network &m_network;
    std::shared_ptr<bool> m_alive = std::make_shared<bool>(true);
    ClientState m_state = ClientState::Connecting;
    QString m_lastError;
    QByteArray m_version;
    LocalShared<NetworkLink> m_link;
    std::shared_ptr<Far> m_far;
    quint64 m_lastNumber = 0;
    std::map<quint64, Pending> m_out;
    std::vector<std::weak_ptr<Watching>> m_watches;
    Duration m_backOff = firstBackOff;
    quint64 m_questions = 0;
    Timer m_timer;
};

} // namespace

std::unique_ptr<etcd::Client> openEtcd(Process &process, EtcdServer &server, Network &network)
{
    return std::make_unique<SimulatedEtcd>(process, server, network);
}

} // namespace lockscope::sim
