// SPDX-License-Identifier: Apache-2.0
#include "core/world/redis/reply.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace lockscope::world::replies {

using redis::Value;
using ValueKind = redis::Value::Kind;

namespace {

// A status or an error is one line.
void appendLine(QByteArray &bytes, char sign, const QByteArray &text)
{
    bytes += sign;
    const auto begin = bytes.size();
    bytes += text;
    if (text.contains('\r') || text.contains('\n'))
        std::replace_if(
            bytes.begin() + begin, bytes.end(), [](char byte) { return byte == '\r' || byte == '\n'; }, ' ');
}

void appendNumber(QByteArray &bytes, char sign, qint64 number)
{
    std::array<char, 24> text{sign};
    const auto *const end = std::to_chars(text.data() + 1, text.data() + text.size(), number).ptr;
    bytes.append(text.data(), end - text.data());
}

Value make(ValueKind kind, const QByteArray &text)
{
    Value value;
    value.kind = kind;
    value.text = text;
    return value;
}

} // namespace

Value ok()
{
    return make(ValueKind::Status, QByteArrayLiteral("OK"));
}

Value status(const QByteArray &text)
{
    return make(ValueKind::Status, text);
}

Value error(const QByteArray &text)
{
    return make(ValueKind::Error, text);
}

Value integer(qint64 number)
{
    Value value;
    value.kind = ValueKind::Integer;
    value.integer = number;
    return value;
}

Value bulk(const QByteArray &bytes)
{
    return make(ValueKind::Bulk, bytes);
}

Value nil()
{
    return {};
}

Value array(std::vector<Value> items)
{
    Value value;
    value.kind = ValueKind::Array;
    value.items = std::move(items);
    return value;
}

void appendTo(QByteArray &bytes, const Value &reply)
{
    switch (reply.kind) {
    case ValueKind::Nil: bytes += "$-1"; break;
    case ValueKind::Status: appendLine(bytes, '+', reply.text); break;
    case ValueKind::Error: appendLine(bytes, '-', reply.text); break;
    case ValueKind::Integer: appendNumber(bytes, ':', reply.integer); break;
    case ValueKind::Bulk:
        bytes.reserve(bytes.size() + reply.text.size() + 16);
        appendNumber(bytes, '$', reply.text.size());
        bytes += "\r\n";
        bytes += reply.text;
        break;
    case ValueKind::Array:
        appendNumber(bytes, '*', static_cast<qint64>(reply.items.size()));
        bytes += "\r\n";
        for (const auto &item : reply.items)
            appendTo(bytes, item);
        return;
    }
    bytes += "\r\n";
}

} // namespace lockscope::world::replies
