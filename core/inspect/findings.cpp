// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/findings.h"

#include "core/base/duration.h"
#include "core/base/text.h"
#include "core/rules/catalogue.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

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
    for (const auto &one : lock.contenders) {
        if (one.role != Role::Waiter || !one.waitingSince || lock.observed - *one.waitingSince <= threshold)
            continue;
        waiting.push_back(one.id);
        if (!first || *one.waitingSince < *first->waitingSince)
            first = &one;
    }
    if (waiting.empty())
        return;
    Wording message = u"has waited for "_s;
    if (waiting.size() > 1)
        message = u"%1 have waited for more than %2; the longest, %3, for "_s.arg(
            QString::number(waiting.size()), spokenDuration(threshold), label(first->id, 80));
    message.since(*first->waitingSince);
    addFinding(lock, FindingCode::LongWait, message, std::move(waiting));
}

QString spoken(const SpokenMoment &one, ServerTime now)
{
    if (!one.isAhead)
        return spokenDuration(now - one.moment);
    return one.moment > now ? u"in "_s + spokenDuration(one.moment - now) : u"now"_s;
}

} // namespace

Wording &Wording::operator<<(const QString &words)
{
    m_words += words;
    return *this;
}

Wording &Wording::since(ServerTime moment)
{
    m_moments.push_back({m_words.size(), 0, moment, false});
    return *this;
}

Wording &Wording::until(ServerTime moment)
{
    m_moments.push_back({m_words.size(), 0, moment, true});
    return *this;
}

Finding Wording::spokenAt(ServerTime now) &&
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

void addAgeFindings(LockSnapshot &lock, const Thresholds &thresholds)
{
    // To lead, or to stand by, for days is what an election is for.
    if (recipes::recipeOf(lock.recipe).electsLeader)
        return;
    const bool isWarning = lock.waiterCount() > 0; // else it keeps nobody from anything
    for (const auto &one : lock.contenders) {
        if (one.role == Role::Holder && one.heldSince) {
            const auto age = lock.observed - *one.heldSince;
            if (age <= thresholds.longHeld)
                continue;
            Wording message = one.heldAtMost ? u"held for at most "_s : u"held for "_s;
            message.since(*one.heldSince);
            addFinding(lock, FindingCode::LongHeld, isWarning && !one.heldAtMost ? Severity::Warning : Severity::Info,
                       message, {one.id});
        }
    }
    addLongWait(lock, thresholds.longWait);
}

void addHerdFinding(LockSnapshot &lock)
{
    const auto holder = std::ranges::find(lock.contenders, Role::Holder, &Contender::role);
    if (holder == lock.contenders.end())
        return;
    std::vector<QByteArray> woken;
    for (const auto &one : lock.contenders) {
        // Readers that wake together go on together.
        if (one.role == Role::Waiter && one.mode != Mode::Read && isWokenBy(one, *holder))
            woken.push_back(one.id);
    }
    if (woken.size() < 2)
        return;
    const QString message = u"1 release wakes %1"_s.arg(woken.size());
    addFinding(lock, FindingCode::Herd, message, std::move(woken));
}

} // namespace lockscope::inspect
