// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/rulefolder.h"

#include "core/base/regularfile.h"
#include "core/workspace/settingsfile.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QFileSystemWatcher>

#include <algorithm>

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
    QStringList files;
    for (const auto &name : directory.entryList({u"*.json"_s, u"*.toml"_s}, QDir::Files, QDir::Name))
        files << directory.filePath(name);
    return files;
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
    QStringList problems;
    for (const auto &problem : read.problems)
        problems << problem.text();
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

} // namespace lockscope

#include "moc_rulefolder.cpp"
