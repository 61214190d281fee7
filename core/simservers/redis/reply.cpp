// SPDX-License-Identifier: Apache-2.0
#include "core/simservers/redis/execution.h"

#include <locale.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace lockscope::sim::replies {

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

} // namespace lockscope::sim::replies

namespace lockscope::sim {

std::optional<qint64> redisInteger(const QByteArray &text)
{
    const bool isNegative = text.startsWith('-');
    const auto digits = QByteArrayView(text).sliced(isNegative ? 1 : 0);
    if (digits.isEmpty() || (digits.front() == '0' && text.size() > 1))
        return std::nullopt;
    qint64 number = 0;
    const auto *end = text.constData() + text.size();
    const auto [stopped, problem] = std::from_chars(text.constData(), end, number);
    if (problem != std::errc() || stopped != end)
        return std::nullopt;
    return number;
}

namespace {

// What the C library reads, whatever the user's locale takes for a decimal point; empty when something is left.
std::optional<double> cDouble(const QByteArray &text)
{
    static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
    char *stopped = nullptr;
    const double number = strtod_l(text.constData(), &stopped, plain);
    if (stopped != text.constData() + text.size() || std::isnan(number))
        return std::nullopt;
    return number;
}

} // namespace

std::optional<double> redisDouble(const QByteArray &text)
{
    if (text.isEmpty() || std::isspace(static_cast<unsigned char>(text.front())))
        return std::nullopt;
    return cDouble(text);
}

std::optional<double> redisBound(const QByteArray &text)
{
    return cDouble(text);
}

QByteArray redisText(double number)
{
    if (std::isinf(number))
        return number > 0 ? "inf" : "-inf";
    return QByteArray::number(number, 'g', 17);
}

} // namespace lockscope::sim
