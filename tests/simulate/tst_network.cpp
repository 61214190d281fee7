// SPDX-License-Identifier: Apache-2.0
// Processes and links of the simulated world: what is paused, cut, lost or killed behaves as it does on a
// machine.
#include "core/simservers/network.h"
#include "tests/support/testmain.h"

using namespace lockscope::sim;

namespace {

class Patient : public DueTimes::Waiter {
public:
    Patient(QByteArrayList &heard, QByteArray name) : m_heard(heard), m_name(std::move(name)) {}
    void leave() { stopWaiting(); }

private:
    void isDue() override { m_heard << m_name; }

    QByteArrayList &m_heard;
    const QByteArray m_name;
};

} // namespace

class TestSimulatedNetwork : public QObject {
    Q_OBJECT

    VirtualLoop world;
    QByteArrayList heard;
    std::function<void()> say(const QByteArray &what)
    {
        return [this, what] { heard << what; };
    }

private slots:
    void init() { heard.clear(); }

    // In whatever order they were put; who stops waiting, or goes, is not told.
    void cancelledWaiterIsNotNotified()
    {
        DueTimes times(world);
        Patient first(heard, "first"), second(heard, "second"), third(heard, "third"), again(heard, "again");
        const auto now = world.now();
        times.put(second, now + 2ms);
        times.put(third, now + 2ms);
        times.put(first, now + 1ms);
        times.put(again, now + 1ms);
        times.put(again, now + 5ms);
        {
            Patient gone(heard, "gone");
            times.put(gone, now + 1ms);
        }
        world.advance(1ms);
        QCOMPARE(heard, (QByteArrayList{"first"}));
        world.advance(1ms);
        QCOMPARE(heard, (QByteArrayList{"first", "second", "third"}));
        again.leave();
        world.advance(1s);
        QCOMPARE(heard, (QByteArrayList{"first", "second", "third"}));
        QVERIFY(!world.next());
    }

    void messagesArriveInTheirOrder()
    {
        Network network(world, Random(1), {100us, 900us});
        Process client(world, 0);
        const auto link = network.connect(client, 0);
        for (int i = 0; i < 20; ++i)
            link->toServer(say(QByteArray::number(i)));
        world.advance(5ms);
        QByteArrayList expected;
        for (int i = 0; i < 20; ++i)
            expected << QByteArray::number(i);
        QCOMPARE(heard, expected);
    }

    void aPausedProcessRunsNothingAndMissesNothing()
    {
        Network network(world, Random(1), {});
        Process client(world, 0);
        const auto link = network.connect(client, 0);
        const auto timer = client.callAt(client.now() + 10ms, say("timer"));
        auto cancelled = client.callAt(client.now() + 10ms, say("cancelled"));
        client.pause();
        QVERIFY(!link->carries(Direction::ToServer));
        link->toClient(say("message"));
        client.post(say("posted"));
        world.advance(1s);
        QCOMPARE(heard, QByteArrayList());
        cancelled.cancel(); // it was due already, and waits with the rest
        client.resume();
        world.runReady();
        QCOMPARE(heard, (QByteArrayList{"posted", "message", "timer"}));
        QVERIFY(link->carries(Direction::ToServer));
    }

    void aLostMessageBreaksTheConnectionForBoth()
    {
        Network network(world, Random(1), {});
        Process client(world, 0);
        const auto link = network.connect(client, 0);
        link->onBroken(End::Client, say("client hears"));
        link->onBroken(End::Server, say("server hears"));
        network.setJudge([](const Message &message) {
            return Delivery{message.direction == Direction::ToClient, {}};
        });
        link->toServer(say("request"));
        world.advance(1ms);
        link->toClient(say("reply"));
        link->toServer(say("next request"));
        world.advance(1ms);
        QCOMPARE(heard.first(), QByteArray("request"));
        QCOMPARE(heard.size(), 3);
        QVERIFY(heard.contains("client hears") && heard.contains("server hears"));
        QVERIFY(!link->isUp());
    }

