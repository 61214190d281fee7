// SPDX-License-Identifier: Apache-2.0
// keys: raw Redis keys that match, none of them touched.
#include "app/lockscopectl/browsetarget.h"
#include "app/lockscopectl/command.h"
#include "app/lockscopectl/output.h"
#include "app/lockscopectl/table.h"
#include "core/base/duration.h"
#include "core/base/text.h"
#include "core/workspace/questions.h"

#include <QJsonArray>

#include <algorithm>

namespace lockscope::ctl {

using namespace Qt::StringLiterals;

namespace {

QJsonObject keyJson(const KeyRow &row)
{
    return {{u"key"_s, escaped(row.key.bytes())},
            {u"type"_s, escaped(row.type)},
            {u"ttlMs"_s, row.ttl ? QJsonValue(qint64(row.ttl->count())) : QJsonValue(QJsonValue::Null)},
            {u"bytes"_s, row.bytes ? QJsonValue(*row.bytes) : QJsonValue(QJsonValue::Null)}};
}

// SCAN may name a key twice; each is listed once, by name.
void tidy(std::vector<KeyRow> &rows)
{
    std::sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) { return a.key < b.key; });
    rows.erase(std::unique(rows.begin(), rows.end(), [](const auto &a, const auto &b) { return a.key == b.key; }),
               rows.end());
}

void printRows(const std::vector<KeyRow> &rows)
{
    Table table({{u"KEY"_s, Table::Align::Left, true},
                 {u"TYPE"_s},
                 {u"TTL"_s, Table::Align::Right},
                 {u"BYTES"_s, Table::Align::Right}});
    for (const auto &row : rows)
        table.add({escaped(row.key.bytes()), escaped(row.type), row.ttl ? spokenDuration(*row.ttl) : u"-"_s,
                   row.bytes ? QString::number(*row.bytes) : u"-"_s});
    print(table.isEmpty() ? u"no keys match"_s : table.text(terminalWidth()));
}

Task<Exit> keys(CommandContext &context)
{
    const auto target = readTarget(context, BackendKind::Redis, u"*"_s);
    if (!target)
        co_return fail(target.error());
    std::vector<KeyRow> rows;
    quint64 cursor = 0;
    do {
        const auto deadline = requestDeadline(context);
        auto scanning =
            questions::answer(context.workspace, ScanKeys{target->connection, target->what, cursor}, deadline);
        const auto page = co_await scanning;
        if (!page)
            co_return fail(page.error());
        if (!page->missing.isEmpty())
            complain(u"not every key is seen: "_s + page->missing);
        rows.insert(rows.end(), page->rows.begin(), page->rows.end());
        cursor = page->cursor;
    } while (cursor != 0);
    tidy(rows);
    if (!context.json) {
        printRows(rows);
        co_return Exit::Done;
    }
    QJsonArray array;
    for (const auto &row : rows)
        array.append(keyJson(row));
    printJson(QJsonObject{{u"keys"_s, array}});
    co_return Exit::Done;
}

} // namespace

CommandSpec keysCommand()
{
    CommandSpec spec;
    spec.name = u"keys"_s;
    spec.words = u"[[CONNECTION:]GLOB]"_s;
    spec.summary = u"raw Redis keys with type, time to live and size"_s;
    spec.more = u"GLOB is Redis' own (*, ?, [abc]). The keys are found by SCAN and not read."_s;
    spec.mostWords = 1;
    spec.answersSoon = true;
    spec.run = keys;
    return spec;
}

} // namespace lockscope::ctl
