// SPDX-License-Identifier: Apache-2.0
// A file of rules (docs/rules.md): read whole, and all that is wrong in it told at once, by line and field.
#include "core/rules/objectreader.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QSet>

#include <algorithm>

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

namespace {

constexpr int ruleFileVersion = 1;
constexpr qsizetype longestFile = 1 << 20;
constexpr qsizetype mostRules = 200; // and forms of tokens
constexpr qsizetype mostCompanions = 8;

class RuleReader : public ObjectReader {
public:
    using ObjectReader::ObjectReader;
    UserRule read();

private:
    QByteArray name(const QString &field, const QJsonValue &value);
    void readContent();
    void readFields();
    void readModes();
    void readNames();
    void readRelease();

    UserRule m_rule;
};

class TokenFormReader : public ObjectReader {
public:
    using ObjectReader::ObjectReader;
    TokenForm read();

private:
    void readMarks();

    TokenForm m_form;
};

QStringList partNames()
{
    QStringList names;
    for (const auto &[name, part] : ruleParts())
        names << name;
    return names;
}

// Of a key of any name, or a value of any kind.
bool fitsAnything(const std::optional<RulePattern> &pattern)
{
    const auto fits = [&pattern](const char *probe) { return pattern && pattern->match(probe); };
    return fits("a") && fits("user:17 /x") && fits("\x01{7}");
}

const std::map<QString, RuleMode> &modeWords()
{
    static const std::map<QString, RuleMode> all{{u"exclusive"_s, RuleMode::Exclusive},
                                                 {u"read"_s, RuleMode::Read},
                                                 {u"write"_s, RuleMode::Write},
                                                 {u"permit"_s, RuleMode::Permit}};
    return all;
}

// The name of another key or a channel.
QByteArray RuleReader::name(const QString &field, const QJsonValue &value)
{
    const auto bytes = value.toString().toUtf8();
    if (bytes.isEmpty()) {
        object(field, u"must be the name of a key or channel, with ${group} for a group of the key's pattern"_s);
        return {};
    }
    auto groups = m_rule.key ? m_rule.key->groups() : QByteArrayList();
    groups << "key";
    static const QRegularExpression place(u"\\$\\{([^}]*)\\}"_s);
    auto places = place.globalMatch(value.toString());
    bool varies = false;
    while (places.hasNext()) {
        const auto group = places.next().captured(1);
        varies = true;
        if (m_rule.key && !groups.contains(group.toUtf8()))
            object(field, u"the key's pattern has no group \"%1\""_s.arg(group));
    }
    if (!varies)
        object(field, u"is the same for every lock: it needs ${key}, or ${group} of a group in the key's pattern"_s);
    return bytes;
}

void RuleReader::readFields()
{
    const auto fields = m_json[u"fields"_s];
    if (!fields.isObject())
        object(u"fields"_s, u"must be an object: the content of a field, and the field's name"_s);
    const auto named = fields.toObject();
    for (const auto &part : named.keys()) {
        const auto known = ruleParts().find(part);
        if (known == ruleParts().end())
            object(u"fields."_s + part, u"says nothing; what does: %1"_s.arg(partNames().join(u", "_s)));
        else if (named[part].toString().isEmpty())
            object(u"fields."_s + part, u"must be the name of a field"_s);
        else
            m_rule.fields[known->second] = named[part].toString().toUtf8();
    }
    if (fields.isObject() && !named.contains(u"holder"_s) && !named.contains(u"token"_s))
        object(u"fields"_s, u"needs \"holder\" or \"token\": nothing else says whose the lock is"_s);
}

void RuleReader::readContent()
{
    static const std::map<QString, RuleScore> scores{{u"since"_s, RuleScore::Since}, {u"until"_s, RuleScore::Until}};
    const auto belongs = [this](const QString &field, bool does, const QString &to) {
        if (has(field) && !does)
            object(field, u"is for %1 only"_s.arg(to));
    };
    const bool isString = m_rule.type == RuleType::String;
    const bool isHash = m_rule.type == RuleType::Hash;
    belongs(u"value"_s, isString, u"the type \"string\""_s);
    belongs(u"members"_s, !isString, u"the types \"hash\" and \"sorted-set\""_s);
    belongs(u"fields"_s, isHash, u"the type \"hash\""_s);
    belongs(u"score"_s, m_rule.type == RuleType::SortedSet, u"the type \"sorted-set\""_s);
    if (isString)
        m_rule.value = pattern(u"value"_s, partNames());
    else if (isHash && has(u"fields"_s) && has(u"members"_s))
        object(u"members"_s, u"a hash has one holder by \"fields\", or one in each field by \"members\", not both"_s);
    else if (isHash && has(u"fields"_s))
        readFields();
    else
        m_rule.members = pattern(u"members"_s, partNames());
    choose(u"score"_s, scores, m_rule.score);
}

void RuleReader::readModes()
{
    const bool isShared = m_rule.members && m_rule.type == RuleType::SortedSet;
    m_rule.mode = isShared ? RuleMode::Permit : RuleMode::Exclusive;
    choose(u"mode"_s, modeWords(), m_rule.mode);
    if (has(u"modes"_s) && !m_json[u"modes"_s].isObject())
        object(u"modes"_s, u"must be an object: values of the part \"mode\", and the mode each means"_s);
    const auto modes = m_json[u"modes"_s].toObject();
    for (const auto &word : modes.keys()) {
        if (const auto mode = oneOf(modeWords(), modes[word]))
            m_rule.modes.insert(word.toUtf8(), *mode);
        else
            object(u"modes."_s + word, choices(modeWords()));
    }
}

void RuleReader::readNames()
{
    if (has(u"companions"_s) && !m_json[u"companions"_s].isArray())
        object(u"companions"_s, u"must be an array of key names"_s);
    const auto companions = m_json[u"companions"_s].toArray();
    if (companions.size() > mostCompanions)
        object(u"companions"_s, u"has more than %1"_s.arg(mostCompanions));
    for (qsizetype i = 0; i < companions.size(); ++i)
        m_rule.companions << name(u"companions[%1]"_s.arg(i), companions[i]);
    if (has(u"waiters"_s))
        m_rule.waiters = name(u"waiters"_s, m_json[u"waiters"_s]);
    if (!has(u"wakeUp"_s))
        return;
    const auto wakeUp = m_json[u"wakeUp"_s].toObject();
    if (wakeUp.isEmpty())
        object(u"wakeUp"_s, u"must be an object with \"list\" or \"channel\""_s);
    for (const auto &way : wakeUp.keys()) {
        if (way == "list"_L1)
            m_rule.wakeList = name(u"wakeUp.list"_s, wakeUp[way]);
        else if (way == "channel"_L1)
            m_rule.wakeChannel = name(u"wakeUp.channel"_s, wakeUp[way]);
        else
            object(u"wakeUp."_s + way, u"is not known here; what is: list, channel"_s);
    }
}

void RuleReader::readRelease()
{
    static const std::map<QString, bool> ttls{{u"required"_s, true}, {u"none"_s, false}};
    static const std::map<QString, bool> releases{{u"compare-and-delete"_s, true}, {u"none"_s, false}};
    const bool isString = m_rule.type == RuleType::String;
    choose(u"ttl"_s, ttls, m_rule.expires);
    m_rule.releasable = isString;
    choose(u"release"_s, releases, m_rule.releasable);
    if (m_rule.releasable && !isString && !m_rule.hasTokens())
        object(u"release"_s, u"of this type needs a \"token\": nothing else tells a hold from a later one"_s);
    if (has(u"wakeUp"_s) && !m_rule.releasable)
        object(u"wakeUp"_s, u"is sent with a release, and there is none"_s);
}

UserRule RuleReader::read()
{
    static const std::map<QString, RuleType> types{
        {u"string"_s, RuleType::String}, {u"hash"_s, RuleType::Hash}, {u"sorted-set"_s, RuleType::SortedSet}};
    static const QStringList known{u"name"_s,    u"key"_s,    u"type"_s,  u"value"_s,   u"members"_s,
                                   u"fields"_s,  u"score"_s,  u"mode"_s,  u"modes"_s,   u"ttl"_s,
                                   u"waiters"_s, u"wakeUp"_s, u"about"_s, u"release"_s, u"companions"_s};
    checkFields(known);
    m_rule.name = text(u"name"_s).simplified();
    if (m_rule.name.isEmpty() || m_rule.name.size() > longestRuleName)
        object(u"name"_s, u"must be the name of these locks, at most %1 characters"_s.arg(longestRuleName));
    m_rule.key = pattern(u"key"_s);
    // Every key of the server would be read, and be a lock.
    if (fitsAnything(m_rule.key))
        object(u"key"_s, u"fits any key: say what the keys of these locks begin or end with"_s);
    const auto type = oneOf(types, m_json[u"type"_s]);
    if (!type)
        object(u"type"_s, has(u"type"_s) ? choices(types) : u"is missing: "_s + choices(types));
    m_rule.type = type.value_or(RuleType::String);
    if (type)
        readContent();
    readModes();
    readNames();
    readRelease();
    return m_rule;
}

void TokenFormReader::readMarks()
{
    static const std::map<QString, bool> confidences{{u"high"_s, true}, {u"medium"_s, false}};
    choose(u"confidence"_s, confidences, m_form.isSure);
    flag(u"proof"_s, m_form.isProof);
    m_form.besideWakeUps = has(u"beside"_s);
    if (m_form.besideWakeUps && m_json[u"beside"_s] != u"wake-up list"_s)
        object(u"beside"_s, u"must be \"wake-up list\""_s);
}

TokenForm TokenFormReader::read()
{
    static const QStringList known{u"client"_s, u"why"_s,        u"key"_s,    u"value"_s,
                                   u"proof"_s,  u"confidence"_s, u"beside"_s, u"about"_s};
    checkFields(known);
    m_form.client = text(u"client"_s).simplified();
    if (m_form.client.size() > longestRuleName)
        object(u"client"_s, u"must be the name of the client, at most %1 characters"_s.arg(longestRuleName));
    m_form.why = text(u"why"_s).simplified();
    if (m_form.why.isEmpty() || m_form.why.size() > 2 * longestRuleName)
        object(u"why"_s, u"must describe the value, in at most %1 characters"_s.arg(2 * longestRuleName));
    if (has(u"key"_s))
        m_form.key = pattern(u"key"_s);
    m_form.value = pattern(u"value"_s, {u"holder"_s, u"uuid1"_s});
    if (!m_form.key && fitsAnything(m_form.value))
        object(u"value"_s, u"fits any value: say what the tokens of this client look like"_s);
    readMarks();
    return m_form;
}

// The file's list of that name, each object read.
template <typename Reader, typename T>
void readList(const QJsonObject &file, const QString &list, std::vector<T> &into, std::vector<RuleProblem> &problems)
{
    const auto all = file[list].toArray();
    if (all.isEmpty() || all.size() > mostRules)
        problems.push_back({{}, 0, list, u"must be an array of at most %2 %1"_s.arg(list).arg(mostRules)});
    for (qsizetype i = 0; i < std::min(all.size(), mostRules); ++i) {
        const auto at = u"%1[%2]"_s.arg(list).arg(i);
        const auto one = all[i].toObject();
        if (all[i].isObject())
            into.push_back(Reader(one, at + u'.', problems).read());
        else
            problems.push_back({{}, 0, at, u"must be an object"_s});
    }
}

void readRules(const QJsonObject &file, RuleFile &read)
{
    const auto say = [&read](const QString &field, const QString &why) {
        read.problems.push_back({{}, 0, field, why});
    };
    const QStringList known{u"version"_s, u"about"_s, u"rules"_s, u"tokens"_s, u"tables"_s};
    const auto version = file[u"version"_s];
    if (version.toInt(-1) != ruleFileVersion)
        say(u"version"_s, u"must be %1"_s.arg(ruleFileVersion));
    for (const auto &field : file.keys()) {
        if (!known.contains(field))
            say(field, u"is not known here; what is: %1"_s.arg(known.join(u", "_s)));
    }
    if (file.contains(u"tokens"_s))
        readList<TokenFormReader>(file, u"tokens"_s, read.tokens, read.problems);
    if (file.contains(u"tables"_s))
        readList<TableReader>(file, u"tables"_s, read.tables, read.problems);
    const bool hasOthers = file.contains(u"tokens"_s) || file.contains(u"tables"_s);
    if (!hasOthers || file.contains(u"rules"_s))
        readList<RuleReader>(file, u"rules"_s, read.rules, read.problems);
    QSet<QString> names;
    const auto rules = file[u"rules"_s].toArray();
    for (qsizetype i = 0; i < std::min(rules.size(), mostRules); ++i) {
        const auto name = rules[i].toObject()[u"name"_s].toString().simplified();
        if (!name.isEmpty() && names.contains(name))
            say(u"rules[%1].name"_s.arg(i), u"\"%1\" is another rule's, too"_s.arg(name));
        names.insert(name);
    }
    // Locks are named by the one and found by the other.
    QSet<QByteArray> prefixes, tables;
    for (std::size_t i = 0; i < read.tables.size(); ++i) {
        const auto &[name, ignored, layout] = read.tables[i];
        if (prefixes.contains(layout.prefix))
            say(u"tables[%1].name"_s.arg(i), u"\"%1\" gives the same lock names as another rule"_s.arg(name));
        if (!layout.table.isEmpty() && tables.contains(layout.table))
            say(u"tables[%1].table"_s.arg(i), u"is another rule's, too"_s);
        prefixes.insert(layout.prefix);
        tables.insert(layout.table);
    }
}

// What a file says, in whichever of the two languages, and where.
using FieldsOrProblem = std::variant<FileFields, RuleProblem>;

FieldsOrProblem fieldsOfJson(const QByteArray &text)
{
    QJsonParseError error{};
    const auto document = QJsonDocument::fromJson(text, &error);
    if (document.isObject())
        return FileFields{document.object(), JsonLines(text).all()};
    if (error.error == QJsonParseError::NoError)
        return RuleProblem{{}, 0, {}, u"is not a JSON object"_s};
    const auto line = static_cast<int>(text.left(error.offset).count('\n')) + 1;
    return RuleProblem{{}, line, {}, u"is not valid JSON: %1"_s.arg(error.errorString())};
}

FieldsOrProblem fieldsOfToml(const QByteArray &text)
{
    auto read = readToml(text);
    if (const auto *mistake = std::get_if<TomlMistake>(&read))
        return RuleProblem{{}, mistake->line, {}, u"is not valid TOML: %1"_s.arg(mistake->why)};
    return std::get<FileFields>(std::move(read));
}

} // namespace

