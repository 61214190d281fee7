// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/settingsfile.h"

#include "core/base/fieldreader.h"
#include "core/base/text.h"

#include <QDir>
#include <QFileInfo>
#include <QJsonDocument>
#include <QSaveFile>
#include <QStandardPaths>

#include <array>

namespace lockscope {

namespace {
constexpr int settingsVersion = 1;
constexpr qint64 mostSettings = 16 << 20;
} // namespace

QString settingsPath(const QString &name)
{
    return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) + u"/lockscope/"_s + name;
}

Error badSetting(const QString &file, const QString &field, const QString &why)
{
    return {ErrorCode::BadInput,
            u"%1: %2: %3; nothing of this file is used, and it is left as it is"_s.arg(file, field, why)};
}

Result<QJsonObject> readSettings(const QString &file)
{
    if (!QFile::exists(file))
        return QJsonObject();
    const auto bytes = readRegularFile(file, mostSettings);
    if (!bytes)
        return Error{ErrorCode::BadInput, u"%1: %2"_s.arg(file, bytes.error().message)};
    QJsonParseError error{};
    const auto document = QJsonDocument::fromJson(*bytes, &error);
    if (!document.isObject())
        return badSetting(file, u"byte %1"_s.arg(error.offset),
                          error.error == QJsonParseError::NoError ? u"no JSON object"_s : error.errorString());
    const auto version = document[u"version"_s];
    if (!version.isDouble())
        return badSetting(file, u"version"_s, u"is missing"_s);
    if (version.toInt() != settingsVersion)
        return badSetting(file, u"version"_s,
                          u"%1 is not %2, the one that this version of Lockscope reads"_s.arg(
                              QString::number(version.toDouble()), QString::number(settingsVersion)));
    return document.object();
}

Result<void> writeSettings(const QString &file, QJsonObject settings)
{
    settings[u"version"_s] = settingsVersion;
    QDir().mkpath(QFileInfo(file).absolutePath());
    QSaveFile to(file);
    const bool isWritten = to.open(QFile::WriteOnly)
                           && to.setPermissions(QFileDevice::ReadOwner | QFileDevice::WriteOwner)
                           && to.write(QJsonDocument(settings).toJson()) >= 0 && to.commit();
    if (!isWritten)
        return Error{ErrorCode::Server, u"could not write %1: %2"_s.arg(file, to.errorString())};
    return {};
}

using inspect::ThresholdRule;
using inspect::ThresholdRules;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds leastThreshold = 1s;
constexpr milliseconds mostThreshold = 24h * 3650;
constexpr int mostUnusual = 100'000;

struct SpanField {
    QString name;
    std::optional<milliseconds> ThresholdRule::*value;
};
const std::array<SpanField, 2> &spanFields()
{
    static const std::array fields{SpanField{u"longHeld"_s, &ThresholdRule::longHeld},
                                   SpanField{u"longWait"_s, &ThresholdRule::longWait}};
    return fields;
}

// Why not, or nothing. `at`: "rules[2]." or nothing.
std::optional<std::pair<QString, QString>> readRule(const QJsonObject &json, const QString &at, ThresholdRule &rule)
{
    // A misspelt field would leave a threshold as it was without a word.
    const auto others = at.isEmpty() ? QStringList{u"version"_s, u"rules"_s} : QStringList{u"pattern"_s};
    for (const auto &key : json.keys()) {
        const bool isSpan = std::ranges::count(spanFields(), key, &SpanField::name) > 0;
        if (!isSpan && key != u"unusual"_s && !others.contains(key))
            return std::pair(at + key, u"is not known here"_s);
    }
    for (const auto &[name, value] : spanFields()) {
        if (!json.contains(name))
            continue;
        const auto span = parseDuration(json[name].toString());
        if (!span)
            return std::pair(at + name, u"must be a duration like \"90s\" or \"10m\""_s);
        rule.*value = *span;
    }
    if (const auto unusual = json[u"unusual"_s]; !unusual.isUndefined()) {
        if (!unusual.isDouble() || unusual.toDouble() != unusual.toInt())
            return std::pair(at + u"unusual"_s, u"must be a whole number"_s);
        rule.unusual = unusual.toInt();
    }
    const auto objection = objectionTo(rule);
    if (!objection.isEmpty())
        return std::pair(at + objection.section(u' ', 0, 0), objection.section(u' ', 1));
    return {};
}

QJsonObject ruleJson(const ThresholdRule &rule)
{
    QJsonObject json;
    if (!rule.pattern.isEmpty())
        json[u"pattern"_s] = rule.pattern;
    for (const auto &[name, value] : spanFields()) {
        if (rule.*value)
            json[name] = writtenDuration(*(rule.*value));
    }
    if (rule.unusual)
        json[u"unusual"_s] = *rule.unusual;
    return json;
}

} // namespace

QString thresholdFile()
{
    return settingsPath(u"thresholds.json"_s);
}

QString writtenDuration(milliseconds span)
{
    if (span % 1h == 0ms)
        return u"%1h"_s.arg(span / 1h);
    if (span % 1min == 0ms)
        return u"%1m"_s.arg(span / 1min);
    return span % 1s == 0ms ? u"%1s"_s.arg(span / 1s) : u"%1ms"_s.arg(span.count());
}

