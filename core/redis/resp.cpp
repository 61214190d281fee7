// SPDX-License-Identifier: Apache-2.0
#include "core/redis/resp.h"

#include "core/base/text.h"

#include <hiredis/hiredis.h>

namespace lockscope::redis {

namespace {

// Where the value of this task belongs: a new root, or the next item of the array being read. An open
// array never moves while its items arrive, because its own parent does not grow meanwhile.
Value *place(const redisReadTask *task)
{
    if (task->parent == nullptr)
        return new Value; // owned by the parser until redisReaderGetReply hands it over
    auto &items = static_cast<Value *>(task->parent->obj)->items;
    return &items.emplace_back();
}

RespReader *readerOf(const redisReadTask *task)
{
    return static_cast<RespReader *>(task->privdata);
}

// A null pointer makes the parser stop with an error.
void *refuse(const redisReadTask *task, const QString &why)
{
    readerOf(task)->refuse(why);
    return nullptr;
}

// hiredis 1 parses RESP3, too, whoever asked for it. Nobody did: connections stay with RESP2.
void *refuseResp3(const redisReadTask *task)
{
    return refuse(task, u"a value of RESP3, which was not requested"_s);
}

void *createString(const redisReadTask *task, char *text, size_t size)
{
    if (task->type != REDIS_REPLY_STRING && task->type != REDIS_REPLY_STATUS && task->type != REDIS_REPLY_ERROR)
        return refuseResp3(task);
    if (!readerOf(task)->charge(static_cast<qint64>(size)))
        return nullptr;
    auto *value = place(task);
    value->kind = task->type == REDIS_REPLY_STATUS  ? Value::Kind::Status
                  : task->type == REDIS_REPLY_ERROR ? Value::Kind::Error
                                                    : Value::Kind::Bulk;
    value->text = QByteArray(text, static_cast<qsizetype>(size));
    return value;
}

// Before hiredis 1 the parser itself went no deeper; now it goes as deep as it is told, and a Value that
// holds a million others one in the other could not even be freed.
constexpr int deepestArray = 8;

bool isTooDeep(const redisReadTask *task)
{
    int depth = 1;
    while ((task = task->parent) != nullptr)
        ++depth;
    return depth > deepestArray;
}

// The count is an int before hiredis 1, and a size_t since.
template <typename Count>
void *createArray(const redisReadTask *task, Count count)
{
    if (task->type != REDIS_REPLY_ARRAY)
        return refuseResp3(task);
    if (isTooDeep(task))
        return refuse(task, u"arrays more than %1 deep"_s.arg(deepestArray));
    if (!readerOf(task)->charge(static_cast<qint64>(count) * static_cast<qint64>(sizeof(Value))))
        return nullptr;
    auto *value = place(task);
    value->kind = Value::Kind::Array;
    // What is announced is not yet sent; memory follows what really arrives.
    constexpr Count reserveAtMost = 1024;
    value->items.reserve(static_cast<size_t>(std::min(count, reserveAtMost)));
    return value;
}

void *createInteger(const redisReadTask *task, long long number)
{
    auto *value = place(task);
    value->kind = Value::Kind::Integer;
    value->integer = number;
    return value;
}

void *createNil(const redisReadTask *task)
{
    // RESP2 has no type of its own for it: there it is a string or an array that is not.
    return task->type == REDIS_REPLY_NIL ? refuseResp3(task) : place(task);
}

void freeValue(void *value)
{
    delete static_cast<Value *>(value);
}

// A template so that what hiredis does not have yet need not compile.
template <typename Functions>
Functions makeAssembly()
{
    Functions functions{};
    functions.createString = createString;
    functions.createArray = createArray;
    functions.createInteger = createInteger;
    functions.createNil = createNil;
    functions.freeObject = freeValue;
    // For a function that is missing the parser would make a pointer out of the type's number.
    if constexpr (requires {
                      functions.createDouble;
                      functions.createBool;
                  }) {
        functions.createDouble = [](const redisReadTask *task, double, char *, size_t) { return refuseResp3(task); };
        functions.createBool = [](const redisReadTask *task, int) { return refuseResp3(task); };
    }
    return functions;
}

auto assembly = makeAssembly<redisReplyObjectFunctions>();

} // namespace

QByteArray encode(const Command &command)
{
    std::vector<const char *> parts;
    std::vector<size_t> sizes;
    parts.reserve(static_cast<size_t>(command.size()));
    sizes.reserve(static_cast<size_t>(command.size()));
    for (const auto &part : command) {
        parts.push_back(part.constData());
        sizes.push_back(static_cast<size_t>(part.size()));
    }
    char *bytes = nullptr;
    const auto size = redisFormatCommandArgv(&bytes, static_cast<int>(parts.size()), parts.data(), sizes.data());
    if (size < 0)
        qFatal("redis: out of memory while formatting a command");
    QByteArray out(bytes, static_cast<qsizetype>(size));
    redisFreeCommand(bytes);
    return out;
}

Error errorFrom(const Value &reply)
{
    const auto space = reply.text.indexOf(' ');
    const auto code = space < 0 ? reply.text : reply.text.left(space);
    const auto words = label(reply.text);
    if (code == "NOAUTH" || code == "WRONGPASS")
        return {ErrorCode::AuthFailed, u"Redis refused the credentials: %1"_s.arg(words), false};
    if (code == "NOPERM")
        return {ErrorCode::NoPermission, u"Redis: "_s + words, false};
    static constexpr std::array<QByteArrayView, 6> passing{"LOADING",    "TRYAGAIN",    "BUSY",
                                                           "MASTERDOWN", "CLUSTERDOWN", "FAILOVER"};
    const bool passes = std::find(passing.begin(), passing.end(), QByteArrayView(code)) != passing.end();
    return {ErrorCode::Server, u"Redis: "_s + words, passes};
}

RespReader::RespReader(qint64 limitBytes)
    : m_reader(redisReaderCreateWithFunctions(&assembly)), m_limitBytes(limitBytes)
{
    m_reader->privdata = this;
}

RespReader::~RespReader()
{
    redisReaderFree(m_reader);
}

void RespReader::feed(QByteArrayView bytes)
{
    redisReaderFeed(m_reader, bytes.data(), static_cast<size_t>(bytes.size()));
}

Result<std::optional<Value>> RespReader::next()
{
    if (m_failure)
        return *m_failure;
    void *reply = nullptr;
    const int status = redisReaderGetReply(m_reader, &reply);
    const std::unique_ptr<Value> value(static_cast<Value *>(reply));
    if (status != REDIS_OK) {
        if (!m_failure)
            refuse(label(QByteArray(m_reader->errstr)));
        return *m_failure;
    }
    if (value) {
        m_usedBytes = 0;
        return std::optional<Value>(std::move(*value));
    }
    const auto unreadBytes = static_cast<qint64>(m_reader->len - m_reader->pos);
    if (m_usedBytes + unreadBytes > m_limitBytes) {
        m_failure = tooLarge();
        return *m_failure;
    }
    return std::optional<Value>();
}

bool RespReader::charge(qint64 bytes)
{
    m_usedBytes += bytes;
    if (m_usedBytes <= m_limitBytes)
        return true;
    m_failure = tooLarge();
    return false;
}

void RespReader::refuse(const QString &why)
{
    m_failure = Error{ErrorCode::Server, u"the server does not use the protocol of Redis: %1"_s.arg(why), false};
}

Error RespReader::tooLarge() const
{
    return {ErrorCode::TooLarge, u"the reply is larger than the limit of %1 MiB"_s.arg(m_limitBytes / (1024 * 1024)),
            false};
}

} // namespace lockscope::redis
