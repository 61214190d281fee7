// SPDX-License-Identifier: Apache-2.0
#include "core/rules/userrules.h"

#include "core/base/fieldreader.h"
#include "core/base/text.h"

#include <atomic>
#include <mutex>

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

namespace {

std::mutex &ruleGuard()
{
    static std::mutex guard;
    return guard;
}
UserRules &rulesInForce()
{
    static auto all = std::make_shared<const RuleSet>();
    return all;
}
std::atomic<int> generation{0};

constexpr qsizetype longestPattern = 500;
// Far more than a name or a mark has; what is longer fits nothing.
constexpr qsizetype longestText = 4096;
// PCRE gives up beyond these, and the text does not fit.
constexpr auto limits = "(*LIMIT_MATCH=20000)(*LIMIT_DEPTH=500)"_L1;

// Bytes as characters, one each: what is no UTF-8 stays what it is.
QString asBytes(const QString &text)
{
    return QString::fromLatin1(text.toUtf8());
}

bool isMeta(QChar c)
{
    return u"\\^$.|?*+()[]{}"_s.contains(c);
}

// Whether the pattern is one of several beside each other. Says yes where it is not sure.
bool hasAlternatives(const QString &text)
{
    int depth = 0;
    for (qsizetype i = 0; i < text.size(); ++i) {
        if (text[i] == u'\\')
            ++i;
        else if (text[i] == u'(')
            ++depth;
        else if (text[i] == u')')
            --depth;
        else if (text[i] == u'|' && depth <= 0)
            return true;
        else if (text[i] == u'[')
            return text.contains(u'|'); // a parenthesis in it is none
    }
    return false;
}

QByteArray literalStart(const QString &text)
{
    if (hasAlternatives(text))
        return {};
    qsizetype length = 0;
    while (length < text.size() && !isMeta(text[length]))
        ++length;
    const bool isRepeated = length < text.size() && u"?*{"_s.contains(text[length]);
    return text.left(isRepeated ? length - 1 : length).toLatin1();
}

} // namespace

QByteArray filled(const QByteArray &text, const RuleGroups &groups)
{
    QByteArray out;
    qsizetype at = 0;
    for (;;) {
        const auto open = text.indexOf("${", at);
        const auto close = open < 0 ? -1 : text.indexOf('}', open);
        if (close < 0)
            return out + text.mid(at);
        out += text.mid(at, open - at) + groups.value(text.mid(open + 2, close - open - 2));
        at = close + 1;
    }
}

const std::map<QString, RulePart> &ruleParts()
{
    static const std::map<QString, RulePart> all{{u"holder"_s, RulePart::Holder}, {u"token"_s, RulePart::Token},
                                                 {u"mode"_s, RulePart::Mode},     {u"count"_s, RulePart::Count},
                                                 {u"since"_s, RulePart::Since},   {u"until"_s, RulePart::Until}};
    return all;
}

bool UserRule::hasTokens() const
{
    const auto &pattern = type == RuleType::String ? value : members;
    return pattern ? pattern->groups().contains("token") : fields.contains(RulePart::Token);
}

QString RuleProblem::text() const
{
    const auto place = line > 0 ? u"%1:%2"_s.arg(file).arg(line) : file;
    return harmlessLine(field.isEmpty() ? u"%1: %2"_s.arg(place, why) : u"%1: %2: %3"_s.arg(place, field, why));
}

UserRules userRules()
{
    const std::lock_guard lock(ruleGuard());
    return rulesInForce();
}

void setUserRules(RuleSet rules)
{
    const auto layouts =
        mapped<std::vector<RowLayout>>(rules.tables, [&](const auto &table) { return table.layout; });
    auto fresh = std::make_shared<const RuleSet>(std::move(rules));
    const std::lock_guard lock(ruleGuard());
    setUserRowLayouts(layouts);
    rulesInForce() = std::move(fresh);
    ++generation;
}

int userRulesGeneration()
{
    return generation.load();
}

std::vector<RuleFit> rulesFitting(const QByteArray &key)
{
    std::vector<RuleFit> fits;
    if (userRulesGeneration() == 0) // of millions of keys
        return fits;
    const auto rules = userRules();
    for (const auto &rule : rules->rules) {
        if (auto groups = rule.key ? rule.key->match(key) : std::nullopt) {
            groups->insert("key", key);
            fits.push_back({rules, &rule, std::move(*groups)});
        }
    }
    return fits;
}

bool isKeyOfTokenForm(const QByteArray &key)
{
    if (userRulesGeneration() == 0)
        return false;
    const auto rules = userRules();
    return std::ranges::any_of(rules->tokens,
                               [&key](const auto &form) { return form.key && form.key->match(key).has_value(); });
}

std::optional<RuleFit> wakingRule(const QByteArray &key)
{
    auto fits = rulesFitting(key);
    const auto found = std::ranges::find_if(fits, [](const auto &fit) { return fit.rule->isWaking(); });
    return found == fits.end() ? std::nullopt : std::optional(std::move(*found));
}

std::variant<RulePattern, QString> RulePattern::read(const QString &text)
{
    if (text.isEmpty())
        return u"must be a regular expression"_s;
    if (text.size() > longestPattern)
        return u"is longer than %1 characters"_s.arg(longestPattern);
    const auto bytes = asBytes(text);
    const QRegularExpression alone(bytes);
    if (!alone.isValid())
        return u"is not a valid regular expression: %1 at character %2"_s.arg(
            alone.errorString(), QString::number(alone.patternErrorOffset()));
    RulePattern pattern;
    pattern.m_text = text;
    pattern.m_expression =
        QRegularExpression(limits + u"\\A(?:"_s + bytes + u")\\z"_s, QRegularExpression::DotMatchesEverythingOption);
    if (!pattern.m_expression.isValid())
        return u"cannot be used as a regular expression for a complete text: %1"_s.arg(
            pattern.m_expression.errorString());
    pattern.m_start = literalStart(bytes);
    for (const auto &group : pattern.m_expression.namedCaptureGroups()) {
        if (!group.isEmpty())
            pattern.m_groups << group.toLatin1();
    }
    return pattern;
}

std::optional<RuleGroups> RulePattern::match(const QByteArray &text) const
{
    if (text.size() > longestText || !text.startsWith(m_start))
        return std::nullopt;
    return matchCharacters(QString::fromLatin1(text));
}

std::optional<RuleGroups> RulePattern::matchCharacters(const QString &characters) const
{
    if (characters.size() > longestText || !characters.startsWith(QLatin1StringView(m_start)))
        return std::nullopt;
    const auto matched = m_expression.match(characters);
    if (!matched.hasMatch())
        return std::nullopt;
    RuleGroups caught;
    for (const auto &group : m_groups) {
        const auto name = QString::fromLatin1(group);
        if (matched.hasCaptured(name))
            caught.insert(group, matched.captured(name).toLatin1());
    }
    return caught;
}

const std::vector<TokenForm> &builtInTokenForms()
{
    static const auto forms = [] {
        auto read = readRuleFile(readResource(u"rules/token-forms.json"_s), QString());
        if (!read.problems.empty())
            qFatal("%s", qPrintable(read.problems.front().text()));
        return std::move(read.tokens);
    }();
    return forms;
}

} // namespace lockscope::recipes
