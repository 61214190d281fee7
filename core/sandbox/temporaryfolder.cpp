// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/temporaryfolder.h"

#include "core/base/logging.h"
#include "core/sandbox/server.h"

#include <QDateTime>
#include <QDir>
#include <QFile>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lockscope::sandbox {

namespace {

const QString ownerFile = u"owner"_s;

Error failed(const QString &what, const QString &path)
{
    return {ErrorCode::Server, u"%1 %2 failed: %3"_s.arg(what, path, QString::fromLocal8Bit(std::strerror(errno))),
            false};
}

// True when the process that made this folder is certainly gone.
bool isAbandoned(const QFileInfo &folder)
{
    const int fd =
        ::open(QFile::encodeName(folder.filePath() + u'/' + ownerFile).constData(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0) {
        // The file appears under this name when it is locked already, so free means left behind.
        const bool free = ::flock(fd, LOCK_EX | LOCK_NB) == 0;
        ::close(fd);
        return free;
    }
    // Made a moment ago, or its maker died before it could sign it.
    const auto pid = folder.fileName().section(u'-', 1, 1).toInt();
    const bool gone = pid > 0 && ::kill(pid, 0) < 0 && errno == ESRCH;
    return gone && folder.lastModified().secsTo(QDateTime::currentDateTime()) > 60;
}

} // namespace

Result<std::unique_ptr<TemporaryFolder>> TemporaryFolder::make()
{
    const QString pattern = u"%1/lockscope-%2-XXXXXX"_s.arg(QDir::tempPath()).arg(::getpid());
    QByteArray name = QFile::encodeName(pattern);
    if (!::mkdtemp(name.data()))
        return failed(u"making the folder"_s, pattern);
    std::unique_ptr<TemporaryFolder> folder(new TemporaryFolder(QFile::decodeName(name)));
    if (!folder->markAsOwned())
        return failed(u"locking the folder"_s, folder->path());
    return folder;
}

TemporaryFolder::~TemporaryFolder()
{
    // The lock goes last: whoever finds the folder before is told that it is ours. What a program that was killed had
    // started itself (initdb's servers) may write for a moment yet.
    bool isGone = QDir(m_path).removeRecursively();
    for (int tries = 0; !isGone && tries < 40; ++tries) {
        std::this_thread::sleep_for(50ms);
        isGone = QDir(m_path).removeRecursively();
    }
    if (!isGone)
        qCWarning(logSandbox).noquote() << "could not remove" << m_path;
    if (m_lock >= 0)
        ::close(m_lock);
}

Result<void> TemporaryFolder::write(const QString &name, const QByteArray &text) const
{
    const QString path = file(name);
    const int fd = ::open(QFile::encodeName(path).constData(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return failed(u"writing"_s, path);
    const auto written = ::write(fd, text.constData(), static_cast<size_t>(text.size()));
    ::close(fd);
    if (written != text.size())
        return failed(u"writing"_s, path);
    return {};
}

bool TemporaryFolder::markAsOwned()
{
    const QByteArray unsigned_ = QFile::encodeName(file(u"owner.new"_s));
    m_lock = ::open(unsigned_.constData(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    return m_lock >= 0 && ::flock(m_lock, LOCK_EX | LOCK_NB) == 0
           && ::rename(unsigned_.constData(), QFile::encodeName(file(ownerFile)).constData()) == 0;
}

void sweepLeftovers()
{
    const QDir temp(QDir::tempPath());
    const auto found = temp.entryInfoList({u"lockscope-*-*"_s}, QDir::Dirs | QDir::Hidden | QDir::NoSymLinks);
    for (const auto &folder : found) {
        // Others' folders are none of our business, and anybody may make one in /tmp.
        if (folder.ownerId() != ::getuid() || !isAbandoned(folder))
            continue;
        qCInfo(logSandbox).noquote() << "removing" << folder.filePath() << "left over by an ended sandbox";
        QDir(folder.filePath()).removeRecursively();
    }
}

} // namespace lockscope::sandbox
