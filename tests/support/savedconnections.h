// SPDX-License-Identifier: Apache-2.0
// A file of saved connections in a folder of its own, and a keychain in memory beside it.
#pragma once

#include "core/connections/connectionstore.h"
#include "tests/support/fakesecrets.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>

namespace lockscope::testing {

inline SavedConnection saved(const QString &name, const QString &uri, const QString &group = {})
{
    return SavedConnection{.name = name, .group = group, .uri = uri};
}

// The base of a class of tests: clear() before each of them.
class SavedConnections {
protected:
    QTemporaryDir m_folder;
    FakeSecrets::Box m_box;

    // In a folder that is not there yet.
    [[nodiscard]] QString file() const { return m_folder.filePath(QStringLiteral("deep/connections.json")); }
    [[nodiscard]] std::unique_ptr<ConnectionStore> openStore()
    {
        return std::make_unique<ConnectionStore>(file(), std::make_unique<FakeSecrets>(m_box));
    }
    [[nodiscard]] QByteArray written() const
    {
        QFile read(file());
        return read.open(QIODevice::ReadOnly) ? read.readAll() : QByteArray();
    }
    void clear()
    {
        QDir(m_folder.filePath(QStringLiteral("deep"))).removeRecursively();
        m_box = {};
    }
};

} // namespace lockscope::testing
