// SPDX-License-Identifier: Apache-2.0
// Rules of tables in a rule file (docs/rules.md): rows that are locks by their columns. Any thread.
#pragma once

#include "core/rules/objectreader.h"

namespace lockscope::recipes {

class TableReader : public ObjectReader {
public:
    using ObjectReader::ObjectReader;
    TableRule read();

private:
    QByteArray column(const QString &field, const QJsonValue &value);
    RowTime time(const QString &field, const QString &of);
    void readLock();
    QByteArrayList values(const QString &field);
    void readFlag();
    void readTimes();
    void readWhy();

    TableRule m_rule;
};

} // namespace lockscope::recipes
