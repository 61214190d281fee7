// SPDX-License-Identifier: Apache-2.0
// Files of recogniser rules, in JSON and in TOML: whatever is in one, either nothing is wrong with it and its rules
// are there, or all that is wrong is told by lines that it has.
#include "core/rules/userrules.h"
#include "tests/fuzz/parser.h"

namespace lockscope::fuzz {

namespace {

void readRulesAs(const QString &name, const QByteArray &input)
{
    const auto read = recipes::readRuleFile(input, name);
    must(read.problems.empty() != read.isEmpty(), "a file has rules, or mistakes");
    const auto lines = input.count('\n') + 1;
    for (const auto &problem : read.problems) {
        must(problem.file == name, "a mistake is in its file");
        must(problem.line >= 0 && problem.line <= lines, "a mistake is on a line of the file");
        must(!problem.text().isEmpty(), "a mistake has words");
    }
    for (const auto &rule : read.rules)
        must(rule.key && !rule.name.isEmpty() && rule.file == name, "a rule has a name, a key and a file");
}

void readJsonRules(const QByteArray &input)
{
    readRulesAs(QStringLiteral("r.json"), input);
}

void readTomlRules(const QByteArray &input)
{
    readRulesAs(QStringLiteral("r.toml"), input);
}

const QByteArrayList fieldsOfRules{"version",
                                   "rules",
                                   "tokens",
                                   "name",
                                   "key",
                                   "type",
                                   "value",
                                   "members",
                                   "fields",
                                   "score",
                                   "mode",
                                   "modes",
                                   "ttl",
                                   "about",
                                   "companions",
                                   "waiters",
                                   "wakeUp",
                                   "release",
                                   "string",
                                   "hash",
                                   "sorted-set",
                                   "(?<holder>.+)",
                                   "(?<token>[0-9a-f]{16})",
                                   "${key}",
                                   "list",
                                   "channel"};

// A pattern is compiled for each that stands in a file.
constexpr Limits ofRules{
    .blocks = 3'000'000, .blocksPerByte = 20'000, .allocations = 200'000, .allocationsPerByte = 300};

const Registration jsonRulesParser({"rules", readJsonRules, Form::Json, {0.15, 4'000}, fieldsOfRules, 8192, ofRules});
const Registration tomlRulesParser({"rulestoml",
                                    readTomlRules,
                                    Form::Lines,
                                    {0.15, 4'000},
                                    fieldsOfRules
                                        + QByteArrayList{"[[rules]]\n", "[[tokens]]\n", "[rules]\n", " = '", "'''",
                                                         "\"\"\"", "1979-05-27T07:32:00Z", "{a = 1}", "0x7f", "1e400",
                                                         "nan", "a.b.c = 1\n"},
                                    8192,
                                    ofRules});

} // namespace

} // namespace lockscope::fuzz
