// SPDX-License-Identifier: Apache-2.0
#include "core/base/backendkind.h"

#include <array>

namespace lockscope {

using namespace Qt::StringLiterals;

const BackendInfo &infoOf(BackendKind kind)
{
    // In the order of the enumeration.
    static const std::array<BackendInfo, 3> all{{
        {u"zookeeper"_s, u"ZooKeeper"_s, u"node"_s, u"/locks/orders"_s},
        {u"redis"_s, u"Redis"_s, u"key"_s, u"orders-lock"_s},
        {u"mariadb"_s, u"MariaDB or MySQL"_s, u"row"_s, u"shop.stock#id=1"_s},
    }};
    return all.at(static_cast<std::size_t>(kind));
}

} // namespace lockscope
