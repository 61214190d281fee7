// SPDX-License-Identifier: Apache-2.0
#include "core/world/redis/reply.h"

namespace lockscope::world::replies {

using redis::Value;
using Kind = redis::Value::Kind;

namespace {

// A status or an error is one line.
QByteArray inOneLine(QByteArray text)
{
    return text.replace('\r', ' ').replace('\n', ' ');
}

Value make(Kind kind, const QByteArray &text)
{
    Value value;
    value.kind = kind;
    value.text = text;
    return value;
}

} // namespace

Value ok()
{
    return make(Kind::Status, "OK");
}

Value status(const QByteArray &text)
{
    return make(Kind::Status, text);
}

Value error(const QByteArray &text)
{
    return make(Kind::Error, text);
}

Value integer(qint64 number)
{
    Value value;
    value.kind = Kind::Integer;
    value.integer = number;
    return value;
}

Value bulk(const QByteArray &bytes)
{
    return make(Kind::Bulk, bytes);
}

Value nil()
{
    return {};
}

Value array(std::vector<Value> items)
{
    Value value;
    value.kind = Kind::Array;
    value.items = std::move(items);
    return value;
}

void appendTo(QByteArray &bytes, const Value &reply)
{
    switch (reply.kind) {
    case Kind::Nil: bytes += "$-1"; break;
    case Kind::Status: bytes += '+' + inOneLine(reply.text); break;
    case Kind::Error: bytes += '-' + inOneLine(reply.text); break;
    case Kind::Integer: bytes += ':' + QByteArray::number(reply.integer); break;
    case Kind::Bulk: bytes += '$' + QByteArray::number(reply.text.size()) + "\r\n" + reply.text; break;
    case Kind::Array:
        bytes += '*' + QByteArray::number(static_cast<qint64>(reply.items.size())) + "\r\n";
        for (const auto &item : reply.items)
            appendTo(bytes, item);
        return;
    }
    bytes += "\r\n";
}

} // namespace lockscope::world::replies
