// SPDX-License-Identifier: Apache-2.0
// A file of rules (docs/rules.md): read whole, and all that is wrong in it told at once, by line and field.
#include "core/rules/userrules.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSet>
#include <QStringList>

#include <algorithm>

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

namespace {

constexpr int ruleFileVersion = 1;
constexpr qsizetype longestFile = 1 << 20;
constexpr qsizetype mostRules = 200;
constexpr qsizetype mostCompanions = 8;
constexpr qsizetype longestName = 80;

// On which line each field of a JSON text stands that was read without an error.
class JsonLines {
public:
    explicit JsonLines(const QByteArray &text) : m_text(text) { value({}); }
    [[nodiscard]] int of(QString field) const
    {
        for (;;) { // a field that is missing: on the line of what it is missing in
            if (const auto at = m_lines.find(field); at != m_lines.end())
                return at->second;
            const auto dot = std::max(field.lastIndexOf(u'.'), field.lastIndexOf(u'['));
            if (dot <= 0)
                return 0;
            field.truncate(dot);
        }
    }

private:
    [[nodiscard]] char here() const { return m_at < m_text.size() ? m_text[m_at] : '\0'; }
    void step()
    {
        m_line += here() == '\n' ? 1 : 0;
        ++m_at;
    }
    void skipSpace()
    {
        while (m_at < m_text.size() && QByteArrayView(" \t\r\n").contains(here()))
            step();
    }
    QString string()
    {
        const auto begin = m_at + 1;
        for (step(); m_at < m_text.size() && here() != '"'; step()) {
            if (here() == '\\')
                step();
        }
        step();
        return QString::fromUtf8(m_text.mid(begin, m_at - begin - 1));
    }
    // Any depth is one that the parser took.
    void value(const QString &path)
    {
        skipSpace();
        m_lines.try_emplace(path, m_line);
        if (here() == '{' || here() == '[')
            several(path, here() == '{');
        else if (here() == '"')
            string();
        else
            while (m_at < m_text.size() && !QByteArrayView(",]} \t\r\n").contains(here()))
                step();
    }
    void several(const QString &path, bool isObject)
    {
        int index = 0;
        step();
        for (;;) {
            skipSpace();
            if (m_at >= m_text.size() || here() == '}' || here() == ']') {
                step();
                return;
            }
            if (here() == ',') {
                step();
                continue;
            }
            QString inner = path + u'[' + QString::number(index++) + u']';
            if (isObject) {
                const int line = m_line;
                const auto key = string();
                inner = path.isEmpty() ? key : path + u'.' + key;
                m_lines.try_emplace(inner, line);
                skipSpace();
                step(); // the colon
            }
            value(inner);
        }
    }

    const QByteArray &m_text;
    qsizetype m_at = 0;
    int m_line = 1;
    std::map<QString, int> m_lines;
};

// One object of the file and what is wrong with it.
class RuleReader {
public:
    RuleReader(const QJsonObject &json, QString at, std::vector<RuleProblem> &problems)
        : m_json(json), m_at(std::move(at)), m_problems(problems)
    {
    }

    UserRule read();

private:
    void object(const QString &field, const QString &why) { m_problems.push_back({{}, 0, m_at + field, why}); }
    [[nodiscard]] bool has(const QString &field) const { return m_json.contains(field); }
    void checkFields();
    QString text(const QString &field);
    std::optional<RulePattern> pattern(const QString &field, bool saysParts);
    QByteArray name(const QString &field, const QJsonValue &value);
    void readContent();
    void readFields();
    void readModes();
    void readNames();
    void readRelease();

