// SPDX-License-Identifier: Apache-2.0
// Source: zookeeper.jute and OpCode of ZooKeeper 3.8, and what the C client reads of each answer (zookeeper.c).
#include "core/zookeeper/libraryguard.h"

#include <QtEndian>

#include <algorithm>

namespace lockscope::zk {

namespace {

// zookeeper.h does not have them.
enum Type : qint32 {
    Create = 1,
    Exists = 3,
    GetData = 4,
    SetData = 5,
    GetAcl = 6,
    SetAcl = 7,
    GetChildren = 8,
    Sync = 9,
    GetChildren2 = 12,
    Check = 13,
    Multi = 14,
    Create2 = 15,
    CreateContainer = 19,
    CreateTtl = 21,
    Delete = 2,
};
constexpr qint32 eventXid = -1, pingXid = -2, authXid = -4, setWatchesXid = -8;
constexpr qint32 malformed = -5; // ZMARSHALLINGERROR
constexpr qsizetype statBytes = 68;
constexpr qint64 greetingBytes = 36; // a byte more from servers that know of read-only mode
constexpr qint32 passwordBytes = 16;

// The fields of a message, one after the other. Once one is not there, none is.
class Fields {
public:
    explicit Fields(QByteArrayView bytes) : m_left(bytes) {}
    [[nodiscard]] bool isWhole() const { return m_isWhole; }
    qint32 number()
    {
        const auto *at = m_left.data();
        return skip(sizeof(qint32)) ? qFromBigEndian<qint32>(at) : 0;
    }
    bool flag()
    {
        const auto *at = m_left.data();
        return skip(1) && *at != 0;
    }
    bool skip(qsizetype bytes)
    {
        m_isWhole = m_isWhole && bytes >= 0 && bytes <= m_left.size();
        if (m_isWhole)
            m_left = m_left.sliced(bytes);
        return m_isWhole;
    }
    void text() { skip(number()); }
    void data()
    {
        if (const auto length = number(); length != -1) // -1: none
            skip(length);
    }
    void stat() { skip(statBytes); }
    template <class Read>
    void list(Read read)
    {
        const auto count = number();
        m_isWhole = m_isWhole && count >= 0 && count <= AnswerCheck::mostEntries;
        for (qint32 i = 0; i < count && m_isWhole; ++i)
            read();
    }
    // Of znodes: one that is empty, or says where it is, would send whoever walks the tree in circles.
    void names()
    {
        list([this] {
            const auto length = number();
            const auto name = m_left.first(std::clamp<qsizetype>(length, 0, m_left.size()));
            skip(length);
            m_isWhole = m_isWhole && length > 0 && !name.contains('/') && !name.contains('\0');
        });
    }
    void acls()
    {
        list([this] {
            number();
            text();
            text();
        });
    }

private:
    QByteArrayView m_left;
    bool m_isWhole = true;
};

bool isCreation(qint32 type)
{
    return type == Create || type == Create2 || type == CreateContainer || type == CreateTtl;
}

// The types of a transaction's parts, as we have sent them.
std::vector<qint32> partsOf(Fields &request)
{
    std::vector<qint32> parts;
    while (request.isWhole()) {
        const auto type = request.number();
        const bool isEnd = request.flag();
        request.number();
        if (isEnd || !request.isWhole())
            break;
        parts.push_back(type);
        request.text();
        if (isCreation(type) || type == SetData)
            request.data();
        if (isCreation(type))
            request.acls();
        request.number(); // flags, or the version
        if (type == CreateTtl)
            request.skip(sizeof(qint64));
    }
    return parts;
}

// What the library reads of each part; of one that failed there is the error only.
void skipResults(Fields &answer, const std::vector<qint32> &parts)
{
    for (const auto part : parts) {
        const bool hasFailed = answer.number() == -1;
        const bool isEnd = answer.flag();
        answer.number();
        if (isEnd)
            answer.skip(-1); // fewer than were asked for
        if (hasFailed)
            answer.number();
        else if (isCreation(part))
            answer.text();
        else if (part == SetData)
            answer.stat();
    }
    answer.number();
    if (!answer.flag())
        answer.skip(-1); // more
    answer.number();
}

bool isAnswerTo(qint32 type, const std::vector<qint32> &parts, Fields answer)
{
    switch (type) {
    case Create:
    case Sync: answer.text(); break;
    case Create2:
    case CreateContainer:
    case CreateTtl:
        answer.text();
        answer.stat();
        break;
    case Exists:
    case SetData:
    case SetAcl: answer.stat(); break;
    case GetData:
        answer.data();
        answer.stat();
        break;
    case GetAcl:
        answer.acls();
        answer.stat();
        break;
    case GetChildren: answer.names(); break;
    case GetChildren2:
        answer.names();
        answer.stat();
        break;
    case Multi: skipResults(answer, parts); break;
    default: break; // the header says all
    }
    return answer.isWhole();
}

QByteArray withPrefix(QByteArray message)
{
    const auto length = qToBigEndian(static_cast<qint32>(message.size()));
    return message.prepend(reinterpret_cast<const char *>(&length), sizeof length);
}

bool isGreeting(QByteArrayView message)
{
    Fields fields(message);
    fields.skip(greetingBytes - passwordBytes - qsizetype(sizeof(qint32)));
    return fields.number() == passwordBytes && message.size() >= greetingBytes && message.size() <= greetingBytes + 1;
}

} // namespace

void AnswerCheck::sent(QByteArrayView bytes)
{
    m_sent.append(bytes);
    qsizetype at = 0;
    for (;;) {
        const auto left = QByteArrayView(m_sent).sliced(at);
        Fields fields(left);
        const auto length = fields.number();
        if (!fields.isWhole() || !fields.skip(length))
            break;
        note(left.sliced(prefixBytes, length));
        at += prefixBytes + length;
    }
    m_sent.remove(0, at);
}

void AnswerCheck::note(QByteArrayView request)
{
    if (!std::exchange(m_hasGreeted, true))
        return;
    Fields fields(request);
    const auto xid = fields.number();
    const auto type = fields.number();
    // These are answered out of their turn, and no request waits for it.
    if (xid == pingXid || xid == authXid || xid == setWatchesXid)
        return;
    m_open.push_back({xid, type, type == Multi ? partsOf(fields) : std::vector<qint32>()});
}

std::optional<qint64> AnswerCheck::lengthIn(QByteArrayView prefix)
{
    const auto length = Fields(prefix).number();
    return length < headerBytes || length > mostSkipped ? std::nullopt : std::optional<qint64>(length);
}

std::optional<QByteArray> AnswerCheck::checked(QByteArray message, bool isWhole)
{
    if (!std::exchange(m_isGreeted, true))
        return isWhole && isGreeting(message) ? std::optional(withPrefix(std::move(message))) : std::nullopt;
    Fields fields(message);
    const auto xid = fields.number();
    fields.skip(sizeof(qint64));
    const auto error = fields.number();
    if (!fields.isWhole())
        return std::nullopt;
    if (xid == eventXid) {
        fields.number();
        fields.number();
        fields.text();
    }
    if (xid == eventXid || xid == pingXid || xid == authXid || xid == setWatchesXid)
        return isWhole && fields.isWhole() ? std::optional(withPrefix(std::move(message))) : std::nullopt;
    if (m_open.empty() || m_open.front().xid != xid)
        return std::nullopt;
    const auto request = std::move(m_open.front());
    m_open.pop_front();
    // Where it failed the library reads no more than the header.
    if (isWhole && (error != 0 || isAnswerTo(request.type, request.parts, fields)))
        return withPrefix(std::move(message));
    message.truncate(headerBytes);
    const auto code = qToBigEndian(malformed);
    std::copy_n(reinterpret_cast<const char *>(&code), sizeof code, message.data() + headerBytes - sizeof code);
    return withPrefix(std::move(message));
}

} // namespace lockscope::zk
