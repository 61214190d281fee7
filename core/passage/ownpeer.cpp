// SPDX-License-Identifier: Apache-2.0
#include "core/passage/ownpeer.h"

#include <QFile>

#include <array>
#include <thread>

#include <dirent.h>
#include <unistd.h>

namespace lockscope::passage {

namespace {

QByteArray loopbackEntry(quint16 port)
{
    return "0100007F:" + QByteArray::number(port, 16).toUpper().rightJustified(4, '0');
}

bool isOpenHere(const QByteArray &inode)
{
    const QByteArray wanted = "socket:[" + inode + ']';
    DIR *folder = ::opendir("/proc/self/fd");
    if (!folder)
        return false;
    bool isFound = false;
    while (const dirent *entry = ::readdir(folder)) {
        std::array<char, 64> target;
        const auto size = ::readlinkat(::dirfd(folder), entry->d_name, target.data(), target.size());
        isFound = isFound || (size > 0 && QByteArrayView(target.data(), size) == wanted);
    }
    ::closedir(folder);
    return isFound;
}

} // namespace

std::optional<QByteArray> socketInode(const QByteArray &table, quint16 local, quint16 remote)
{
    // sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
    constexpr int localColumn = 1, remoteColumn = 2, inodeColumn = 9;
    for (const auto &line : table.split('\n')) {
        const auto columns = line.simplified().split(' ');
        if (columns.size() > inodeColumn && columns[localColumn] == loopbackEntry(local)
            && columns[remoteColumn] == loopbackEntry(remote) && columns[inodeColumn] != "0")
            return columns[inodeColumn];
    }
    return std::nullopt;
}

std::optional<bool> isOwnPeer(quint16 peer, quint16 door)
{
    // The table is read in pieces while others connect: one that is there may be missed once. And one of ours that is
    // just being closed is in the table for a moment, and open no more.
    constexpr int tries = 3;
    std::optional<bool> isOwn;
    for (int i = 0; i < tries; ++i) {
        QFile table(QStringLiteral("/proc/self/net/tcp"));
        if (!table.open(QIODevice::ReadOnly))
            return false;
        const auto inode = socketInode(table.readAll(), peer, door);
        if (inode && isOpenHere(*inode))
            return true;
        isOwn = inode ? std::optional(false) : std::nullopt;
        std::this_thread::sleep_for(std::chrono::milliseconds(i));
    }
    return isOwn;
}

} // namespace lockscope::passage
