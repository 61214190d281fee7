// SPDX-License-Identifier: Apache-2.0
// Recognisers without a compiler: what a person wrote down about the locks of a client of theirs (docs/rules.md).
// Reading a file of them is pure and tells all that is wrong with it; those in force are one set for the process,
// since the same name must mean the same to whoever looks, releases and wakes. Any thread.
#pragma once

#include "core/rules/rowlayouts.h"

#include <QMap>
#include <QRegularExpression>

#include <map>
#include <memory>
#include <optional>
#include <variant>

namespace lockscope::recipes {

using RuleGroups = QMap<QByteArray, QByteArray>; // what the named groups of a pattern caught

// The forms of the tokens that Redis lock clients write: what is built in (resources/rules/token-forms.json) and what
// a person adds (docs/rules.md). Any thread.

// The patterns of rule files: regular expressions over bytes, that have to fit as a whole. What one may cost is
// bounded: texts from servers are hostile, and patterns that people write backtrack. Any thread.
class RulePattern {
public:
    // Why not, in words.
    [[nodiscard]] static std::variant<RulePattern, QString> read(const QString &text);
    [[nodiscard]] std::optional<RuleGroups> match(const QByteArray &text) const;
    // The same of bytes as characters, one each (QString::fromLatin1), for who holds them against several patterns.
    [[nodiscard]] std::optional<RuleGroups> matchCharacters(const QString &characters) const;
    [[nodiscard]] const QByteArrayList &groups() const { return m_groups; }
    [[nodiscard]] QString text() const { return m_text; }

private:
    QString m_text;
    QRegularExpression m_expression;
    QByteArray m_start; // whatever fits begins with it
    QByteArrayList m_groups;
};

struct TokenForm {
    QString client;                 // who writes it; empty: several do
    QString file;                   // empty: it is built in
    std::optional<RulePattern> key; // empty: of any key
    // Its groups: `holder`, what it says of its owner; `uuid1`, the hex digits of a UUID made from the time, which
    // has to be one of the last year.
    std::optional<RulePattern> value;
    QString why;
    bool isProof = false;       // key and value are of a form that only one client writes
    bool isSure = false;        // confidence high, not medium
    bool besideWakeUps = false; // only where python-redis-lock's list of wake-ups stands beside the key

    // What tells it from the others of its file.
    [[nodiscard]] QString name() const { return client.isEmpty() ? why : client + QStringLiteral(": ") + why; }
};

// In the order in which they are asked.
[[nodiscard]] const std::vector<TokenForm> &builtInTokenForms();

// What a group, or a field of a hash, says.
enum class RulePart { Holder, Token, Mode, Count, Since, Until };
enum class RuleType { String, Hash, SortedSet };
enum class RuleMode { Exclusive, Read, Write, Permit };
enum class RuleScore { Nothing, Since, Until };

struct UserRule {
    QString name;
    QString file;
    RuleType type = RuleType::String;
    std::optional<RulePattern> key;
    std::optional<RulePattern> value;      // of a string
    std::optional<RulePattern> members;    // of a hash its fields, of a sorted set its members: a holder each
    std::map<RulePart, QByteArray> fields; // of a hash: those of its one holder
    RuleScore score = RuleScore::Nothing;
    RuleMode mode = RuleMode::Exclusive;
    QMap<QByteArray, RuleMode> modes; // what the part Mode may say
    bool expires = true;              // without a TTL something is wrong
    // Names of further keys and channels, with ${group} for what the key's pattern caught.
    QByteArrayList companions;
    QByteArray waiters;
    QByteArray wakeList, wakeChannel;
    bool releasable = true; // deleted, or taken out, if it is still the holder's that was seen

    [[nodiscard]] bool hasTokens() const; // each hold has one that no other ever has

    [[nodiscard]] bool isWaking() const { return !wakeList.isEmpty() || !wakeChannel.isEmpty(); }
};

[[nodiscard]] QByteArray filled(const QByteArray &text, const RuleGroups &groups);
[[nodiscard]] const std::map<QString, RulePart> &ruleParts(); // by their names

struct RuleProblem {
    QString file;
    int line = 0;  // 0: not known
    QString field; // "rules[0].key"; empty: the file
    QString why;
    [[nodiscard]] QString text() const; // "FILE:LINE: FIELD: why"
};

// Rows of a table of an SQL server that are locks by what stands in them.
struct TableRule {
    QString name;
    QString file;
    RowLayout layout;
};

struct RuleSet {
    std::vector<UserRule> rules;
    std::vector<TokenForm> tokens;
    std::vector<TableRule> tables;
    [[nodiscard]] bool isEmpty() const { return rules.empty() && tokens.empty() && tables.empty(); }
};

// Rules only where nothing is wrong.
struct RuleFile : RuleSet {
    std::vector<RuleProblem> problems;
    void add(RuleFile other); // behind what there is
};
// TOML where the file's name ends in .toml, else JSON.
[[nodiscard]] RuleFile readRuleFile(const QByteArray &text, const QString &file);

// Those in force, none at first. Readers keep what they took.
using UserRules = std::shared_ptr<const RuleSet>;
[[nodiscard]] UserRules userRules();
void setUserRules(RuleSet rules);
[[nodiscard]] int userRulesGeneration(); // another with each set

// A rule whose pattern of the key fits, in their order.
struct RuleFit {
    UserRules keptAlive;
    const UserRule *rule = nullptr;
    RuleGroups groups;
    [[nodiscard]] QByteArray name(const QByteArray &text) const { return filled(text, groups); }
};
[[nodiscard]] std::vector<RuleFit> rulesFitting(const QByteArray &key);
// Whether a form of tokens is about keys of such names, this one among them.
[[nodiscard]] bool isKeyOfTokenForm(const QByteArray &key);
// The first that says how the clients of such a key are woken.
[[nodiscard]] std::optional<RuleFit> wakingRule(const QByteArray &key);

} // namespace lockscope::recipes
