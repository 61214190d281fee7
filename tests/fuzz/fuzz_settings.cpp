// SPDX-License-Identifier: Apache-2.0
// Files of the user's that change what is shown: mutes, thresholds; and a team's connections, which somebody else
// wrote and which lie in whatever folder a program is started in.
#include "core/connections/connectionstore.h"
#include "core/workspace/mutes.h"
#include "core/workspace/settingsfile.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/parser.h"

#include <algorithm>

namespace lockscope::fuzz {

namespace {

void readMutesOf(const QByteArray &input)
{
    const auto file = writtenTo("mutes.json", input);
    const auto mutes = readMutes(file);
    if (!mutes) {
        must(mutes.error().message.contains(file), "what is wrong with a file is said with its path");
        return;
    }
    for (const auto &mute : *mutes) {
        must(objectionTo(mute).isEmpty(), "a mute that is used is one that may be set");
        must(!wordsOf(mute).isEmpty(), "a mute can be told");
        must(mute.until - mute.since <= longestMute, "a mute ends");
    }
    MuteStore store(file);
    must(store.all() == *mutes, "both programs read the same mutes");
    if (mutes->empty() || !store.remove(mutes->front()))
        return;
    const auto again = readMutes(file);
    must(again && *again == store.all(), "mutes read back as they were");
}

void readThresholdsOf(const QByteArray &input)
{
    const auto file = writtenTo("thresholds.json", input);
    const auto rules = readThresholds(file);
    if (!rules) {
        must(rules.error().message.contains(file), "what is wrong with a file is said with its path");
        return;
    }
    for (const auto &rule : rules->rules)
        must(objectionTo(rule).isEmpty(), "a rule that is used is one that may be set");
    must(bool(writeThresholds(*rules, file)), "thresholds can be written");
    const auto again = readThresholds(file);
    must(again && *again == *rules, "thresholds read back as they were");
}

void readTeam(const QByteArray &input)
{
    const auto shared = readSharedConnections(input, QStringLiteral("/team/lockscope.toml"));
    if (!shared)
        return;
    for (const auto &one : *shared) {
        must(!one.name.isEmpty(), "a connection has a name");
        must(!one.hasPassword, "a team's file holds no password");
    }
    const auto again = readSharedConnections(writeSharedConnections(*shared), QStringLiteral("/team/lockscope.toml"));
    must(bool(again), "what was read can be written and read again");
    must(again->size() == shared->size(), "connections read back as many as they were");
}

constexpr Limits ofSettings{
    .blocks = 3'000'000, .blocksPerByte = 20'000, .allocations = 200'000, .allocationsPerByte = 300};

const Registration mutesParser({"mutes",
                                readMutesOf,
                                Form::Json,
                                {0.15, 4'000},
                                {"version", "mutes", "lock", "pattern", "code", "reason", "since", "until", "zk:/a",
                                 "zk:*", "long-held", "deadlock", "2026-11-26T10:00:00Z", "2027-01-01T00:00:00Z"},
                                8192,
                                ofSettings});
const Registration thresholdsParser({"thresholds",
                                     readThresholdsOf,
                                     Form::Json,
                                     {0.15, 4'000},
                                     {"version", "longHeld", "longWait", "unusual", "rules", "pattern", "10m", "90s",
                                      "500ms", "8h", "zk:/batch/*", "0s", "1e9"},
                                     8192,
                                     ofSettings});
const Registration teamParser({"team",
                               readTeam,
                               Form::Lines,
                               {0.15, 4'000},
                               {"version = 1\n", "[[connection]]\n", "name = ", "uri = ", "group = ", "colour = ",
                                "production = true\n", "read-only = true\n", "user = ", "\"zk://h:1\"",
                                "\"redis://:secret@h\"", "?ca=a.pem", "'''", "\"\"\"", "red", "a.b.c = 1\n"},
                               8192,
                               ofSettings});

} // namespace

} // namespace lockscope::fuzz
