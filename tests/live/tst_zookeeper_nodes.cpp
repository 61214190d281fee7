// SPDX-License-Identifier: Apache-2.0
// Requests of a session on libzookeeper against a real server: nodes of every kind, transactions,
// permissions, hostile names and sizes.
#include "tests/live/zookeeperclientfixture.h"
#include "tests/support/testmain.h"

class TestZooKeeperNodes : public ZooKeeperClientFixture {
    Q_OBJECT
private slots:
    void nodesAreCreatedReadWrittenAndDeleted();
    void sequenceAndContainerNodes();
    void nodesWithTimeToLive();
    void aTimeToLiveThatCannotBeIsRefusedBeforeSending();
    void errorsSayWhatHappened();
    void aZeroByteInAPathIsRefused();
    void transactionsAreAllOrNothing();
    void accessListsAndCredentials();
    void pathsAreBelowTheChroot();
    void listIsSentTogetherWithCreate();
    void dataBeyondTheServersBufferIsRefused();
    void aChildListBeyondTheServersBufferArrives();
    void binaryDataAndOddNames();
};

void TestZooKeeperNodes::nodesAreCreatedReadWrittenAndDeleted()
{
    const ZPath path(under("node"));
    const auto made = await(m_session->create(path, "one", CreateMode::Ephemeral, openAcl(), Deadline::never()));
    QVERIFY(made);
    QCOMPARE(made->path.bytes(), path.bytes());
    QCOMPARE(made->stat.ephemeralOwner, m_session->id());
    QVERIFY(made->stat.czxid > 0);

    const auto read = await(m_session->get(path, {}, Deadline::never()));
    QVERIFY(read);
    QCOMPARE(read->data, QByteArray("one"));
    QCOMPARE(read->stat, made->stat);

    const auto written = await(m_session->set(path, "second", 0, Deadline::never()));
    QVERIFY(written);
    QCOMPARE(written->version, 1);
    QCOMPARE(written->dataLength, 6);

    const auto listed = await(m_session->children(ZPath(m_root), {}, Deadline::never()));
    QVERIFY(listed);
    QCOMPARE(listed->names.size(), std::size_t(1));
    QCOMPARE(listed->names.front().bytes(), QByteArray("node"));
    QCOMPARE(listed->stat.numChildren, 1);

    const auto synced = await(m_session->sync(path, Deadline::never()));
    QVERIFY(synced);
    const auto early = await(m_session->remove(path, 0, Deadline::never()));
    QVERIFY(!early);
    QCOMPARE(early.error().code, ErrorCode::BadVersion);
    const auto removed = await(m_session->remove(path, 1, Deadline::never()));
    QVERIFY(removed);
    const auto gone = await(m_session->exists(path, {}, Deadline::never()));
    QVERIFY(!gone);
    QCOMPARE(gone.error().code, ErrorCode::NoNode);
}

void TestZooKeeperNodes::sequenceAndContainerNodes()
{
    const auto first = await(
        m_session->create(ZPath(under("lock-")), {}, CreateMode::EphemeralSequential, openAcl(), Deadline::never()));
    const auto second = await(
        m_session->create(ZPath(under("lock-")), {}, CreateMode::PersistentSequential, openAcl(), Deadline::never()));
    QVERIFY(first && second);
    QCOMPARE(first->path.bytes(), under("lock-0000000000"));
    QCOMPARE(second->path.bytes(), under("lock-0000000001"));
    QVERIFY(second->stat.ephemeralOwner.isNone());

    const auto container =
        await(m_session->create(ZPath(under("container")), {}, CreateMode::Container, openAcl(), Deadline::never()));
    QVERIFY2(container, container ? "" : qPrintable(container.error().message));
    QCOMPARE(container->path.bytes(), under("container"));
    QVERIFY(container->stat.ephemeralOwner.isNone());
    QCOMPARE(first->stat.ephemeralOwner, m_session->id());
    QVERIFY(make(*m_session, under("container/child")));
}

