// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/threaddump.h"

#include "core/base/fieldreader.h"
#include "core/base/text.h"
#include "core/inspect/json.h"
#include "core/inspect/waits/clients.h"

#include <QRegularExpression>

namespace lockscope::inspect {

namespace {

constexpr qsizetype mostFrames = 1000, mostThreads = 100'000, framesShown = 8;

struct LockCalls {
    QString classBegins;
    QByteArrayList methods;
};

const std::vector<LockCalls> &lockCalls()
{
    static const auto all = [] {
        std::vector<LockCalls> calls;
        readResourceList(u"rules/lock-calls.json"_s, "calls", [&calls](FieldReader &reader) {
            auto &call = calls.emplace_back();
            call.classBegins = reader.text("class");
            call.methods = reader.texts("methods");
        });
        return calls;
    }();
    return all;
}

// "app//org.redisson.RedissonLock.lock(RedissonLock.java:130)": a loader and a module may stand before the class, and
// the class of a lambda has a slash in its name.
bool isLockCall(const QString &frame)
{
    const auto whole = QStringView(frame).left(frame.indexOf(u'('));
    const auto method = whole.mid(whole.lastIndexOf(u'.') + 1).toUtf8();
    return std::ranges::any_of(lockCalls(), [&](const LockCalls &calls) {
        const auto at = whole.indexOf(calls.classBegins);
        return (at == 0 || (at > 0 && whole[at - 1] == u'/')) && calls.methods.contains(method);
    });
}

// "name" #20 [4711] daemon prio=5 …, as jstack and kill -3 print it; #20 "name" virtual, as dump_to_file does.
std::optional<DumpedThread> headOfThread(const QString &line)
{
    static const QRegularExpression jstack(u"^\"(.*)\"(?: #(\\d{1,18}))?(?: |$)"_s);
    static const QRegularExpression toFile(u"^#(\\d{1,18}) \"(.*)\"(?: virtual)?(?: ([A-Z_]+))?(?: .*)?$"_s);
    if (const auto found = jstack.match(line); found.hasMatch()) {
        const bool hasNumber = found.hasCaptured(2);
        return DumpedThread{.name = found.captured(1),
                            .number = hasNumber ? std::optional(found.captured(2).toLongLong()) : std::nullopt};
    }
    if (const auto found = toFile.match(line); found.hasMatch()) {
        return DumpedThread{
            .name = found.captured(2), .number = found.captured(1).toLongLong(), .state = found.captured(3)};
    }
    return std::nullopt;
}

void takeLine(DumpedThread &thread, const QString &line)
{
    static const QString state = u"java.lang.Thread.State: "_s;
    const auto trimmed = line.trimmed();
    if (trimmed.startsWith(state))
        thread.state = trimmed.mid(state.size());
    else if (thread.frames.size() >= mostFrames || trimmed.startsWith(u'-')) // "- locked <0x…>"
        return;
    else if (trimmed.startsWith(u"at "))
        thread.frames << trimmed.mid(3);
    else if (trimmed.endsWith(u')') && line.startsWith(u"      ")) // dump_to_file
        thread.frames << trimmed;
}

// Of Redisson, whose contenders say their thread.
std::optional<QByteArray> namedThread(const Contender &one, BackendKind backend)
{
    return infoOf(backend).areThreadsNamed ? threadOf(one) : std::nullopt;
}

// Redisson's client; for the others the session of the server.
QString processOf(const Contender &one, const std::optional<QByteArray> &thread)
{
    return thread ? QString::fromUtf8(thread->left(thread->lastIndexOf(':'))) : one.session.value_or(QString());
}

Result<QString> chosenClient(const LockSnapshot &lock, const QString &wanted)
{
    QStringList all;
    for (const auto &one : lock.contenders) {
        const auto its = processOf(one, namedThread(one, lock.backend));
        if (!its.isEmpty() && !all.contains(its))
            all << its;
    }
    if (all.isEmpty())
        return Error{ErrorCode::BadInput, u"--thread-dump: no client of this lock is known"_s};
    const auto named = harmless(firstNamed(all, 5));
    if (wanted.isEmpty() && all.size() > 1)
        return Error{ErrorCode::BadInput, u"--thread-dump: several clients contend for this lock; name the one whose "
                                          u"threads these are, as in --thread-dump %1=FILE; there are %2"_s.arg(
                                              harmless(all.first()), named)};
    if (!wanted.isEmpty() && !all.contains(wanted))
        return Error{
            ErrorCode::BadInput,
            u"--thread-dump: no contender of this lock is of client %1; there are %2"_s.arg(harmless(wanted), named)};
    return wanted.isEmpty() ? all.first() : wanted;
}

bool waits(const DumpedThread &thread)
{
    return thread.state.contains(u"WAITING") || thread.state.isEmpty();
}

ContenderThreads threadsOf(const Contender &one, const std::optional<QByteArray> &named,
                           const std::vector<DumpedThread> &dump)
{
    ContenderThreads found{one.id, one.role, ThreadMatch::Candidates, 0, {}};
    if (!named) {
        std::ranges::copy_if(dump, std::back_inserter(found.threads),
                             [](const DumpedThread &thread) { return waits(thread) && lockCallIn(thread) >= 0; });
        return found;
    }
    found.number = named->mid(named->lastIndexOf(':') + 1).toLongLong();
    const auto at = std::ranges::find(dump, std::optional(found.number), &DumpedThread::number);
    found.match = at == dump.end() ? ThreadMatch::Missing : ThreadMatch::ThreadId;
    if (at != dump.end())
        found.threads.push_back(*at);
    return found;
}

QString threadText(const DumpedThread &thread)
{
    const auto call = lockCallIn(thread);
    const auto state = thread.state.isEmpty() ? u"in an unknown state"_s : harmless(thread.state);
    auto text =
        u"thread #%1 \"%2\", %3"_s.arg(QString::number(thread.number.value_or(0)), harmless(thread.name), state);
    if (call >= 0)
        text += u", in %1"_s.arg(harmless(thread.frames[call].section(u'(', 0, 0)));
    return text;
}

// From the caller of the lock's library; of a thread in no such call, from where it is.
QStringList frameLines(const DumpedThread &thread)
{
    const auto frames = thread.frames.mid(lockCallIn(thread) + 1);
    auto lines = mapped<QStringList>(frames.first(std::min(framesShown, frames.size())),
                                     [](const QString &frame) { return u"    at "_s + harmless(frame); });
    if (frames.size() > framesShown)
        lines << u"    … %1 more"_s.arg(frames.size() - framesShown);
    return lines;
}

QString matchText(const ContenderThreads &one)
{
    const auto who = u"%1 %2"_s.arg(one.role == Role::Holder ? u"holder"_s : u"waiter"_s, escaped(one.contender));
    switch (one.match) {
    case ThreadMatch::ThreadId: return u"%1: "_s.arg(who);
    case ThreadMatch::Missing:
        return u"%1: the dump has no thread #%2. That thread has ended, or the dump is of another process."_s.arg(
            who, QString::number(one.number));
    case ThreadMatch::Candidates: break;
    }
    if (one.threads.empty())
        return u"%1: its thread is not known. No thread of the dump waits in a call for a lock."_s.arg(who);
    if (one.role == Role::Holder)
        return u"%1: its thread is not known. If it waits for another lock, it is one of these."_s.arg(who);
    return one.threads.size() == 1 ? u"%1: one thread waits in a call for a lock."_s.arg(who)
                                   : u"%1: its thread is not known. These wait in a call for a lock."_s.arg(who);
}

} // namespace

Result<std::vector<DumpedThread>> readThreadDump(const QByteArray &text)
{
    std::vector<DumpedThread> threads;
    bool isInside = false;
    for (const auto &bytes : text.split('\n')) {
        const auto line = QString::fromUtf8(bytes);
        if (line.startsWith(u"Found ") && line.contains(u"deadlock")) // its stacks come a second time
            break;
        if (auto thread = headOfThread(line); thread && std::ssize(threads) < mostThreads) {
            threads.push_back(std::move(*thread));
            isInside = true;
        } else if (line.trimmed().isEmpty()) {
            isInside = false;
        } else if (isInside) {
            takeLine(threads.back(), line);
        }
    }
    if (std::ranges::none_of(threads, [](const DumpedThread &one) { return one.number.has_value(); }))
        return Error{ErrorCode::BadInput,
                     u"--thread-dump: this file has no thread with a number. Write it with jstack, "
                     u"kill -3 or jcmd Thread.dump_to_file of Java 8 or later"_s};
    return threads;
}

qsizetype lockCallIn(const DumpedThread &thread)
{
    for (auto at = thread.frames.size() - 1; at >= 0; --at) {
        if (isLockCall(thread.frames[at]))
            return at;
    }
    return -1;
}

Result<JoinedThreads> joinThreads(const LockSnapshot &lock, const std::vector<DumpedThread> &dump,
                                  const QString &client)
{
    TRY(auto chosen, chosenClient(lock, client));
    JoinedThreads joined{std::move(chosen), std::ssize(dump), {}};
    for (const auto &one : lock.contenders) {
        const auto thread = namedThread(one, lock.backend);
        if (processOf(one, thread) == joined.clientId)
            joined.contenders.push_back(threadsOf(one, thread, dump));
    }
    return joined;
}

QStringList threadLines(const JoinedThreads &joined)
{
    QStringList lines{u"The dump has %1. They are taken for those of client %2."_s.arg(
        amountOf(joined.threadCount, "thread"_L1, "threads"_L1), harmless(joined.clientId))};
    for (const auto &one : joined.contenders) {
        auto head = u"  "_s + matchText(one);
        if (one.match == ThreadMatch::ThreadId) {
            const auto &thread = one.threads.front();
            lines << head + threadText(thread);
            if (one.role == Role::Holder && waits(thread) && lockCallIn(thread) >= 0)
                lines << u"    %1"_s.arg(
                    u"It waits in a call for a lock: for another lock, or the dump is of another process."_s);
            lines << frameLines(thread);
            continue;
        }
        lines << head;
        for (const auto &thread : one.threads)
            lines << u"  "_s + threadText(thread) << frameLines(thread);
    }
    return lines;
}

QJsonObject toJson(const JoinedThreads &joined)
{
    static const QStringList matches{u"thread-id"_s, u"missing"_s, u"candidates"_s};
    QJsonArray contenders;
    for (const auto &one : joined.contenders) {
        QJsonArray threads;
        for (const auto &thread : one.threads) {
            const auto call = lockCallIn(thread);
            const auto stack = mapped<QStringList>(thread.frames, [](const auto &frame) { return harmless(frame); });
            threads.append(QJsonObject{{u"name"_s, harmless(thread.name)},
                                       {u"number"_s, thread.number ? QJsonValue(*thread.number) : QJsonValue()},
                                       {u"state"_s, harmless(thread.state)},
                                       {u"call"_s, call < 0 ? QJsonValue() : QJsonValue(stack[call])},
                                       {u"stack"_s, QJsonArray::fromStringList(stack)}});
        }
        contenders.append(QJsonObject{{u"id"_s, escaped(one.contender)},
                                      {u"role"_s, word(one.role)},
                                      {u"match"_s, matches.at(int(one.match))},
                                      {u"threads"_s, threads}});
    }
    return {{u"client"_s, harmless(joined.clientId)},
            {u"threadCount"_s, joined.threadCount},
            {u"contenders"_s, contenders}};
}

} // namespace lockscope::inspect
