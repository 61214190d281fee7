// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/lockterms.h"

#include <QByteArrayList>

#include <algorithm>

namespace lockscope::inspect {

namespace {

bool isSmall(char c)
{
    return c >= 'a' && c <= 'z';
}

bool isCapital(char c)
{
    return c >= 'A' && c <= 'Z';
}

// Asked of every key of a large store: nothing is copied.
bool isOneOf(const QByteArrayList &words, QByteArrayView word)
{
    return std::ranges::any_of(words, [word](const QByteArray &one) {
        return one.size() == word.size() && word.compare(one, Qt::CaseInsensitive) == 0;
    });
}

bool saysOneOf(const QByteArrayList &words, const QByteArray &name)
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
    static const QByteArrayList words{"lock",  "locks",  "mutex",     "mutexes",    "mutices",
                                      "lease", "leases", "semaphore", "semaphores", "shedlock"};
    return saysOneOf(words, name);
}

bool saysElection(const QByteArray &name)
{
    static const QByteArrayList words{"leader", "leaders", "leadership", "election", "elections"};
    return saysOneOf(words, name);
}

} // namespace lockscope::inspect
