// SPDX-License-Identifier: Apache-2.0
// The keys of redis-semaphore of PyPI, and of Ruby's: who has which permit, which are free, and that there are any.
// Source: redis_semaphore/__init__.py 0.2.2; Ruby's semaphore.rb, which also writes its version.
#pragma once

#include <QByteArray>

#include <optional>

namespace lockscope::redis {

class GrabbedKeys {
public:
    static constexpr QByteArrayView suffix{":GRABBED"};

    // `grabbed`: "<name>:GRABBED", or it is none of theirs.
    explicit GrabbedKeys(const QByteArray &grabbed) : m_name(grabbed.chopped(suffix.size())) {}
    [[nodiscard]] QByteArray exists() const { return m_name + ":EXISTS"; }
    [[nodiscard]] QByteArray available() const { return m_name + ":AVAILABLE"; }
    [[nodiscard]] QByteArray version() const { return m_name + ":VERSION"; }

    // The hash that such a key belongs to; empty if its name is another's.
    [[nodiscard]] static std::optional<QByteArray> grabbedOf(const QByteArray &key)
    {
        for (const QByteArrayView end : {":EXISTS", ":AVAILABLE", ":VERSION"}) {
            if (key.size() > end.size() && key.endsWith(end))
                return key.chopped(end.size()) + suffix.toByteArray();
        }
        return std::nullopt;
    }

private:
    QByteArray m_name;
};

} // namespace lockscope::redis
