// SPDX-License-Identifier: Apache-2.0
#include "core/base/endpoint.h"

#include <QHostAddress>

namespace lockscope {

using namespace Qt::StringLiterals;

QString plainHost(const QString &host)
{
    const bool isBracketed = host.startsWith(u'[') && host.endsWith(u']');
    auto plain = isBracketed ? host.mid(1, host.size() - 2) : host;
    if (!plain.contains(u':'))
        return plain;
    QHostAddress address(plain.section(u'%', 0, 0));
    if (address.isNull())
        return plain;
    bool isMapped = false;
    const QHostAddress inIpv4(address.toIPv4Address(&isMapped));
    return isMapped ? inIpv4.toString() : address.toString();
}

QString hostOfEndpoint(const QString &endpoint)
{
    const auto colon = endpoint.lastIndexOf(u':');
    const bool hasPort = colon >= 0 && colon > endpoint.lastIndexOf(u']');
    return plainHost(hasPort ? endpoint.left(colon) : endpoint);
}

bool isLoopbackHost(const QString &host)
{
    return host == "localhost"_L1 || QHostAddress(host).isLoopback();
}

} // namespace lockscope
