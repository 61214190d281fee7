// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/locktext.h"

#include "app/lockscopectl/output.h"
#include "core/base/duration.h"
#include "core/base/text.h"
#include "core/inspect/json.h"
#include "core/inspect/waits/clients.h"

#include <algorithm>
#include <functional>

namespace lockscope::ctl {

using inspect::Contender;
using inspect::LockSnapshot;
using inspect::Role;

namespace {

constexpr int mostText = 60;

const Contender *firstHolder(const LockSnapshot &lock)
{
    for (const auto &contender : lock.contenders) {
        if (contender.role == Role::Holder)
            return &contender;
    }
    return nullptr;
}

QString shape(const QString &unicode, const QString &ascii)
{
    return isUnicode() ? unicode : ascii;
}

} // namespace

QJsonArray namesBeside(const LockSnapshot &lock, const std::vector<QByteArray> &others)
{
    QJsonArray names;
    for (const auto &other : others)
        names.append(escaped(inspect::LockName{lock.lock.connection, other}.text()));
    return names;
}

QString shown(const QString &text)
{
    return escaped(text.toUtf8());
}

QString shown(const std::optional<QString> &text)
{
    return text ? shown(*text) : u"-"_s;
}

QString idWithLabel(const LockSnapshot &lock, const QByteArray &id)
{
    const auto *one = lock.find(id);
    return one && !one->label.isEmpty() ? u"%1 (%2)"_s.arg(escaped(id), shown(one->label)) : escaped(id);
}

QString stateWord(const LockSnapshot &lock)
{
    const auto word = inspect::word(lock.state);
    switch (lock.state) {
    case inspect::LockState::Free: return shape(u"○ "_s, u"o "_s) + word;
    case inspect::LockState::Held: return shape(u"● "_s, u"* "_s) + word;
    case inspect::LockState::Contended: return shape(u"◔ "_s, u"% "_s) + word;
    }
    return word;
}

QString roleSign(Role role)
{
    return role == Role::Holder ? shape(u"●"_s, u"*"_s) : shape(u"○"_s, u"o"_s);
}

QString roleWord(Role role)
{
    return u"%1 %2"_s.arg(roleSign(role), inspect::word(role));
}

QString sessionText(const Contender &contender, BackendKind backend)
{
    return contender.session ? u"%1 %2"_s.arg(infoOf(backend).words.client, shown(*contender.session)) : QString();
}

QString clientText(const Contender &contender, BackendKind backend)
{
    if (!contender.label.isEmpty())
        return shown(contender.label);
    if (const auto name = inspect::selfNameOf(contender, backend))
        return inspect::nameLabel(*name);
    if (contender.endpoint)
        return shown(*contender.endpoint);
    const auto session = sessionText(contender, backend);
    return session.isEmpty() ? escaped(contender.id) : session;
}

QString holderText(const LockSnapshot &lock)
{
    const auto *holder = firstHolder(lock);
    if (!holder)
        return {};
    const auto name = clientText(*holder, lock.backend);
    const int others = lock.holderCount() - 1;
    return others > 0 ? u"%1 and %2"_s.arg(name, amountOf(others, "other"_L1, "others"_L1)) : name;
}

QString identityWords(const Contender &contender)
{
    QStringList words;
    if (contender.identity && !contender.identity->isEmpty())
        words << inspect::nameLabel(*contender.identity);
    const auto shared = contender.work ? contender.work->application : QByteArray();
    if (const auto program = contender.program.value_or(shared); !program.isEmpty())
        words << u'(' + inspect::nameLabel(program) + u')';
    return words.isEmpty() ? u"-"_s : words.join(u' ');
}

QString waitingWords(const LockSnapshot &lock)
{
    const auto count = QString::number(lock.waiterCount());
    // Clients that poll cannot be seen: the number is then the least there may be.
    return lock.waitersKnown ? count : count + u'+';
}

QString ageWords(const LockSnapshot &lock, inspect::ServerTime now)
{
    const auto *holder = firstHolder(lock);
    return holder ? ageWords(*holder, now) : u"-"_s;
}

QString ageWords(const Contender &contender, inspect::ServerTime now)
{
    const auto since = contender.role == Role::Holder ? contender.heldSince : contender.waitingSince;
    if (!since)
        return u"-"_s;
    const auto most = contender.heldAtMost ? shape(u"≤ "_s, u"<= "_s) : QString();
    return most + formatDuration(now - *since);
}

QString watchWords(const Contender &contender)
{
    QStringList words;
    for (const auto &edge : contender.watches) {
        const auto target = edge.children ? u"children"_s : label(edge.target, mostText);
        words << (edge.evidence == inspect::Evidence::Server ? target : target + u" (inferred)"_s);
    }
    return words.isEmpty() ? u"-"_s : words.join(u", "_s);
}

QString findingWords(const LockSnapshot &lock)
{
    QStringList codes;
    auto findings = lock.findings;
    std::ranges::stable_sort(findings, std::greater(), &inspect::Finding::severity);
    for (const auto &finding : findings) {
        const auto mark = finding.severity == inspect::Severity::Critical  ? u"!! "_s
                          : finding.severity == inspect::Severity::Warning ? u"! "_s
                                                                           : QString();
        const auto code = mark + inspect::word(finding.code);
        if (!codes.contains(code))
            codes << code;
    }
    return codes.join(u", "_s);
}

QJsonArray waitersUnknownJson(const inspect::WaitGraph &graph)
{
    QJsonArray names;
    for (const auto &lock : graph.locks) {
        if (!lock.waitersKnown)
            names.append(escaped(lock.name.text()));
    }
    return names;
}

QStringList unseenWaiterWords(const inspect::WaitGraph &graph)
{
    constexpr qsizetype mostNames = 3;
    const auto all = waitersUnknownJson(graph);
    if (all.isEmpty())
        return {};
    QStringList names;
    for (const auto &name : all) {
        if (names.size() < mostNames)
            names << name.toString();
    }
    const auto more = all.size() - names.size();
    if (all.size() == 1)
        return {u"waiters unknown for 1 lock: %1"_s.arg(names.front())};
    const auto locks =
        more > 0 ? u"%1 and %2 more"_s.arg(names.join(u", "_s), QString::number(more)) : names.join(u", "_s);
    return {u"waiters unknown for %1 locks: %2"_s.arg(QString::number(all.size()), locks)};
}

inspect::Coverage deadlocksUnknown(const ConnectionName &name)
{
    return {name, false, u"whether it is part of a deadlock: not all servers could be read for that"_s};
}

// Those that were there then; of a broken file none.
std::vector<Mute> mutesAt(history::Moment moment)
{
    const auto now = std::chrono::floor<std::chrono::seconds>(moment);
    auto mutes = readMutes();
    if (!mutes) {
        printError(mutes.error().message);
        return {};
    }
    std::erase_if(*mutes, [now](const Mute &mute) { return mute.since > now || mute.until <= now; });
    return *mutes;
}

QStringList unlinkedWords(const inspect::WaitGraph &graph)
{
    const auto sentence = unlinkedSentence(graph, u"--label PATTERN=NAME on clients of each server links them"_s);
    return sentence.isEmpty() ? QStringList() : QStringList(sentence);
}

QJsonArray unlinkedJson(const inspect::WaitGraph &graph)
{
    QJsonArray names;
    for (const auto &name : unlinkedConnections(graph))
        names.append(escaped(name.bytes()));
    return names;
}

} // namespace lockscope::ctl
