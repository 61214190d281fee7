// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/passage/sshtunnel.h"

#include <algorithm>

namespace lockscope::passage {

using namespace Qt::StringLiterals;

namespace {

QByteArray lastLineOf(const QByteArray &said)
{
    QByteArray last;
    for (const auto &raw : said.split('\n')) {
        const auto line = raw.trimmed();
        if (!line.isEmpty() && !line.startsWith("Warning:") && !line.startsWith("debug"))
            last = line;
    }
    return last;
}

} // namespace

bool isForwardable(const QString &host)
{
    static const QString others = u".-_:%"_s;
    return !host.isEmpty() && !host.startsWith(u'-')
           && std::ranges::all_of(host, [](QChar sign) { return sign.isLetterOrNumber() || others.contains(sign); });
}

QString sshProblem(const SshOptions &ssh, const QByteArray &said)
{
    const auto last = lastLineOf(said);
    const auto shown = label(last);
    const auto begin = u"ssh %1: "_s.arg(ssh.target());
    if (said.contains("REMOTE HOST IDENTIFICATION HAS CHANGED"))
        return begin + u"its host key is another one than known: somebody may stand in between (see known_hosts)"_s;
    if (said.contains("Host key verification failed"))
        return begin + u"its host key is not known, and nobody is asked here; connect once by hand to check it"_s;
    if (last.contains("Permission denied"))
        return begin
               + u"it refused the login (%1); keys come from the agent or from ssh's configuration"_s.arg(shown);
    return last.isEmpty() ? begin + u"it ended without a word"_s : begin + shown;
}

QString sshChannelProblem(const SshOptions &ssh, const QByteArray &line)
{
    const auto at = line.indexOf("open failed: ");
    if (at < 0)
        return {};
    return u"ssh %1: the server cannot be reached from there: %2"_s.arg(ssh.target(),
                                                                        label(line.mid(at + 13).trimmed()));
}

} // namespace lockscope::passage
