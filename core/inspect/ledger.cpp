// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/ledger.h"

#include "core/base/identifiers.h"
#include "core/base/text.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {

// More patterns than these are not told apart: a server can have any number of names.
constexpr std::size_t mostPatterns = 2'000;
constexpr char anyOther = '\0'; // the pattern of all that come after those

bool isWordCharacter(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || static_cast<uchar>(c) >= 0x80;
}

qsizetype lastSeparator(const QByteArray &pattern)
{
    return std::max(pattern.lastIndexOf('/'), pattern.lastIndexOf(':'));
}

// One folder up, by whichever separator comes last: "/a/b" becomes "/a/*", and that "/*".
QByteArray folderOf(const QByteArray &pattern)
{
    const bool isFolder = pattern.endsWith("/*") || pattern.endsWith(":*");
    const auto name = isFolder ? pattern.chopped(2) : pattern;
    const auto at = lastSeparator(name);
    return at < 0 ? pattern : name.left(at + 1) + '*';
}

} // namespace

QByteArray namePattern(const QByteArray &name)
{
    QByteArray pattern;
    for (qsizetype at = 0; at < name.size();) {
        if (isUuid36(QByteArrayView(name).sliced(at).first(std::min(uuidLength, name.size() - at)))) {
            pattern += '*';
            at += uuidLength;
            continue;
        }
        auto end = at;
        bool hasDigit = false;
        for (; end < name.size() && isWordCharacter(name[end]); ++end)
            hasDigit = hasDigit || (name[end] >= '0' && name[end] <= '9');
        if (end == at)
            pattern += name[at++];
        else
            pattern += hasDigit ? QByteArray("*") : name.mid(at, end - at);
        at = std::max(at, end);
    }
    return pattern;
}

void Ledger::addTo(Groups &groups, const QByteArray &pattern, const Group &group)
{
    auto at = groups.find(pattern);
    if (at == groups.end() && groups.size() >= mostPatterns)
        at = groups.try_emplace(QByteArray(1, anyOther)).first;
    auto &into = at == groups.end() ? groups[pattern] : at->second;
    if (into.count == 0 || group.example < into.example)
        into.example = group.example;
    into.count += group.count;
}

Ledger::Groups Ledger::byFolder(const Groups &groups)
{
    Groups wider;
    for (const auto &[pattern, group] : groups)
        addTo(wider, folderOf(pattern), group);
    return wider;
}

Ledger::Groups Ledger::bySiblings(const Groups &groups)
{
    std::map<QByteArray, int> patterns; // of each folder
    for (const auto &[pattern, group] : groups)
        ++patterns[pattern.left(lastSeparator(pattern) + 1)];
    Groups joined;
    for (const auto &[pattern, group] : groups) {
        const auto folder = pattern.left(lastSeparator(pattern) + 1);
        addTo(joined, !folder.isEmpty() && patterns[folder] > 1 ? folder + '*' : pattern, group);
    }
    return joined;
}

std::vector<Unexplained> Ledger::groups(const Texts &texts) const
{
    auto groups = bySiblings(m_groups);
    constexpr int mostFolders = 16; // a name can have more of them; what is left then is one group
    for (int up = 0; groups.size() > mostGroups && up < mostFolders; ++up)
        groups = byFolder(groups);
    std::vector<std::pair<QByteArray, Group>> sorted(groups.begin(), groups.end());
    const auto isRest = [](const auto &one) { return one.first == QByteArray(1, anyOther); };
    std::ranges::stable_sort(sorted, [&isRest](const auto &a, const auto &b) {
        return std::pair(isRest(a), -a.second.count) < std::pair(isRest(b), -b.second.count);
    });
    while (sorted.size() > mostGroups) {
        auto least = std::move(sorted.back());
        sorted.pop_back();
        auto &rest = sorted.back();
        rest.first = QByteArray(1, anyOther);
        rest.second.count += least.second.count;
    }
    std::vector<Unexplained> all;
    for (const auto &[pattern, group] : sorted) {
        const auto likeWhat = isRest(std::pair(pattern, group)) ? u"other names"_s : label(pattern, 80);
        all.push_back({group.count,
                       group.count == 1 ? texts.one : texts.many.arg(QString::number(group.count), likeWhat),
                       group.example});
    }
    return all;
}

} // namespace lockscope::inspect
