// SPDX-License-Identifier: Apache-2.0
// Who the members of an ensemble are: asked of the servers, never assumed. A connection names some of them, or a
// virtual address before them; what each server says of sessions and watches is about its own clients only, so that
// all is known only when every configured server has answered. Pure.
#pragma once

#include "core/base/connectionuri.h"

#include <QByteArray>

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace lockscope::zk {

// One line of an ensemble's configuration: server.2=zk2:2888:3888:participant;0.0.0.0:2181
struct ConfiguredServer {
    qint64 id = 0;
    QString host;
    std::optional<HostPort> client; // where clients reach it; not every configuration says
};
// The lines of `conf` or of /zookeeper/config; anything else in the text is passed over.
[[nodiscard]] std::vector<ConfiguredServer> readConfiguration(const QByteArray &text);

// What a server says about itself.
struct MemberFacts {
    QByteArray mode;                // standalone, leader, follower, observer; empty: it did not say
    std::optional<qint64> serverId; // of `conf`; 0 or none where it is standalone
    std::vector<ConfiguredServer> configured;
    QByteArray version{}; // "3.8.0"; empty: it did not say
    [[nodiscard]] bool isStandalone() const { return mode == "standalone"; }
};
// "ZooKeeper 3.8.0, standalone", "ZooKeeper 3.8.0 and 3.9.3 on 3 members: 1 leader, 2 followers; 1 did not say".
// Empty where nobody said a version. `silent`: how many did not say.
[[nodiscard]] QString serverWords(const std::vector<MemberFacts> &members, int silent);
// What stands before the build in "3.8.0-5a02a05eddb59aee6ac762f7ea82e92a68eb9c0f, built on …".
[[nodiscard]] QByteArray versionIn(const QByteArray &said);

class Membership {
public:
    // Whom to ask, and who is expected to answer there.
    struct Place {
        HostPort at;
        std::optional<qint64> expected; // named so by the configuration
        friend bool operator==(const Place &, const Place &) = default;
    };

    explicit Membership(std::vector<HostPort> named) : m_named(std::move(named)) {}

    // Every place worth asking: the hosts of the connection, and the members that the configuration adds.
    [[nodiscard]] std::vector<Place> places() const;
    // What the servers at those places said in one round.
    void learn(const std::vector<std::pair<HostPort, MemberFacts>> &said);
    // The content of /zookeeper/config, read through a session. Empty where a server is standalone.
    void learnConfiguration(const QByteArray &text);

    // Whose answer that is; empty where it cannot be told. Behind one address may be another server each time, so
    // that `said` has to be of the same round.
    [[nodiscard]] std::optional<qint64> whoIs(const Place &place, const MemberFacts &said) const;
    // How many servers there are; empty: not known.
    [[nodiscard]] std::optional<int> size() const;
    [[nodiscard]] bool isStandalone() const { return m_isStandalone; }
    [[nodiscard]] const std::vector<ConfiguredServer> &configured() const { return m_configured; }
    // "server 2 (zk2:2181)"
    [[nodiscard]] QString nameOf(qint64 id) const;
    [[nodiscard]] bool isKnown() const { return m_isStandalone || !m_configured.empty(); }

private:
    std::vector<HostPort> m_named;
    std::vector<ConfiguredServer> m_configured;
    std::map<qint64, HostPort> m_seenAt; // where a server was found that the configuration gives no address for
    bool m_isStandalone = false;
};

} // namespace lockscope::zk
