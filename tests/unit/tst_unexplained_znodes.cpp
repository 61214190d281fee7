// SPDX-License-Identifier: Apache-2.0
// Ephemeral znodes that no lock accounts for. A tree is lines of "path owner [data]"; "s2 > path" is a watch.
#include "core/inspect/zookeeper/queue.h"
#include "core/inspect/zookeeper/observercrawl.h"
#include "core/inspect/zookeeper/observerjudge.h"
#include "tests/support/testmain.h"
#include "znodetable.h"

using namespace lockscope::inspect;

namespace {

// What an observer knows once it has read everything.
class Tree {
public:
    explicit Tree(const QByteArray &text)
    {
        for (const char *command : {"cons", "wchp", "dump"})
            m_evidence.answers[command] = {.members = 1, .answered = 1, .ways = {}, .refusal = {}};
        m_context.connection = ConnectionName("zk");
        m_context.evidence = &m_evidence;
        m_context.observed = ServerTime(1000s);
        for (const auto &line : table::expand(text).split('\n'))
            read(line.trimmed());
        for (const auto &[folder, names] : ephemeralsBelow(m_evidence, {})) {
            const auto directory = candidateDirectory(folder, names);
            if (!directory)
                continue;
            m_views[*directory].path = *directory;
            m_views[*directory].children = m_children[*directory];
            (void)m_snapshots.replace(
                directory->bytes(),
                m_snapshots.withoutLow(directory->bytes(), recognise(m_views[*directory], m_context)));
        }
    }
    Tree(const Tree &) = delete;
    Tree &operator=(const Tree &) = delete;

    [[nodiscard]] QStringList unexplained() const
    {
        QStringList lines;
        for (const auto &one :
             unexplainedEphemerals(ephemeralsBelow(m_evidence, {}), m_snapshots, viewOf(), m_context))
            lines << one.text + u": "_s + QString::fromLatin1(table::shorten(one.example));
        return lines;
    }
    void forgetViews() { m_views.clear(); }
    // Its node is gone since the servers listed it.
    void remove(const ZPath &path)
    {
        std::erase_if(m_views.at(path.parent()).children,
                      [&path](const auto &node) { return node.name == path.name(); });
    }
    [[nodiscard]] std::size_t locks() const { return m_snapshots.entries().size(); }

private:
    void read(const QByteArray &line)
    {
        const auto words = line.split(' ');
        if (words.size() < 2)
            return;
        const auto session = [](const QByteArray &word) {
            return zk::SessionId{table::sessionNumber(word.mid(1).toInt())};
        };
        if (words[1] == ">") {
            m_evidence.dataWatches[ZPath(words[2])].insert(session(words[0]));
            return;
        }
        const ZPath path(words[0]);
        ZnodeView node{.name = path.name()};
        node.stat.ephemeralOwner = session(words[1]);
        node.stat.czxid = ++m_made;
        node.data = words.value(2);
        m_evidence.ephemerals[session(words[1])].push_back(path);
        m_children[path.parent()].push_back(node);
    }
    [[nodiscard]] ViewOf viewOf() const
    {
        return [this](const ZPath &directory) {
            const auto at = m_views.find(directory);
            return at == m_views.end() ? nullptr : &at->second;
        };
    }

    zk::Evidence m_evidence;
    RecogniseContext m_context;
    std::map<ZPath, std::vector<ZnodeView>> m_children;
    std::map<ZPath, DirectoryView> m_views;
    SnapshotStore m_snapshots;
    qint64 m_made = 0;
};

} // namespace

