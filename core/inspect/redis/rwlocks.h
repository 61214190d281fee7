// SPDX-License-Identifier: Apache-2.0
// The keys of read/write locks that are no Redisson's, and who holds them. Sources: DistributedLock.Redis
// (RedisReaderWriterLockPrimitives), Nextcloud (MemcacheLockingProvider).
#pragma once

#include <QByteArray>

#include <optional>

namespace lockscope::inspect {

// "<machine>_<process>_<32 hex digits>", what DistributedLock for .NET writes: its machine and process.
[[nodiscard]] std::optional<QByteArray> dotNetHolder(const QByteArray &text);

// Of a read/write lock X of DistributedLock for .NET: the set of its readers, and who writes or waits to.
struct DotNetKeys {
    static constexpr QByteArrayView readersSuffix{".readers"};
    static constexpr QByteArrayView writerSuffix{".writer"};
    // "X.readers" or "X.writer" → "X"; empty if none.
    [[nodiscard]] static std::optional<QByteArray> lockOf(const QByteArray &key);
};

// "<instance>/lockfiles/<32 hex digits>"
[[nodiscard]] bool isNextcloudLock(const QByteArray &key);

} // namespace lockscope::inspect
