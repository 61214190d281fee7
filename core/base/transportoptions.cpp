// SPDX-License-Identifier: Apache-2.0
#include "core/base/transportoptions.h"

#include <QRegularExpression>
#include <QStringList>
#include <QUrl>

namespace lockscope {

namespace {

Error badOption(const QString &why)
{
    return Error{ErrorCode::BadInput, u"--connect: "_s + why};
}

// Nothing that ssh, or a command of its configuration, could take for something else.
Result<SshOptions> parseSsh(const QString &text)
{
    static const QRegularExpression form(
        u"^(?:([A-Za-z0-9_][A-Za-z0-9._-]*)@)?"
        "([A-Za-z0-9_][A-Za-z0-9._-]*|\\[[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*\\])(?::([0-9]{1,5}))?\\z"_s);
    const auto match = form.match(text);
    const uint port = match.captured(3).toUInt();
    const bool isPort = match.capturedLength(3) <= 0 || (port > 0 && port <= 65535);
    if (!match.hasMatch() || !isPort)
        return badOption(u"ssh=%1 is not of the form [user@]host[:port]"_s.arg(text));
    SshOptions ssh;
    ssh.user = match.captured(1);
    ssh.host = match.captured(2);
    if (ssh.host.startsWith(u'['))
        ssh.host = ssh.host.mid(1, ssh.host.size() - 2);
    ssh.port = static_cast<quint16>(port);
    return ssh;
}

// Names of Kubernetes are lower case; the name of a context may have slashes and colons, as those of EKS have.
Result<KubeOptions> parseKube(const QString &text)
{
    static const QRegularExpression form(
        u"^(?:([^\\x00-\\x20\\x7f]+?)/){0,1}?([a-z0-9][a-z0-9-]{0,62})/(?:(svc|service|pod|"
        "deployment|statefulset)/)?([a-z0-9][a-z0-9.-]{0,252})(?::([0-9]{1,5}))?\\z"_s);
    const auto match = form.match(text);
    const uint port = match.captured(5).toUInt();
    const bool isPort = match.capturedLength(5) <= 0 || (port > 0 && port <= 65535);
    if (!match.hasMatch() || !isPort)
        return badOption(u"kube=%1 is not of the form [context/]namespace/[svc/ or pod/]name[:port]"_s.arg(text));
    return KubeOptions{.context = match.captured(1),
                       .space = match.captured(2),
                       .kind = match.captured(3) == "service"_L1 ? u"svc"_s : match.captured(3),
                       .name = match.captured(4),
                       .port = static_cast<quint16>(port)};
}

QString encoded(const QString &value)
{
    return QString::fromLatin1(QUrl::toPercentEncoding(value, "/:@,"));
}

} // namespace

QString SshOptions::target() const
{
    QString text = user.isEmpty() ? QString() : user + u'@';
    text += host.contains(u':') ? u'[' + host + u']' : host;
    return port == 0 ? text : text + u":%1"_s.arg(port);
}

QString KubeOptions::target() const
{
    QStringList parts{context, space, kind, name};
    parts.removeAll(QString());
    return parts.join(u'/') + (port == 0 ? QString() : u":%1"_s.arg(port));
}

Result<bool> TransportOptions::read(const QString &key, const QString &value)
{
    const auto file = [&](QString &into) -> Result<bool> {
        if (value.isEmpty())
            return badOption(key + u"= names no file"_s);
        into = value;
        return true;
    };
    if (key == "ca"_L1)
        return file(tls.ca);
    if (key == "cert"_L1)
        return file(tls.cert);
    if (key == "key"_L1)
        return file(tls.key);
    if (key == "password-command"_L1) {
        if (value.isEmpty())
            return badOption(u"password-command= names no command"_s);
        passwordCommand = value;
        return true;
    }
    if (key == "servername"_L1) {
        if (value.isEmpty())
            return badOption(u"servername= names nothing"_s);
        tls.serverName = value;
        return true;
    }
    if (key == "tls"_L1 || key == "verify"_L1) {
        if (value != "on"_L1 && value != "off"_L1)
            return badOption(u"%1=%2 must be on or off"_s.arg(key, value));
        if (key == "tls"_L1)
            m_switch = value;
        else
            tls.isVerified = value == "on"_L1;
        return true;
    }
    if (key == "ssh"_L1) {
        TRY(auto &parsed, parseSsh(value));
        ssh = std::move(parsed);
    } else if (key == "kube"_L1) {
        TRY(auto &parsed, parseKube(value));
        kube = std::move(parsed);
    } else {
        return false;
    }
    return true;
}

Result<void> TransportOptions::settle(bool isTlsScheme)
{
    if (isTlsScheme && m_switch == "off"_L1)
        return badOption(u"the scheme requires TLS, and tls=off forbids it"_s);
    tls.isOn = isTlsScheme || m_switch == "on"_L1;
    const bool saysMore = !tls.ca.isEmpty() || !tls.cert.isEmpty() || !tls.key.isEmpty() || !tls.serverName.isEmpty()
                          || !tls.isVerified;
    if (saysMore && !tls.isOn)
        return badOption(u"ca, cert, key, servername and verify require TLS: add tls=on"_s);
    if (tls.cert.isEmpty() != tls.key.isEmpty())
        return badOption(u"a client certificate requires its key: give both cert= and key="_s);
    if (ssh.isOn() && kube.isOn())
        return badOption(u"ssh= and kube= exclude each other"_s);
    return {};
}

QStringList TransportOptions::query(bool isTlsScheme) const
{
    QStringList parts;
    const auto add = [&parts](const QString &key, const QString &value) {
        if (!value.isEmpty())
            parts << key + u'=' + encoded(value);
    };
    add(u"tls"_s, tls.isOn && !isTlsScheme ? u"on"_s : QString());
    add(u"ca"_s, tls.ca);
    add(u"cert"_s, tls.cert);
    add(u"key"_s, tls.key);
    add(u"servername"_s, tls.serverName);
    add(u"verify"_s, tls.isVerified ? QString() : u"off"_s);
    add(u"ssh"_s, ssh.target());
    add(u"kube"_s, kube.target());
    if (!passwordCommand.isEmpty())
        parts << u"password-command="_s + QString::fromLatin1(QUrl::toPercentEncoding(passwordCommand));
    return parts;
}

QString TransportOptions::warning() const
{
    if (!tls.isOn || tls.isVerified)
        return {};
    return u"TLS IS NOT VERIFIED (verify=off): an attacker in between can read and change everything"_s;
}

QString transportWarning(const QString &uri)
{
    if (!uri.section(u'?', 1).split(u'&').contains("verify=off"_L1))
        return {};
    TransportOptions options;
    options.tls.isOn = true;
    options.tls.isVerified = false;
    return options.warning();
}

QString withoutPasswordCommand(const QString &uri)
{
    const auto query = uri.indexOf(u'?');
    auto parts = query < 0 ? QStringList() : uri.mid(query + 1).split(u'&');
    if (parts.removeIf([](const QString &part) { return part.startsWith("password-command="_L1); }) == 0)
        return uri;
    return uri.first(query) + (parts.isEmpty() ? QString() : u'?' + parts.join(u'&'));
}

QString withoutTunnelOption(const QString &uri)
{
    static const QRegularExpression option(u"(?<=[?&])(?:ssh=[^&?/]*|(?:kube|password-command)=[^&?]*)"_s);
    return QString(uri).remove(option);
}

} // namespace lockscope
