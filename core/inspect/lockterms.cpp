// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/lockterms.h"

#include <algorithm>
#include <array>

namespace lockscope::inspect {

namespace {

constexpr bool isSmall(char c)
{
    return c >= 'a' && c <= 'z';
}

constexpr bool isCapital(char c)
{
    return c >= 'A' && c <= 'Z';
}

constexpr char smallOf(char c)
{
    return isCapital(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

// Asked of every word of every key of a large store: nothing is copied, and few words begin as one of ours.
template <std::size_t Count>
bool isOneOf(const std::array<QByteArrayView, Count> &words, QByteArrayView word)
{
    if (word.isEmpty())
        return false;
    const char first = smallOf(word.front());
    return std::ranges::any_of(words, [word, first](QByteArrayView one) {
        return one.front() == first && one.size() == word.size() && word.compare(one, Qt::CaseInsensitive) == 0;
    });
}

template <std::size_t Count>
bool saysOneOf(const std::array<QByteArrayView, Count> &words, const QByteArray &name)
{
    qsizetype start = 0;
    for (qsizetype at = 0; at <= name.size(); ++at) {
        const bool end = at == name.size() || !isLetter(name[at]);
        // "orderLock" parts before the capital; "HTTPLock" before the last of a run of capitals.
        const bool hump =
            !end && at > start && isCapital(name[at])
            && (isSmall(name[at - 1]) || (isCapital(name[at - 1]) && at + 1 < name.size() && isSmall(name[at + 1])));
        if (!end && !hump)
            continue;
        if (isOneOf(words, QByteArrayView(name).sliced(start, at - start)))
            return true;
        start = hump ? at : at + 1;
    }
    return false;
}

} // namespace

bool isLetter(char c)
{
    return isSmall(c) || isCapital(c) || static_cast<uchar>(c) >= 0x80;
}

bool saysLock(const QByteArray &name)
{
    // The last is a client's name, and of the folder where its locks stand: in small letters it is one word.
    static constexpr std::array<QByteArrayView, 10> words{"lock",  "locks",  "mutex",     "mutexes",    "mutices",
                                                          "lease", "leases", "semaphore", "semaphores", "shedlock"};
    return saysOneOf(words, name);
}

bool saysElection(const QByteArray &name)
{
    static constexpr std::array<QByteArrayView, 5> words{"leader", "leaders", "leadership", "election", "elections"};
    return saysOneOf(words, name);
}

} // namespace lockscope::inspect
