// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/lockterms.h"

#include <QRegularExpression>

#include <algorithm>
#include <array>
#include <string_view>

namespace lockscope::inspect {

namespace {

enum class CharacterKind : quint8 { NoLetter, Small, Capital, Other };

constexpr CharacterKind kindOfByte(std::size_t c)
{
    if (c >= 'a' && c <= 'z')
        return CharacterKind::Small;
    if (c >= 'A' && c <= 'Z')
        return CharacterKind::Capital;
    return c >= 0x80 ? CharacterKind::Other : CharacterKind::NoLetter;
}

constexpr auto characterKinds = [] {
    std::array<CharacterKind, 256> all{};
    for (std::size_t c = 0; c < all.size(); ++c)
        all[c] = kindOfByte(c);
    return all;
}();

inline CharacterKind characterKind(char c)
{
    return characterKinds[static_cast<uchar>(c)];
}

inline char smallOf(char c)
{
    return characterKind(c) == CharacterKind::Capital ? static_cast<char>(c - 'A' + 'a') : c;
}

// Asked of every word of every key of a large store: nothing is copied, and few words begin as one of ours.
template <std::size_t Count>
class Words {
public:
    constexpr explicit Words(const std::array<std::string_view, Count> &words) : m_words(words)
    {
        for (const auto &word : words)
            m_initials |= bitOf(word.front());
    }
    [[nodiscard]] bool contains(const char *word, std::size_t size) const
    {
        if (size == 0 || (m_initials & bitOf(*word)) == 0)
            return false;
        return std::ranges::any_of(m_words, [word, size](std::string_view one) {
            return one.size() == size
                   && std::equal(one.begin(), one.end(), word, [](char a, char b) { return a == smallOf(b); });
        });
    }

private:
    // The same of a letter, small or capital.
    static constexpr quint32 bitOf(char c) { return 1U << (static_cast<uchar>(c) & 0x1f); }

    std::array<std::string_view, Count> m_words;
    quint32 m_initials = 0;
};

template <std::size_t Count>
bool saysOneOfIn(const Words<Count> &words, const QByteArray &name, bool *hasOther)
{
    const char *start = name.constData();
    const char *const end = start + name.size();
    const auto isHump = [&start, end](const char *at) {
        if (at == start || characterKind(*at) != CharacterKind::Capital)
            return false;
        const auto before = characterKind(at[-1]);
        return before == CharacterKind::Small
               || (before == CharacterKind::Capital && at + 1 != end && characterKind(at[1]) == CharacterKind::Small);
    };
    for (const char *at = start; at != end; ++at) {
        const auto kind = characterKind(*at);
        if (kind == CharacterKind::Small) // nearly all
            continue;
        *hasOther |= kind == CharacterKind::Other;
        // "orderLock" parts before the capital; "HTTPLock" before the last of a run of capitals.
        const bool isInside = kind != CharacterKind::NoLetter && !isHump(at);
        if (isInside)
            continue;
        if (words.contains(start, static_cast<std::size_t>(at - start)))
            return true;
        start = kind == CharacterKind::NoLetter ? at + 1 : at;
    }
    return words.contains(start, static_cast<std::size_t>(end - start));
}

// Bytes that are no text part words, as those of a serializer before and behind a name do.
template <std::size_t Count>
bool saysOneOf(const Words<Count> &words, const QByteArray &name)
{
    bool hasOther = false;
    if (saysOneOfIn(words, name, &hasOther))
        return true;
    if (!hasOther || QUtf8StringView(name).isValidUtf8())
        return false;
    auto ofLetters = name;
    for (auto &c : ofLetters) {
        if (characterKind(c) == CharacterKind::Other)
            c = ' ';
    }
    return saysOneOfIn(words, ofLetters, &hasOther);
}

bool hasOneLetter(const QByteArray &name)
{
    return std::ranges::count_if(name, isLetter) == 1;
}

} // namespace

bool isLetter(char c)
{
    return characterKind(c) != CharacterKind::NoLetter;
}

bool saysLock(const QByteArray &name)
{
    // The last are one word in small letters or in capitals: what tutorials call a lock's key, and what clients write
    // (the folder of ShedLock, node-resque's workers, celery-singleton, rueidis).
    static constexpr Words<15> words({"lock", "locks", "mutex", "mutexes", "mutices", "lease", "leases", "semaphore",
                                      "semaphores", "lockkey", "shedlock", "workerslock", "singletonlock",
                                      "redislock", "rueidislock"});
    return saysOneOf(words, name);
}

bool saysLockBesideLease(QByteArray name)
{
    for (const auto *lease : {"leases", "lease", "Leases", "Lease", "LEASES", "LEASE"})
        name.replace(lease, "");
    return saysLock(name);
}

bool saysElection(const QByteArray &name)
{
    static constexpr Words<5> words({"leader", "leaders", "leadership", "election", "elections"});
    return saysOneOf(words, name);
}

bool isAboutLocks(const QByteArray &name)
{
    static const QRegularExpression otherThing(
        QStringLiteral("^(locks?|mutex(es)?|leases?|semaphores?|leader(s|ship)?|elections?)[-_.]?"
                       "((services?|svc|rpc|api|servers?)([-_.]?v?\\d+)?|clients?|instances?|workers?|members?|"
                       "part(y|ies)|barriers?|boards?|events?|history|stats|metrics)$"),
        QRegularExpression::CaseInsensitiveOption);
    return otherThing.match(QString::fromLatin1(name)).hasMatch();
}

bool saysRead(const QByteArray &name)
{
    static constexpr Words<6> words({"read", "reader", "readers", "shared", "rlock", "readlock"});
    static constexpr Words<1> letter({"r"});
    return saysOneOf(words, name) || (saysOneOf(letter, name) && (saysLock(name) || hasOneLetter(name)));
}

bool saysWrite(const QByteArray &name)
{
    static constexpr Words<6> words({"write", "writer", "writers", "exclusive", "wlock", "writelock"});
    static constexpr Words<1> letter({"w"});
    return saysOneOf(words, name) || (saysOneOf(letter, name) && (saysLock(name) || hasOneLetter(name)));
}

} // namespace lockscope::inspect