    void aPartitionHoldsBackOneWay()
    {
        Network network(world, Random(1), {});
        Process client(world, 3);
        const auto link = network.connect(client, 0);
        int changes = 0;
        link->onHealth(End::Client, [&changes] { ++changes; });
        network.block(3, 0, Direction::ToServer);
        link->toServer(say("request"));
        link->toClient(say("event"));
        world.advance(1min);
        QCOMPARE(heard, (QByteArrayList{"event"}));
        QVERIFY(!link->carries(Direction::ToServer) && link->carries(Direction::ToClient));
        QVERIFY(!network.connect(client, 0));
        QVERIFY(network.connect(client, 1)); // another server
        network.open(3, 0, Direction::ToServer);
        world.advance(1ms);
        QCOMPARE(heard, (QByteArrayList{"event", "request"}));
        QCOMPARE(changes, 2);
    }

    void serverReceivesDisconnectAfterLastRequest()
    {
        Network network(world, Random(1), {});
        auto client = std::make_unique<Process>(world, 0);
        const auto link = network.connect(*client, 0);
        link->onBroken(End::Server, say("end"));
        link->onBroken(End::Client, say("never"));
        link->toServer(say("request"));
        client->post(say("never"));
        const auto timer = client->callAt(client->now(), say("never"));
        client->kill();
        link->toClient(say("never"));
        client.reset();
        world.advance(1s);
        QCOMPARE(heard, (QByteArrayList{"request", "end"}));
    }

    void partitionHidesADeadProcessFromTheServer()
    {
        Network network(world, Random(1), {});
        auto client = std::make_unique<Process>(world, 0);
        // The server's end keeps the link, as its end of a connection does.
        const auto link = network.connect(*client, 0);
        link->onBroken(End::Server, say("end"));
        network.block(0, 0, Direction::ToServer);
        client->kill();
        client.reset();
        world.advance(1h);
        QCOMPARE(heard, QByteArrayList());
        network.open(0, 0, Direction::ToServer);
        world.advance(1ms);
        QCOMPARE(heard, (QByteArrayList{"end"}));
        // Another process of that number is noticed as the first one was.
        Process next(world, 0);
        const auto second = network.connect(next, 0);
        second->onBroken(End::Server, say("second end"));
        next.kill();
        world.advance(1ms);
        QCOMPARE(heard, (QByteArrayList{"end", "second end"}));
    }

    void aServerThatIsDownBreaksItsWires()
    {
        Network network(world, Random(1), {});
        Process client(world, 0);
        const auto link = network.connect(client, 2);
        const auto other = network.connect(client, 1);
        link->onBroken(End::Client, say("broken"));
        other->onBroken(End::Client, say("never"));
        network.setDown(2, true);
        QVERIFY(!network.connect(client, 2));
        world.advance(1ms);
        QCOMPARE(heard, (QByteArrayList{"broken"}));
        network.setDown(2, false);
        QVERIFY(network.connect(client, 2));
    }

    // Both ways: near, and so slow that it waits elsewhere. What it holds goes when its turn comes, or with the
    // world.
    void messagesOfADestroyedNetworkAreDropped()
    {
        const auto kept = std::make_shared<int>();
        {
            VirtualLoop own;
            const auto send = [&](Duration latency) {
                Network network(own, Random(1), {latency, latency});
                Process client(own, 0);
                const auto link = network.connect(client, 0);
                link->toServer([keep = kept, tell = say("to the server")] { tell(); });
                link->toClient([keep = kept, tell = say("to the client")] { tell(); });
            };
            send(200us);
            send(1s);
            send(10s);
            QCOMPARE(kept.use_count(), 7L);
            own.advance(2s);
            QCOMPARE(kept.use_count(), 3L);
        }
        QCOMPARE(kept.use_count(), 1L);
        QCOMPARE(heard, QByteArrayList());
    }

    void clocksDriftAndJump()
    {
        Process client(world, 0);
        const auto began = client.now();
        client.setRate(0.5); // slow
        const auto timer = client.callAt(began + 1s, say("rang"));
        world.advance(1999ms);
        QCOMPARE(heard, QByteArrayList());
        world.advance(2ms);
        QCOMPARE(heard, (QByteArrayList{"rang"}));
        QVERIFY(client.now() - began >= 1s && client.now() - began < 1001ms);
        const auto wall = client.wallNow();
        client.jumpWallClock(-1h);
        QCOMPARE(client.wallNow() - wall, std::chrono::system_clock::duration(-1h));
    }
};

LOCKSCOPE_TEST(TestSimulatedNetwork)
#include "tst_network.moc"
