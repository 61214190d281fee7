// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/findingalerts.h"

#include "app/lockscopectl/output.h"
#include "core/base/text.h"
#include "core/inspect/json.h"

#include <QJsonDocument>

#include <csignal>

namespace lockscope::ctl {

using inspect::FindingCode;
using inspect::Severity;
using namespace std::chrono_literals;

constexpr auto lookEvery = 1s;
constexpr auto execEvery = 10s;
constexpr auto execWithin = 30s;
constexpr auto rereadWithin = 5s;
constexpr auto incompleteFor = 10s; // a first look is over by then

namespace {

Result<Severity> severityOf(const CommandContext &context, const QString &option, const QStringList &words)
{
    const auto word = context.arguments.value(option, words.front());
    const QStringList all{u"info"_s, u"warning"_s, u"critical"_s};
    if (!words.contains(word))
        return Error{ErrorCode::BadInput, u"findings: --%1 takes %2 or %3"_s.arg(
                                              option, words.first(words.size() - 1).join(u", "_s), words.back())};
    return static_cast<Severity>(all.indexOf(word));
}

// What was not read could be worse than what was.
bool isComplete(CommandContext &context)
{
    const auto coverage = context.pictures.coverage();
    return std::ranges::all_of(coverage, &inspect::Coverage::complete);
}

bool isRead(CommandContext &context, const ConnectionName &name)
{
    const auto states = context.pictures.connections();
    const auto state = std::ranges::find(states, name, &inspect::LinkState::name);
    return state != states.end() && state->isConnected && state->isLookedThrough
           && context.pictures.isReadAgain(name);
}

} // namespace

Result<AlertOptions> alertOptionsOf(const CommandContext &context)
{
    AlertOptions options;
    TRY(options.least, severityOf(context, u"severity"_s, {u"info"_s, u"warning"_s, u"critical"_s}));
    if (context.has(u"fail-on"_s)) {
        TRY(options.failOn, severityOf(context, u"fail-on"_s, {u"warning"_s, u"critical"_s}));
    }
    if (context.has(u"for"_s)) {
        TRY(options.lasting, parseDuration(context.arguments.value(u"for"_s)));
    }
    options.command = context.arguments.value(u"exec"_s);
    for (const auto &option : {u"for"_s, u"exec"_s, u"watch"_s}) {
        if (context.has(option) && context.pictures.recorded())
            return Error{ErrorCode::BadInput, u"findings: --%1 follows servers; a recording is over"_s.arg(option)};
    }
    if (!options.command.isEmpty() && !context.has(u"watch"_s) && !options.failOn)
        return Error{ErrorCode::BadInput, u"findings: --exec needs --watch or --fail-on"_s};
    return options;
}

AlertCommand::AlertCommand(QString command) : m_command(std::move(command))
{
    m_process.setProgram(u"/bin/sh"_s);
    m_process.setArguments({u"-c"_s, m_command});
    m_process.setProcessEnvironment(environmentWithoutPasswords());
    m_process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    m_process.setChildProcessModifier(
        [] { (void)::setpgid(0, 0); }); // what it starts is of its group, and ends with it
    m_next.setSingleShot(true);
    m_timeout.setSingleShot(true);
    QObject::connect(&m_next, &QTimer::timeout, &m_next, [this] { startNext(); });
    QObject::connect(&m_timeout, &QTimer::timeout, &m_process, [this] { killAll(); });
    QObject::connect(&m_process, &QProcess::finished, &m_next,
                     [this](int status, QProcess::ExitStatus how) { onEnd(status, how); });
    QObject::connect(&m_process, &QProcess::errorOccurred, &m_next, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            onEnd(127, QProcess::NormalExit);
    });
}

AlertCommand::~AlertCommand()
{
    QObject::disconnect(&m_process, nullptr, nullptr, nullptr);
    killAll();
    m_process.waitForFinished(1000);
}

