// SPDX-License-Identifier: Apache-2.0
#include "core/transport/speech.h"

#include "core/base/text.h"

#include <QHostAddress>

#include <algorithm>
#include <array>

namespace lockscope::transport {

using namespace Qt::StringLiterals;

namespace {

constexpr char switchMark = '\xfe', moreDataMark = '\x01';
constexpr char fullAuthentication = '\x04'; // of caching_sha2_password
constexpr quint8 secureConnectionInSecondByte = 0x80, pluginsInThirdByte = 0x08;

QString refusal(const QString &asked)
{
    return u"the server asked for %1, and its identity is not verified by TLS. No password was sent. Connect with "
           u"tls=on and a certificate that can be verified (ca=FILE)"_s.arg(asked);
}

} // namespace

Trust trustOf(const QString &host, bool isVerified)
{
    const bool isHere = host == "localhost"_L1 || QHostAddress(host).isLoopback();
    return isVerified ? Trust::Verified : isHere ? Trust::SameMachine : Trust::None;
}

// Those that are not known may be anything.
QString MySqlGuard::objectionToPlugin(const QByteArray &plugin) const
{
    const std::array<const char *, 4> hashes{"mysql_native_password", "caching_sha2_password", "client_ed25519",
                                             "parsec"};
    const auto isIt = [&plugin](const char *one) { return plugin == one; };
    if (m_trust == Trust::Verified || std::ranges::any_of(hashes, isIt) || plugin == "auth_gssapi_client")
        return {};
    if (plugin == "sha256_password")
        return m_trust == Trust::SameMachine ? QString()
                                             : refusal(u"the password, encrypted for a key that it names itself "
                                                       "(sha256_password)"_s);
    return refusal(u"a login method that may reveal the password in clear text (%1)"_s.arg(label(plugin, 60)));
}

// After the capabilities: character set, status, more capabilities, a length, ten more bytes, the rest of the nonce.
QString MySqlGuard::objectionToGreeting(const QByteArray &body, qsizetype capabilitiesAt)
{
    constexpr qsizetype moreCapabilities = 5, nonceLength = 7, nonce = 18, leastNonce = 13, firstPart = 8;
    const auto byteAt = [&](qsizetype at) { return static_cast<quint8>(body.size() > at ? body[at] : '\0'); };
    if (m_trust == Trust::Verified)
        return {};
    if ((byteAt(capabilitiesAt + 1) & secureConnectionInSecondByte) == 0)
        return objectionToPlugin("mysql_old_password");
    if ((byteAt(capabilitiesAt + moreCapabilities) & pluginsInThirdByte) == 0)
        return {}; // its own one: mysql_native_password
    const auto length = std::max<qsizetype>(leastNonce, byteAt(capabilitiesAt + nonceLength) - firstPart);
    const auto name = body.mid(capabilitiesAt + nonce + length);
    return objectionToPlugin(name.left(name.indexOf('\0')));
}

QString MySqlGuard::objectionTo(const QByteArray &body)
{
    if (m_trust == Trust::Verified || body.isEmpty())
        return {};
    if (body[0] == switchMark) {
        const auto name = body.mid(1);
        return objectionToPlugin(body.size() == 1 ? QByteArray("mysql_old_password") : name.left(name.indexOf('\0')));
    }
    // The key comes next, and the password for whoever made it.
    const bool isForKey =
        body[0] == moreDataMark && (body.mid(1) == QByteArray(1, fullAuthentication) || body.contains("PUBLIC KEY"));
    if (isForKey && m_trust == Trust::None)
        return refusal(u"the password, encrypted for a key that it names itself (caching_sha2_password; it does so "
                       "where it has not yet seen this user)"_s);
    return {};
}

QString objectionToPostgreSql(const QByteArray &message, Trust trust)
{
    constexpr qsizetype codeAt = 5, size = 9;
    if (trust == Trust::Verified || !message.startsWith('R'))
        return {};
    const auto code = message.size() < size ? QByteArray() : message.mid(codeAt, 4);
    const std::array<char, 8> hashes{0, 5, 7, 8, 9, 10, 11, 12}; // done, MD5, GSSAPI and SSPI, SCRAM
    const bool isKnown = code.startsWith(QByteArray(3, '\0')) && std::ranges::find(hashes, code[3]) != hashes.end();
    if (isKnown)
        return {};
    const bool isClear = code == QByteArray("\0\0\0\3", 4);
    return refusal(isClear ? u"the password in clear text (AuthenticationCleartextPassword)"_s
                           : u"a login method that may reveal the password in clear text"_s);
}

} // namespace lockscope::transport
