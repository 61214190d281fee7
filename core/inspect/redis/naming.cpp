// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/naming.h"

#include "core/base/text.h"
#include "core/inspect/lockterms.h"

#include <QByteArrayList>

namespace lockscope::inspect {

QByteArray withoutBraces(const QByteArray &name)
{
    if (name.size() < 2 || !name.startsWith('{') || !name.endsWith('}'))
        return name;
    const QByteArray inner = name.mid(1, name.size() - 2);
    return inner.contains('{') || inner.contains('}') ? name : inner;
}

std::optional<RedissonHolder> readHolder(const QByteArray &field)
{
    if (!isUuid36(field.left(uuidLength)) || field.size() < uuidLength + 2 || field[uuidLength] != ':')
        return std::nullopt;
    QByteArray thread = field.mid(uuidLength + 1);
    const bool writes = thread.endsWith(":write");
    if (writes)
        thread.chop(6);
    // Async callers pass any long they like, negative ones too.
    if (!isDigits(thread.startsWith('-') ? thread.mid(1) : thread))
        return std::nullopt;
    return RedissonHolder{field.left(uuidLength), thread, writes};
}

std::optional<qint64> readInteger(const QByteArray &text)
{
    bool ok = false;
    const qint64 number = text.toLongLong(&ok);
    return ok && isDigits(text.startsWith('-') ? text.mid(1) : text) ? std::optional(number) : std::nullopt;
}

namespace {

QByteArrayList partsOf(const QByteArray &key)
{
    QByteArrayList parts{QByteArray()};
    for (const char c : key) {
        if (QByteArrayView(":/.{}").contains(c))
            parts << QByteArray();
        else
            parts.back() += c;
    }
    parts.removeAll(QByteArray());
    return parts;
}

// Small, in order; a capital after a small letter begins one.
QByteArrayList wordsOf(const QByteArray &part)
{
    QByteArrayList words{QByteArray()};
    for (qsizetype i = 0; i < part.size(); ++i) {
        const bool hump = i > 0 && part[i] >= 'A' && part[i] <= 'Z' && part[i - 1] >= 'a' && part[i - 1] <= 'z';
        if (!isLetter(part[i]) || hump)
            words << QByteArray();
        if (isLetter(part[i]))
            words.back() += part[i];
    }
    words.removeAll(QByteArray());
    for (auto &word : words)
        word = word.toLower();
    return words;
}

// Of resources/rules/redis-name-words.json.
struct NameWords {
    QByteArrayList attributes, lessors, contracts, otherThings, measures, files;
};

const NameWords &nameWords()
{
    static const auto all = [] {
        NameWords words;
        readResourceList(u"rules/redis-name-words.json"_s, "words", [&words](FieldReader &reader) {
            words = {reader.texts("attributes"),  reader.texts("lessors"),  reader.texts("contracts"),
                     reader.texts("otherThings"), reader.texts("measures"), reader.texts("files")};
        });
        return words;
    }();
    return all;
}

bool isRandomPart(const QByteArray &part)
{
    constexpr qsizetype longHex = 16;
    constexpr qsizetype longText = 20;
    if (isUuid36(part))
        return true;
    const auto digits = std::ranges::count_if(part, isDigit);
    if (digits < 2)
        return false;
    if (part.size() >= longHex && isHex(part.toLower()) && digits < part.size())
        return true;
    const bool capitals = std::ranges::any_of(part, [](char c) { return c >= 'A' && c <= 'Z'; });
    const bool smalls = std::ranges::any_of(part, [](char c) { return c >= 'a' && c <= 'z'; });
    const bool plain =
        std::ranges::all_of(part, [](char c) { return isLetter(c) || isDigit(c) || c == '-' || c == '_'; });
    return part.size() >= longText && plain && capitals && smalls;
}

// How much stands behind the digest in "…framework/schedule-<sha1>"; less than nothing where there is no such digest.
qsizetype behindSchedule(const QByteArray &key)
{
    static const QByteArray schedule = "framework/schedule-";
    constexpr qsizetype digits = 40;
    const auto at = key.indexOf(schedule);
    return at < 0 ? -1 : key.size() - at - schedule.size() - digits;
}

} // namespace

bool callsItselfLock(const QByteArray &key)
{
    if (isNamedByClient(key))
        return true;
    const auto parts = partsOf(key);
    if (isLockFile(key) || (!parts.isEmpty() && nameWords().measures.contains(parts.front().toLower())))
        return false;
    for (qsizetype i = 0; i < parts.size(); ++i) {
        if (!saysLock(parts[i]))
            continue;
        const auto words = wordsOf(parts[i]);
        // "user:5:locks" is how many, or which.
        const bool isPlural = i > 0 && i + 1 == parts.size() && words.back().endsWith('s');
        if (isPlural)
            continue;
        const bool isLease = words.contains("lease") || words.contains("leases");
        const auto next = i + 1 < parts.size() ? wordsOf(parts[i + 1]) : QByteArrayList();
        const auto before = (i > 0 ? wordsOf(parts[i - 1]) : QByteArrayList()) + words;
        const auto isOneOf = [](const QByteArrayList &all) {
            return [&all](const auto &one) { return all.contains(one); };
        };
        if (isLease
            && (std::ranges::any_of(before, isOneOf(nameWords().lessors))
                || std::ranges::any_of(next, isOneOf(nameWords().contracts))))
            continue;
        QByteArrayList behind = words;
        for (auto at = i + 1; at < parts.size(); ++at)
            behind += wordsOf(parts[at]);
        const bool isAttribute = !behind.isEmpty() && nameWords().attributes.contains(behind.back());
        const bool isAbout = nameWords().attributes.contains(words.back())
                             || (next.size() == 1 && nameWords().attributes.contains(next[0]));
        if (!isAttribute && !isAbout)
            return true;
    }
    return false;
}

bool isLockFile(const QByteArray &key)
{
    return std::ranges::any_of(nameWords().files, [&key](const QByteArray &file) {
        const auto at = key.size() - file.size();
        return at >= 0 && key.endsWith(file) && (at == 0 || (!isLetter(key[at - 1]) && !saysLock(key.left(at))));
    });
}

// Asked of every key of a large store, so the letters that most names do not have come first.
bool isNamedByClient(const QByteArray &key)
{
    if (key.startsWith("arq:in-progress:") || key.startsWith("activejob_uniqueness:") || key.endsWith("dear-leader")
        || (key.startsWith("qo_") && key.contains('.'))) // "qo_shop.tasks.bill_id-7"
        return true;
    if (key.contains('/'))
        return isOfLaravelsScheduler(key);
    return key.contains("laravel") && (key.contains("laravel-queue-overlap:") || key.contains("laravel_unique_job:"));
}

bool isOfLaravelsScheduler(const QByteArray &key)
{
    return behindSchedule(key) == 0;
}

bool isMarkOfClient(const QByteArray &key)
{
    return behindSchedule(key) > 0;
}

bool callsItselfSomethingElse(const QByteArray &key)
{
    const auto words = wordsOf(key);
    return std::ranges::any_of(words, [](const auto &one) { return nameWords().otherThings.contains(one); });
}

bool isOfCache(const QByteArray &key)
{
    const auto words = wordsOf(key);
    return words.contains("cache") || words.contains("cached");
}

bool isNamedAtRandom(const QByteArray &key)
{
    const auto parts = partsOf(key);
    return std::ranges::any_of(parts, isRandomPart);
}

} // namespace lockscope::inspect