void AlertCommand::killAll()
{
    if (m_process.processId() > 0) // 0 would be ourselves
        ::kill(-static_cast<pid_t>(m_process.processId()), SIGKILL);
}

void AlertCommand::tell(const QJsonArray &began, const QJsonArray &ended)
{
    if (m_command.isEmpty() || (began.isEmpty() && ended.isEmpty()))
        return;
    const auto keep = [this](QJsonArray &to, const QJsonArray &more) {
        for (const auto &finding : more) {
            if (to.size() < most)
                to.append(finding);
            else
                ++m_omitted;
        }
    };
    keep(m_began, began);
    keep(m_ended, ended);
    if (!m_next.isActive() && m_process.state() == QProcess::NotRunning)
        startNext();
}

void AlertCommand::startNext()
{
    if (m_process.state() != QProcess::NotRunning || (m_began.isEmpty() && m_ended.isEmpty()))
        return;
    const QJsonObject object{{u"schema"_s, u"lockscope/1"_s},
                             {u"began"_s, std::exchange(m_began, {})},
                             {u"ended"_s, std::exchange(m_ended, {})},
                             {u"omitted"_s, std::exchange(m_omitted, 0)}};
    m_next.start(execEvery);
    m_timeout.start(execWithin);
    m_process.start();
    m_process.write(QJsonDocument(object).toJson(QJsonDocument::Compact) + '\n');
    m_process.closeWriteChannel();
}

void AlertCommand::onEnd(int status, QProcess::ExitStatus how)
{
    const bool wasKilled = !m_timeout.isActive();
    m_timeout.stop();
    if (how == QProcess::CrashExit)
        printError(wasKilled ? u"--exec: the program ran for 30 s and was killed"_s
                             : u"--exec: the program was ended by a signal"_s);
    else if (status != 0)
        printError(u"--exec: the program ended with status %1"_s.arg(status));
    if (!m_next.isActive() || m_idle)
        startNext();
    if (m_idle && m_process.state() == QProcess::NotRunning && m_began.isEmpty() && m_ended.isEmpty())
        m_idle->complete(true);
}

Completion<bool> AlertCommand::whenIdle(Loop &loop)
{
    m_idle.emplace(loop);
    startNext(); // what waits for its turn need not wait any more
    if (m_process.state() == QProcess::NotRunning && m_began.isEmpty() && m_ended.isEmpty())
        m_idle->complete(true);
    return *m_idle;
}

namespace {

// Whether the lock that was just read has the finding no longer.
bool isOver(const FoundFinding &found, const Result<inspect::LockSnapshot> &now)
{
    if (!now)
        return now.error().code == ErrorCode::NoNode;
    return std::ranges::none_of(now->findings, [&found](const inspect::Finding &finding) {
        const auto isShared = [&finding](const auto &contender) {
            return std::ranges::count(finding.contenders, contender.second) > 0;
        };
        return finding.code == found.finding.code
               && (found.contenders.empty() || std::ranges::any_of(found.contenders, isShared));
    });
}

// Drops what is over by now of Redis, where a key may be read again only after a while: each key of a finding that
// `isAsked` is read once more. What cannot be read in time stays.
Task<void> dropOver(CommandContext *context, FindingsLook *look, std::function<bool(const FoundFinding &)> isAsked)
{
    const auto deadline = Deadline::after(context->loop(), rereadWithin);
    std::set<inspect::LockName> ofRedis;
    for (const auto &lock : look->locks) {
        if (lock.backend == BackendKind::Redis)
            ofRedis.insert(lock.lock);
    }
    std::vector<FoundFinding> all;
    for (auto &found : look->all) {
        const bool isRead = found.locks.size() == 1 && ofRedis.contains(found.locks.front())
                            && found.finding.code != FindingCode::Deadlock;
        if (!isRead || !isAsked(found) || deadline.hasPassed(context->loop())) {
            all.push_back(std::move(found));
            continue;
        }
        const auto now = co_await context->pictures.read(found.locks.front(), deadline);
        if (!isOver(found, now))
            all.push_back(std::move(found));
    }
    look->all = std::move(all);
}

} // namespace

