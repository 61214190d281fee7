// SPDX-License-Identifier: Apache-2.0
// A folder below the system's temporary one, for us alone (0700), removed with the object.
//
// It is named lockscope-<pid>-<random> and holds a file `owner` that we keep locked while we live:
// the lock, not the number, says whether its process is gone (numbers are used again, and mean
// nothing across containers that share /tmp).
#pragma once

#include "core/base/result.h"

#include <memory>

namespace lockscope::sandbox {

class TemporaryFolder {
public:
    [[nodiscard]] static Result<std::unique_ptr<TemporaryFolder>> make();
    ~TemporaryFolder();
    Q_DISABLE_COPY(TemporaryFolder)

    [[nodiscard]] QString path() const { return m_path; }
    [[nodiscard]] QString file(const QString &name) const { return m_path + QLatin1Char('/') + name; }
    // A file only we can read.
    [[nodiscard]] Result<void> write(const QString &name, const QByteArray &text) const;

private:
    explicit TemporaryFolder(QString path) : m_path(std::move(path)) {}
    [[nodiscard]] bool markAsOwned();

    QString m_path;
    int m_lock = -1;
};

} // namespace lockscope::sandbox
