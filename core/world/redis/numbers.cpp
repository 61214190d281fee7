// SPDX-License-Identifier: Apache-2.0
#include "core/world/redis/reply.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <locale.h>

namespace lockscope::world {

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

} // namespace lockscope::world
