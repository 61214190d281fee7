// SPDX-License-Identifier: Apache-2.0
#include "core/base/connectionuri.h"

#include "core/base/text.h"

#include <QRegularExpression>
#include <QUrl>
#include <QUrlQuery>

#include <set>

namespace lockscope {

namespace {

// Of a whole URI: what it stands for, which are no servers by themselves for two of them.
struct SchemeRow {
    QString word;
    Scheme scheme;
    QString defaultName;
    const BackendInfo *backend = nullptr;
    bool tls = false; // the word says it already
};

const std::vector<SchemeRow> &schemes()
{
    static const auto all = [] {
        std::vector<SchemeRow> rows;
        for (const auto &backend : allBackends()) {
            for (const auto &scheme : backend.schemes)
                rows.push_back({scheme.word, scheme.scheme, backend.defaultName, &backend, scheme.tls});
        }
        rows.push_back({u"sandbox"_s, Scheme::Sandbox, u"sandbox"_s});
        rows.push_back({u"sim"_s, Scheme::Simulated, u"sim"_s});
        return rows;
    }();
    return all;
}

const SchemeRow &rowOf(Scheme scheme)
{
    return *std::ranges::find(schemes(), scheme, &SchemeRow::scheme);
}

// Whether the word that a scheme is written with says already that it is TLS.
bool isTls(Scheme scheme)
{
    return rowOf(scheme).tls;
}

// Another word for one that stands before it.
bool isAlias(const SchemeRow &row)
{
    return &rowOf(row.scheme) != &row;
}

Error badUri(const QString &why)
{
    return Error{ErrorCode::BadInput,
                 u"--connect: %1; write for example zk://host:2181 or redis://host:6379/0"_s.arg(why)};
}

QString decoded(const QString &text)
{
    return QUrl::fromPercentEncoding(text.toUtf8());
}

Result<HostPort> parseHost(const QString &text, quint16 defaultPort)
{
    // [::1]:2181, host:2181, host
    static const QRegularExpression form(
        u"^(\\[[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*(?:%[A-Za-z0-9_.-]+)?\\]|[^:\\[\\]/@?%\\s\\p{C}]+)(?::([0-9]{1,5}))?\\z"_s,
        QRegularExpression::UseUnicodePropertiesOption);
    const auto match = form.match(text);
    if (!match.hasMatch())
        return badUri(u"\"%1\" is not a host:port"_s.arg(text));
    HostPort host;
    host.host = match.captured(1);
    if (host.host.startsWith(u'['))
        host.host = host.host.mid(1, host.host.size() - 2);
    const uint port = match.capturedLength(2) > 0 ? match.captured(2).toUInt() : defaultPort;
    if (port == 0 || port > 65535)
        return badUri(u"port %1 of %2 is not between 1 and 65535"_s.arg(port).arg(host.host));
    host.port = static_cast<quint16>(port);
    return host;
}

Result<void> parseAuthority(const QString &authority, const BackendInfo &backend, ConnectionSpec &spec)
{
    const auto at = authority.lastIndexOf(u'@');
    if (at >= 0) {
        const QString credentials = authority.left(at);
        const auto colon = credentials.indexOf(u':');
        spec.user = decoded(credentials.left(colon < 0 ? credentials.size() : colon));
        spec.password = colon < 0 ? QString() : decoded(credentials.mid(colon + 1));
    }
    const auto ownPort = schemeInfoOf(spec.scheme)->defaultPort;
    for (const auto &part : authority.mid(at + 1).split(u',')) {
        TRY(auto &host, parseHost(part, ownPort != 0 ? ownPort : backend.defaultPort));
        // A majority of independent nodes cannot count one of them twice.
        if (backend.isNodesApart && std::find(spec.hosts.begin(), spec.hosts.end(), host) != spec.hosts.end())
            return badUri(u"the set names the node %1 twice"_s.arg(displayHost(host)));
        spec.hosts.push_back(host);
    }
    return {};
}

Result<void> parsePath(QString path, const BackendInfo &backend, ConnectionSpec &spec)
{
    if (schemeInfoOf(spec.scheme)->namesService) {
        spec.service = decoded(path.section(u'/', 1, 1));
        path = path.section(u'/', 2);
        if (spec.service.isEmpty())
            return badUri(u"no service is named: write it behind the hosts, as in %1"_s.arg(
                schemeInfoOf(spec.scheme)->exampleUri));
        if (!path.isEmpty())
            path.prepend(u'/');
    }
    if (path.isEmpty() || path == "/"_L1)
        return {};
    if (backend.path == UriPath::Chroot) {
        QString chroot = decoded(path);
        while (chroot.endsWith(u'/'))
            chroot.chop(1);
        if (chroot.contains("//"_L1))
            return badUri(u"the chroot %1 has an empty part"_s.arg(chroot));
        spec.chroot = chroot.toUtf8();
        return {};
    }
    if (backend.path == UriPath::DatabaseName) {
        spec.databaseName = decoded(path.mid(1));
        return {};
    }
    bool isNumber = false;
    spec.database = path.mid(1).toInt(&isNumber);
    if (!isNumber || spec.database < 0)
        return badUri(u"\"%1\" is not a %2 database number"_s.arg(path.mid(1), backend.title));
    if (spec.scheme == Scheme::RedisCluster && spec.database != 0)
        return badUri(u"a Redis Cluster has database 0 only"_s);
    return {};
}

Result<void> parseQuery(const QString &query, const SchemeRow &row, ConnectionSpec &spec)
{
    const auto items = QUrlQuery(query).queryItems(QUrl::FullyDecoded);
    for (const auto &[key, value] : items) {
        TRY(const auto &isOfTransport, spec.transport.read(key, value));
        if (isOfTransport)
            continue;
        bool isNumber = false;
        const auto port = value.toUInt(&isNumber);
        if (!row.backend->hasAdminPort || key != "admin"_L1)
            return badUri(u"unknown option \"%1\""_s.arg(key));
        if (!isNumber || port == 0 || port > 65535)
            return badUri(u"admin=%1 is not a port"_s.arg(value));
        spec.adminPort = static_cast<quint16>(port);
    }
    if (spec.transport.kube.isOn() && spec.hosts.size() > 1)
        return badUri(u"kube= reaches one pod, so the URI must name one host"_s);
    if (!spec.transport.passwordCommand.isEmpty() && !spec.password.isEmpty())
        return badUri(u"the URI has a password and a password-command"_s);
    return spec.transport.settle(row.tls);
}

Result<void> parseServer(const QString &rest, const SchemeRow &row, ConnectionSpec &spec)
{
    if (!rest.startsWith("//"_L1))
        return badUri(u"%1: requires // and a host"_s.arg(row.word));
    static const QRegularExpression form(u"^//([^/?]*)(/[^?]*)?(?:\\?(.*))?$"_s);
    // A password may hold any character; what stands before the last @ is taken off first.
    const auto match = form.match(rest);
    if (!match.hasMatch() || match.capturedLength(1) == 0)
        return badUri(u"%1: names no host"_s.arg(row.word));
    if (auto done = parseAuthority(match.captured(1), *row.backend, spec); !done)
        return done;
    if (auto done = parsePath(match.captured(2), *row.backend, spec); !done)
        return done;
    return parseQuery(match.captured(3), row, spec);
}

} // namespace

QStringList serverSchemes()
{
    QStringList words;
    for (const auto &row : schemes()) {
        if (row.backend && !isAlias(row))
            words << row.word;
    }
    return words;
}

// A password with / or ? in it would be cut there, and what follows taken for a host or a path and
// shown in the message about it.
bool hasUnencodedPassword(const QString &given)
{
    const auto argument = withoutTunnelOption(given); // its @ parts no credentials
    const auto authority = argument.indexOf("://"_L1);
    const auto at = argument.lastIndexOf(u'@');
    if (authority < 0 || at < authority)
        return false;
    const auto credentials = argument.mid(authority + 3, at - authority - 3);
    return credentials.contains(u'/') || credentials.contains(u'?');
}

Result<ConnectionSpec> parseConnection(const QString &argument)
{
    static const QRegularExpression form(u"^(?:([A-Za-z0-9_.-]+)=)?([a-z]+(?:\\+[a-z]+)?):(.*)$"_s);
    const auto match = form.match(argument);
    if (!match.hasMatch())
        return badUri(u"not of the form [NAME=]SCHEME:…"_s);
    for (const auto &row : schemes()) {
        if (match.captured(2) != row.word)
            continue;
        ConnectionSpec spec;
        spec.name = ConnectionName(match.captured(1).toUtf8());
        spec.scheme = row.scheme;
        const QString rest = match.captured(3);
        if (row.scheme == Scheme::Sandbox && !rest.isEmpty())
            return badUri(u"sandbox: must not be followed by anything"_s);
        if (row.scheme == Scheme::Simulated && !rest.isEmpty()) {
            bool isNumber = false;
            spec.seed = rest.toULongLong(&isNumber);
            if (!isNumber)
                return badUri(u"the seed of sim:%1 is not a number"_s.arg(rest));
        }
        if (!row.backend)
            return spec;
        TRY_VOID(parseServer(rest, row, spec));
        return spec;
    }
    return badUri(
        u"unknown scheme \"%1\" (%2, sandbox, sim)"_s.arg(match.captured(2), serverSchemes().join(u", "_s)));
}

Result<void> nameConnections(std::vector<ConnectionSpec> &specs)
{
    std::set<QByteArray> taken;
    for (const auto &spec : specs) {
        if (!spec.name.isEmpty() && !taken.insert(spec.name.bytes()).second)
            return badUri(u"two connections are named %1"_s.arg(escaped(spec.name.bytes())));
    }
    for (auto &spec : specs) {
        if (!spec.name.isEmpty())
            continue;
        const QByteArray base = rowOf(spec.scheme).defaultName.toLatin1();
        QByteArray name = base;
        for (int n = 2; !taken.insert(name).second; ++n)
            name = base + QByteArray::number(n);
        spec.name = ConnectionName(name);
    }
    return {};
}

QByteArray passwordVariable(const ConnectionName &name)
{
    QByteArray variable = "LOCKSCOPE_PASSWORD_";
    for (const char c : name.bytes()) {
        const bool isLower = c >= 'a' && c <= 'z';
        const bool isPlain = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        variable += isLower ? static_cast<char>(c - 'a' + 'A') : isPlain ? c : '_';
    }
    return variable;
}

QByteArray passphraseVariable(const ConnectionName &name)
{
    return passwordVariable(name) + "_KEY";
}

QProcessEnvironment environmentWithoutPasswords()
{
    auto environment = QProcessEnvironment::systemEnvironment();
    for (const auto &name : environment.keys()) {
        if (name.startsWith("LOCKSCOPE_PASSWORD_"_L1))
            environment.remove(name);
    }
    return environment;
}

QString displayHost(const HostPort &host)
{
    return (host.host.contains(u':') ? u"[%1]:%2"_s : u"%1:%2"_s).arg(host.host, QString::number(host.port));
}

QString ConnectionSpec::displayUri() const
{
    QStringList parts;
    for (const auto &host : hosts)
        parts << displayHost(host);
    QString uri = rowOf(scheme).word + u":"_s;
    if (!parts.isEmpty())
        uri += u"//"_s + parts.join(u',');
    uri += escaped(chroot);
    if (!service.isEmpty())
        uri += u'/' + escaped(service.toUtf8());
    if (database != 0)
        uri += u"/%1"_s.arg(database);
    if (!databaseName.isEmpty())
        uri += u'/' + escaped(databaseName.toUtf8());
    auto shown = *this;
    shown.transport.passwordCommand.clear();
    const auto query = queryOf(shown);
    return query.isEmpty() ? uri : uri + u'?' + query;
}

QString queryOf(const ConnectionSpec &spec)
{
    QStringList parts;
    const auto backend = backendOf(spec.scheme);
    if (backend && infoOf(*backend).hasAdminPort && spec.adminPort != ConnectionSpec().adminPort)
        parts << u"admin=%1"_s.arg(spec.adminPort);
    parts << spec.transport.query(isTls(spec.scheme));
    return parts.join(u'&');
}

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
