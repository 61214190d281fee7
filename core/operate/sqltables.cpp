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
    const auto object = inspect::objectOfLock(lock).value_or(inspect::SqlObject());
    QByteArrayList modes;
    const auto at = guard.lastIndexOf(inspect::tableModesPrefix);
    const auto said = at < 0 ? QByteArray() : guard.mid(at + inspect::tableModesPrefix.size());
    for (const auto &mode : said.split(','))
        modes << sqlLiteral(isByPlugin ? "MDL_" + mode : mode);
    const auto byMode = at < 0 ? QByteArray() : " IN (" + modes.join(", ") + ')';
    if (isByPlugin) {
        // "Table metadata lock", "Backup lock", "Global read lock": in any case of letters.
        const auto named = object.schema.isEmpty() ? QByteArray()
                                                   : " AND m.TABLE_SCHEMA = " + sqlLiteral(object.schema)
                                                         + " AND m.TABLE_NAME = " + sqlLiteral(object.name);
        return "(SELECT COUNT(*) FROM information_schema.METADATA_LOCK_INFO m WHERE m.THREAD_ID = "
               + QByteArray::number(connection) + " AND UPPER(m.LOCK_TYPE) LIKE CONCAT(" + sqlLiteral(object.type)
               + ", ' %')" + named + (byMode.isEmpty() ? byMode : " AND m.LOCK_MODE" + byMode) + ") > 0";
    }
    return "(SELECT COUNT(*) FROM performance_schema.metadata_locks m JOIN performance_schema.threads h "
           "ON h.THREAD_ID = m.OWNER_THREAD_ID WHERE h.PROCESSLIST_ID = "
           + QByteArray::number(connection) + " AND m.OBJECT_TYPE = " + sqlLiteral(object.type)
           + " AND m.LOCK_STATUS = 'GRANTED' AND COALESCE(m.OBJECT_SCHEMA, '') = " + sqlLiteral(object.schema)
           + " AND COALESCE(m.OBJECT_NAME, '') = " + sqlLiteral(object.name)
           + (byMode.isEmpty() ? byMode : " AND m.LOCK_TYPE" + byMode) + ") > 0";
}

} // namespace lockscope::operate
