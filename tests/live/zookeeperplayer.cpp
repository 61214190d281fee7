// SPDX-License-Identifier: Apache-2.0
#include "tests/live/zookeeperplayer.h"

#include <algorithm>

namespace lockscope::testing {

Player::Player(Stage &stage, int sessions) : m_stage(stage), m_seats(static_cast<std::size_t>(sessions))
{
    for (int i = 0; i < sessions; ++i)
        closeAndOpen(i);
}

Player::~Player()
{
    for (auto &seat : m_seats)
        m_stage.close(std::move(seat.session));
}

bool Player::begin(const ZPath &root)
{
    m_root = root;
    m_watches.clear();
    m_zxids.clear();
    m_lastWatch = 0;
    const auto made =
        m_seats.front().session->create(root, {}, zk::CreateMode::Persistent, zk::openAcl(), Deadline::never());
    const bool isMade = m_stage.waitFor([&made] { return made.isComplete(); }) && made.value();
    waitForEvents(); // of whoever still watches the root
    return isMade;
}

QByteArrayList Player::play(const Burst &burst)
{
    m_heard.clear();
    const auto answers = std::make_shared<QByteArrayList>();
    const auto count = static_cast<qsizetype>(burst.commands.size());
    for (const auto &command : burst.commands) {
        if (command.kind == Command::Kind::Close) {
            closeAndOpen(burst.session);
            answers->append("closed");
        } else {
            send(*m_seats[static_cast<std::size_t>(burst.session)].session, command,
                 [answers](const QByteArray &answer) { answers->append(answer); });
        }
    }
    if (!m_stage.waitFor([&] { return answers->size() == count; }))
        answers->append("no answer");
    waitForEvents();
    // What one transaction fires, it fires in an order that means nothing.
    std::sort(m_heard.begin(), m_heard.end());
    auto all = *answers + m_heard;
    for (std::size_t i = 0; i < m_seats.size(); ++i) {
        const auto &session = *m_seats[i].session;
        all << QByteArray::number(i) + " watches " + QByteArray::number(session.watchCount()) + ", "
                   + QByteArray::number(session.watchedBytes()) + " bytes";
    }
    return all;
}

// Events come before the answers to what is asked later.
void Player::waitForEvents()
{
    const auto answers = std::make_shared<std::size_t>(0);
    for (const auto &seat : m_seats) {
        const auto reply = seat.session->exists(ZPath("/"), {}, Deadline::never());
        reply.then([answers](const auto &) { ++*answers; }); // through the queue, as the events are
    }
    m_stage.waitFor([&] { return *answers == m_seats.size(); });
    std::erase_if(m_watches, [](const zk::Watch &watch) { return watch.event().isComplete(); });
}

void Player::closeAndOpen(int index)
{
    auto &seat = m_seats[static_cast<std::size_t>(index)];
    if (seat.session)
        m_stage.close(std::move(seat.session));
    seat.session = m_stage.open();
    m_names[seat.session->id()] = QByteArray::number(index) + '.' + QByteArray::number(++seat.number);
}

std::optional<zk::Watch> Player::watch(zk::Session &session, const Command &command)
{
    if (!command.watches)
        return {};
    const zk::Watch made(session.loop());
    m_watches.push_back(made);
    static constexpr const char *kinds[] = {"created", "deleted", "changed", "children changed", "session over"};
    const auto number = QByteArray::number(++m_lastWatch);
    made.event().then([this, number](const zk::WatchEvent &event) {
        m_heard << "watch " + number + ": " + kinds[static_cast<int>(event.kind)] + ' ' + event.path.bytes();
    });
    return made;
}

template <class T>
void Player::take(const Reply<T> &reply, const Note &note, QByteArray (Player::*say)(const T &))
{
    reply.then([this, note, say](const Result<T> &result) {
        note(result ? (this->*say)(*result)
                    : "error " + QByteArray::number(static_cast<int>(result.error().code)) + ' '
                          + result.error().message.toUtf8());
    });
}

void Player::send(zk::Session &session, const Command &command, const Note &note)
{
    using Kind = Command::Kind;
    const auto never = Deadline::never();
    const auto &path = command.path;
    switch (command.kind) {
    case Kind::Create:
        return take(session.create(path, command.data, command.mode, command.acls, never), note, &Player::sayCreated);
    case Kind::CreateWithTtl:
        return take(
            session.createWithTtl(path, command.data, command.mode, std::chrono::hours(1), command.acls, never), note,
            &Player::sayCreated);
    case Kind::Remove: return take(session.remove(path, command.version, never), note, &Player::sayDone);
    case Kind::Set: return take(session.set(path, command.data, command.version, never), note, &Player::sayStat);
    case Kind::Multi: return take(session.multi(command.ops, never), note, &Player::sayResults);
    case Kind::SetAcls:
        return take(session.setAcls(path, command.acls, command.version, never), note, &Player::sayDone);
    case Kind::AddAuth: return take(session.addAuth("digest", command.data, never), note, &Player::sayDone);
    default: sendRead(session, command, note);
    }
}

void Player::sendRead(zk::Session &session, const Command &command, const Note &note)
{
    using Kind = Command::Kind;
    const auto never = Deadline::never();
    const auto &path = command.path;
    switch (command.kind) {
    case Kind::Get: return take(session.get(path, watch(session, command), never), note, &Player::sayNode);
    case Kind::Exists: return take(session.exists(path, watch(session, command), never), note, &Player::sayStat);
    case Kind::Children:
        return take(session.children(path, watch(session, command), never), note, &Player::sayChildren);
    case Kind::Sync: return take(session.sync(path, never), note, &Player::sayDone);
    case Kind::Acls: return take(session.acls(path, never), note, &Player::sayAcls);
    default: qFatal("not a read");
    }
}

QByteArray Player::textOfOwner(zk::SessionId owner) const
{
    if (owner.isNone())
        return "none";
    const auto at = m_names.find(owner);
    return at == m_names.end() ? "a stranger" : at->second;
}

QByteArray Player::text(const zk::Stat &stat)
{
    m_zxids.insert(m_zxids.end(), {stat.czxid, stat.mzxid, stat.pzxid});
    const auto number = [](const char *name, qint32 value) { return QByteArray(name) + QByteArray::number(value); };
    return number("version ", stat.version) + number(" cversion ", stat.cversion)
           + number(" aversion ", stat.aversion) + number(" length ", stat.dataLength)
           + number(" children ", stat.numChildren) + " owner " + textOfOwner(stat.ephemeralOwner)
           + (stat.mtime < stat.ctime ? " changed before it was made" : "");
}

QByteArray Player::sayCreated(const zk::Created &created)
{
    return created.path.bytes() + ' ' + text(created.stat);
}

QByteArray Player::sayNode(const zk::Node &node)
{
    return node.data.toHex() + ' ' + text(node.stat);
}

QByteArray Player::sayChildren(const zk::Children &children)
{
    if (children.names.empty() == (children.stat.numChildren > 0))
        return "the list and its length differ";
    QByteArrayList names;
    for (const auto &name : children.names)
        names << name.bytes();
    std::sort(names.begin(), names.end());
    return '{' + names.join(' ') + "} " + text(children.stat);
}

QByteArray Player::sayAcls(const zk::NodeAcls &acls)
{
    QByteArrayList list;
    for (const auto &acl : acls.acls)
        list << acl.scheme + ':' + acl.id + ':' + QByteArray::number(acl.perms);
    return list.join(' ') + ' ' + text(acls.stat);
}

QByteArray Player::sayResults(const std::vector<zk::OpResult> &results)
{
    QByteArrayList list;
    for (const auto &result : results)
        list << result.created.bytes() + (result.stat.czxid != 0 ? ' ' + text(result.stat) : QByteArray());
    return list.join("; ");
}

} // namespace lockscope::testing
