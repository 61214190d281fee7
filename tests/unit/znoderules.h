// SPDX-License-Identifier: Apache-2.0
// Tests whose rows are directories of ZooKeeper and the locks that are recognised there (znodetable.h).
#pragma once

#include "znodetable.h"

#include <QTest>

namespace lockscope::testing {

class ZnodeRules : public QObject {
protected:
    static void columns()
    {
        QTest::addColumn<QByteArray>("path");
        QTest::addColumn<QByteArray>("nodes");
        QTest::addColumn<QByteArray>("expected");
    }
    static void row(const char *name, const char *path, const char *nodes, const char *expected)
    {
        QTest::newRow(name) << QByteArray(path) << QByteArray(nodes) << QByteArray(expected);
    }
    static void check()
    {
        QFETCH(QByteArray, path);
        QFETCH(QByteArray, nodes);
        QFETCH(QByteArray, expected);
        const inspect::table::Input input(path, nodes);
        QCOMPARE(inspect::table::draw(input.locks()), inspect::table::lines(expected));
    }
};

} // namespace lockscope::testing
