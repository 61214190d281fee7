// SPDX-License-Identifier: Apache-2.0
// Advisory locks by their names: "ADVISORY#42" for one key of 64 bits, "ADVISORY#7,42" for two of 32; of another
// database than the connection's "ADVISORY@other#42".
#pragma once

#include <QByteArray>
#include <QString>

#include <optional>

namespace lockscope::inspect {

// As pg_locks has it: classid, objid, and in objsubid which of the two kinds it is (1 or 2).
struct AdvisoryKey {
    quint32 classId = 0;
    quint32 objectId = 0;
    int kind = 1;
    friend bool operator==(const AdvisoryKey &, const AdvisoryKey &) = default;
};
// `database`: empty for the connection's own.
[[nodiscard]] QByteArray advisoryName(const AdvisoryKey &key, const QByteArray &database);
// Whose lock a key is, where an application is known to make it so: Rails' migrations, Flyway.
[[nodiscard]] std::optional<QString> knownAdvisory(const AdvisoryKey &key, const QByteArray &database);

} // namespace lockscope::inspect
