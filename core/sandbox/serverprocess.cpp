// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/serverprocess.h"

#include "core/base/logging.h"

#include <QFile>

#include <thread>

using namespace Qt::StringLiterals;

namespace lockscope::sandbox {

namespace {

const QString outputFile = u"output.log"_s;

// What both servers, and the libraries below them, say when somebody else has the port.
bool saysAddressInUse(const QString &log)
{
    return log.contains(u"address already in use"_s, Qt::CaseInsensitive) || log.contains(u"BindException"_s);
}

} // namespace

QByteArray tlsQuestion()
{
    // Version 1.2, 32 bytes of nonce, no session, ECDHE-ECDSA-AES128-GCM-SHA256, no compression; P-256, uncompressed
    // points, ECDSA with SHA-256.
    const auto hello = QByteArray::fromHex("0303") + QByteArray(32, 'L')
                       + QByteArray::fromHex("00"
                                             "0002c02b"
                                             "0100"
                                             "0018"
                                             "000a000400020017"
                                             "000b00020100"
                                             "000d000400020403");
    const auto message = QByteArray::fromHex("0100") + QByteArray(1, '\0') + char(hello.size()) + hello;
    return QByteArray::fromHex("160301") + QByteArray(1, '\0') + char(message.size()) + message;
}

bool isTlsAnswer(const QByteArray &answer)
{
    constexpr char handshake = 0x16, alert = 0x15;
    return answer.size() > 2 && (answer[0] == handshake || answer[0] == alert) && answer[1] == 3;
}

Result<void> ServerProcess::begin()
{
    if (m_child.isRunning())
        return {};
    if (!m_folder) {
        auto folder = TemporaryFolder::make();
        if (!folder)
            return folder.error();
        m_folder = std::move(*folder);
    }
    if (!m_hasAnswered) {
        auto prepared = prepareElsewhere();
        if (!prepared)
            return prepared;
    }
    return launch();
}

Result<void> ServerProcess::prepareElsewhere()
{
    m_port = m_kind->fixedPort() != 0 ? m_kind->fixedPort() : freeLoopbackPort();
    if (m_port == 0)
        return gaveUp(u"there is no free port on 127.0.0.1"_s);
    return m_kind->prepare(*m_folder, m_port);
}

Result<void> ServerProcess::launch()
{
    m_isReady = false;
    m_question.reset();
    QFile::remove(m_folder->file(outputFile));
    return m_child.start({m_kind->arguments(*m_folder), QFile::encodeName(m_folder->path()),
                          QFile::encodeName(m_folder->file(outputFile))});
}

Result<bool> ServerProcess::poll()
{
    if (!m_child.isRunning()) {
        constexpr int mostPortTries = 5;
        if (m_hasAnswered || !saysAddressInUse(log()) || ++m_portTries > mostPortTries)
            return gaveUp(u"it ended"_s);
        qCInfo(logSandbox).noquote() << m_kind->name() << "found its port taken, trying another";
        auto prepared = prepareElsewhere();
        if (!prepared)
            return prepared.error();
        auto launched = launch();
        if (!launched)
            return launched.error();
    }
    if (m_isReady)
        return true;
    // ZooKeeper never answers what it was asked in its first moments, so ask again now and then.
    const auto now = std::chrono::steady_clock::now();
    if (!m_question || m_question->isOver() || now - m_askedAt > std::chrono::milliseconds(200)) {
        m_question = ask();
        m_askedAt = now;
    }
    m_question->step();
    if (!m_kind->isReadyAnswer(m_question->answer()))
        return false;
    m_question.reset();
    m_isReady = m_hasAnswered = true;
    return true;
}

std::unique_ptr<LoopbackQuestion> ServerProcess::ask() const
{
    const auto socket = m_kind->questionSocket();
    if (socket.isEmpty())
        return std::make_unique<LoopbackQuestion>(m_port, m_kind->question());
    return std::make_unique<LoopbackQuestion>(QFile::encodeName(m_folder->file(socket)), m_kind->question());
}

Result<void> ServerProcess::start(std::chrono::milliseconds atMost)
{
    auto begun = begin();
    if (!begun)
        return begun;
    const auto until = std::chrono::steady_clock::now() + atMost;
    for (;;) {
        auto ready = poll();
        if (!ready)
            return ready.error();
        if (*ready)
            return {};
        if (std::chrono::steady_clock::now() >= until) {
            stop();
            return gaveUp(u"it did not answer within %1 s"_s.arg(std::chrono::duration<double>(atMost).count()));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

Error ServerProcess::gaveUp(const QString &how) const
{
    const QString said = log().trimmed().section(u'\n', -3).simplified().left(400);
    return {ErrorCode::Server,
            u"starting a private %1 on 127.0.0.1:%2 failed: %3%4"_s.arg(
                m_kind->name(), QString::number(m_port), how, said.isEmpty() ? QString() : u"; it said: "_s + said),
            true};
}

HostPort ServerProcess::address() const
{
    return {u"127.0.0.1"_s, m_port};
}

QString ServerProcess::log() const
{
    if (!m_folder)
        return {};
    QFile file(m_folder->file(outputFile));
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

} // namespace lockscope::sandbox