class TestUnexplainedZnodes : public QObject {
    Q_OBJECT

private slots:
    void unexplained_data()
    {
        const Rows<QByteArray, QStringList> row("tree", "expected");
        row("a lock and its waiter", "/l/lock-0000000001 s1\n/l/lock-0000000002 s2\ns2 > /l/lock-0000000001", {});
        row("members of a group", "/services/api/host-a s1\n/services/api/host-b s2",
            {u"2 ephemeral nodes like /services/api/* belong to no known lock: /services/api/host-a"_s});
        row("a member beside a lock", "/l/lock-0000000001 s1\n/l/member s2",
            {u"1 ephemeral node belongs to no known lock: /l/member"_s});
        row("references of Flink in their folder", "/flink/jobgraphs/{h1}/locks/{u1} s1",
            {u"1 ephemeral node belongs to no known lock: /flink/jobgraphs/{h1}/locks/{u1}"_s});
        row("references of Flink", "/flink/jobgraphs/{h1}/{u1} s1\n/flink/jobgraphs/{h1}/{u2} s2",
            {u"2 ephemeral nodes like /flink/jobgraphs/*/* belong to no known lock: /flink/jobgraphs/{h1}/{u1}"_s});
        row("another session watches it", "/app/boss s1\n/app/worker s2\ns2 > /app/boss",
            {u"1 ephemeral node belongs to no known lock, and other sessions watch it: /app/boss"_s,
             u"1 ephemeral node belongs to no known lock: /app/worker"_s});
        row("its own session watches it", "/app/boss s1\n/app/worker s2\ns1 > /app/boss",
            {u"2 ephemeral nodes like /app/* belong to no known lock: /app/boss"_s});
        // A single ephemeral is a lock of low confidence: it is counted among those that are hidden.
        row("a hidden lock", "/app/boss s1", {});
        row("Kafka", "/brokers/ids/1 s1 {}\n/brokers/ids/2 s2 {}\n/controller s1 {\"brokerid\":1}", {});
        row("HBase",
            "/hbase/rs/a,16020,1 s1\n/hbase/rs/b,16020,1 s2\n/hbase/master s3\n/hbase/backup-masters/c,1,1 s4", {});
        row("Solr", "/live_nodes/10.0.0.1:8983_solr s1\n/live_nodes/10.0.0.2:8983_solr s2\n/overseer_elect/leader s1",
            {});
        row("BookKeeper and Pulsar",
            "/ledgers/available/bookie-1:3181 s1\n/ledgers/available/bookie-2:3181 s2\n/loadbalance/brokers/b:8080 s3",
            {});
        row("Dubbo",
            "/dubbo/com.x.Api/providers/dubbo%3A%2F%2F10.0.0.1%3A20880 s1\n"
            "/dubbo/com.x.Api/providers/dubbo%3A%2F%2F10.0.0.2%3A20880 s2",
            {});
        row("HiveServer2", "/hiveserver2/serverUri=h1:10000;version=3.1.3;sequence=0000000001 s1", {});
        row("a folder of providers that is not Dubbo's", "/pool/providers/a s1\n/pool/providers/b s2",
            {u"2 ephemeral nodes like /pool/providers/* belong to no known lock: /pool/providers/a"_s});
    }
    void unexplained()
    {
        QFETCH(QByteArray, tree);
        QFETCH(QStringList, expected);
        QCOMPARE(Tree(tree).unexplained(), expected);
    }

    void unreadNodesAreLeftOut()
    {
        Tree tree("/l/lock-0000000001 s1\n/l/member s2\n/services/api/host-a s1\n/services/api/host-b s2");
        QCOMPARE(tree.locks(), std::size_t(1));
        QCOMPARE(tree.unexplained().size(), 2);
        tree.forgetViews();
        // Nobody would read the folder of a group.
        QCOMPARE(tree.unexplained().size(), 1);
    }

    void deletedNodesAreLeftOut()
    {
        Tree tree("/l/lock-0000000001 s1\n/l/member s2");
        QCOMPARE(tree.unexplained().size(), 1);
        tree.remove(ZPath("/l/member"));
        QCOMPARE(tree.unexplained(), QStringList());
    }

    // Ten thousand services of a registry, and the systems that most clusters have beside them.
    void manyAreFewGroups()
    {
        QByteArray text;
        for (int service = 0; service < 1000; ++service) {
            for (int host = 0; host < 10; ++host)
                text += "/registry/service-" + QByteArray::number(service) + "/instances/host"
                        + QByteArray::number(host) + " s" + QByteArray::number(1 + host % 8) + '\n';
        }
        for (char word = 'a'; word <= 'z'; ++word)
            text += QByteArray("/apps/") + word + "pp/nodes/one s1\n" + "/apps/" + word + "pp/nodes/two s2\n";
        const auto said = Tree(text).unexplained();
        QVERIFY2(said.size() <= 10, qPrintable(said.join(u'\n')));
        QVERIFY2(said.front().startsWith(u"10000 ephemeral nodes like /registry/"_s), qPrintable(said.front()));
    }
};

LOCKSCOPE_TEST(TestUnexplainedZnodes)
#include "tst_unexplained_znodes.moc"