void TestZooKeeperNodes::nodesWithTimeToLive()
{
    const auto create = [this](const char *name, CreateMode mode, std::chrono::milliseconds timeToLive) {
        return await(
            m_session->createWithTtl(ZPath(under(name)), "data", mode, timeToLive, openAcl(), Deadline::never()));
    };
    const auto plain = create("plain", CreateMode::PersistentWithTtl, 90s);
    QVERIFY2(plain, plain ? "" : qPrintable(plain.error().message));
    QCOMPARE(plain->path.bytes(), under("plain"));
    const auto numbered = create("numbered-", CreateMode::PersistentSequentialWithTtl, std::chrono::hours(24 * 365));
    QVERIFY(numbered);
    QCOMPARE(numbered->path.bytes(), under("numbered-0000000001"));

    const auto seen = await(m_session->exists(plain->path, {}, Deadline::never()));
    QVERIFY(seen);
    QVERIFY(seen->ephemeralOwner.isNone());

    // The server does as it was told.
    const auto shortLived = create("short-lived", CreateMode::PersistentWithTtl, 1ms);
    QVERIFY(shortLived);
    QTRY_VERIFY_WITH_TIMEOUT(!await(m_session->exists(shortLived->path, {}, Deadline::never())), 20'000);
    QVERIFY(await(m_session->exists(plain->path, {}, Deadline::never())));
}

void TestZooKeeperNodes::aTimeToLiveThatCannotBeIsRefusedBeforeSending()
{
    const auto code = [this](CreateMode mode, std::chrono::milliseconds timeToLive) {
        return await(
                   m_session->createWithTtl(ZPath(under("ttl")), {}, mode, timeToLive, openAcl(), Deadline::never()))
            .error()
            .code;
    };
    QCOMPARE(code(CreateMode::PersistentWithTtl, 0ms), ErrorCode::BadInput);
    QCOMPARE(code(CreateMode::PersistentWithTtl, std::chrono::milliseconds(qint64(1) << 40)), ErrorCode::BadInput);
    QCOMPARE(code(CreateMode::Ephemeral, 1s), ErrorCode::BadInput);
    const auto without = await(
        m_session->create(ZPath(under("ttl")), {}, CreateMode::PersistentWithTtl, openAcl(), Deadline::never()));
    QCOMPARE(without.error().code, ErrorCode::BadInput);
    QCOMPARE(await(m_session->exists(ZPath(under("ttl")), {}, Deadline::never())).error().code, ErrorCode::NoNode);
}

void TestZooKeeperNodes::errorsSayWhatHappened()
{
    QVERIFY(make(*m_session, under("node")));
    QVERIFY(make(*m_session, under("node/child")));
    QVERIFY(make(*m_session, under("ephemeral"), {}, CreateMode::Ephemeral));
    const auto code = [](const auto &reply) { return await(reply).error().code; };

    const auto missing = await(m_session->get(ZPath(under("missing")), {}, Deadline::never()));
    QCOMPARE(missing.error().code, ErrorCode::NoNode);
    QVERIFY(missing.error().message.contains(QString::fromUtf8(under("missing"))));
    QVERIFY(!missing.error().retryable);
    QCOMPARE(code(m_session->create(ZPath(under("node")), {}, CreateMode::Persistent, openAcl(), Deadline::never())),
             ErrorCode::NodeExists);
    QCOMPARE(code(m_session->remove(ZPath(under("node")), anyVersion, Deadline::never())), ErrorCode::NotEmpty);
    QCOMPARE(code(m_session->set(ZPath(under("node")), "x", 7, Deadline::never())), ErrorCode::BadVersion);
    QCOMPARE(code(m_session->create(ZPath(under("ephemeral/x")), {}, CreateMode::Persistent, openAcl(),
                                    Deadline::never())),
             ErrorCode::NoChildrenForEphemerals);
    QCOMPARE(code(m_session->get(ZPath("no-slash"), {}, Deadline::never())), ErrorCode::BadInput);
}

void TestZooKeeperNodes::aZeroByteInAPathIsRefused()
{
    QVERIFY(make(*m_session, under("a")));
    const auto removed = await(m_session->remove(ZPath(under(QByteArray("a\0b", 3))), anyVersion, Deadline::never()));
    QVERIFY(!removed);
    QCOMPARE(removed.error().code, ErrorCode::BadInput);
    const auto still = await(m_session->exists(ZPath(under("a")), {}, Deadline::never()));
    QVERIFY(still);
}

void TestZooKeeperNodes::transactionsAreAllOrNothing()
{
    Op create{Op::Kind::Create, ZPath(under("job-")), "x", CreateMode::EphemeralSequential, openAcl(), anyVersion};
    Op container{Op::Kind::Create, ZPath(under("box")), {}, CreateMode::Container, openAcl(), anyVersion};
    Op set{Op::Kind::Set, ZPath(m_root), "changed", CreateMode::Persistent, {}, 0};
    Op check{Op::Kind::Check, ZPath(m_root), {}, CreateMode::Persistent, {}, 1};
    const auto done = await(m_session->multi({create, set, check}, Deadline::never()));
    QVERIFY2(done, done ? "" : qPrintable(done.error().message));
    QCOMPARE(done->size(), std::size_t(3));
    QCOMPARE((*done)[0].created.bytes(), under("job-0000000000"));
    QCOMPARE((*done)[1].stat.version, 1);

    Op remove{Op::Kind::Remove, ZPath(under("job-0000000000")), {}, CreateMode::Persistent, {}, anyVersion};
    const auto refused = await(m_session->multi({remove, set}, Deadline::never()));
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::BadVersion);
    QVERIFY2(refused.error().message.contains(u"part 2"_s), qPrintable(refused.error().message));
    const auto still = await(m_session->exists((*done)[0].created, {}, Deadline::never()));
    QVERIFY(still);
    QCOMPARE(await(m_session->multi({container}, Deadline::never())).error().code, ErrorCode::Unsupported);
    QCOMPARE(await(m_session->multi({}, Deadline::never())).error().code, ErrorCode::BadInput);
    Op nowhere{Op::Kind::Create, ZPath(under("no//where")), {}, CreateMode::Persistent, openAcl(), anyVersion};
    QCOMPARE(await(m_session->multi({set, nowhere}, Deadline::never())).error().code, ErrorCode::BadInput);
}

