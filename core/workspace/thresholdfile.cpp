// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/thresholdfile.h"

#include "core/base/duration.h"
#include "core/workspace/settingsfile.h"

#include <QJsonArray>

#include <algorithm>
#include <array>

namespace lockscope {

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
    QJsonArray array;
    for (const auto &rule : rules.rules)
        array.append(ruleJson(rule));
    settings[u"rules"_s] = array;
    return writeSettings(file, settings);
}

} // namespace lockscope
