// SPDX-License-Identifier: Apache-2.0
// Text: what is escaped reads back as what it was, and what people type in (addresses, locks, durations, labels).
#include "core/base/connectionuri.h"
#include "core/base/text.h"
#include "core/connections/connectionstore.h"
#include "core/recipes/mariadb/rowname.h"
#include "core/workspace/settingsfile.h"
#include "core/workspace/workspace.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/locks.h"

using namespace lockscope;
using namespace lockscope::fuzz;

namespace {

void readText(const QByteArray &input)
{
    const auto text = escaped(input);
    const auto back = unescaped(text);
    must(back && *back == input, "what is escaped reads back");
    must(escaped(*back) == text, "and has one form");
    mustBeHarmless(text, "what is escaped is harmless");
    mustBeHarmless(label(input, 40), "a label is harmless");
    must(label(input, 40).size() <= 40, "a label is no longer than asked for");
    const auto typed = QString::fromUtf8(input);
    mustBeHarmless(harmless(typed), "a sentence made harmless is harmless");
    must(typed.size() > 40 || harmless(harmless(typed)) == harmless(typed), "and stays as it is");
    if (const auto bytes = unescaped(typed)) {
        const auto again = unescaped(escaped(*bytes));
        must(again && *again == *bytes, "what was typed escaped reads back, too");
    }
    const std::vector<ConnectionName> names{ConnectionName("zk"), ConnectionName("redis")};
    for (const auto &name : names) {
        const auto lock = parseLock(escaped(name.bytes() + ':' + input), names);
        must(input.isEmpty() || (lock && lock->name == input && lock->connection == name),
             "a lock's name reads back, whatever it holds");
    }
    (void)parseLock(typed, names);
    if (const auto span = parseDuration(typed))
        must(span->count() >= 0 && !formatDuration(*span).isEmpty(), "a duration is not negative");
    if (const auto row = recipes::readRowName(input)) {
        must(!row->columns.isEmpty() && row->columns.size() == row->values.size(),
             "a row has a value for each column");
        must(row->condition().count('?') >= row->values.size(), "and each is asked for");
        must(row->quotedTable().startsWith('`') && row->quotedTable().endsWith('`'), "a table is quoted");
    }
    (void)recipes::readNamedLock(input);
}

void readUri(const QByteArray &input)
{
    const auto spec = parseConnection(QString::fromUtf8(input));
    if (!spec)
        return;
    constexpr qsizetype unlikely = 6; // shorter ones may be part of a host by chance
    must(spec->password.size() < unlikely || spec->hosts.empty() || spec->databaseName.contains(spec->password)
             || QString::fromUtf8(spec->chroot).contains(spec->password)
             || spec->displayUri().contains(spec->hosts.front().host),
         "an address has its host");
    (void)passwordVariable(spec->name);
    const auto written = uriOf(*spec);
    const auto again = parseConnection(written);
    must(bool(again), "an address that was understood is so when written down");
    must(again->user.isEmpty() && again->password.isEmpty(), "an address written down has no user and no password");
    must(again->hosts == spec->hosts && again->scheme == spec->scheme && again->chroot == spec->chroot
             && again->database == spec->database && again->databaseName == spec->databaseName
             && again->adminPort == spec->adminPort,
         "an address reads back as what it was");
    std::vector<ConnectionSpec> two{*spec, *spec};
    (void)nameConnections(two);
}

void readLabels(const QByteArray &input)
{
    const auto file = writtenTo("labels", input);
    const auto labels = savedClientLabels(file);
    for (const auto &label : labels)
        must(!label.pattern.isEmpty() && !label.name.isEmpty(), "a label has a pattern and a name");
    const auto copy = pathOf("labels.copy");
    QFile::remove(copy);
    must(bool(saveClientLabels(labels, copy)), "labels can be saved");
    const auto once = savedClientLabels(copy);
    must(bool(saveClientLabels(once, copy)) && savedClientLabels(copy) == once, "labels read back as they were");
    must(once.size() <= labels.size(), "and there are no more of them");
}

const Registration textParser({"text",
                               readText,
                               Form::Bytes,
                               {0.5, 8'000},
                               {"zk:", "redis:", "\\x1b", "\\\\", "\\x", "shop.stock#id=1", "GET_LOCK#", "`", "``",
                                "#", "=", ",", ".", "500ms", "30s", "2m", "9999h"}});
const Registration uriParser(
    {"uri",
     readUri,
     Form::Bytes,
     {0.5, 200'000},
     {"zk://",      "zookeeper://", "redis://",          "rediss://", "redlock://", "mariadb://", "mysql://",
      "sim:",       "sandbox:",     "host:2181",         "[::1]",     ",",          "/0",         "/15",
      "/app/locks", "?admin=8080",  "user:secret-word@", "%2F",       "%00",        "%",          "@",
      "name="}});
const Registration labelsParser(
    {"labels", readLabels, Form::Lines, {0.15, 3'000}, {"=", "#", "*", "[", "?", "10.0.*=billing\n"}});

} // namespace
