// SPDX-License-Identifier: Apache-2.0
// Hosts of clients in one form, so that what several servers and clients write can be compared.
#pragma once

#include <QString>

namespace lockscope {

// An IPv6 address in its short form, without a zone; the IPv4 address in it where it is a mapped one. Anything else
// as it is. "0:0:0:0:0:0:0:1" → "::1", "fe80::1%eth0" → "fe80::1", "::ffff:10.0.3.7" → "10.0.3.7".
[[nodiscard]] QString plainHost(const QString &host);
// Of a client as a server lists it: "10.0.3.7:56332", "[::1]:5432", MariaDB's "::1:5432"; plainHost() of what is
// before the port.
[[nodiscard]] QString hostOfEndpoint(const QString &endpoint);
// Whether it is a machine's name for itself: such an address is of every machine.
[[nodiscard]] bool isLoopbackHost(const QString &host);

} // namespace lockscope