void TestZooKeeperNodes::accessListsAndCredentials()
{
    SessionOptions options{.user = "alice", .password = "secret"};
    const auto alice = open(options);
    QVERIFY(alice);
    const ZPath path(under("private"));
    const Acls onlyAlice{{perms::all, "auth", ""}};
    const auto made = await(alice->create(path, "hers", CreateMode::Persistent, onlyAlice, Deadline::never()));
    QVERIFY(made);
    const auto acls = await(alice->acls(path, Deadline::never()));
    QVERIFY(acls);
    QCOMPARE(acls->acls.size(), std::size_t(1));
    QCOMPARE(acls->acls.front().scheme, QByteArray("digest"));
    QVERIFY(acls->acls.front().id.startsWith("alice:"));

    const auto refused = await(m_session->get(path, {}, Deadline::never()));
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::NoPermission);
    QVERIFY(refused.error().message.contains(u"with these credentials"_s));

    // A wrong password is taken, and opens nothing.
    QVERIFY(await(m_session->addAuth("digest", "alice:wrong", Deadline::never())));
    QCOMPARE(await(m_session->get(path, {}, Deadline::never())).error().code, ErrorCode::NoPermission);
    QVERIFY(await(m_session->addAuth("digest", "alice:secret", Deadline::never())));
    QVERIFY(await(m_session->get(path, {}, Deadline::never())));

    QVERIFY(await(alice->setAcls(path, openAcl(), anyVersion, Deadline::never())));
    const auto opened = await(alice->acls(path, Deadline::never()));
    QCOMPARE(opened->acls, openAcl());
    QCOMPARE(opened->stat.aversion, 1);
}

