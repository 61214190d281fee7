// SPDX-License-Identifier: Apache-2.0
#include "ui/models/lockfacts.h"

#include "core/base/text.h"

#include <QRegularExpression>

namespace lockscope::ui {

using inspect::Contender;
using inspect::Finding;
using inspect::FindingCode;
using inspect::LockSnapshot;
using inspect::LockState;
using inspect::Mode;
using inspect::Role;
using inspect::Severity;
using std::chrono::milliseconds;

namespace {

// What a lock's pill can say, worst first: the findings that are a state of their own, then what every lock has.
struct NamedState {
    PillShape shape;
    const char16_t *word;
    FindingCode code{}; // of the first ones
};
constexpr std::size_t ofFindings = 6;
constexpr std::array<NamedState, ofFindings + 3> namedStates{{
    {PillShape::Cross, u"deadlock", FindingCode::Deadlock},
    {PillShape::Cross, u"no quorum", FindingCode::NoQuorum},
    {PillShape::Infinite, u"no expiry", FindingCode::NoTtl},
    {PillShape::Infinite, u"no expiry", FindingCode::PersistentNode},
    {PillShape::Cross, u"expired", FindingCode::ExpiredValue},
    {PillShape::Bars, u"disconnected", FindingCode::HolderDisconnected},
    {PillShape::Quarter, u"contended"},
    {PillShape::Disc, u"held"},
    {PillShape::Ring, u"free"},
}};

void setState(LockFacts &facts, const LockSnapshot &lock)
{
    for (std::size_t i = 0; i < ofFindings; ++i) {
        const auto *found = lock.find(namedStates[i].code);
        const bool isGuess = namedStates[i].code == FindingCode::HolderDisconnected && !facts.holderDisconnected;
        if (!found || found->severity == Severity::Info || isGuess)
            continue;
        facts.tone = found->severity == Severity::Critical ? Tone::Critical : Tone::Warning;
        facts.stateRank = static_cast<quint8>(i);
        return;
    }
    const auto stand = [&facts](std::size_t rank, Tone tone) {
        facts.stateRank = static_cast<quint8>(ofFindings + rank);
        facts.tone = tone;
    };
    switch (lock.state) {
    case LockState::Contended: stand(0, Tone::Wait); break;
    case LockState::Held: stand(1, Tone::Hold); break;
    case LockState::Free: stand(2, Tone::Free); break;
    }
}

void addHolder(LockFacts &facts, const Contender &holder, const LockSnapshot &lock)
{
    if (holder.heldSince) {
        const auto since = ourTime(*holder.heldSince, lock);
        if (!facts.heldSince || since < *facts.heldSince) {
            facts.heldSince = since;
            facts.heldAtMost = holder.heldAtMost;
        }
    }
    if (holder.expiresAt && !facts.expiresAt)
        facts.expiresAt = ourTime(*holder.expiresAt, lock);
}

void addWaiter(LockFacts &facts, const Contender &waiter, const LockSnapshot &lock)
{
    ++facts.waiters;
    if (!waiter.waitingSince)
        return;
    const auto since = ourTime(*waiter.waitingSince, lock);
    facts.waitingSinceSumMs += std::chrono::duration_cast<milliseconds>(since.time_since_epoch()).count();
    ++facts.waitersTimed;
    if (!facts.oldestWait || since < *facts.oldestWait)
        facts.oldestWait = since;
}

QString counted(int count, const QString &one, const QString &many)
{
    return u"%1 %2"_s.arg(count).arg(count == 1 ? one : many);
}

const Contender *firstHolder(const LockSnapshot &lock)
{
    const auto first = std::ranges::find(lock.contenders, Role::Holder, &Contender::role);
    return first == lock.contenders.end() ? nullptr : &*first;
}

QString silence(const Contender &holder, bool isDisconnected)
{
    return !isDisconnected ? QString() : holder.endpoint ? u" (silent)"_s : u" (gone)"_s;
}

QString holderText(const LockFacts &facts, const LockSnapshot &lock)
{
    const auto *first = firstHolder(lock);
    if (!first)
        return u"—"_s;
    const int holders = lock.holderCount();
    if (holders > 1)
        return first->mode == Mode::Read ? counted(holders, u"reader"_s, u"readers"_s)
                                         : counted(holders, u"holder"_s, u"holders"_s);
    return whoIsByName(*first, lock.backend) + silence(*first, facts.holderDisconnected);
}

const Finding *worstOf(const LockSnapshot &lock)
{
    const auto worst = std::max_element(lock.findings.begin(), lock.findings.end(),
                                        [](const Finding &a, const Finding &b) { return a.severity < b.severity; });
    return worst == lock.findings.end() ? nullptr : &*worst;
}

// Of readers that stand one behind the other, all get in.
int readersBeside(const LockSnapshot &lock, const Contender &next)
{
    const auto isReader = [](const Contender &one) {
        return one.role == Role::Waiter && one.mode == Mode::Read && one.position;
    };
    const auto at = std::ranges::find(lock.contenders, next.id, &Contender::id);
    if (at == lock.contenders.end() || !isReader(next))
        return 0;
    return int(std::find_if_not(at, lock.contenders.end(), isReader) - at) - 1;
}

constexpr qsizetype longestLink = 4096;

Error noLink()
{
    return Error{ErrorCode::BadInput,
                 u"not a link of the form lockscope://open?connection=NAME&lock=NAME or lockscope://lesson/ID"_s};
}

} // namespace

QString waitingText(const LockSnapshot &lock)
{
    const int waiters = lock.waiterCount();
    if (!lock.waitersKnown)
        return waiters == 0 ? u"?"_s : u"%1+"_s.arg(waiters);
    int readers = 0;
    int writers = 0;
    for (const auto &c : lock.contenders) {
        if (c.role == Role::Waiter) {
            readers += c.mode == Mode::Read;
            writers += c.mode == Mode::Write;
        }
    }
    if (readers > 0 && writers == 0)
        return counted(readers, u"reader"_s, u"readers"_s);
    if (writers > 0 && readers == 0)
        return counted(writers, u"writer"_s, u"writers"_s);
    return QString::number(waiters);
}

QString findingAt(const LockSnapshot &lock, inspect::ServerTime now)
{
    const auto *worst = worstOf(lock);
    if (!worst)
        return {};
    if (worst->code == FindingCode::NoTtl)
        return u"no TTL"_s;
    if (worst->code == FindingCode::Deadlock && !worst->also.empty()) {
        QStringList names;
        for (const auto &other : worst->also)
            names << label(other.connection == lock.lock.connection ? other.name : other.text(), 160);
        return u"deadlock with "_s + names.join(u", "_s);
    }
    const QString message = label(messageAt(*worst, now).toUtf8(), 160);
    return worst->code == FindingCode::Herd ? u"herd: "_s + message : message;
}

QString findingBriefly(const LockSnapshot &lock)
{
    const auto *worst = worstOf(lock);
    return worst && worst->code != FindingCode::Deadlock ? inspect::kindOf(worst->code).title.toString().toLower()
                                                         : QString();
}

QString holderBriefly(const LockSnapshot &lock, bool isDisconnected)
{
    const auto *holder = firstHolder(lock);
    const auto self = holder ? inspect::nameBeside(*holder, lock.backend) : std::nullopt;
    return self ? inspect::nameLabel(*self) + silence(*holder, isDisconnected) : QString();
}

QString withoutCodeMarks(QStringView text)
{
    return text.toString().remove(u'`');
}

QString helpOn(const inspect::FindingKind &kind)
{
    return u"It means: %1.\nTo confirm: %2.\nWhat to do: %3."_s.arg(
        withoutCodeMarks(kind.meaning), withoutCodeMarks(kind.confirm), withoutCodeMarks(kind.remedy));
}

SystemTime ourTime(inspect::ServerTime server, const LockSnapshot &lock)
{
    return SystemTime(
        std::chrono::duration_cast<SystemTime::duration>((server - lock.serverAhead).time_since_epoch()));
}

inspect::ServerTime serverTimeAt(SystemTime ours, const LockSnapshot &lock)
{
    return std::chrono::time_point_cast<milliseconds>(ours) + lock.serverAhead;
}

QString nextHolderText(const LockSnapshot &lock, const QByteArray &holder, bool isPast)
{
    if (holder.isEmpty())
        return {};
    const Contender *next = lock.nextAfter(holder);
    if (isPast) // what came of it is on the strip
        return next && inspect::isSureToAcquire(lock, *next)
                   ? u"%1 was the first in line."_s.arg(whoIsByName(*next, lock.backend))
                   : QString();
    if (!next) {
        const bool inOrder = std::ranges::any_of(
            lock.contenders, [](const Contender &one) { return one.role == Role::Waiter && one.position; });
        return lock.waiterCount() == 0 && lock.waitersKnown ? u"On release, it becomes free: no client waits."_s
               : inOrder && lock.holderCount() > 1
                   ? u"On release, no client acquires it until the other holders release it, too."_s
                   : u"On release, the client that asks first acquires it."_s;
    }
    const auto who = whoIsByName(*next, lock.backend);
    if (!inspect::isSureToAcquire(lock, *next))
        return u"It is not sure who acquires it on release; %1 is the first that waits."_s.arg(who);
    const int beside = readersBeside(lock, *next);
    const bool watches =
        std::ranges::any_of(next->watches, [&](const auto &edge) { return edge.children || edge.target == holder; });
    const auto wakeUp = recipes::recipeOf(lock.recipe).wakeUp;
    // Else the server itself lets it in.
    const bool isWoken = wakeUp == recipes::WakeUp::Message || (watches && wakeUp != recipes::WakeUp::Answer);
    const auto &by = infoOf(lock.backend).words.wokenBy;
    const auto wakes = isWoken && !by.isEmpty() ? u" (%1)"_s.arg(by.arg(shortId(holder))) : QString();
    return (beside == 0   ? u"On release, %1 acquires it%2."_s.arg(who, wakes)
            : beside == 1 ? u"On release, %1 and the reader behind it acquire it%2."_s.arg(who, wakes)
                          : u"On release, %1 and %3 readers behind it acquire it%2."_s.arg(who, wakes,
                                                                                           QString::number(beside)));
}

QString shortId(const QByteArray &fullId)
{
    const QByteArray id = inspect::nameInId(fullId);
    qsizetype digits = 0;
    while (digits < id.size() && id[id.size() - 1 - digits] >= '0' && id[id.size() - 1 - digits] <= '9')
        ++digits;
    // A sequence number: nine or ten digits at the end. Its last four tell neighbours apart.
    if (digits >= 9 && id.size() > digits)
        return u"…"_s + QString::fromLatin1(id.right(4));
    if (id.size() <= 18)
        return label(id);
    // Tokens of one client begin alike ("<uuid>:<thread>"): both ends tell.
    return label(id.left(4)) + u"…"_s + label(id.right(6));
}

QString whoIs(const Contender &contender)
{
    if (contender.endpoint && !contender.endpoint->isEmpty())
        return label(contender.endpoint->toUtf8(), 60);
    if (contender.identity && !contender.identity->isEmpty() && contender.identity->size() <= 250)
        return inspect::nameLabel(*contender.identity);
    const auto id = inspect::nameInId(contender.id);
    if (contender.guard.znode().path.isEmpty() && id.size() <= 4)
        return u"value “%1”"_s.arg(label(id));
    return shortId(contender.id);
}

QString whoIsByName(const Contender &contender, BackendKind backend)
{
    const auto self = inspect::nameBeside(contender, backend);
    return self ? u"%1 · %2"_s.arg(inspect::nameLabel(*self), whoIs(contender)) : whoIs(contender);
}

QString roleText(const Contender &contender, bool isPast)
{
    if (contender.role == Role::Holder)
        return isPast ? u"held"_s : u"holds"_s;
    return isPast ? u"waited"_s : u"waits"_s;
}

Pill pillOf(const Contender &contender, const LockSnapshot &lock, bool isPast)
{
    const auto role = roleText(contender, isPast);
    if (contender.role == Role::Waiter)
        return {PillShape::Ring, Tone::Wait, contender.position ? QString::number(*contender.position) : role};
    const auto isDisconnected = std::ranges::any_of(lock.findings, [&contender](const Finding &f) {
        return f.code == FindingCode::HolderDisconnected
               && std::ranges::find(f.contenders, contender.id) != f.contenders.end();
    });
    if (isDisconnected)
        return {PillShape::Bars, Tone::Warning, role};
    return {PillShape::Disc, Tone::Hold, role};
}

bool LockFacts::isStateOfFinding() const
{
    return stateRank < ofFindings;
}

Pill LockFacts::pill() const
{
    const auto &state = namedStates[stateRank];
    return {state.shape, tone, QString::fromUtf16(state.word)};
}

LockFacts factsOf(const LockSnapshot &lock)
{
    LockFacts facts;
    facts.recipe = lock.recipe;
    // Standing by is what an election's waiters are for; days of it must not top the list.
    facts.isElection = recipes::recipeOf(lock.recipe).electsLeader;
    for (const auto &finding : lock.findings)
        facts.worst = std::max(facts.worst.value_or(Severity::Info), finding.severity);
    for (const auto &contender : lock.contenders) {
        if (contender.role == Role::Holder)
            addHolder(facts, contender, lock);
        else
            addWaiter(facts, contender, lock);
    }
    // Of a row only its address is known: that nothing is connected from there is a finding, and proves nothing.
    const bool isOfRow = recipes::recipeOf(lock.recipe).shape == recipes::Shape::Row && lock.contenders.size() == 1
                         && !lock.contenders.front().session;
    facts.holderDisconnected = lock.find(FindingCode::HolderDisconnected) && !isOfRow;
    setState(facts, lock);
    facts.holder = holderText(facts, lock);
    facts.finding = findingAt(lock, lock.observed);
    const auto *worst = worstOf(lock);
    facts.findingTicks = worst && !worst->moments.empty();
    return facts;
}

QString withWholeId(QString shown, const Contender &contender)
{
    constexpr int longestId = 1000;
    const auto brief = shortId(contender.id);
    const auto at = brief.isEmpty() ? -1 : shown.indexOf(brief);
    return at < 0 ? shown : shown.replace(at, brief.size(), label(inspect::nameInId(contender.id), longestId));
}

QString withWholeId(const QString &shown, const LockSnapshot &lock)
{
    const auto holder = std::ranges::find(lock.contenders, Role::Holder, &Contender::role);
    return lock.holderCount() == 1 ? withWholeId(shown, *holder) : shown;
}

QString linkOf(const inspect::LockName &lock)
{
    const auto encoded = [](const QByteArray &bytes) { return QString::fromLatin1(bytes.toPercentEncoding()); };
    return u"lockscope://open?connection=%1&lock=%2"_s.arg(encoded(lock.connection.bytes()), encoded(lock.name));
}

Result<inspect::LockName> readLink(const QString &link)
{
    // Bytes are percent-encoded, since a lock's name need not be text; a path that somebody wrote by hand may stay.
    static const QRegularExpression form(u"^lockscope://open/?\\?([A-Za-z0-9=&%._~/:@,-]*)$"_s);
    const auto match = form.match(link);
    if (link.size() > longestLink || !match.hasMatch())
        return noLink();
    std::optional<QByteArray> connection;
    std::optional<QByteArray> lock;
    for (const auto &part : match.captured(1).split(u'&')) {
        const auto equals = part.indexOf(u'=');
        const QString key = part.left(equals);
        auto &value = key == u"connection"_s ? connection : lock;
        if (equals < 0 || value || (key != u"connection"_s && key != u"lock"_s))
            return noLink();
        value = QByteArray::fromPercentEncoding(part.mid(equals + 1).toLatin1());
    }
    if (!connection || connection->isEmpty() || !lock || lock->isEmpty())
        return noLink();
    return inspect::LockName{ConnectionName(*connection), *lock};
}

QByteArray lessonOfLink(const QString &link)
{
    static const QRegularExpression form(u"^lockscope://lesson/([a-z0-9-]{1,60})$"_s);
    return form.match(link).captured(1).toLatin1();
}

} // namespace lockscope::ui
