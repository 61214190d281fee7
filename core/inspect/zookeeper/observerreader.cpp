// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/observercrawl.h"

#include "core/rules/turn.h"

#include <deque>

namespace lockscope::inspect {

namespace {

constexpr std::size_t headsReadAgain = 32;
constexpr qsizetype dataLimitBytes = 64 * 1024; // what a client writes about itself is shorter

using KnownNodes = std::map<NodeName, ZnodeView>;

// The nodes that need not be read again: a server never gives the same number twice while the parent
// stands, so such a node is the one we know. A number of a client's own may come again.
KnownNodes reusable(const std::vector<ZnodeView> &nodes, const ReadRequest &request, const zk::Stat &folder)
{
    KnownNodes known;
    for (const auto &node : nodes) {
        const auto sequence = node.error ? std::nullopt : recipes::readSequence(node.name);
        if (sequence && mayHaveGiven(folder, sequence->sequence))
            known.emplace(node.name, node);
    }
    if (request.again == 0)
        return known;
    // Who is near its turn is looked at most.
    std::vector<recipes::SequencedName> queue;
    for (const auto &[name, node] : known)
        queue.push_back(*recipes::readSequence(name));
    const auto heads = std::min(queue.size(), headsReadAgain);
    std::ranges::partial_sort(queue, queue.begin() + static_cast<std::ptrdiff_t>(heads), recipes::comesBefore);
    const auto from =
        std::next(known.begin(), static_cast<std::ptrdiff_t>(std::min(request.againFrom, known.size())));
    const auto left = static_cast<std::size_t>(std::distance(from, known.end()));
    known.erase(from, std::next(from, static_cast<std::ptrdiff_t>(std::min(request.again, left))));
    for (std::size_t i = 0; i < heads; ++i)
        known.erase(queue[i].name);
    return known;
}

// Which of the names to read: all, unless there are too many; then the suspects and some of the others. How many were
// left out is added to `unread`.
std::vector<NodeName> chosen(const ZPath &folder, std::vector<NodeName> names, const ReadRequest &request,
                             qint64 &unread)
{
    if (!request.only.isEmpty())
        std::erase_if(names, [&](const NodeName &name) { return !name.bytes().startsWith(request.only); });
    if (names.size() <= request.most)
        return names;
    const auto isSuspect = [&](const NodeName &name) {
        return request.suspects && request.suspects->contains(folder.child(name));
    };
    const auto others = std::stable_partition(names.begin(), names.end(), isSuspect);
    const auto spare = static_cast<std::size_t>(names.end() - others);
    if (spare > request.most) {
        unread += static_cast<qint64>(spare - request.most);
        names.erase(others + static_cast<std::ptrdiff_t>(request.most), names.end());
    }
    return names;
}

ZnodeView viewOf(const NodeName &name, zk::Node node)
{
    ZnodeView view;
    view.name = name;
    view.stat = node.stat;
    if (node.data.size() <= dataLimitBytes)
        view.data = std::move(node.data);
    return view;
}

bool isAboutThisNode(const Error &error)
{
    return error.code == ErrorCode::NoPermission || error.code == ErrorCode::TooLarge
           || error.code == ErrorCode::BadInput || error.code == ErrorCode::Server;
}

// A node whose data we may not read still shows whose it is, where exists needs no permission. Nothing: it is gone.
Task<Result<std::optional<ZnodeView>>> readStatOnly(zk::Session &session, ZPath path, Error why, Deadline deadline)
{
    auto reply = session.exists(path, {}, deadline);
    auto stat = co_await reply;
    if (!stat && stat.error().code == ErrorCode::NoNode)
        co_return std::optional<ZnodeView>();
    if (!stat && !isAboutThisNode(stat.error()))
        co_return stat.error();
    ZnodeView view;
    view.name = path.name();
    view.error = why.message;
    view.isStatKnown = bool(stat);
    if (stat)
        view.stat = *stat;
    co_return std::optional(std::move(view));
}

struct NodeOut {
    NodeName name;
    Reply<zk::Node> reply;
};

struct Nodes {
    std::vector<ZnodeView> views;
    qint64 requests = 0;
};

// The nodes among `names` that still exist.
Task<Result<Nodes>> readNodes(zk::Session &session, ZPath folder, std::vector<NodeName> names, KnownNodes known,
                              std::size_t inFlight, Deadline deadline)
{
    Nodes nodes;
    std::deque<NodeOut> out;
    std::size_t next = 0;
    while (next < names.size() || !out.empty()) {
        while (next < names.size() && out.size() < inFlight) {
            const auto &name = names[next++];
            if (const auto at = known.find(name); at != known.end()) {
                nodes.views.push_back(std::move(at->second));
                continue;
            }
            out.push_back({name, session.get(folder.child(name), {}, deadline)});
            ++nodes.requests;
        }
        if (out.empty())
            continue;
        const NodeOut first = std::move(out.front());
        out.pop_front();
        auto node = co_await first.reply;
        if (node) {
            nodes.views.push_back(viewOf(first.name, std::move(*node)));
        } else if (isAboutThisNode(node.error())) {
            const ZPath path = folder.child(first.name);
            const Error &why = node.error();
            auto view = co_await readStatOnly(session, path, why, deadline);
            ++nodes.requests;
            if (!view)
                co_return view.error();
            if (*view)
                nodes.views.push_back(std::move(**view));
        } else if (node.error().code != ErrorCode::NoNode) {
            co_return node.error();
        }
    }
    co_return nodes;
}

struct Folder {
    std::vector<NodeName> names;
    zk::Stat stat;
    bool overBudget = false;
};

// The children of a folder whose listing is on its way; without the watch if that is too much.
Task<Result<Folder>> listFolder(zk::Session &session, ZPath path, std::optional<zk::Watch> watch,
                                Reply<zk::Children> firstReply, ReadRequest request)
{
    Folder folder;
    auto listed = co_await firstReply;
    if (!listed && listed.error().code == ErrorCode::BudgetExceeded) {
        folder.overBudget = true;
        auto unwatched = session.children(path, {}, request.deadline);
        listed = co_await unwatched;
    } else if (listed && watch && request.armed) {
        request.armed(path);
    }
    if (!listed)
        co_return listed.error();
    folder.names = listed->names.toVector();
    folder.stat = listed->stat;
    co_return folder;
}

std::optional<zk::Watch> watchOf(const ReadRequest &request, const ZPath &folder)
{
    return request.watchFor ? request.watchFor(folder) : std::nullopt;
}

// One of the folders beside or inside the directory that belong to the same lock.
struct Part {
    bool exists = false;
    zk::Stat stat;
    std::vector<ZnodeView> nodes;
    bool overBudget = false;
    qint64 unread = 0;
    qint64 requests = 1;
};

Task<Result<Part>> readPart(zk::Session &session, ZPath path, ReadRequest request)
{
    Part part;
    const auto watch = watchOf(request, path);
    const auto reply = session.children(path, watch, request.deadline);
    auto listed = co_await listFolder(session, path, watch, reply, request);
    if (!listed && (listed.error().code == ErrorCode::NoNode || isAboutThisNode(listed.error())))
        co_return part;
    if (!listed)
        co_return listed.error();
    part.exists = true;
    part.stat = listed->stat;
    part.overBudget = listed->overBudget;
    request.only.clear();
    auto names = chosen(path, listed->names, request, part.unread);
    KnownNodes known;
    const auto name = path.name().bytes();
    if (request.known && request.known->partStats.contains(name)
        && request.known->partStats.at(name).czxid == part.stat.czxid)
        known = reusable(request.known->view.parts.at(name), request, part.stat);
    CO_TRY(auto &nodes,
           co_await readNodes(session, path, std::move(names), std::move(known), request.inFlight, request.deadline));
    part.nodes = std::move(nodes.views);
    part.requests += nodes.requests;
    co_return part;
}

void add(ReadAnswer &answer, const QByteArray &name, Part part)
{
    answer.requests += part.requests;
    if (!part.exists)
        return;
    answer.overBudget |= part.overBudget;
    answer.unread += part.unread;
    answer.partStats[name] = part.stat;
    answer.view.parts[name] = std::move(part.nodes);
}

} // namespace

Task<Result<ReadAnswer>> readDirectory(zk::Session &session, ReadRequest request)
{
    ReadAnswer answer;
    answer.view.path = request.path;
    answer.view.listedAt = session.loop().now();
    const auto watch = watchOf(request, request.path);
    const auto listReply = session.children(request.path, watch, request.deadline);
    auto listed = co_await listFolder(session, request.path, watch, listReply, request);
    answer.requests = 1;
    if (!listed)
        co_return listed.error();
    answer.view.stat = listed->stat;
    // Most hold nothing, as the list has told: then there is nothing to ask for. The others' data is on its way
    // while the children are read.
    std::optional<Reply<zk::Node>> nodeReply;
    if (listed->stat.dataLength > 0) {
        nodeReply = session.get(request.path, {}, request.deadline);
        ++answer.requests;
    }
    answer.overBudget = listed->overBudget;

    for (const auto &name : listed->names)
        answer.view.children.push_back({name, {}, {}, {}});
    KnownNodes known;
    // A parent made anew counts from the beginning.
    if (request.known && request.known->view.stat.czxid == listed->stat.czxid)
        known = reusable(request.known->view.children, request, listed->stat);
    auto names = chosen(request.path, listed->names, request, answer.unread);
    CO_TRY(auto &children, co_await readNodes(session, request.path, std::move(names), std::move(known),
                                              request.inFlight, request.deadline));
    if (nodeReply) {
        auto reply = *nodeReply;
        auto node = co_await reply;
        if (node && node->data.size() <= dataLimitBytes)
            answer.view.data = std::move(node->data);
    }
    const auto parts = partsToRead(answer.view); // by all names that there are
    answer.view.children = std::move(children.views);
    answer.requests += children.requests;

    for (const auto &path : parts) {
        CO_TRY(auto &part, co_await readPart(session, path, request));
        add(answer, path.name().bytes(), std::move(part));
    }
    answer.view.isCut = answer.unread > 0;
    co_return answer;
}

} // namespace lockscope::inspect
