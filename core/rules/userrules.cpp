// SPDX-License-Identifier: Apache-2.0
#include "core/rules/userrules.h"

#include "core/base/text.h"

#include <algorithm>
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
    std::vector<RowLayout> layouts;
    for (const auto &table : rules.tables)
        layouts.push_back(table.layout);
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

} // namespace lockscope::recipes
