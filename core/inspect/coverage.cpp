// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/coverage.h"

#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/inspect/json.h"

namespace lockscope::inspect {

namespace {

HiddenLocks hiddenIn(const std::vector<Coverage> &coverage)
{
    HiddenLocks all;
    for (const auto &part : coverage)
        all = together(std::move(all), part.hidden);
    return all;
}

bool isAllRead(const std::vector<Coverage> &coverage)
{
    return !coverage.empty() && std::ranges::all_of(coverage, &Coverage::complete);
}

bool isAnyUnexplained(const std::vector<Coverage> &coverage)
{
    return std::ranges::any_of(coverage, [](const Coverage &part) { return !part.unexplained.empty(); });
}

QString worstOf(const HiddenLocks &hidden)
{
    return word(hidden.worst) + u' ' + hidden.code;
}

QString hiddenLine(const HiddenLocks &hidden, const QString &howToShow)
{
    const auto example = label(hidden.example, 80);
    QStringList lines{hidden.count == 1 ? u"1 low-confidence lock is hidden: %1"_s.arg(example)
                                        : u"%1 low-confidence locks are hidden, for example %2"_s.arg(
                                            QString::number(hidden.count), example)};
    if (hidden.withFindings > 0)
        lines << u"the worst finding is %1"_s.arg(worstOf(hidden));
    if (!howToShow.isEmpty())
        lines << howToShow;
    return lines.join(u"; "_s);
}

// More patterns than these are not told apart: a server can have any number of names.
constexpr std::size_t mostPatterns = 2'000;
constexpr char anyOther = '\0'; // the pattern of all that come after those

bool isWordCharacter(char c)
{
    return isDigit(c) || isAsciiLetter(c) || static_cast<uchar>(c) >= 0x80;
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

bool isAllKnown(const std::vector<Coverage> &coverage)
{
    return isAllRead(coverage) && !isAnyUnexplained(coverage) && hiddenIn(coverage).withFindings == 0;
}

QString noneFound(Question question, bool isAnySeen, const std::vector<Coverage> &coverage, bool isLinked)
{
    if (!isAnySeen)
        return u"no server could be read"_s;
    const auto what = question == Question::Locks      ? u"locks"_s
                      : question == Question::Findings ? u"problems"_s
                                                       : u"waiting client"_s;
    if (question == Question::Findings && !findingsOfEndedDeadlocks(coverage).empty())
        return u"no problems of locks found, but a server ended a deadlock in the last 10 minutes"_s;
    if (!isAllRead(coverage))
        return u"no %1 found in what was read, and that was not everything"_s.arg(what);
    if (isAnyUnexplained(coverage))
        return u"no %1 found, but not everything on the servers is understood"_s.arg(what);
    const auto hidden = hiddenIn(coverage);
    if (question == Question::Locks && hidden.count > 0)
        return u"no locks of medium or high confidence found"_s;
    if (hidden.withFindings > 0)
        return u"no %1 found among the locks that are shown"_s.arg(what);
    return (isLinked ? u"no %1 found"_s : u"no %1 found on any one server"_s).arg(what);
}

QStringList gapsIn(const std::vector<Coverage> &coverage, const QString &howToShow)
{
    QStringList lines;
    for (const auto &part : coverage) {
        const auto name = escaped(part.connection.bytes());
        if (!part.complete)
            lines << u"Incomplete: %1: %2"_s.arg(name, harmless(part.message));
        for (const auto &one : part.unexplained)
            lines << u"not understood: %1: %2%3"_s.arg(
                name, harmless(one.text), one.example.isEmpty() ? QString() : u": "_s + label(one.example, 80));
    }
    if (const auto hidden = hiddenIn(coverage); hidden.count > 0)
        lines << hiddenLine(hidden, howToShow);
    return lines;
}

std::vector<std::pair<ConnectionName, Finding>> findingsOfUnexplainedWaits(const std::vector<Coverage> &coverage)
{
    std::vector<std::pair<ConnectionName, Finding>> all;
    for (const auto &part : coverage) {
        LockSnapshot none; // what they wait for is no lock that is known
        for (const auto &wait : part.unexplained) {
            if (wait.isWait)
                addFinding(none, FindingCode::UnexplainedWait, wait.text);
        }
        for (auto &finding : none.findings)
            all.emplace_back(part.connection, std::move(finding));
    }
    return all;
}

// "the server ended a deadlock at 10:32; connection 6 (h root) waited for lock shop.stock#id=1 in "UPDATE …"; …".
QString deadlockText(const EndedDeadlock &deadlock)
{
    const auto time = isoSeconds(std::chrono::floor<std::chrono::seconds>(deadlock.at.time_since_epoch()));
    const auto when = deadlock.isAtLatest ? u"at %1 or shortly before"_s.arg(time) : u"at "_s + time;
    QStringList sentences{deadlock.count == 1
                              ? u"the server ended a deadlock %1"_s.arg(when)
                              : u"the server ended %1 deadlocks, the last one %2"_s.arg(deadlock.count).arg(when)};
    QStringList victims;
    for (const auto &party : deadlock.parties) {
        const auto number = label(party.session.toUtf8(), 40), lock = label(party.awaited, 120);
        const auto who = party.client.isEmpty() ? number : u"%1 (%2)"_s.arg(number, label(party.client, 80));
        sentences << (party.statement.isEmpty() ? u"connection %1 waited for lock %2"_s.arg(who, lock)
                                                : u"connection %1 waited for lock %2 in \"%3\""_s.arg(
                                                    who, lock, label(party.statement, 120)));
        if (party.isRolledBack)
            victims << u"connection %1 was rolled back"_s.arg(number);
    }
    sentences += victims;
    if (!deadlock.unknown.isEmpty())
        sentences << deadlock.unknown;
    return sentences.join(u"; "_s);
}

bool isInvolved(const EndedDeadlock &deadlock, const QByteArray &lock)
{
    return std::ranges::find(deadlock.parties, lock, &EndedDeadlock::Party::awaited) != deadlock.parties.end();
}

std::vector<DeadlockFinding> findingsOfEndedDeadlocks(const std::vector<Coverage> &coverage)
{
    std::vector<DeadlockFinding> all;
    for (const auto &part : coverage) {
        for (const auto &deadlock : part.endedDeadlocks) {
            LockSnapshot none; // its locks are released
            addFinding(none, FindingCode::DeadlockEnded, deadlockText(deadlock));
            all.push_back({part.connection, deadlock, std::move(none.findings.front())});
        }
    }
    return all;
}

QStringList endedDeadlockLines(const std::vector<Coverage> &coverage)
{
    return mapped<QStringList>(findingsOfEndedDeadlocks(coverage), [](const auto &one) {
        return u"%1: %2: %3"_s.arg(word(FindingCode::DeadlockEnded), escaped(one.connection.bytes()),
                                   harmless(one.finding.message));
    });
}

void addClosing(QJsonObject &answer, const std::vector<Coverage> &coverage)
{
    QJsonArray unexplained;
    for (const auto &part : coverage) {
        for (const auto &one : part.unexplained)
            unexplained.append(QJsonObject{{u"connection"_s, escaped(part.connection.bytes())},
                                           {u"count"_s, one.count},
                                           {u"text"_s, harmless(one.text)},
                                           {u"example"_s, escaped(one.example)}});
    }
    const auto hidden = hiddenIn(coverage);
    answer[u"coverage"_s] = toJson(coverage);
    answer[u"unexplained"_s] = unexplained;
    answer[u"hidden"_s] = QJsonObject{
        {u"count"_s, hidden.count},
        {u"withFindings"_s, hidden.withFindings},
        {u"worst"_s, hidden.withFindings > 0 ? QJsonValue(worstOf(hidden)) : QJsonValue(QJsonValue::Null)},
        {u"example"_s, escaped(hidden.example)}};
}

void addUnexplained(std::vector<Coverage> &coverage, std::vector<Unexplained> unexplained)
{
    if (!coverage.empty())
        std::ranges::move(unexplained, std::back_inserter(coverage.front().unexplained));
}

void addEndedDeadlocks(std::vector<Coverage> &coverage, std::vector<EndedDeadlock> deadlocks)
{
    if (!coverage.empty())
        std::ranges::move(deadlocks, std::back_inserter(coverage.front().endedDeadlocks));
}

void addHidden(std::vector<Coverage> &coverage, const HiddenLocks &hidden)
{
    if (!coverage.empty())
        coverage.front().hidden = together(coverage.front().hidden, hidden);
}

void hide(HiddenLocks &hidden, const LockSnapshot &lock)
{
    HiddenLocks one{.count = 1,
                    .withFindings = lock.findings.empty() ? 0 : 1,
                    .worst = lock.worst(),
                    .code = {},
                    .example = lock.lock.name};
    const auto worst = std::ranges::find(lock.findings, one.worst, &Finding::severity);
    if (worst != lock.findings.end())
        one.code = word(worst->code);
    hidden = together(std::move(hidden), one);
}

HiddenLocks together(HiddenLocks one, const HiddenLocks &other)
{
    const bool isWorse = other.withFindings > 0 && (one.withFindings == 0 || other.worst > one.worst);
    if (one.count == 0 || isWorse) {
        one.worst = other.worst;
        one.code = other.code;
        one.example = other.example;
    }
    one.count += other.count;
    one.withFindings += other.withFindings;
    return one;
}

std::vector<Coverage> withGap(std::vector<Coverage> coverage, Coverage gap)
{
    for (const auto &part : coverage) {
        if (!part.complete)
            continue;
        std::ranges::copy(part.unexplained, std::back_inserter(gap.unexplained));
        std::ranges::copy(part.endedDeadlocks, std::back_inserter(gap.endedDeadlocks));
        gap.hidden = together(std::move(gap.hidden), part.hidden);
    }
    std::erase_if(coverage, &Coverage::complete);
    coverage.push_back(std::move(gap));
    return coverage;
}

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
            hasDigit = hasDigit || isDigit(name[end]);
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
