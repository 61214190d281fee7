// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/findings.h"

#include "core/base/fieldreader.h"
#include "core/base/text.h"
#include "core/inspect/json.h"
#include "core/inspect/lockterms.h"
#include "core/inspect/waits/clients.h"
#include "core/rules/catalogue.h"

#include <fnmatch.h>

namespace lockscope::inspect {

namespace {

// Whether its release would wake this waiter without letting it in for certain.
bool isWokenBy(const Contender &waiter, const Contender &holder)
{
    return std::ranges::any_of(waiter.watches,
                               [&holder](const auto &edge) { return edge.children || edge.target == holder.id; });
}

// One finding, however many wait: they are one queue.
void addLongWait(LockSnapshot &lock, std::chrono::milliseconds threshold)
{
    std::vector<QByteArray> waiting;
    const Contender *first = nullptr;
    for (const auto &contender : lock.contenders) {
        if (contender.role != Role::Waiter || !contender.waitingSince
            || lock.observed - *contender.waitingSince <= threshold)
            continue;
        waiting.push_back(contender.id);
        if (!first || *contender.waitingSince < *first->waitingSince)
            first = &contender;
    }
    if (waiting.empty() || recipes::recipeOf(lock.recipe).electsLeader)
        return;
    const bool isStandby = saysElection(lock.lock.name);
    Wording message = u"has waited for "_s;
    if (waiting.size() > 1)
        message = u"%1 have waited for more than %2; the longest, %3, for "_s.arg(
            QString::number(waiting.size()), formatDuration(threshold), label(first->id, 80));
    message.since(*first->waitingSince);
    addFinding(lock, FindingCode::LongWait, isStandby ? Severity::Info : kindOf(FindingCode::LongWait).severity,
               message, std::move(waiting));
}

// A waiter of the one holder's session. Threads of one client may do so in turn, so of a mutex nothing is said before
// it has taken long; candidates of an election are one to a client.
void addSelfWait(LockSnapshot &lock, std::chrono::milliseconds threshold)
{
    const auto holder = std::ranges::find(lock.contenders, Role::Holder, &Contender::role);
    if (lock.holderCount() != 1 || !holder->session)
        return;
    const bool isElection = recipes::recipeOf(lock.recipe).electsLeader || saysElection(lock.lock.name);
    auto own = idsOf(lock, [&](const Contender &one) {
        const bool isDue = isElection || (one.waitingSince && lock.observed - *one.waitingSince > threshold);
        return one.role == Role::Waiter && one.session == holder->session && isDue;
    });
    if (own.empty())
        return;
    own.insert(own.begin(), holder->id);
    addFinding(lock, FindingCode::SelfWait,
               u"session %1 holds it and waits for it, too: if one thread does both, it never ends by itself"_s.arg(
                   label(holder->session->toUtf8(), 80)),
               std::move(own));
}

// Candidates of an election under one name: most likely one client, whose earlier session still has its node.
void addNamesake(LockSnapshot &lock)
{
    const auto holder = std::ranges::find(lock.contenders, Role::Holder, &Contender::role);
    if (lock.holderCount() != 1 || !recipes::recipeOf(lock.recipe).electsLeader || !holder->session
        || !holder->identity || !isClientName(*holder->identity))
        return;
    auto named = idsOf(lock, [&](const Contender &one) {
        const bool isOther = one.session && one.session != holder->session;
        return one.role == Role::Waiter && isOther && one.identity == holder->identity;
    });
    if (named.empty())
        return;
    named.insert(named.begin(), holder->id);
    const auto who = label(*holder->identity, 80);
    addFinding(
        lock, FindingCode::SelfWait,
        u"the holder and a waiter both call themselves %1: if they are one client, its earlier session has the "
        u"lock until that session ends"_s.arg(who),
        std::move(named));
}

// Before that many times its usual span, no age is worth a word of its own.
constexpr int naturalFactor = 2;
// A hand-off is not looked at so closely that less would mean anything.
constexpr std::chrono::milliseconds leastUnusual(std::chrono::seconds(30));

// From this age on. What is at most so old may be much younger than what is usual.
std::chrono::milliseconds worthTelling(const Contender &holder, const Thresholds &thresholds,
                                       const std::optional<Usual> &usual)
{
    if (!usual || thresholds.unusual <= 0 || holder.heldAtMost)
        return thresholds.longHeld;
    return std::min(thresholds.longHeld, std::max(leastUnusual, usual->most * thresholds.unusual));
}

QString spoken(const TimeInMessage &one, ServerTime now)
{
    if (!one.isAhead)
        return formatDuration(now - one.moment);
    return one.moment > now ? u"in "_s + formatDuration(one.moment - now) : u"now"_s;
}

constexpr Severity severities[] = {Severity::Info, Severity::Warning, Severity::Critical};

constexpr std::size_t holdsKept = 16;
constexpr std::size_t holdsToTell = 8;
constexpr std::size_t locksKept = 20'000;

} // namespace

Finding Wording::formatAt(ServerTime now) &&
{
    Finding finding;
    finding.message = std::move(m_words);
    finding.moments = std::move(m_moments);
    qsizetype longer = 0;
    for (auto &one : finding.moments) {
        const auto words = spoken(one, now);
        one.at += longer;
        one.length = words.size();
        finding.message.insert(one.at, words);
        longer += words.size();
    }
    return finding;
}

QString messageAt(const Finding &finding, ServerTime now)
{
    QString message = finding.message;
    for (auto one = finding.moments.rbegin(); one != finding.moments.rend(); ++one)
        message.replace(one->at, one->length, spoken(*one, now));
    return message;
}

void addLongHeld(LockSnapshot &lock, const Thresholds &thresholds, const std::optional<Usual> &usual,
                 std::optional<ServerTime> atLeastSince)
{
    // To lead, or to stand by, for days is what an election is for.
    if (recipes::recipeOf(lock.recipe).electsLeader)
        return;
    const Contender *longest = nullptr;
    std::vector<QByteArray> holders;
    bool isCertain = false;
    const auto sinceOf = [&](const Contender &one) { return one.heldSince ? one.heldSince : atLeastSince; };
    for (const auto &contender : lock.contenders) {
        const auto since = sinceOf(contender);
        if (contender.role != Role::Holder || !since
            || lock.observed - *since < worthTelling(contender, thresholds, usual))
            continue;
        holders.push_back(contender.id);
        isCertain |= !contender.heldAtMost;
        if (!longest || *since < *sinceOf(*longest))
            longest = &contender;
    }
    if (!longest)
        return;
    const auto since = *sinceOf(*longest);
    const bool isNatural = usual && lock.observed - since <= usual->most * naturalFactor;
    Wording message = holders.size() == 1 ? u"held "_s
                                          : u"%1 hold it for long; the longest holder %2 has held it "_s.arg(
                                              QString::number(holders.size()), label(longest->id, 80));
    message << (longest->heldAtMost ? u"for at most "_s : longest->heldSince ? u"for "_s : u"for at least "_s);
    message.since(since);
    if (usual)
        message << u"; "_s;
    if (isNatural)
        message << u"this is usual: up to %1 in %2 holds seen"_s.arg(formatDuration(usual->most),
                                                                     QString::number(usual->seen));
    else if (usual)
        message << u"usually %1, at most %2 in %3 holds seen"_s.arg(
            formatDuration(usual->median), formatDuration(usual->most), QString::number(usual->seen));
    const bool keepsSomebody = lock.waiterCount() > 0 && !saysElection(lock.lock.name);
    const bool isWarning = keepsSomebody && isCertain && !isNatural;
    addFinding(lock, FindingCode::LongHeld, isWarning ? Severity::Warning : Severity::Info, message,
               std::move(holders));
}

std::optional<ServerTime> nextLongHeld(const LockSnapshot &lock, const Thresholds &thresholds,
                                       const std::optional<Usual> &usual, std::optional<ServerTime> atLeastSince)
{
    std::optional<ServerTime> next;
    for (const auto &contender : lock.contenders) {
        const auto since = contender.heldSince ? contender.heldSince : atLeastSince;
        if (contender.role != Role::Holder || !since)
            continue;
        const auto due = *since + worthTelling(contender, thresholds, usual);
        // Reached, it is told: who looked again for it would look without end where a clock has whole seconds.
        if (due > lock.observed && (!next || due < *next))
            next = due;
    }
    return next;
}

void boundHolds(LockSnapshot &lock, const LockSnapshot &before)
{
    std::vector<QByteArray> fresh;
    for (auto &contender : lock.contenders) {
        const auto *earlier = before.find(contender.id);
        if (contender.role != Role::Holder || !earlier || earlier->role != Role::Waiter)
            continue;
        fresh.push_back(contender.id);
        if (!contender.heldSince || *contender.heldSince < before.observed) {
            contender.heldSince = before.observed;
            contender.heldAtMost = true;
        }
    }
    std::erase_if(lock.findings, [&fresh](const Finding &finding) {
        return finding.code == FindingCode::LongHeld && std::ranges::all_of(finding.contenders, [&](const auto &id) {
                   return std::ranges::count(fresh, id) > 0;
               });
    });
}

void addAgeFindings(LockSnapshot &lock, const Thresholds &thresholds, const std::optional<Usual> &usual)
{
    addLongHeld(lock, thresholds, usual);
    addLongWait(lock, thresholds.longWait);
    addSelfWait(lock, thresholds.longWait);
    addNamesake(lock);
}

void addAgeFindings(LockSnapshot &lock, const ThresholdRules &rules, const UsualHolds &holds)
{
    addAgeFindings(lock, rules.of(lock.lock), holds.of(lock.lock.name));
}

void addHerdFinding(LockSnapshot &lock)
{
    const auto holder = std::ranges::find(lock.contenders, Role::Holder, &Contender::role);
    if (holder == lock.contenders.end())
        return;
    auto woken = idsOf(lock, [&](const Contender &one) { // readers that wake together go on together
        return one.role == Role::Waiter && one.mode != Mode::Read && isWokenBy(one, *holder);
    });
    if (woken.size() < 2)
        return;
    const QString message = u"1 release wakes %1"_s.arg(woken.size());
    addFinding(lock, FindingCode::Herd, message, std::move(woken));
}

// The table of findings, in resources/findings.txt. docs/findings.md is made from it: tst_findings says how.

std::span<const FindingKind> findingKinds()
{
    static const auto text = QString::fromUtf8(readResource(u"findings.txt"_s)); // the rows point into it
    static const auto table = [] {
        std::vector<FindingKind> kinds;
        for (const auto &block : QStringView(text).split(u"\n\n"_s).mid(1)) {
            const auto lines = block.split(u'\n');
            const auto severity = std::ranges::find(severities, lines[1], [](auto one) { return word(one); });
            kinds.push_back({static_cast<FindingCode>(kinds.size()), lines[0].toLatin1(), *severity, lines[2],
                             lines[3], lines[4], lines[5]});
        }
        return kinds;
    }();
    return table;
}

const FindingKind &kindOf(FindingCode code)
{
    return findingKinds()[static_cast<std::size_t>(code)];
}

QString word(FindingCode code)
{
    return QString::fromLatin1(kindOf(code).name);
}

void addFinding(LockSnapshot &lock, FindingCode code, Severity severity, Wording message,
                std::vector<QByteArray> contenders)
{
    auto finding = std::move(message).formatAt(lock.observed);
    finding.code = code;
    finding.severity = severity;
    finding.contenders = std::move(contenders);
    lock.findings.push_back(std::move(finding));
}

void addFinding(LockSnapshot &lock, FindingCode code, Wording message, std::vector<QByteArray> contenders)
{
    addFinding(lock, code, kindOf(code).severity, std::move(message), std::move(contenders));
}

Thresholds ThresholdRules::of(const LockName &lock) const
{
    Thresholds found = usual;
    for (auto rule = rules.rbegin(); rule != rules.rend(); ++rule) {
        if (!matchesGlob(lock, rule->pattern))
            continue;
        found.longHeld = rule->longHeld.value_or(found.longHeld);
        found.longWait = rule->longWait.value_or(found.longWait);
        found.unusual = rule->unusual.value_or(found.unusual);
    }
    return found;
}

bool matchesGlob(const LockName &lock, const QString &glob)
{
    const auto pattern = glob.toUtf8();
    return ::fnmatch(pattern.constData(), escaped(lock.text()).toUtf8().constData(), 0) == 0
           || ::fnmatch(pattern.constData(), escaped(lock.name).toUtf8().constData(), 0) == 0;
}

UsualHolds::Kept *UsualHolds::find(const QByteArray &name)
{
    const auto young = m_young.find(name);
    if (young != m_young.end())
        return &young->second;
    const auto old = m_old.find(name);
    if (old == m_old.end())
        return nullptr;
    auto node = m_old.extract(old);
    return &m_young.insert(std::move(node)).position->second;
}

void UsualHolds::end(Kept &kept, const Holding &holding, ServerTime now)
{
    if (kept.holds.size() == holdsKept)
        kept.holds.erase(kept.holds.begin());
    kept.holds.push_back(std::max<qint64>(0, (now - holding.since).count()));
}

void UsualHolds::note(const LockSnapshot &lock)
{
    auto *kept = find(lock.lock.name);
    const bool isHeld = lock.holderCount() > 0;
    if (!kept && !isHeld)
        return;
    if (!kept) {
        if (m_young.size() >= locksKept)
            m_old = std::exchange(m_young, {});
        kept = &m_young[lock.lock.name];
    }
    std::erase_if(kept->holding, [&](const Holding &holding) {
        const auto *one = lock.find(holding.id);
        if (one && one->role == Role::Holder)
            return false;
        end(*kept, holding, lock.observed);
        return true;
    });
    for (const auto &contender : lock.contenders) {
        if (contender.role != Role::Holder || !contender.heldSince || contender.heldAtMost)
            continue;
        if (std::ranges::find(kept->holding, contender.id, &Holding::id) == kept->holding.end())
            kept->holding.push_back({contender.id, *contender.heldSince});
    }
}

std::optional<Usual> UsualHolds::of(const QByteArray &name) const
{
    auto at = m_young.find(name);
    if (at == m_young.end() && (at = m_old.find(name)) == m_old.end())
        return {};
    auto holds = at->second.holds;
    if (holds.size() < holdsToTell)
        return {};
    std::ranges::sort(holds);
    return Usual{static_cast<int>(holds.size()), std::chrono::milliseconds(holds[holds.size() / 2]),
                 std::chrono::milliseconds(holds.back())};
}

} // namespace lockscope::inspect
