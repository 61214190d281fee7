// SPDX-License-Identifier: Apache-2.0
#include "core/zookeeper/libraryguard.h"

#include "core/base/logging.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include <dlfcn.h>
#include <link.h>
#include <sys/socket.h>

namespace lockscope::zk {

namespace {

constexpr qint64 mostUnderWay = 48LL * 1024 * 1024;
constexpr qint64 skippedAtOnce = 64 * 1024;
std::atomic<qint64> underWay = 0;

// Where the library's code is.
struct Code {
    std::uintptr_t begin = 0, end = 0;
    [[nodiscard]] bool contains(const void *address) const
    {
        const auto at = reinterpret_cast<std::uintptr_t>(address);
        return at >= begin && at < end;
    }
};

int takeCode(dl_phdr_info *object, std::size_t, void *into)
{
    if (!std::strstr(object->dlpi_name, "libzookeeper"))
        return 0;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const auto &segment = object->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0)
            continue;
        const auto begin = object->dlpi_addr + segment.p_vaddr;
        *static_cast<Code *>(into) = {begin, begin + segment.p_memsz};
        return 1;
    }
    return 0;
}

const Code &libraryCode()
{
    static const Code code = [] {
        Code found;
        ::dl_iterate_phdr(takeCode, &found);
        return found;
    }();
    return code;
}

template <class Function>
Function systems(const char *name)
{
    return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

ssize_t systemsRecv(int socket, void *buffer, std::size_t size, int flags)
{
    static const auto call = systems<decltype(&systemsRecv)>("recv");
    return call(socket, buffer, size, flags);
}

ssize_t systemsSend(int socket, const void *bytes, std::size_t size, int flags)
{
    static const auto call = systems<decltype(&systemsSend)>("send");
    return call(socket, bytes, size, flags);
}

// One connection of the library's.
class GuardedSocket {
public:
    // As send() does. No answer is read before what it answers is known.
    ssize_t send(int socket, const void *bytes, std::size_t size, int flags)
    {
        const std::lock_guard lock(m_mutex);
        const auto sent = systemsSend(socket, bytes, size, flags);
        if (sent > 0)
            m_check.sent({static_cast<const char *>(bytes), sent});
        return sent;
    }
    // As recv() does. Never more of the socket than the message that is asked for: the library is woken by what is
    // left in it.
    ssize_t receive(int socket, char *buffer, std::size_t size, int flags)
    {
        const std::lock_guard lock(m_mutex);
        if (m_ready.isEmpty()) {
            if (const auto got = readMessage(socket, flags); got <= 0)
                return got;
        }
        const auto some = std::min(m_ready.size() - m_given, static_cast<qsizetype>(size));
        std::memcpy(buffer, m_ready.constData() + m_given, static_cast<std::size_t>(some));
        m_given += some;
        if (m_given == m_ready.size()) {
            m_ready.clear();
            m_given = 0;
        }
        return some;
    }

private:
    // Above 0 once a message is ready; else what the system said.
    ssize_t readMessage(int socket, int flags)
    {
        if (underWay > mostUnderWay) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            errno = EAGAIN;
            return -1;
        }
        if (!m_length) {
            if (const auto got = fill(socket, AnswerCheck::prefixBytes, flags); got <= 0)
                return got;
            m_length = AnswerCheck::lengthIn(std::exchange(m_read, {}));
            if (!m_length)
                return end("a length that no answer has");
        }
        const bool isWhole = *m_length <= AnswerCheck::mostBytes;
        if (const auto got = fill(socket, isWhole ? *m_length : AnswerCheck::headerBytes, flags); got <= 0)
            return got;
        if (!isWhole) {
            if (const auto got = skipRest(socket, flags); got <= 0)
                return got;
        }
        m_length.reset();
        m_skipped = 0;
        auto checked = m_check.checked(std::exchange(m_read, {}), isWhole);
        if (!checked)
            return end("an answer to nothing that was asked");
        m_ready = std::move(*checked);
        return m_ready.size();
    }
    ssize_t fill(int socket, qint64 until, int flags)
    {
        while (m_read.size() < until) {
            const auto before = m_read.size();
            // A length is soon said: memory is taken as the bytes come.
            const auto some = std::min<qint64>(until - before, std::max<qint64>(before, skippedAtOnce));
            m_read.resize(before + some);
            const auto got = systemsRecv(socket, m_read.data() + before, static_cast<std::size_t>(some), flags);
            m_read.resize(before + std::max<ssize_t>(got, 0));
            if (got <= 0)
                return got;
        }
        return 1;
    }
    ssize_t skipRest(int socket, int flags)
    {
        QByteArray rest(skippedAtOnce, Qt::Uninitialized);
        for (auto left = *m_length - AnswerCheck::headerBytes - m_skipped; left > 0;) {
            const auto some = static_cast<std::size_t>(std::min(left, skippedAtOnce));
            const auto got = systemsRecv(socket, rest.data(), some, flags);
            if (got <= 0)
                return got;
            m_skipped += got;
            left -= got;
        }
        return 1;
    }
    static ssize_t end(const char *why)
    {
        qCInfo(logZooKeeper, "a connection is ended: the server sent %s", why);
        errno = ECONNRESET;
        return -1;
    }

    std::mutex m_mutex;
    AnswerCheck m_check;
    std::optional<qint64> m_length; // of the message that is being read
    QByteArray m_read;              // so far
    qint64 m_skipped = 0;
    QByteArray m_ready; // for the library, which has had so much of it
    qsizetype m_given = 0;
};

