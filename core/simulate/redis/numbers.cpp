#include "core/simulate/redis/numbers.h"

#include <charconv>
#include <cmath>

namespace lockscope::simulate {

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

std::optional<double> redisDouble(const QByteArray &text)
{
    if (text.isEmpty() || std::isspace(static_cast<unsigned char>(text.front())))
        return std::nullopt;
    const auto lower = text.toLower();
    const auto sign = lower.startsWith('-') ? -1.0 : 1.0;
    const auto magnitude = lower.startsWith('-') || lower.startsWith('+') ? lower.mid(1) : lower;
    if (magnitude == "inf" || magnitude == "infinity")
        return sign * HUGE_VAL;
    double number = 0;
    const auto *end = magnitude.constData() + magnitude.size();
    const auto [stopped, problem] = std::from_chars(magnitude.constData(), end, number);
    if (problem != std::errc() || stopped != end || std::isnan(number))
        return std::nullopt;
    return sign * number;
}

QByteArray redisText(double number)
{
    if (std::isinf(number))
        return number > 0 ? "inf" : "-inf";
    return QByteArray::number(number, 'g', 17);
}

} // namespace lockscope::simulate
