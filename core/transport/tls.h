// SPDX-License-Identifier: Apache-2.0
// TLS as TlsOptions say it, for whoever has a socket, and what went wrong with it in words. The server's certificate
// and its name are checked unless the options say no.
#pragma once

#include "core/base/connectionuri.h"

class QSslConfiguration;
class QSslSocket;

namespace lockscope::transport {

// Reads the files. An error names the file that cannot be used, and no secret.
[[nodiscard]] Result<QSslConfiguration> tlsConfiguration(const TlsOptions &tls);
// What the certificate has to be for, and what the server is told whom we look for: of a server at `host`, whatever
// door leads to it.
[[nodiscard]] QString tlsNameOf(const TlsOptions &tls, const QString &host);
// Makes a socket ready to connect encrypted, or to start it.
[[nodiscard]] Result<void> prepareTls(QSslSocket &socket, const TlsOptions &tls, const QString &host);
// After errorOccurred: what it was. Text of the server is made harmless.
struct TlsProblem {
    QString text;
    bool isOfTls = false; // or of what is below it
};
[[nodiscard]] TlsProblem tlsProblem(const QSslSocket &socket, const TlsOptions &tls, const QString &host);
// What a connection without TLS may have met that was closed before a byte came back.
[[nodiscard]] QString closedWithoutAWord();
// The handshake was begun, and nothing at all came back.
[[nodiscard]] QString silentHandshake();
// The same of what a library said, "tlsv13 alert certificate required": empty if that is none of TLS's.
[[nodiscard]] QString alertInWords(const QString &said, const TlsOptions &tls);

} // namespace lockscope::transport