QString objectionTo(const ThresholdRule &rule)
{
    for (const auto &[name, value] : spanFields()) {
        if (rule.*value && (*(rule.*value) < leastThreshold || *(rule.*value) > mostThreshold))
            return u"%1 must be at least 1s and at most ten years"_s.arg(name);
    }
    if (rule.unusual && *rule.unusual != 0 && (*rule.unusual < 2 || *rule.unusual > mostUnusual))
        return u"unusual must be from 2 to %1, or 0 for never"_s.arg(mostUnusual);
    return {};
}

Result<ThresholdRules> readThresholds(const QString &file)
{
    TRY(const auto &settings, readSettings(file));
    ThresholdRules read;
    ThresholdRule usual;
    if (const auto why = readRule(settings, {}, usual))
        return badSetting(file, why->first, why->second);
    read.usual.longHeld = usual.longHeld.value_or(read.usual.longHeld);
    read.usual.longWait = usual.longWait.value_or(read.usual.longWait);
    read.usual.unusual = usual.unusual.value_or(read.usual.unusual);
    const auto rules = settings.value("rules"_L1);
    if (!rules.isUndefined() && !rules.isArray())
        return badSetting(file, u"rules"_s, u"must be an array"_s);
    const auto array = rules.toArray();
    for (qsizetype i = 0; i < array.size(); ++i) {
        const auto at = u"rules[%1]."_s.arg(i);
        ThresholdRule rule;
        rule.pattern = array[i].toObject().value("pattern"_L1).toString();
        if (rule.pattern.isEmpty())
            return badSetting(file, at + u"pattern"_s, u"must be a glob for lock names, or CONNECTION:GLOB"_s);
        if (const auto why = readRule(array[i].toObject(), at, rule))
            return badSetting(file, why->first, why->second);
        read.rules.push_back(std::move(rule));
    }
    return read;
}

Result<void> writeThresholds(const ThresholdRules &rules, const QString &file)
{
    auto settings = ruleJson({{}, rules.usual.longHeld, rules.usual.longWait, rules.usual.unusual});
    const auto array = mapped<QJsonArray>(rules.rules, [&](const auto &rule) { return ruleJson(rule); });
    settings[u"rules"_s] = array;
    return writeSettings(file, settings);
}

namespace {

constexpr qint64 mostReadOfLabels = 1 << 20;

bool isComment(const QString &line)
{
    return line.trimmed().startsWith(u'#');
}

// What a user wrote there besides labels: comments, and lines that are to be corrected.
QByteArrayList otherLinesOf(const QString &file)
{
    QByteArrayList others;
    const auto bytes = readRegularFile(file, mostReadOfLabels);
    if (!bytes)
        return others;
    for (const auto &line : bytes->split('\n')) {
        const auto text = QString::fromUtf8(line);
        if (!text.trimmed().isEmpty() && (isComment(text) || !inspect::readClientLabel(text.trimmed())))
            others << line;
    }
    return others;
}

} // namespace

QString clientLabelFile()
{
    return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) + u"/lockscope/labels"_s;
}

std::vector<inspect::ClientLabel> savedClientLabels(const QString &file, QString *problem)
{
    std::vector<inspect::ClientLabel> labels;
    const auto bytes = readRegularFile(file, mostReadOfLabels);
    if (!bytes) {
        if (problem && QFile::exists(file))
            *problem = u"%1: %2; its labels are not used"_s.arg(file, bytes.error().message);
        return labels;
    }
    QStringList unread;
    const auto lines = QString::fromUtf8(*bytes).split(u'\n');
    for (qsizetype i = 0; i < lines.size(); ++i) {
        const auto line = lines[i].trimmed();
        if (line.isEmpty() || isComment(line))
            continue;
        if (const auto label = inspect::readClientLabel(line))
            labels.push_back(*label);
        else
            unread << QString::number(i + 1);
    }
    if (problem && unread.size() == 1)
        *problem =
            u"%1: line %2 is ignored; write PATTERN=NAME, for example 10.0.3.7:*=billing"_s.arg(file, unread.front());
    else if (problem && !unread.isEmpty())
        *problem = u"%1: lines %2 are ignored; write PATTERN=NAME, for example 10.0.3.7:*=billing"_s.arg(
            file, unread.join(u", "_s));
    return labels;
}

Result<void> saveClientLabels(const std::vector<inspect::ClientLabel> &labels, const QString &file)
{
    auto all = savedClientLabels(file);
    for (const auto &label : labels) {
        std::erase_if(all, [&label](const auto &one) { return one.pattern == label.pattern; });
        all.push_back(label);
    }
    return writeClientLabels(all, file);
}

Result<void> writeClientLabels(const std::vector<inspect::ClientLabel> &labels, const QString &file)
{
    const auto others = otherLinesOf(file);
    if (!QDir().mkpath(QFileInfo(file).absolutePath()))
        return Error{ErrorCode::Server, u"cannot make the folder of %1"_s.arg(file)};
    QSaveFile to(file);
    if (!to.open(QFile::WriteOnly))
        return Error{ErrorCode::Server, u"cannot write %1: %2"_s.arg(file, to.errorString())};
    for (const auto &line : others)
        to.write(line + '\n');
    for (const auto &label : labels)
        to.write(label.pattern + '=' + label.name.toUtf8() + '\n');
    return to.commit() ? Result<void>()
                       : Error{ErrorCode::Server, u"cannot write %1: %2"_s.arg(file, to.errorString())};
}

} // namespace lockscope
