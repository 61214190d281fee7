// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/findingalerts.h"

#include "app/lockscopectl/output.h"
#include "core/async/sleep.h"
#include "core/base/duration.h"
#include "core/base/connectionuri.h"
#include "core/inspect/json.h"

#include <QJsonDocument>

#include <algorithm>

namespace lockscope::ctl {

using inspect::FindingCode;
using inspect::Severity;
using namespace std::chrono_literals;

constexpr auto lookEvery = 1s;
constexpr auto execEvery = 10s;
constexpr auto execWithin = 30s;
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
    return state != states.end() && state->isConnected && state->isLookedThrough;
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
    m_next.setSingleShot(true);
    m_timeout.setSingleShot(true);
    QObject::connect(&m_next, &QTimer::timeout, &m_next, [this] { startNext(); });
    QObject::connect(&m_timeout, &QTimer::timeout, &m_process, &QProcess::kill);
    QObject::connect(&m_process, &QProcess::finished, &m_next,
                     [this](int status, QProcess::ExitStatus how) { onEnd(status, how); });
    QObject::connect(&m_process, &QProcess::errorOccurred, &m_next, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            onEnd(127, QProcess::NormalExit);
    });
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
    if (!m_next.isActive())
        startNext();
    if (m_idle && m_process.state() == QProcess::NotRunning && m_began.isEmpty() && m_ended.isEmpty())
        m_idle->complete(true);
}

Completion<bool> AlertCommand::whenIdle(Loop &loop)
{
    m_idle.emplace(loop);
    if (m_process.state() == QProcess::NotRunning && m_began.isEmpty() && m_ended.isEmpty())
        m_idle->complete(true);
    return *m_idle;
}

namespace {

// Drops the findings of locks that a server is only asked about from time to time, and that are over by now: each of
// those that `isAsked` is read once more.
Task<void> dropOver(CommandContext *context, FindingsLook *look, std::function<bool(const FoundFinding &)> isAsked)
{
    constexpr int mostReads = 100;
    int reads = 0;
    std::vector<FoundFinding> all;
    for (auto &found : look->all) {
        const bool isRead = found.locks.size() == 1 && !found.ended && found.finding.code != FindingCode::Deadlock;
        if (!isRead || !isAsked(found) || ++reads > mostReads) {
            all.push_back(std::move(found));
            continue;
        }
        const auto now = co_await context->pictures.read(found.locks.front(), requestDeadline(*context));
        const bool isOver = now ? std::ranges::count(now->findings, found.finding.code, &inspect::Finding::code) == 0
                                : now.error().code == ErrorCode::NoNode;
        if (!isOver)
            all.push_back(std::move(found));
    }
    look->all = std::move(all);
}

} // namespace

Task<FindingsLook> lookForLastingFindings(CommandContext &context, AlertOptions options)
{
    auto &loop = context.loop();
    const auto end = loop.now() + options.lasting;
    auto look = co_await lookForFindings(context);
    if (options.lasting <= 0ms)
        co_return look;
    const auto isKnown = [&context](const ConnectionName &name) { return isRead(context, name); };
    LastingFindings lasting;
    lasting.see(look.all, loop.now(), isKnown);
    while (loop.now() < end && !lasting.isEmpty()) {
        const auto woken = sleepUntil(loop, std::min<Instant>(end, loop.now() + lookEvery));
        (void)co_await woken;
        look = co_await lookForFindings(context);
        lasting.see(look.all, loop.now(), isKnown);
    }
    std::erase_if(look.all, [&](const FoundFinding &found) {
        return lasting.lasts(LastingFindings::keyOf(found), loop.now()) < options.lasting;
    });
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
    QJsonObject json;
    std::set<ConnectionName> connections;
};

// Without what only counts time, and what is not the finding's own.
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

    // It will be reported as one that began, should it be there still.
    [[nodiscard]] bool isNews(const FoundFinding &found) const
    {
        const auto key = LastingFindings::keyOf(found);
        return !m_reported.contains(key)
               && m_lasting.lasts(key, m_context.loop().now()) + lookEvery >= m_options.lasting;
    }

    // False: our lines have no reader any more.
    bool see(const FindingsLook &look)
    {
        const auto now = m_context.loop().now();
        const auto isKnown = [this](const ConnectionName &name) { return isRead(m_context, name); };
        m_lasting.see(look.all, now, isKnown);
        QJsonArray began, ended;
        bool isWritten = true;
        std::map<LastingFindings::Key, ReportedFinding> reported;
        for (const auto &found : look.all) {
            const auto key = LastingFindings::keyOf(found);
            if (found.muted || found.finding.severity < m_options.least
                || m_lasting.lasts(key, now) < m_options.lasting)
                continue;
            ReportedFinding one{findingJson(found), {found.connection}};
            for (const auto &lock : found.locks)
                one.connections.insert(lock.connection);
            const auto before = m_reported.find(key);
            if (before == m_reported.end())
                began.append(one.json);
            if (before == m_reported.end() || isChanged(before->second.json, one.json))
                isWritten &= print(before == m_reported.end() ? u"began"_s : u"changed"_s, one.json);
            reported.insert_or_assign(key, std::move(one));
        }
        for (auto &[key, before] : m_reported) {
            if (reported.contains(key))
                continue;
            const bool isUnknown = std::ranges::any_of(
                before.connections, [&](const auto &name) { return !name.isEmpty() && !isKnown(name); });
            if (isUnknown) { // a connection that broke ends no finding
                reported.insert_or_assign(key, std::move(before));
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
    std::map<LastingFindings::Key, ReportedFinding> m_reported;
    bool m_wasWhole = true;
    Instant m_incompleteSince{}; // none while everything is read
};

} // namespace

Task<Exit> watchFindings(CommandContext &context, AlertOptions options)
{
    const Completion<bool> ended(context.loop());
    context.interrupts.setHandler([ended](Interrupt) { ended.complete(true); });
    const auto looked = co_await context.pictures.look(context);
    if (looked != Exit::Done && looked != Exit::TimedOut)
        co_return looked;
    FindingsWatch watch(context, options);
    while (!ended.isComplete()) {
        auto look = co_await lookForFindings(context);
        auto dropped = dropOver(&context, &look, [&watch](const FoundFinding &found) { return watch.isNews(found); });
        co_await dropped;
        if (!watch.see(look))
            break;
        const Completion<bool> woken(context.loop());
        ended.then([woken](bool) { woken.complete(true); });
        woken.completeAt(Deadline::after(context.loop(), lookEvery), false);
        (void)co_await woken;
    }
    co_return Exit::Done;
}

} // namespace lockscope::ctl