void TestZooKeeperNodes::pathsAreBelowTheChroot()
{
    SessionOptions options{.chroot = m_root};
    const auto inside = open(options);
    QVERIFY(inside);
    const Watch children(m_loop);
    const Watch data(m_loop);
    QVERIFY(await(inside->children(ZPath("/"), children, Deadline::never())));
    const auto made =
        await(inside->create(ZPath("/a-"), {}, CreateMode::EphemeralSequential, openAcl(), Deadline::never()));
    QVERIFY(made);
    QCOMPARE(made->path.bytes(), QByteArray("/a-0000000000"));
    const auto event = await(children.event(), WatchEvent{});
    QCOMPARE(event.kind, EventKind::ChildrenChanged);
    QCOMPARE(event.path.bytes(), QByteArray("/"));
    QVERIFY(await(inside->get(made->path, data, Deadline::never())));
    QVERIFY(await(m_session->remove(ZPath(under("a-0000000000")), anyVersion, Deadline::never())));
    const auto gone = await(data.event(), WatchEvent{});
    QCOMPARE(gone.kind, EventKind::Deleted);
    QCOMPARE(gone.path.bytes(), QByteArray("/a-0000000000"));
    Op create{Op::Kind::Create, ZPath("/m-"), "x", CreateMode::EphemeralSequential, openAcl(), anyVersion};
    const auto done = await(inside->multi({create}, Deadline::never()));
    QVERIFY(done);
    QCOMPARE(done->front().created.bytes(), QByteArray("/m-0000000001"));
}

void TestZooKeeperNodes::listIsSentTogetherWithCreate()
{
    const auto made =
        m_session->create(ZPath(under("lock-")), {}, CreateMode::EphemeralSequential, openAcl(), Deadline::never());
    const auto listed = m_session->children(ZPath(m_root), {}, Deadline::never());
    const auto children = await(listed);
    // Answered in the order sent: whoever has the list has the node's name, and the list holds it.
    QVERIFY(made.isComplete());
    QVERIFY(made.value());
    QVERIFY(children);
    QCOMPARE(children->names.size(), std::size_t(1));
    QCOMPARE(children->names.front(), made.value()->path.name());
}

void TestZooKeeperNodes::dataBeyondTheServersBufferIsRefused()
{
    const QByteArray big(1'000'000, 'x');
    const auto fits =
        await(m_session->create(ZPath(under("big")), big, CreateMode::Persistent, openAcl(), Deadline::never()));
    QVERIFY(fits);
    const auto read = await(m_session->get(ZPath(under("big")), {}, Deadline::never()));
    QCOMPARE(read->data.size(), big.size());
    const auto refused =
        await(m_session->set(ZPath(m_root), QByteArray(2'000'000, 'x'), anyVersion, Deadline::never()));
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::TooLarge);
    QCOMPARE(m_session->state(), SessionState::Connected); // sending it would have broken the connection
}

void TestZooKeeperNodes::aChildListBeyondTheServersBufferArrives()
{
    // jute.maxbuffer (1 MiB) limits what the server takes, not what it answers to this client.
    const QByteArray stem(100, 'n');
    constexpr int count = 15'000;
    std::vector<Reply<Created>> made;
    for (int i = 0; i < count; ++i)
        made.push_back(m_session->create(ZPath(under(stem + QByteArray::number(i))), {}, CreateMode::Persistent,
                                         openAcl(), Deadline::never()));
    QVERIFY(await(made.back()));
    const auto listed = await(m_session->children(ZPath(m_root), {}, Deadline::never()));
    QVERIFY2(listed, listed ? "" : qPrintable(listed.error().message));
    QCOMPARE(listed->names.size(), std::size_t(count));
}

void TestZooKeeperNodes::binaryDataAndOddNames()
{
    const QByteArray name("\xc3\xa4 <b>%s</b>\n\\x");
    const QByteArray data("\0\xff\x1b[31m\n", 8);
    const auto made =
        await(m_session->create(ZPath(under(name)), data, CreateMode::Persistent, openAcl(), Deadline::never()));
    if (!made) { // newlines are not allowed by every server
        QCOMPARE(made.error().code, ErrorCode::BadInput);
        return;
    }
    const auto listed = await(m_session->children(ZPath(m_root), {}, Deadline::never()));
    QCOMPARE(listed->names.front().bytes(), name);
    QCOMPARE(await(m_session->get(ZPath(under(name)), {}, Deadline::never()))->data, data);
}

LOCKSCOPE_TEST(TestZooKeeperNodes)
#include "tst_zookeeper_nodes.moc"
