// SPDX-License-Identifier: Apache-2.0
#include "core/operate/sqltables.h"

#include "core/inspect/mariadb/look.h"
#include "core/rules/catalogue.h"

#include <QStringDecoder>

namespace lockscope::operate {

QByteArray sqlLiteral(const QByteArray &text)
{
    QStringDecoder decoder(QStringDecoder::Utf8);
    const QString decoded = decoder(text);
    const auto bytes = "X'" + text.toHex() + '\'';
    return decoder.hasError() ? bytes : "CONVERT(" + bytes + " USING utf8mb4)";
}

Task<bool> saysTablesByPlugin(ForceReleasePlan plan, mariadb::Session *session, Deadline deadline)
{
    if (recipes::recipeOf(plan.before.recipe).shape != recipes::Shape::Table)
        co_return false;
    auto asking = session->execute({inspect::metadataInstrument, {}, {}, false}, deadline);
    const auto instrument = co_await asking;
    co_return !instrument || instrument->cell(0, "enabled") != QByteArray("1");
}

QByteArray hasTable(const QByteArray &lock, const QByteArray &guard, mariadb::ConnectionId connection,
                    bool isByPlugin)
{
    const auto table = inspect::tableOfLock(lock).value_or(std::pair<QByteArray, QByteArray>());
    const auto &[schema, name] = table;
    QByteArrayList modes;
    const auto at = guard.lastIndexOf(inspect::tableModesPrefix);
    const auto said = at < 0 ? QByteArray() : guard.mid(at + inspect::tableModesPrefix.size());
    for (const auto &mode : said.split(','))
        modes << sqlLiteral(isByPlugin ? "MDL_" + mode : mode);
    const auto byMode = at < 0 ? QByteArray() : " IN (" + modes.join(", ") + ')';
    if (isByPlugin)
        return "(SELECT COUNT(*) FROM information_schema.METADATA_LOCK_INFO m WHERE m.THREAD_ID = "
               + QByteArray::number(connection) + " AND m.LOCK_TYPE = 'Table metadata lock' AND m.TABLE_SCHEMA = "
               + sqlLiteral(schema) + " AND m.TABLE_NAME = " + sqlLiteral(name)
               + (byMode.isEmpty() ? byMode : " AND m.LOCK_MODE" + byMode) + ") > 0";
    return "(SELECT COUNT(*) FROM performance_schema.metadata_locks m JOIN performance_schema.threads h "
           "ON h.THREAD_ID = m.OWNER_THREAD_ID WHERE h.PROCESSLIST_ID = "
           + QByteArray::number(connection)
           + " AND m.OBJECT_TYPE = 'TABLE' AND m.LOCK_STATUS = 'GRANTED' AND m.OBJECT_SCHEMA = " + sqlLiteral(schema)
           + " AND m.OBJECT_NAME = " + sqlLiteral(name) + (byMode.isEmpty() ? byMode : " AND m.LOCK_TYPE" + byMode)
           + ") > 0";
}

} // namespace lockscope::operate