Task<FindingsLook> lookForLastingFindings(CommandContext &context, AlertOptions options)
{
    auto &loop = context.loop();
    auto look = co_await lookForFindings(context);
    if (options.lasting <= 0ms)
        co_return look;
    const auto isKnown = [&context](const ConnectionName &name) { return isRead(context, name); };
    LastingFindings lasting;
    const auto first = loop.now();
    auto now = first;
    auto numbers = lasting.see(look.all, now, isKnown);
    while (now - first < options.lasting && !lasting.isEmpty()) {
        const auto woken = sleepUntil(loop, std::min<Instant>(first + options.lasting, now + lookEvery));
        (void)co_await woken;
        look = co_await lookForFindings(context);
        now = loop.now();
        numbers = lasting.see(look.all, now, isKnown);
    }
    std::vector<FoundFinding> all;
    for (std::size_t i = 0; i < look.all.size(); ++i) {
        if (lasting.lasts(numbers[i], now) >= options.lasting)
            all.push_back(std::move(look.all[i]));
    }
    look.all = std::move(all);
    auto dropped = dropOver(&context, &look, [](const FoundFinding &) { return true; });
    co_await dropped;
    co_return look;
}

Exit alertStatus(CommandContext &context, const AlertOptions &options, const FindingsLook &look, Exit looked)
{
    if (!options.failOn)
        return looked;
    auto worst = Severity::Info;
    for (const auto &found : look.all) {
        if (!found.muted)
            worst = std::max(worst, found.finding.severity);
    }
    if (worst == Severity::Critical)
        return Exit::Critical;
    if (looked != Exit::Done || !isComplete(context))
        return Exit::Unknown;
    return worst >= *options.failOn ? Exit::Warning : Exit::Done;
}

QJsonArray failingJson(const AlertOptions &options, const FindingsLook &look)
{
    QJsonArray failing;
    for (const auto &found : look.all) {
        if (!found.muted && found.finding.severity >= options.failOn.value_or(Severity::Critical))
            failing.append(findingJson(found));
    }
    return failing;
}

namespace {

struct ReportedFinding {
    FindingCode code{};
    std::vector<inspect::LockName> locks;
    QJsonObject json;
    std::set<ConnectionName> connections;
};

// The message is left out: it counts time.
bool isChanged(QJsonObject before, QJsonObject now)
{
    before.remove(u"message"_s);
    now.remove(u"message"_s);
    return before != now;
}

class FindingsWatch {
public:
    FindingsWatch(CommandContext &context, const AlertOptions &options)
        : m_context(context), m_options(options), m_command(options.command)
    {
    }

    // What is not reported yet, and what will not be for its severity or a mute.
    [[nodiscard]] bool isNews(const FoundFinding &found) const
    {
        return isWanted(found) && std::ranges::none_of(m_reported, [&found](const auto &reported) {
                   return reported.second.code == found.finding.code && reported.second.locks == found.locks;
               });
    }

