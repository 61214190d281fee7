// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/rulefolder.h"

#include "core/inspect/redis/observerreader.h"
#include "core/workspace/settingsfile.h"

#include <QDir>
#include <QFileInfo>
#include <QFileSystemWatcher>

namespace lockscope {

namespace {
constexpr qint64 mostOfRuleFile = (1 << 20) + 1; // longer ones are refused
constexpr std::chrono::milliseconds writtenWithin(200);

// Each file's name and text, so that two readings can be compared.
QByteArray textsOfFiles(const QStringList &files)
{
    QByteArray all;
    for (const auto &path : files) {
        const auto text = readRegularFile(path, mostOfRuleFile);
        all += path.toUtf8() + '\0' + (text ? *text : text.error().message.toUtf8()) + '\0';
    }
    return all;
}
} // namespace

QString ruleFolder()
{
    return settingsPath(u"rules"_s);
}

QStringList ruleFilesIn(const QString &folder)
{
    const QDir directory(folder);
    return mapped<QStringList>(directory.entryList({u"*.json"_s, u"*.toml"_s}, QDir::Files, QDir::Name),
                               [&](const auto &name) { return directory.filePath(name); });
}

recipes::RuleFile readRuleFiles(const QStringList &files)
{
    recipes::RuleFile all;
    for (const auto &path : files) {
        const auto text = readRegularFile(path, mostOfRuleFile);
        if (!text) {
            all.problems.push_back({path, 0, {}, text.error().message});
            continue;
        }
        auto read = recipes::readRuleFile(*text, path);
        for (auto &rule : read.rules)
            rule.file = QFileInfo(path).fileName();
        for (auto &form : read.tokens)
            form.file = QFileInfo(path).fileName();
        all.add(std::move(read));
    }
    return all;
}

RuleWatch::RuleWatch(QStringList files, QString folder, QObject *parent)
    : QObject(parent), m_files(std::move(files)), m_folder(std::move(folder)), m_watcher(new QFileSystemWatcher(this))
{
    m_soon.setSingleShot(true);
    m_soon.setInterval(writtenWithin);
    connect(&m_soon, &QTimer::timeout, this, &RuleWatch::load);
    const auto later = [this] { m_soon.start(); };
    connect(m_watcher, &QFileSystemWatcher::fileChanged, this, later);
    connect(m_watcher, &QFileSystemWatcher::directoryChanged, this, later);
    load();
}

void RuleWatch::load()
{
    watch();
    const auto files = m_files + ruleFilesIn(m_folder);
    auto texts = textsOfFiles(files);
    const bool isFirst = !std::exchange(m_hasRead, true);
    if (!isFirst && texts == m_read)
        return; // other settings lie beside them
    m_read = std::move(texts);
    auto read = readRuleFiles(files);
    // What was in force without a rule stays so: each set makes observers look again.
    const auto problems = mapped<QStringList>(read.problems, [&](const auto &problem) { return problem.text(); });
    const bool isAnother = !read.isEmpty() || !recipes::userRules()->isEmpty();
    if (isAnother)
        recipes::setUserRules(std::move(read));
    if (std::exchange(m_problems, problems) != problems)
        emit problemsChanged(m_problems);
    if (isAnother && !isFirst)
        emit rulesChanged();
}

// A file that was replaced is another file; a folder that is not there shows when it appears in the nearest above.
void RuleWatch::watch()
{
    auto paths = m_files + ruleFilesIn(m_folder);
    auto above = QFileInfo(m_folder).absolutePath();
    while (!QFileInfo::exists(above) && above != QFileInfo(above).absolutePath())
        above = QFileInfo(above).absolutePath();
    for (const auto &folder : {m_folder, above}) {
        if (QFileInfo::exists(folder))
            paths << folder;
    }
    for (const auto &path : paths) {
        if (!m_watcher->files().contains(path) && !m_watcher->directories().contains(path) && QFileInfo::exists(path))
            m_watcher->addPath(path);
    }
}

namespace {

using inspect::KeyReader;

constexpr size_t mostTrials = 10'000;

// A form of tokens without a key is about all there are.
bool isToBeTried(const QByteArray &key)
{
    const auto rules = recipes::userRules();
    return !recipes::rulesFitting(key).empty() || recipes::isKeyOfTokenForm(key)
           || std::ranges::any_of(rules->tokens, [](const auto &form) { return !form.key; });
}

inspect::RedisContext contextOf(const ConnectionName &name, const KeyReader &reader)
{
    inspect::RedisContext context;
    context.connection = name;
    context.observed = reader.clock().now;
    context.serverAhead = reader.clock().ahead;
    return context;
}

Task<Result<void>> tryKeys(KeyReader *reader, ConnectionName name, std::vector<RedisKey> keys, RuleTrials *out)
{
    CO_TRY(auto &looked, co_await reader->look(std::move(keys)));
    std::erase_if(looked, [](const auto &view) { return view.type == inspect::KeyType::None; });
    CO_TRY(auto &gathered, co_await reader->gather(std::move(looked)));
    const auto context = contextOf(name, *reader);
    for (const auto &one : gathered) {
        auto trials = inspect::tryUserRules(one.main, one.companions, context);
        const bool isByRule = std::ranges::any_of(trials, [](const auto &trial) { return trial.lock.has_value(); });
        std::ranges::move(trials, std::back_inserter(out->trials));
        auto byToken = isByRule ? std::nullopt : inspect::tryUserTokenForms(one.main, one.companions, context);
        if (byToken)
            out->trials.push_back(std::move(*byToken));
    }
    co_return Result<void>();
}

} // namespace

Task<Result<RuleTrials>> tryRulesOn(redis::Connection *connection, ConnectionName name)
{
    RuleTrials out;
    inspect::Refusals refusals;
    KeyReader reader(*connection, refusals);
    std::set<RedisKey> seen; // SCAN may name a key twice
    QByteArray cursor = "0";
    do {
        std::vector<redis::Command> commands;
        commands.push_back(redis::Command{"SCAN", cursor, "COUNT", "1000"});
        CO_TRY(auto &got, co_await reader.send(std::move(commands)));
        const auto &answer = got.front();
        if (answer.isError() || answer.items.size() != 2)
            co_return Error{ErrorCode::NoPermission, u"SCAN refused: "_s + label(answer.text), false};
        std::vector<RedisKey> keys;
        for (const auto &item : answer.items[1].items) {
            RedisKey key(item.text);
            ++out.keys;
            if (seen.size() < mostTrials && isToBeTried(item.text) && seen.insert(key).second)
                keys.push_back(std::move(key));
        }
        cursor = answer.items[0].text;
        if (!keys.empty()) {
            CO_TRY_VOID(co_await tryKeys(&reader, name, std::move(keys), &out));
        }
    } while (cursor != "0");
    out.isCut = seen.size() >= mostTrials;
    for (const auto &message : refusals.messages())
        out.refused << message;
    std::ranges::stable_sort(out.trials, {}, &inspect::RuleTrial::key);
    co_return std::move(out);
}

} // namespace lockscope

#include "moc_rulefolder.cpp"
