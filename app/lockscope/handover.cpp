// SPDX-License-Identifier: Apache-2.0
#include "app/lockscope/handover.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLocalSocket>
#include <QTimer>

#include <unistd.h>

namespace lockscope::app {

using namespace Qt::StringLiterals;

namespace {

constexpr qint64 longestMessage = 8192;
constexpr int patienceMs = 1000;
const QByteArray thanks = "shown\n";

bool isUsersAlone(const QString &folder)
{
    const QFileInfo info(folder);
    const auto others = QFile::ReadGroup | QFile::WriteGroup | QFile::ExeGroup | QFile::ReadOther | QFile::WriteOther
                        | QFile::ExeOther;
    return info.isDir() && info.ownerId() == ::getuid() && !(info.permissions() & others);
}

} // namespace

Handover::Handover(QString folder, QObject *parent) : QObject(parent), m_folder(std::move(folder))
{
    connect(&m_server, &QLocalServer::newConnection, this, &Handover::accept);
}

QString Handover::runtimeFolder()
{
    const QString runtime = qEnvironmentVariable("XDG_RUNTIME_DIR");
    return runtime.startsWith(u'/') && isUsersAlone(runtime) ? runtime + u"/lockscope"_s : QString();
}

QString Handover::path() const
{
    return m_folder + u"/window"_s;
}

bool Handover::give(const QString &link) const
{
    if (m_folder.isEmpty() || !isUsersAlone(m_folder))
        return false;
    QLocalSocket socket;
    socket.connectToServer(path());
    if (!socket.waitForConnected(patienceMs))
        return false;
    socket.write(link.toUtf8() + '\n');
    while (socket.bytesAvailable() < thanks.size() && socket.waitForReadyRead(patienceMs)) {
    }
    return socket.readAll() == thanks;
}

bool Handover::listen()
{
    if (m_folder.isEmpty())
        return false;
    if (!QFileInfo::exists(m_folder)
        && !QDir().mkdir(m_folder, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner))
        return false;
    if (!isUsersAlone(m_folder))
        return false;
    QLocalSocket other;
    other.connectToServer(path());
    if (other.waitForConnected(patienceMs))
        return false; // that window takes them
    QLocalServer::removeServer(path());
    m_server.setSocketOptions(QLocalServer::UserAccessOption);
    return m_server.listen(path());
}

void Handover::accept()
{
    while (auto *socket = m_server.nextPendingConnection()) {
        socket->setReadBufferSize(longestMessage);
        connect(socket, &QLocalSocket::disconnected, socket, &QObject::deleteLater);
        QTimer::singleShot(patienceMs, socket, &QObject::deleteLater); // whoever says nothing
        const auto read = [this, socket] {
            if (!socket->canReadLine()) {
                if (socket->bytesAvailable() >= longestMessage)
                    socket->abort();
                return;
            }
            const QString link = QString::fromUtf8(socket->readLine(longestMessage)).trimmed();
            socket->write(thanks);
            socket->flush();
            socket->disconnectFromServer();
            emit taken(link);
        };
        connect(socket, &QLocalSocket::readyRead, this, read);
        if (socket->canReadLine())
            read();
    }
}

} // namespace lockscope::app

#include "moc_handover.cpp"