    const QJsonObject &m_json;
    QString m_at;
    std::vector<RuleProblem> &m_problems;
    UserRule m_rule;
};

QString partNames()
{
    QStringList names;
    for (const auto &[name, part] : ruleParts())
        names << name;
    return names.join(u", "_s);
}

template <typename T>
std::optional<T> oneOf(const std::map<QString, T> &words, const QJsonValue &value)
{
    const auto at = words.find(value.toString());
    return at == words.end() ? std::nullopt : std::optional(at->second);
}

template <typename T>
QString choices(const std::map<QString, T> &words)
{
    QStringList all;
    for (const auto &[word, value] : words)
        all << u'"' + word + u'"';
    return u"is to be "_s + all.join(u" or "_s);
}

const std::map<QString, RuleMode> &modeWords()
{
    static const std::map<QString, RuleMode> all{{u"exclusive"_s, RuleMode::Exclusive},
                                                 {u"read"_s, RuleMode::Read},
                                                 {u"write"_s, RuleMode::Write},
                                                 {u"permit"_s, RuleMode::Permit}};
    return all;
}

void RuleReader::checkFields()
{
    static const QStringList known{u"name"_s,    u"key"_s,    u"type"_s,  u"value"_s,   u"members"_s,
                                   u"fields"_s,  u"score"_s,  u"mode"_s,  u"modes"_s,   u"ttl"_s,
                                   u"waiters"_s, u"wakeUp"_s, u"about"_s, u"release"_s, u"companions"_s};
    for (const auto &field : m_json.keys()) {
        if (!known.contains(field))
            object(field, u"is not known here; what is: %1"_s.arg(known.join(u", "_s)));
    }
}

QString RuleReader::text(const QString &field)
{
    const auto value = m_json[field];
    if (has(field) && !value.isString())
        object(field, u"is to be a text"_s);
    return value.toString();
}

std::optional<RulePattern> RuleReader::pattern(const QString &field, bool saysParts)
{
    auto read = RulePattern::read(text(field));
    if (const auto *why = std::get_if<QString>(&read)) {
        if (!has(field) || m_json[field].isString())
            object(field, has(field) ? *why : u"is missing: "_s + *why);
        return std::nullopt;
    }
    auto found = std::get<RulePattern>(std::move(read));
    for (const auto &group : saysParts ? found.groups() : QByteArrayList()) {
        if (!ruleParts().contains(QString::fromLatin1(group)))
            object(field,
                   u"the group \"%1\" says nothing; what does: %2"_s.arg(QString::fromLatin1(group), partNames()));
    }
    return found;
}

// The name of another key or a channel.
QByteArray RuleReader::name(const QString &field, const QJsonValue &value)
{
    const auto bytes = value.toString().toUtf8();
    if (bytes.isEmpty()) {
        object(field, u"is to be the name of a key or channel, with ${group} for what the key's pattern caught"_s);
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
        object(u"fields"_s, u"is to be an object: what a field says, and its name"_s);
    const auto named = fields.toObject();
    for (const auto &part : named.keys()) {
        const auto known = ruleParts().find(part);
        if (known == ruleParts().end())
            object(u"fields."_s + part, u"says nothing; what does: %1"_s.arg(partNames()));
        else if (named[part].toString().isEmpty())
            object(u"fields."_s + part, u"is to be the name of a field"_s);
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
        m_rule.value = pattern(u"value"_s, true);
    else if (isHash && has(u"fields"_s) && has(u"members"_s))
        object(u"members"_s, u"a hash has one holder by \"fields\", or one in each field by \"members\", not both"_s);
    else if (isHash && has(u"fields"_s))
        readFields();
    else
        m_rule.members = pattern(u"members"_s, true);
    if (!has(u"score"_s))
        return;
    if (const auto score = oneOf(scores, m_json[u"score"_s]))
        m_rule.score = *score;
    else
        object(u"score"_s, choices(scores));
}

void RuleReader::readModes()
{
    const bool isShared = m_rule.members && m_rule.type == RuleType::SortedSet;
    m_rule.mode = isShared ? RuleMode::Permit : RuleMode::Exclusive;
    if (has(u"mode"_s)) {
        if (const auto mode = oneOf(modeWords(), m_json[u"mode"_s]))
            m_rule.mode = *mode;
        else
            object(u"mode"_s, choices(modeWords()));
    }
    if (has(u"modes"_s) && !m_json[u"modes"_s].isObject())
        object(u"modes"_s, u"is to be an object: what the part \"mode\" may say, and the mode"_s);
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
        object(u"companions"_s, u"is to be an array of keys' names"_s);
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
        object(u"wakeUp"_s, u"is to be an object with \"list\" or \"channel\""_s);
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
    if (const auto expires = oneOf(ttls, m_json[u"ttl"_s]))
        m_rule.expires = *expires;
    else if (has(u"ttl"_s))
        object(u"ttl"_s, choices(ttls));
    m_rule.releasable = isString;
    const auto release = oneOf(releases, m_json[u"release"_s]);
    if (release && *release && !isString)
        object(u"release"_s, u"\"compare-and-delete\" is for the type \"string\" only"_s);
    else if (release)
        m_rule.releasable = *release;
    else if (has(u"release"_s))
        object(u"release"_s, choices(releases));
    if (has(u"wakeUp"_s) && !m_rule.releasable)
        object(u"wakeUp"_s, u"is sent with a release, and there is none"_s);
}

UserRule RuleReader::read()
{
    static const std::map<QString, RuleType> types{
        {u"string"_s, RuleType::String}, {u"hash"_s, RuleType::Hash}, {u"sorted-set"_s, RuleType::SortedSet}};
    checkFields();
    m_rule.name = text(u"name"_s).simplified();
    if (m_rule.name.isEmpty() || m_rule.name.size() > longestName)
        object(u"name"_s, u"is to be what the locks are called, in at most %1 characters"_s.arg(longestName));
    m_rule.key = pattern(u"key"_s, false);
    // Every key of the server would be read, and be a lock.
    const auto fits = [this](const char *probe) { return m_rule.key && m_rule.key->match(probe); };
    if (fits("a") && fits("user:17 /x") && fits("\x01{7}"))
        object(u"key"_s, u"fits any key: say what the keys of these locks begin or end with"_s);
    const auto type = oneOf(types, m_json[u"type"_s]);
    if (!type)
        object(u"type"_s, has(u"type"_s) ? choices(types) : u"is missing: "_s + choices(types));
    m_rule.type = type.value_or(RuleType::String);
    if (type)
        readContent();
    readModes();
    readNames();
    if (type)
        readRelease();
    return m_rule;
}

void readRules(const QJsonObject &file, RuleFile &read)
{
    const auto say = [&read](const QString &field, const QString &why) {
        read.problems.push_back({{}, 0, field, why});
    };
    const auto version = file[u"version"_s];
    if (version.toInt(-1) != ruleFileVersion)
        say(u"version"_s, u"is to be %1"_s.arg(ruleFileVersion));
    for (const auto &field : file.keys()) {
        if (field != "version"_L1 && field != "rules"_L1 && field != "about"_L1)
            say(field, u"is not known here; what is: version, about, rules"_s);
    }
    const auto rules = file[u"rules"_s].toArray();
    if (rules.isEmpty() || rules.size() > mostRules)
        say(u"rules"_s, u"is to be an array of rules, %1 at most"_s.arg(mostRules));
    QSet<QString> names;
    for (qsizetype i = 0; i < std::min(rules.size(), mostRules); ++i) {
        const auto at = u"rules[%1]"_s.arg(i);
        const auto rule = rules[i].toObject();
        if (!rules[i].isObject()) {
            say(at, u"is to be an object"_s);
            continue;
        }
        read.rules.push_back(RuleReader(rule, at + u'.', read.problems).read());
        const auto &name = read.rules.back().name;
        if (!name.isEmpty() && names.contains(name))
            say(at + u".name"_s, u"\"%1\" is another rule's, too"_s.arg(name));
        names.insert(name);
    }
}

} // namespace

RuleFile readRuleFile(const QByteArray &json, const QString &file)
{
    RuleFile read;
    if (json.size() > longestFile) {
        read.problems.push_back({file, 0, {}, u"is larger than a mebibyte"_s});
        return read;
    }
    QJsonParseError error{};
    const auto document = QJsonDocument::fromJson(json, &error);
    if (!document.isObject()) {
        const auto line = static_cast<int>(json.left(error.offset).count('\n')) + 1;
        const bool isJson = error.error == QJsonParseError::NoError;
        read.problems.push_back(
            {file, isJson ? 0 : line, {}, isJson ? u"is no JSON object"_s : u"is no JSON: "_s + error.errorString()});
        return read;
    }
    readRules(document.object(), read);
    if (read.problems.empty()) {
        for (auto &rule : read.rules)
            rule.file = file;
        return read;
    }
    read.rules.clear();
    const JsonLines lines(json);
    for (auto &problem : read.problems) {
        problem.file = file;
        problem.line = lines.of(problem.field);
    }
    std::ranges::stable_sort(read.problems, {}, &RuleProblem::line);
    return read;
}

} // namespace lockscope::recipes