void RuleFile::add(RuleFile other)
{
    std::ranges::move(other.rules, std::back_inserter(rules));
    std::ranges::move(other.tokens, std::back_inserter(tokens));
    // Locks are named by the one and found by the other, so two files must not describe the same.
    for (auto &table : other.tables) {
        const auto same = std::ranges::find_if(tables, [&](const TableRule &known) {
            return known.layout.prefix == table.layout.prefix || known.layout.table == table.layout.table;
        });
        if (same == tables.end())
            tables.push_back(std::move(table));
        else
            problems.push_back({table.file, 0, u"tables"_s,
                                u"\"%1\" has the name or the table of a rule in %2"_s.arg(table.name, same->file)});
    }
    std::ranges::move(other.problems, std::back_inserter(problems));
}

RuleFile readRuleFile(const QByteArray &text, const QString &file)
{
    RuleFile read;
    if (text.size() > longestFile) {
        read.problems.push_back({file, 0, {}, u"is larger than 1 MiB"_s});
        return read;
    }
    const auto known = file.endsWith(".toml"_L1, Qt::CaseInsensitive) ? fieldsOfToml(text) : fieldsOfJson(text);
    if (const auto *problem = std::get_if<RuleProblem>(&known)) {
        read.problems.push_back(*problem);
        read.problems.back().file = file;
        return read;
    }
    const auto &fields = std::get<FileFields>(known);
    readRules(fields.fields, read);
    if (read.problems.empty()) {
        const auto name = [&file](auto &entries) {
            for (auto &entry : entries)
                entry.file = file;
        };
        name(read.rules);
        name(read.tokens);
        name(read.tables);
        return read;
    }
    static_cast<RuleSet &>(read) = {};
    for (auto &problem : read.problems) {
        problem.file = file;
        problem.line = lineOf(fields.lines, problem.field);
    }
    std::ranges::stable_sort(read.problems, {}, &RuleProblem::line);
    return read;
}

} // namespace lockscope::recipes
