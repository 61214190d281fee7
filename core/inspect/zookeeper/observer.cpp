// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/observer.h"

#include "core/inspect/zookeeper/queue.h"

namespace lockscope::inspect {

ZooKeeperObserver::ZooKeeperObserver(zk::Session &session, zk::EvidenceSource &source, ConnectionName connection,
                                     QByteArray chroot, ObserverOptions options, ObserverSink &sink)
    : m_ensemble{session, source, session.loop(), std::move(connection), std::move(chroot), options, sink},
      m_finder(m_ensemble)
{
}

namespace {

constexpr std::size_t mostContenders = 100'000; // of one lock that somebody asks for

// The name that a text before a number gives its lock, and what all nodes of that lock begin with.
QByteArray withoutEnd(QByteArray text)
{
    for (const auto &end : {QByteArray("<seq>"), QByteArray("_lock_")}) {
        if (text.endsWith(end) && text.size() > end.size())
            text.chop(end.size());
    }
    while (text.size() > 1 && (text.endsWith('-') || text.endsWith('_')))
        text.chop(1);
    return text;
}

// Nodes of several texts lie in one folder. Where only those of the asked name were read, their lock seems to be the
// folder's. And as long as no server has listed their watches the texts may be the clients' own: then the folder is
// not free. `askedAt`: when the servers listed all watches.
std::optional<LockSnapshot> lockOfTexts(const std::vector<LockSnapshot> &found, const ZPath &folder,
                                        const QByteArray &name, std::optional<ServerTime> askedAt)
{
    for (const auto &lock : found) {
        const auto first = lock.contenders.empty() ? ZnodeIdentity() : lock.contenders.front().guard.znode();
        if (first.path.isEmpty() || ZPath(first.path).parent() != folder)
            continue;
        ZnodeView node;
        node.name = ZPath(first.path).name();
        node.stat.ephemeralOwner = zk::SessionId{first.owner};
        const auto matched = matchLayout(node, folder);
        if (!matched || matched->layout->extent == Layout::Extent::Directory)
            continue;
        const auto text = withoutEnd(matched->sequence.prefix());
        const auto since = lock.contenders.front().heldSince;
        const bool isOfText = !text.isEmpty() && folder.child(NodeName(text)).bytes() == name;
        const bool isInFolder = folder.bytes() == name && matched->layout->extent == Layout::Extent::Siblings
                                && lock.confidence == Confidence::Low && (!askedAt || !since || *since > *askedAt);
        if (!isOfText && !isInFolder)
            continue;
        auto renamed = lock;
        renamed.lock.name = name;
        return renamed;
    }
    return std::nullopt;
}

// Where a lock of that name may lie: where we know it, in the directory of that name, or as one node (or
// one base name) of its parent.
std::vector<ReadRequest> placesOf(const QByteArray &name, const SnapshotStore &known, Deadline deadline)
{
    const ZPath path(name);
    std::vector<ReadRequest> places;
    const auto add = [&](const ZPath &directory, const QByteArray &only) {
        if (std::ranges::find(places, directory, &ReadRequest::path) != places.end())
            return;
        ReadRequest request;
        request.path = directory;
        request.only = only;
        request.most = mostContenders;
        request.deadline = deadline;
        places.push_back(std::move(request));
    };
    if (const auto directory = known.sourceOf(name))
        add(ZPath(*directory), {});
    add(path, {});
    if (path.isRoot())
        return places;
    // Whether its number is the server's or a client's own, the others of its text tell.
    const auto sequence = recipes::readSequence(path.name());
    add(path.parent(), withoutEnd(sequence ? sequence->prefix() : path.name().bytes()));
    return places;
}

} // namespace

Task<Result<LockSnapshot>> ZooKeeperObserver::readNow(QByteArray name, Deadline deadline)
{
    const auto &ensemble = m_ensemble;
    const std::vector<QByteArray> words{"dump", "cons", "wchp"};
    // First what the servers say, then the list: what is judged is never older than what it is judged by.
    if (name.startsWith('/') && !m_finder.answers().isKnown())
        co_await learnMembers(ensemble);
    if (name.startsWith('/')) {
        const auto evidenceDeadline = Deadline::at(std::min(ensemble.loop.now() + 1s, deadline.when()));
        auto said = co_await ensemble.source.ask(words, evidenceDeadline);
        if (said)
            m_finder.answers().absorb(std::move(*said));
    }
    auto read = co_await readHolds(std::move(name), deadline);
    co_return read;
}

Task<Result<LockSnapshot>> ZooKeeperObserver::readHolds(QByteArray name, Deadline deadline)
{
    const ZPath path(name);
    if (!name.startsWith('/'))
        co_return Error{ErrorCode::BadInput, u"%1 is not a znode path: a path begins with /"_s.arg(label(name))};
    auto &session = m_ensemble.session;
    auto synced = co_await session.sync(path, deadline);
    if (!synced && synced.error().code != ErrorCode::NoNode)
        co_return synced.error();
    const auto places = placesOf(name, m_finder.judge().snapshots(), deadline);
    std::vector<ReadAnswer> answers;
    std::optional<Error> refused; // the lock may be the node that cannot be listed, and its folder can
    for (const auto &place : places) {
        auto answer = co_await readDirectory(session, place);
        if (answer)
            answers.push_back(std::move(*answer));
        else if (answer.error().code == ErrorCode::NoPermission)
            refused = refused ? refused : std::optional(answer.error());
        else if (answer.error().code != ErrorCode::NoNode)
            co_return answer.error();
    }
    SearchFacts facts;
    facts.sweepComplete = true; // nothing was searched for
    for (const auto &answer : answers)
        facts.unreadNodes += answer.unread;
    m_readCoverage = coverageOf(m_ensemble.connection, m_finder.answers().latest(), facts);
    const auto &servers = m_finder.answers();
    const auto askedAt = servers.latest().isComplete("wchp") ? std::optional(servers.askedAt()) : std::nullopt;
    for (auto &answer : answers) {
        auto snapshots = m_finder.judge().snapshotsOf(answer.view);
        const auto at = std::ranges::find(snapshots, name, [](const LockSnapshot &lock) { return lock.lock.name; });
        auto lock =
            at != snapshots.end() ? std::optional(*at) : lockOfTexts(snapshots, answer.view.path, name, askedAt);
        if (!lock)
            continue;
        m_finder.judge().addAges(*lock);
        co_return *std::move(lock);
    }
    if (refused)
        co_return *std::move(refused);
    co_return Error{ErrorCode::NoNode, u"no lock exists at %1"_s.arg(label(name)), false};
}

} // namespace lockscope::inspect
