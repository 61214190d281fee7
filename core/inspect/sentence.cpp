// SPDX-License-Identifier: Apache-2.0
// The answer first: one sentence that a person would say about a lock.
#include "core/inspect/json.h"

#include "core/base/duration.h"
#include "core/base/text.h"
#include "core/inspect/awaited.h"
#include "core/inspect/findings.h"
#include "core/inspect/waits/clients.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {

constexpr int labelLength = 64;

// "10.0.3.7" of "10.0.3.7:56332": the port says nothing to a person.
QString host(const QString &endpoint)
{
    const auto colon = endpoint.lastIndexOf(u':');
    const QString address = colon < 0 ? endpoint : endpoint.left(colon);
    return label(address.toUtf8(), labelLength);
}

// "app-9 (10.0.3.7)": a host has many clients.
QString whom(const Contender &contender, BackendKind backend)
{
    const auto &words = infoOf(backend).words;
    const auto at = contender.endpoint                                     ? host(*contender.endpoint)
                    : contender.identity && !contender.identity->isEmpty() ? nameLabel(*contender.identity)
                    : contender.session ? words.client + u' ' + label(contender.session->toUtf8(), labelLength)
                                        : label(contender.id, labelLength);
    const auto name = nameBeside(contender, backend);
    return name ? u"%1 (%2)"_s.arg(nameLabel(*name), at) : at;
}

QString holders(const std::vector<const Contender *> &all, BackendKind backend)
{
    const Contender &first = *all.front();
    const bool reading = std::ranges::all_of(all, [](const auto *one) { return one->mode == Mode::Read; });
    if (all.size() == 1)
        return reading ? u"reader "_s + whom(first, backend) : whom(first, backend);
    if (reading)
        return u"%1 readers"_s.arg(all.size());
    // A writer that also took the read lock is one client with two nodes.
    const bool oneSession = first.session && std::ranges::all_of(all, [&first](const auto *one) {
                                return one->session == first.session && one->mode != Mode::Permit;
                            });
    if (oneSession)
        return whom(first, backend);
    const bool permits = std::ranges::all_of(all, [](const auto *one) { return one->mode == Mode::Permit; });
    return permits ? u"%1 permit holders"_s.arg(all.size()) : u"%1 holders"_s.arg(all.size());
}

QString heldFor(const std::vector<const Contender *> &all, ServerTime now)
{
    const Contender *longest = nullptr;
    for (const auto *one : all) {
        if (one->heldSince && (!longest || *one->heldSince < *longest->heldSince))
            longest = one;
    }
    if (!longest)
        return {};
    const QString span = spokenDuration(now - *longest->heldSince);
    const QString bound = longest->heldAtMost ? u"at most "_s : QString();
    return all.size() == 1 ? u" for "_s + bound + span : u", the longest for "_s + bound + span;
}

QString waiting(const LockSnapshot &lock, ServerTime now)
{
    const int count = lock.waiterCount();
    const QString unseen = u"others may wait unseen"_s;
    if (count == 0)
        return lock.waitersKnown ? u"nobody waits"_s : u"who waits cannot be seen"_s;
    std::optional<ServerTime> oldest;
    for (const auto &one : lock.contenders) {
        if (one.role == Role::Waiter && one.waitingSince)
            oldest = oldest ? std::min(*oldest, *one.waitingSince) : *one.waitingSince;
    }
    QString text = count == 1 ? u"1 waits"_s : u"%1 wait"_s.arg(count);
    if (oldest)
        text += (count == 1 ? u", for "_s : u", the oldest "_s) + spokenDuration(now - *oldest);
    return lock.waitersKnown ? text : text + u"; "_s + unseen;
}

// The first in the queue waits for a contender that waits behind it.
bool isFirstBehindAnother(const LockSnapshot &lock)
{
    const auto isContender = [&](const WatchEdge &edge) { return lock.find(edge.target) != nullptr; };
    return !lock.contenders.empty() && std::ranges::any_of(lock.contenders.front().watches, isContender);
}

} // namespace

QString answerSentence(const LockSnapshot &lock, ServerTime now)
{
    const QString name = label(lock.lock.name, 120);
    std::vector<const Contender *> holding;
    for (const auto &one : lock.contenders) {
        if (one.role == Role::Holder)
            holding.push_back(&one);
    }
    const auto elsewhere = firstAwaitsElsewhere(lock);
    QString sentence = name;
    if (!holding.empty())
        sentence += u" is held by "_s + holders(holding, lock.backend) + heldFor(holding, now);
    else if (lock.state == LockState::Free)
        sentence += u" is free"_s;
    else if (elsewhere || isFirstBehindAnother(lock))
        sentence = u"no client holds "_s + name;
    else
        sentence += u" is held, by whom cannot be seen"_s;
    sentence += u"; "_s + waiting(lock, now);
    if (elsewhere)
        sentence += u"; the first in the queue waits for "_s + label(*elsewhere, labelLength);
    const auto *neverEnds = lock.find(FindingCode::NoTtl);
    const bool isHolders =
        neverEnds
        && (neverEnds->contenders.empty() || holding.empty() || std::ranges::any_of(holding, [&](const auto *one) {
                return std::ranges::count(neverEnds->contenders, one->id) > 0;
            }));
    if (isHolders)
        sentence += u"; it never expires by itself"_s;
    return sentence;
}

} // namespace lockscope::inspect
