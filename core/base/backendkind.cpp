// SPDX-License-Identifier: Apache-2.0
#include "core/base/backendkind.h"

#include "core/base/fieldreader.h"

#include <algorithm>
#include <array>

namespace lockscope {

namespace {

constexpr int highestPort = 65535;

BackendScheme readScheme(FieldReader reader)
{
    BackendScheme scheme{reader.text("word"), Scheme::ZooKeeper};
    reader.readWord(
        "scheme", "zookeeper redis redis-tls redis-cluster redis-sentinel mariadb sandbox simulated etcd postgresql",
        scheme.scheme);
    reader.take("tls", scheme.tls);
    reader.take("isOneDeployment", scheme.isOneDeployment);
    reader.take("namesService", scheme.namesService);
    reader.take("defaultPort", 1, highestPort, scheme.defaultPort);
    scheme.exampleUri = reader.text("exampleUri", QString());
    scheme.title = reader.text("title", QString());
    reader.nothingElse();
    return scheme;
}

BackendWords readWords(FieldReader reader)
{
    BackendWords words{reader.text("entry"),     reader.text("looked"),
                       reader.text("lookedOne"), reader.text("client"),
                       reader.text("waitsFor"),  reader.text("whoWaits"),
                       reader.text("raw"),       reader.text("rawEntry"),
                       reader.text("rawValue"),  reader.text("wokenBy", QString()),
                       reader.text("nothing")};
    reader.nothingElse();
    return words;
}

BackendInfo readBackend(FieldReader &reader, BackendKind kind)
{
    using Text = std::pair<const char *, QString BackendInfo::*>;
    using Flag = std::pair<const char *, bool BackendInfo::*>;
    static constexpr std::array texts{Text("word", &BackendInfo::word),
                                      Text("title", &BackendInfo::title),
                                      Text("defaultName", &BackendInfo::defaultName),
                                      Text("uriHelp", &BackendInfo::uriHelp),
                                      Text("lockHelp", &BackendInfo::lockHelp),
                                      Text("exampleLock", &BackendInfo::exampleLock),
                                      Text("exampleName", &BackendInfo::exampleName),
                                      Text("exampleHosts", &BackendInfo::exampleHosts),
                                      Text("userMissing", &BackendInfo::userMissing),
                                      Text("pathLabel", &BackendInfo::pathLabel),
                                      Text("pathMissing", &BackendInfo::pathMissing)};
    static constexpr std::array flags{Flag("hasAdminPort", &BackendInfo::hasAdminPort),
                                      Flag("isNodesApart", &BackendInfo::isNodesApart),
                                      Flag("isOneHost", &BackendInfo::isOneHost),
                                      Flag("namesPaths", &BackendInfo::namesPaths),
                                      Flag("hasTtl", &BackendInfo::hasTtl),
                                      Flag("oneLockEach", &BackendInfo::oneLockEach),
                                      Flag("isSessionOneClient", &BackendInfo::isSessionOneClient),
                                      Flag("isIdentityAnAccount", &BackendInfo::isIdentityAnAccount),
                                      Flag("areThreadsNamed", &BackendInfo::areThreadsNamed),
                                      Flag("isTokenTransactionId", &BackendInfo::isTokenTransactionId)};
    BackendInfo info;
    info.kind = kind;
    for (const auto &[field, text] : texts)
        info.*text = reader.text(field);
    for (const auto &[field, flag] : flags)
        reader.take(field, info.*flag);
    info.defaultPort = static_cast<quint16>(reader.number("defaultPort", 1, highestPort));
    const auto schemes = reader.list("schemes", 1, 9);
    for (qsizetype i = 0; i < schemes.size(); ++i)
        info.schemes.push_back(readScheme(reader.element("schemes", schemes, i)));
    reader.readWord("path", "chroot database-number database-name", info.path);
    info.endsStatement = reader.text("endsStatement", QString());
    info.breaksCyclesAfter = reader.text("breaksCyclesAfter", QString());
    info.words = readWords(reader.object("words"));
    return info;
}

} // namespace

const std::vector<BackendInfo> &allBackends()
{
    static const auto all = [] {
        std::vector<BackendInfo> backends;
        readResourceList(u"backends.json"_s, "backends", [&backends](FieldReader &reader) {
            backends.push_back(readBackend(reader, static_cast<BackendKind>(backends.size())));
        });
        // A swapped or missing entry would give a backend the words of another.
        const std::array first{Scheme::ZooKeeper, Scheme::Redis, Scheme::MariaDb, Scheme::Etcd, Scheme::PostgreSql};
        const auto isOf = [](const BackendInfo &info, Scheme scheme) {
            return std::ranges::count(info.schemes, scheme, &BackendScheme::scheme) > 0;
        };
        if (!std::ranges::equal(backends, first, isOf))
            qFatal("backends.json: its entries are not in the order of BackendKind");
        return backends;
    }();
    return all;
}

const BackendInfo &infoOf(BackendKind kind)
{
    return allBackends()[static_cast<std::size_t>(kind)];
}

std::optional<BackendKind> backendOf(Scheme scheme)
{
    for (const auto &backend : allBackends()) {
        if (std::ranges::find(backend.schemes, scheme, &BackendScheme::scheme) != backend.schemes.end())
            return backend.kind;
    }
    return std::nullopt;
}

const BackendScheme *schemeInfoOf(Scheme scheme)
{
    for (const auto &backend : allBackends()) {
        const auto found = std::ranges::find(backend.schemes, scheme, &BackendScheme::scheme);
        if (found != backend.schemes.end())
            return &*found;
    }
    return nullptr;
}

bool areNodesApart(Scheme scheme)
{
    const auto backend = backendOf(scheme);
    return backend && infoOf(*backend).isNodesApart && !schemeInfoOf(scheme)->isOneDeployment;
}

} // namespace lockscope
