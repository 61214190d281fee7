// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/etcd/make.h"

namespace lockscope::recipes {

Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, etcd::Client &client, const QByteArray &lock,
                                       const AcquireOptions &options, Random random)
{
    if (const auto no = objectionTo(id, BackendKind::Etcd, options))
        return *no;
    if (lock.isEmpty())
        return Error{ErrorCode::BadInput, u"a lock on etcd is a prefix of keys, and cannot be empty"_s};
    if (lock.startsWith("KEY#"))
        return Error{ErrorCode::BadInput,
                     u"KEY#… names a lock that is one key by itself, which can be seen but not acquired"_s};
    if (options.ttl.count() < 1)
        return Error{ErrorCode::BadInput, u"a lease needs a TTL of at least one second"_s};
    return std::unique_ptr<Lock>(std::make_unique<EtcdMutex>(client, lock, options.ttl, std::move(random)));
}

} // namespace lockscope::recipes
