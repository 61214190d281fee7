// SPDX-License-Identifier: Apache-2.0
// recognise: rules of the user's own, checked, and tried on every key; and how every command gets them.
#include "app/lockscopectl/output.h"
#include "core/base/text.h"
#include "core/inspect/json.h"

namespace lockscope::ctl {

namespace {

const auto rulesOption = u"rules"_s;

struct TriedOn {
    ConnectionName connection;
    RuleTrials tried;
};

// A rule, or a form of tokens.
struct Tried {
    QString name;
    QString file;
    bool isOfTable = false; // for SQL servers: it is not tried on keys
};

std::vector<Tried> everyRuleOf(const recipes::RuleSet &rules)
{
    std::vector<Tried> all;
    for (const auto &rule : rules.rules)
        all.push_back({rule.name, rule.file});
    for (const auto &form : rules.tokens)
        all.push_back({form.name(), form.file});
    for (const auto &table : rules.tables)
        all.push_back({table.name, table.file, true});
    return all;
}

qint64 countOf(const std::vector<TriedOn> &all, const Tried &rule, bool locks)
{
    qint64 count = 0;
    for (const auto &one : all)
        count += std::ranges::count_if(one.tried.trials, [&](const auto &trial) {
            return trial.rule == rule.name && trial.file == rule.file && trial.lock.has_value() == locks;
        });
    return count;
}

QString ttlWords(const inspect::LockSnapshot &lock)
{
    for (const auto &contender : lock.contenders) {
        if (contender.role == inspect::Role::Holder && contender.expiresAt)
            return formatDuration(*contender.expiresAt - lock.observed);
    }
    return u"-"_s;
}

void printTrials(const std::vector<TriedOn> &all)
{
    Table table(Table::columnsOf(u"~LOCK|RULE|STATE|~HOLDER|>WAITING|>TTL"_s));
    QStringList misfits;
    for (const auto &[connection, tried] : all) {
        for (const auto &trial : tried.trials) {
            const auto name = escaped(connection.bytes() + ':' + trial.key.bytes());
            const auto holder = trial.lock ? holderText(*trial.lock) : QString();
            if (trial.lock)
                table.add({name, shown(trial.rule), stateWord(*trial.lock), holder.isEmpty() ? u"-"_s : holder,
                           waitingWords(*trial.lock), ttlWords(*trial.lock)});
            else
                misfits << u"%1 is none by \"%2\": %3"_s.arg(name, shown(trial.rule), harmless(trial.misfit));
        }
    }
    if (!table.isEmpty())
        print(table.text(terminalWidth()));
    for (const auto &line : misfits)
        print(line);
}

QJsonObject answerOf(const std::vector<TriedOn> &all, const recipes::UserRules &rules, bool isTried)
{
    QJsonArray ruleArray, locks, misfits, coverage;
    for (const auto &rule : everyRuleOf(*rules)) {
        QJsonObject json{{u"name"_s, rule.name}, {u"file"_s, rule.file}};
        const bool isCounted = isTried && !rule.isOfTable;
        json[u"locks"_s] = isCounted ? QJsonValue(countOf(all, rule, true)) : QJsonValue(QJsonValue::Null);
        json[u"mismatches"_s] = isCounted ? QJsonValue(countOf(all, rule, false)) : QJsonValue(QJsonValue::Null);
        ruleArray.append(json);
    }
    for (const auto &[connection, tried] : all) {
        for (const auto &trial : tried.trials) {
            if (trial.lock)
                locks.append(inspect::toJson(*trial.lock));
            else
                misfits.append(QJsonObject{{u"lock"_s, escaped(connection.bytes() + ':' + trial.key.bytes())},
                                           {u"rule"_s, trial.rule},
                                           {u"why"_s, harmless(trial.misfit)}});
        }
        for (const auto &gap : tried.refused)
            coverage.append(QJsonObject{
                {u"connection"_s, escaped(connection.bytes())}, {u"complete"_s, false}, {u"message"_s, gap}});
    }
    return {{u"rules"_s, ruleArray}, {u"locks"_s, locks}, {u"mismatches"_s, misfits}, {u"coverage"_s, coverage}};
}

Task<Exit> tryAll(CommandContext &context, std::vector<TriedOn> &all)
{
    auto status = co_await connectAll(context);
    for (auto *link : context.workspace.links()) {
        const auto nodes = redisNodesOf(link);
        const auto name = link->spec().name;
        if (nodes.empty())
            printError(u"%1: only rules of Redis can be tried"_s.arg(escaped(name.bytes())));
        if (!link->isConnected())
            continue;
        for (auto *node : nodes) {
            auto tried = co_await tryRulesOn(node, name);
            if (!tried) {
                printError(u"%1: %2"_s.arg(escaped(name.bytes()), tried.error().message));
                status = Exit::Failed;
                continue;
            }
            if (tried->isCut)
                tried->refused << u"more keys fit than were tried"_s;
            all.push_back({name, std::move(*tried)});
        }
    }
    co_return status;
}

QString othersOfName(qint64 count)
{
    if (count == 0)
        return u"no other key has such a name"_s;
    return count == 1 ? u"1 more key has such a name, and is none"_s
                      : u"%1 more keys have such a name, and are none"_s.arg(count);
}

} // namespace

Task<Result<Exit>> runRecognise(CommandContext &context)
{
    const auto rules = recipes::userRules();
    if (rules->isEmpty())
        co_return fail(Error{ErrorCode::BadInput,
                             u"recognise: no rules: give --rules FILE, or put files into %1"_s.arg(ruleFolder())});
    std::vector<TriedOn> all;
    const auto status = co_await tryAll(context, all);
    const bool isTried = !all.empty();
    if (context.json) {
        printJson(answerOf(all, rules, isTried));
        co_return status;
    }
    printTrials(all);
    for (const auto &rule : everyRuleOf(*rules)) {
        const auto said = u"%1 (%2): "_s.arg(shown(rule.name), shown(rule.file));
        if (rule.isOfTable) {
            print(said + u"the rule is valid; \"locks\" shows its rows of MariaDB, MySQL and PostgreSQL"_s);
            continue;
        }
        print(isTried ? said + amountOf(countOf(all, rule, true), "lock"_L1, "locks"_L1) + u"; "_s
                            + othersOfName(countOf(all, rule, false))
                      : said + u"the rules are valid; not tested (no --connect given)"_s);
    }
    for (const auto &one : all) {
        for (const auto &gap : one.tried.refused)
            print(u"Incomplete: %1: %2"_s.arg(escaped(one.connection.bytes()), gap));
    }
    co_return status;
}

bool takeRules(const CommandSpec &command, const Arguments &arguments)
{
    if (!command.connects && !command.mayConnect)
        return true;
    const auto named = arguments.options.value(rulesOption);
    auto read = readRuleFiles(named);
    for (const auto &problem : read.problems)
        printError(problem.text());
    if (!read.problems.empty())
        return false;
    // Who tries a file wants to know what that one does.
    if (named.isEmpty() || command.observes || command.connects) {
        auto others = readRuleFiles(ruleFilesIn(ruleFolder()));
        for (const auto &problem : others.problems)
            printError(u"%1; the file is ignored"_s.arg(problem.text()));
        others.problems.clear();
        read.add(std::move(others));
    }
    if (!read.isEmpty())
        recipes::setUserRules(std::move(read));
    return true;
}

std::unique_ptr<RuleWatch> followRules(const Arguments &arguments)
{
    auto watch = std::make_unique<RuleWatch>(arguments.options.value(rulesOption));
    QObject::connect(watch.get(), &RuleWatch::problemsChanged, watch.get(), [](const QStringList &problems) {
        for (const auto &problem : problems)
            printError(u"%1; the file is ignored"_s.arg(problem));
    });
    QObject::connect(watch.get(), &RuleWatch::rulesChanged, watch.get(), [] {
        const auto rules = recipes::userRules();
        printError(u"custom rules changed and are in force: rules: %1; token formats: %2; tables: %3"_s.arg(
            QString::number(rules->rules.size()), QString::number(rules->tokens.size()),
            QString::number(rules->tables.size())));
    });
    return watch;
}

} // namespace lockscope::ctl