// Never destroyed: the library's threads go on while static objects end.
struct Guarded {
    std::mutex mutex;
    std::unordered_map<int, std::shared_ptr<GuardedSocket>> sockets;
};

Guarded &guarded()
{
    static auto *const instance = new Guarded;
    return *instance;
}

std::shared_ptr<GuardedSocket> guardedSocket(int socket, const void *caller)
{
    if (!libraryCode().contains(caller))
        return nullptr;
    const std::lock_guard lock(guarded().mutex);
    const auto at = guarded().sockets.find(socket);
    return at == guarded().sockets.end() ? nullptr : at->second;
}

} // namespace

bool isLibraryGuarded()
{
    return libraryCode().end != 0;
}

AnswerUnderWay::AnswerUnderWay(qint64 bytes) : m_bytes(bytes)
{
    underWay += m_bytes;
}

AnswerUnderWay::~AnswerUnderWay()
{
    underWay -= m_bytes;
}

// Under names of their own, for the system's headers define some of them inline.
extern "C" {
[[gnu::visibility("default")]] ssize_t lockscope_recv(int socket, void *buffer, std::size_t size,
                                                      int flags) __asm__("recv");
[[gnu::visibility("default")]] ssize_t lockscope_send(int socket, const void *bytes, std::size_t size,
                                                      int flags) __asm__("send");
[[gnu::visibility("default")]] int lockscope_connect(int socket, const sockaddr *to,
                                                     socklen_t size) __asm__("connect");

ssize_t lockscope_recv(int socket, void *buffer, std::size_t size, int flags)
{
    if (const auto own = guardedSocket(socket, __builtin_return_address(0)))
        return own->receive(socket, static_cast<char *>(buffer), size, flags);
    return systemsRecv(socket, buffer, size, flags);
}

ssize_t lockscope_send(int socket, const void *bytes, std::size_t size, int flags)
{
    if (const auto own = guardedSocket(socket, __builtin_return_address(0)))
        return own->send(socket, bytes, size, flags);
    return systemsSend(socket, bytes, size, flags);
}

int lockscope_connect(int socket, const sockaddr *to, socklen_t size)
{
    static const auto call = systems<decltype(&lockscope_connect)>("connect");
    if (libraryCode().contains(__builtin_return_address(0))) {
        const std::lock_guard lock(guarded().mutex);
        guarded().sockets[socket] = std::make_shared<GuardedSocket>();
    }
    return call(socket, to, size);
}
}

} // namespace lockscope::zk