    // False: our lines have no reader any more.
    bool see(const FindingsLook &look)
    {
        const auto now = m_context.loop().now();
        const auto isKnown = [this](const ConnectionName &name) { return isRead(m_context, name); };
        const auto numbers = m_lasting.see(look.all, now, isKnown);
        QJsonArray began, ended;
        bool isWritten = true;
        std::map<LastingFindings::Number, ReportedFinding> reported;
        for (std::size_t i = 0; i < look.all.size(); ++i) {
            const auto &found = look.all[i];
            // There is no lock to read again before it is reported: it has to last, a client may just begin to wait.
            const auto least = std::max<Duration>(m_options.lasting, found.locks.empty() ? 2 * lookEvery : 0s);
            if (!isWanted(found) || m_lasting.lasts(numbers[i], now) < least)
                continue;
            ReportedFinding one{found.finding.code, found.locks, findingJson(found), connectionsOf(found)};
            const auto before = m_reported.find(numbers[i]);
            if (before == m_reported.end())
                began.append(one.json);
            if (before == m_reported.end() || isChanged(before->second.json, one.json))
                isWritten &= print(before == m_reported.end() ? u"began"_s : u"changed"_s, one.json);
            reported.insert_or_assign(numbers[i], std::move(one));
        }
        for (auto &[number, before] : m_reported) {
            if (reported.contains(number))
                continue;
            if (!std::ranges::all_of(before.connections, isKnown)) { // a connection that broke ends no finding
                reported.insert_or_assign(number, std::move(before));
                continue;
            }
            ended.append(before.json);
            isWritten &= print(u"ended"_s, before.json);
        }
        m_reported = std::move(reported);
        m_command.tell(began, ended);
        return isWritten && printCoverage();
    }
    [[nodiscard]] AlertCommand &command() { return m_command; }

private:
    [[nodiscard]] bool isWanted(const FoundFinding &found) const
    {
        return !found.muted && found.finding.severity >= m_options.least;
    }
    [[nodiscard]] bool print(const QString &event, const QJsonObject &finding) const
    {
        return printJsonLine(QJsonObject{
            {u"time"_s, inspect::isoTime(m_context.pictures.now())}, {u"event"_s, event}, {u"finding"_s, finding}});
    }

    // What is not read may hide a finding: a line when that lasts and when it ends.
    bool printCoverage()
    {
        const bool isWhole = isComplete(m_context);
        const auto now = m_context.loop().now();
        if (isWhole || m_incompleteSince == Instant())
            m_incompleteSince = isWhole ? Instant() : now;
        const bool lasts = !isWhole && now - m_incompleteSince >= incompleteFor;
        if ((isWhole || lasts) && std::exchange(m_wasWhole, isWhole) != isWhole)
            return printCoverageLine(isWhole);
        return true;
    }

    [[nodiscard]] bool printCoverageLine(bool isWhole) const
    {
        return printJsonLine(QJsonObject{{u"time"_s, inspect::isoTime(m_context.pictures.now())},
                                         {u"event"_s, isWhole ? u"complete"_s : u"incomplete"_s},
                                         {u"coverage"_s, coverageJson(m_context)}});
    }

    CommandContext &m_context;
    const AlertOptions m_options;
    AlertCommand m_command;
    LastingFindings m_lasting;
    std::map<LastingFindings::Number, ReportedFinding> m_reported;
    bool m_wasWhole = true;
    Instant m_incompleteSince{}; // none while everything is read
};

} // namespace

Task<Exit> watchFindings(CommandContext &context, AlertOptions options)
{
    const UntilInterrupted untilInterrupted(context.loop(), context.interrupts);
    const auto looked = co_await context.pictures.look(context);
    if (!context.pictures.isAnySeen())
        co_return looked;
    FindingsWatch watch(context, options);
    while (!untilInterrupted.isOver()) {
        auto look = co_await lookForFindings(context);
        auto dropped = dropOver(&context, &look, [&watch](const FoundFinding &found) { return watch.isNews(found); });
        co_await dropped;
        if (!watch.see(look))
            break;
        const auto rested = untilInterrupted.pause(lookEvery);
        (void)co_await rested;
    }
    // What began or ended is passed on. A second interrupt does not wait for it.
    const auto idle = watch.command().whenIdle(context.loop());
    context.interrupts.setHandler([idle](Interrupt) { idle.complete(false); });
    idle.completeAt(Deadline::after(context.loop(), execWithin), false);
    (void)co_await idle;
    co_return Exit::Done;
}

} // namespace lockscope::ctl
