// SPDX-License-Identifier: Apache-2.0
// Hosts of clients, as servers and clients write them.
#include "core/base/text.h"
#include "tests/support/testmain.h"

class TestEndpoint : public QObject {
    Q_OBJECT
private slots:
    void hostOfEndpointIsComparable_data()
    {
        const Rows<QString, QString> row("endpoint", "host");
        row("IPv4", u"10.0.3.7:56332"_s, u"10.0.3.7"_s);
        row("without a port", u"10.0.3.7"_s, u"10.0.3.7"_s);
        row("name", u"app-1.example:56332"_s, u"app-1.example"_s);
        row("name without a port", u"localhost"_s, u"localhost"_s);
        row("PostgreSQL and Redis", u"[::1]:5432"_s, u"::1"_s);
        row("in brackets without a port", u"[::1]"_s, u"::1"_s);
        row("MariaDB", u"::1:5432"_s, u"::1"_s);
        row("ZooKeeper", u"0:0:0:0:0:0:0:1:5432"_s, u"::1"_s);
        row("zone", u"[fe80::1%eth0]:5432"_s, u"fe80::1"_s);
        row("zone without brackets", u"fe80:0:0:0:0:0:0:1%2:5432"_s, u"fe80::1"_s);
        row("IPv4 in IPv6", u"[::ffff:10.0.3.7]:5432"_s, u"10.0.3.7"_s);
        row("socket", u"/run/redis.sock:0"_s, u"/run/redis.sock"_s);
        row("none", {}, {});
    }
    void hostOfEndpointIsComparable()
    {
        QFETCH(QString, endpoint);
        QTEST(hostOfEndpoint(endpoint), "host");
    }

    void loopbackIsOfEachMachine_data()
    {
        const Rows<QString, bool> row("host", "loopback");
        row("name", u"localhost"_s, true);
        row("IPv4", u"127.0.1.1"_s, true);
        row("IPv6", u"::1"_s, true);
        row("another", u"10.0.3.7"_s, false);
        row("name of a machine", u"app-1"_s, false);
        row("none", {}, false);
    }
    void loopbackIsOfEachMachine()
    {
        QFETCH(QString, host);
        QTEST(isLoopbackHost(host), "loopback");
    }
};

LOCKSCOPE_TEST(TestEndpoint)
#include "tst_endpoint.moc"
