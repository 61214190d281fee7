// SPDX-License-Identifier: Apache-2.0
// The keys of redis-semaphore of PyPI, and of Ruby's: who has which permit, which are free, and that there are any.
// Source: redis_semaphore/__init__.py 0.2.2.
#pragma once

#include <QByteArray>

namespace lockscope::redis {

class GrabbedKeys {
public:
    static constexpr QByteArrayView suffix{":GRABBED"};

    // `grabbed`: "<name>:GRABBED", or it is none of theirs.
    explicit GrabbedKeys(const QByteArray &grabbed) : m_name(grabbed.chopped(suffix.size())) {}
    [[nodiscard]] QByteArray exists() const { return m_name + ":EXISTS"; }
    [[nodiscard]] QByteArray available() const { return m_name + ":AVAILABLE"; }

private:
    QByteArray m_name;
};

} // namespace lockscope::redis
