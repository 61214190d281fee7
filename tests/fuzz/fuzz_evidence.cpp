// SPDX-License-Identifier: Apache-2.0
// What ZooKeeper's servers say of themselves: four-letter words, the AdminServer's JSON, an ensemble's configuration.
#include "core/zookeeper/evidence.h"
#include "tests/fuzz/parser.h"

#include <QJsonDocument>
#include <QJsonObject>

using namespace lockscope;
using namespace lockscope::zk;
using namespace lockscope::fuzz;

namespace {

// Whatever was said, there is no more of it than bytes were sent; and it can be settled and merged.
void useEvidence(Evidence evidence, qsizetype size)
{
    const auto most = static_cast<std::size_t>(size);
    must(evidence.ephemerals.size() <= most && evidence.connections.size() <= most
             && evidence.dataWatches.size() <= most && evidence.expiresIn.size() <= most,
         "evidence holds no more than was said");
    evidence.settle();
    for (const auto &[session, left] : evidence.expiresIn)
        must(left >= std::chrono::milliseconds::zero(), "nobody's session ended in the past");
    Evidence both = evidence;
    both.merge(evidence);
    must(both.ephemerals.size() == evidence.ephemerals.size(), "evidence merged with itself names the same sessions");
}

Evidence asked()
{
    Evidence evidence;
    evidence.askedAt = std::chrono::system_clock::time_point(std::chrono::seconds(1'795'225'530));
    return evidence;
}

void readWords(const QByteArray &input)
{
    auto answer = input;
    const auto command = takeLine(answer);
    auto evidence = asked();
    (void)readFourLetter(command, answer, evidence);
    useEvidence(std::move(evidence), input.size());
}

void readJson(const QByteArray &input)
{
    for (const char *word : {"dump", "cons", "wchp", "wchs", "mntr", "srvr", "conf"}) {
        auto evidence = asked();
        (void)readAdmin(adminName(word), input, evidence);
        useEvidence(std::move(evidence), input.size());
    }
}

void readMembers(const QByteArray &input)
{
    const auto servers = readConfiguration(input);
    must(servers.size() <= 255, "an ensemble has at most 255 servers");
    Membership members({{QStringLiteral("zk1"), 2181}, {QStringLiteral("::1"), 2182}});
    members.learnConfiguration(input);
    const auto places = members.places();
    must(places.size() <= servers.size() + 2, "no more places to ask than were named");
    std::vector<std::pair<HostPort, MemberFacts>> said;
    for (const auto &place : places)
        said.emplace_back(place.at, MemberFacts{"follower", place.expected, servers});
    members.learn(said);
    for (const auto &server : servers)
        must(!members.nameOf(server.id).isEmpty(), "every server has a name");
    for (const auto &place : places)
        (void)members.whoIs(place, MemberFacts{});
}

const Registration wordsParser({"evidence",
                                readWords,
                                Form::Lines,
                                {0.75, 100'000},
                                {"dump\n",
                                 "cons\n",
                                 "wchp\n",
                                 "wchs\n",
                                 "mntr\n",
                                 "srvr\n",
                                 "conf\n",
                                 "SessionTracker dump:\n",
                                 "ephemeral nodes dump:\n",
                                 "Connections dump:\n",
                                 " expire at ",
                                 "0x1000015c71e0001:",
                                 "\t/q/",
                                 "sid=0x",
                                 "to=",
                                 "lresp=",
                                 "est=",
                                 "Mode: ",
                                 "Total watches:",
                                 "zk_watch_count\t",
                                 "serverId=",
                                 "server.1=",
                                 "Sat Nov 21 01:45:38 UTC 2026",
                                 "This ZooKeeper instance is not currently serving requests\n",
                                 "is not executed because it is not in the whitelist."}});
const Registration jsonParser({"admin",
                               readJson,
                               Form::Json,
                               {1, 30'000},
                               {"command", "error", "dump", "connections", "secure_connections", "watches_by_path",
                                "path_to_session_ids", "watch_summary", "num_total_watches", "monitor", "watch_count",
                                "server_stats", "server_state", "configuration", "server_id", "session_id",
                                "remote_socket_address", "expiry_time_to_session_ids",
                                "session_id_to_ephemeral_paths"}});
const Registration configurationParser({"members",
                                        readMembers,
                                        Form::Lines,
                                        {0.25, 100'000},
                                        {"server.", "=", ":2888", ":3888", ":participant", ":observer",
                                         ";0.0.0.0:2181", ";2181", "[::1]", "|", "version=100000000",
                                         "group.1=1:2:3"}});

} // namespace
