// SPDX-License-Identifier: Apache-2.0
// Plays random commands on ZooKeeper sessions and writes down what can be compared with another server: answers,
// fields of a Stat that do not depend on when and where, the events that each session hears of.
#pragma once

#include "core/base/text.h"
#include "tests/live/zookeeperscript.h"

#include <functional>

namespace lockscope::testing {

// Where it is played.
class Stage {
public:
    virtual ~Stage() = default;
    // A new session, connected.
    [[nodiscard]] virtual std::unique_ptr<zk::Session> open() = 0;
    // Destroys it and returns when the server has closed it.
    virtual void close(std::unique_ptr<zk::Session> session) = 0;
    virtual bool waitFor(const std::function<bool()> &isSo) = 0;
};

class Player {
public:
    Player(Stage &stage, int sessions);
    ~Player();

    // For each command its answer, then what was heard meanwhile.
    [[nodiscard]] QByteArrayList play(const Burst &burst);
    // A directory to play in, from then on.
    bool begin(const ZPath &root);
    // As they came along in answers; comparable by their order only.
    [[nodiscard]] const std::vector<qint64> &zxids() const { return m_zxids; }

private:
    struct Seat {
        std::unique_ptr<zk::Session> session;
        int number = 0; // how many sat here before
    };
    using Note = std::function<void(const QByteArray &)>;

    void send(zk::Session &session, const Command &command, const Note &note);
    void sendRead(zk::Session &session, const Command &command, const Note &note);
    void closeAndOpen(int seat);
    void waitForEvents();
    [[nodiscard]] std::optional<zk::Watch> watch(zk::Session &session, const Command &command);
    [[nodiscard]] QByteArray text(const zk::Stat &stat);
    [[nodiscard]] QByteArray textOfOwner(zk::SessionId owner) const;
    template <class T>
    void take(const Reply<T> &reply, const Note &note, QByteArray (Player::*say)(const T &));
    [[nodiscard]] QByteArray sayDone(const bool &) { return "done"; }
    [[nodiscard]] QByteArray sayCreated(const zk::Created &created);
    [[nodiscard]] QByteArray sayNode(const zk::Node &node);
    [[nodiscard]] QByteArray sayStat(const zk::Stat &stat) { return text(stat); }
    [[nodiscard]] QByteArray sayChildren(const zk::Children &children);
    [[nodiscard]] QByteArray sayAcls(const zk::NodeAcls &acls);
    [[nodiscard]] QByteArray sayResults(const std::vector<zk::OpResult> &results);

    Stage &m_stage;
    ZPath m_root;
    std::vector<Seat> m_seats;
    std::map<zk::SessionId, QByteArray> m_names; // of all sessions there ever were
    int m_lastWatch = 0;
    std::vector<zk::Watch> m_watches; // kept until they fire
    QByteArrayList m_heard;
    std::vector<qint64> m_zxids;
};

} // namespace lockscope::testing
