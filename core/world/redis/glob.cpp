// SPDX-License-Identifier: Apache-2.0
#include "core/world/redis/glob.h"

namespace lockscope::world {

namespace {

bool isBetween(char least, char c, char most)
{
    // Values, not std::minmax's references to what is gone by the next line.
    const auto low = std::min(static_cast<uchar>(least), static_cast<uchar>(most));
    const auto high = std::max(static_cast<uchar>(least), static_cast<uchar>(most));
    return low <= static_cast<uchar>(c) && static_cast<uchar>(c) <= high;
}

// Whether `c` is in the class that begins after the bracket at `at`, which moves to the class's last character.
bool isInClass(QByteArrayView pattern, qsizetype &at, char c)
{
    ++at;
    const bool isNegated = at < pattern.size() && pattern[at] == '^';
    at += isNegated ? 1 : 0;
    bool found = false;
    for (; at < pattern.size() && pattern[at] != ']'; ++at) {
        if (pattern[at] == '\\' && at + 1 < pattern.size()) {
            found |= pattern[++at] == c;
        } else if (at + 2 < pattern.size() && pattern[at + 1] == '-') {
            found |= isBetween(pattern[at], c, pattern[at + 2]);
            at += 2;
        } else {
            found |= pattern[at] == c;
        }
    }
    return found != isNegated;
}

} // namespace

bool matchesGlob(QByteArrayView pattern, QByteArrayView text)
{
    qsizetype at = 0, here = 0;
    for (; at < pattern.size(); ++at, ++here) {
        if (pattern[at] == '*') {
            const auto rest = pattern.sliced(at + 1);
            if (rest.isEmpty())
                return true;
            for (auto end = here; end <= text.size(); ++end) {
                if (matchesGlob(rest, text.sliced(end)))
                    return true;
            }
            return false;
        }
        if (here >= text.size())
            return false;
        bool matches = true;
        if (pattern[at] == '[') {
            matches = isInClass(pattern, at, text[here]);
        } else if (pattern[at] != '?') {
            if (pattern[at] == '\\' && at + 1 < pattern.size())
                ++at;
            matches = pattern[at] == text[here];
        }
        if (!matches)
            return false;
    }
    return here == text.size();
}

} // namespace lockscope::world
