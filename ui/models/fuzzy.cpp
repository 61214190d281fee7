// SPDX-License-Identifier: Apache-2.0
#include "ui/models/fuzzy.h"

#include <algorithm>

namespace lockscope::ui {

namespace {

constexpr int wholeText = 600;
constexpr int atStart = 300;
constexpr int atWord = 200;
constexpr int together = 1000;
constexpr int apart = 400; // letters in order with others between them
constexpr int besideIt = 500;
constexpr int lengthCounts = 200;

char lowered(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool isWordPart(char c)
{
    const char low = lowered(c);
    return (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
}

bool standsAt(QByteArrayView word, QByteArrayView text, qsizetype at)
{
    for (qsizetype i = 0; i < word.size(); ++i) {
        if (lowered(text[at + i]) != word[i])
            return false;
    }
    return true;
}

// As one piece: the best of its places.
std::optional<int> piece(QByteArrayView word, QByteArrayView text)
{
    std::optional<int> best;
    for (qsizetype at = 0; at + word.size() <= text.size(); ++at) {
        if (lowered(text[at]) != word[0] || !standsAt(word, text, at))
            continue;
        const bool isWhole = word.size() == text.size();
        const bool beginsWord = at == 0 || !isWordPart(text[at - 1]);
        best = std::max(best.value_or(0),
                        together + (at == 0 ? atStart : 0) + (beginsWord ? atWord : 0) + (isWhole ? wholeText : 0));
        if (beginsWord)
            break; // none further on is better
    }
    return best;
}

// In order, with others between: each letter as early as it comes, those at the beginning of words worth more.
std::optional<int> scattered(QByteArrayView word, QByteArrayView text)
{
    int score = apart;
    qsizetype last = -1;
    for (const char wanted : word) {
        qsizetype at = last + 1;
        while (at < text.size() && lowered(text[at]) != wanted)
            ++at;
        if (at == text.size())
            return {};
        if (last >= 0 && at > last + 1)
            score -= at == 0 || !isWordPart(text[at - 1]) ? 5 : 40;
        last = at;
    }
    return score > 0 ? std::optional(score) : std::nullopt;
}

std::optional<int> fit(QByteArrayView word, QByteArrayView text)
{
    if (const auto whole = piece(word, text))
        return whole;
    return word.size() > 1 ? scattered(word, text) : std::nullopt;
}

} // namespace

FuzzyQuery::FuzzyQuery(const QString &typed)
{
    for (const auto &word : typed.toUtf8().simplified().split(' ')) {
        if (!word.isEmpty())
            m_words << word.toLower();
    }
}

std::optional<int> FuzzyQuery::score(QByteArrayView text, QByteArrayView beside) const
{
    int sum = 0;
    for (const auto &word : m_words) {
        auto one = fit(word, text);
        if (!one && !beside.isEmpty()) {
            one = piece(word, beside);
            if (one)
                *one -= besideIt;
        }
        if (!one)
            return {};
        sum += *one;
    }
    return sum - static_cast<int>(std::min<qsizetype>(text.size(), lengthCounts));
}

} // namespace lockscope::ui
