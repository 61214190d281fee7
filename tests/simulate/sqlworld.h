// SPDX-License-Identifier: Apache-2.0
// A simulated MariaDB with two rows, a table without an index, one of five rows with two, one of rows that are locks
// by what stands in them, and statements sent to it without a network: what each connection was answered, in the
// order of the answers.
#pragma once

#include "core/simservers/mariadb/server.h"

namespace lockscope::testing {

using namespace std::chrono_literals;

class SqlWorld {
public:
    SqlWorld()
    {
        server.addRow("shop.stock", "id", "1", 1);
        server.addRow("shop.stock", "id", "2", 1);
        for (const auto *id : {"1", "2", "3"})
            server.addRow("shop.heap", "id", id, 1);
        server.dropIndex("shop.heap");
        for (const auto *id : {"1", "2", "3", "4", "5"})
            server.addRow("shop.goods", "id", id, 1);
        server.leasedRows().addTable("shop.shedlock");
        server.markedRows().addMarks("shop.lock_marks");
        server.markedRows().addFlag({"shop.lock_flags", "1"});
    }

    // Connections are called by letters: 'a' …
    void open(const QByteArray &names)
    {
        for (const auto name : names)
            connections[name] = server.connect([this, name] { answers << QByteArray(1, name) + " closed"; });
    }
    void run(char name, const QByteArray &text, const QByteArrayList &parameters = {})
    {
        server.execute(connections.at(name), text, parameters, [this, name](const sim::SqlAnswer &answer) {
            answers << QByteArray(1, name) + ' ' + words(answer);
        });
    }
    void begin(char name)
    {
        run(name, "START TRANSACTION");
        answers.removeLast();
    }
    void lockRow(char name, const QByteArray &id)
    {
        run(name, "SELECT `id` FROM `shop`.`stock` WHERE `id` = ? FOR UPDATE", {id});
    }
    void write(char name, const QByteArray &id, const QByteArray &version)
    {
        run(name, "UPDATE `shop`.`stock` SET `version` = `version` + 1 WHERE `id` = ? AND `version` = ?",
            {id, version});
    }
    void readVersion(char name, const QByteArray &id)
    {
        run(name, "SELECT `version` AS version FROM `shop`.`stock` WHERE `id` = ?", {id});
    }
    void getLock(char name, const QByteArray &lock, const QByteArray &seconds)
    {
        run(name, "SELECT GET_LOCK(?, ?) AS mine", {lock, seconds});
    }
    void releaseLock(char name, const QByteArray &lock) { run(name, "SELECT RELEASE_LOCK(?) AS again", {lock}); }
    // Which rows somebody else cannot have now.
    QByteArray lockedGoods(char by)
    {
        QByteArrayList locked;
        heard();
        for (const auto *id : {"1", "2", "3", "4", "5"}) {
            run(by, "SELECT `id` FROM `shop`.`goods` WHERE `id` = ? FOR UPDATE NOWAIT", {id});
            if (heard().last().endsWith(" 1205"))
                locked << id;
        }
        return locked.join(' ');
    }
    // Since it was asked last.
    QByteArrayList heard() { return std::exchange(answers, {}); }

    // "1205", "row 1", "no row", "1 changed".
    static QByteArray words(const sim::SqlAnswer &answer)
    {
        if (answer.error != 0)
            return QByteArray::number(answer.error);
        if (answer.rows.columns.isEmpty())
            return QByteArray::number(answer.rows.affected) + " changed";
        return answer.rows.rows.empty() ? QByteArray("no row") : "row " + answer.rows.rows[0][0].value_or("NULL");
    }

    VirtualLoop world;
    sim::SqlServer server{world};
    std::map<char, mariadb::ConnectionId> connections;
    QByteArrayList answers;
};

} // namespace lockscope::testing
