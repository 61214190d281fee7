// SPDX-License-Identifier: Apache-2.0
// The table of findings, in resources/findings.txt. docs/findings.md is made from it: tst_findings says how.
#include "core/inspect/findings.h"

#include "core/base/regularfile.h"
#include "core/inspect/json.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {

constexpr Severity severities[] = {Severity::Info, Severity::Warning, Severity::Critical};

const std::vector<FindingKind> &findingTable()
{
    static const auto text = QString::fromUtf8(readResource(u"findings.txt"_s)); // the rows point into it
    static const auto table = [] {
        std::vector<FindingKind> kinds;
        for (const auto &block : QStringView(text).split(u"\n\n"_s).mid(1)) {
            const auto lines = block.split(u'\n');
            const auto severity = std::ranges::find(severities, lines[1], [](auto one) { return word(one); });
            kinds.push_back({static_cast<FindingCode>(kinds.size()), lines[0].toLatin1(), *severity, lines[2],
                             lines[3], lines[4], lines[5]});
        }
        return kinds;
    }();
    return table;
}

} // namespace

std::span<const FindingKind> findingKinds()
{
    return findingTable();
}

const FindingKind &kindOf(FindingCode code)
{
    return findingTable()[static_cast<std::size_t>(code)];
}

QString word(FindingCode code)
{
    return QString::fromLatin1(kindOf(code).name);
}

void addFinding(LockSnapshot &lock, FindingCode code, Severity severity, Wording message,
                std::vector<QByteArray> contenders)
{
    auto finding = std::move(message).formatAt(lock.observed);
    finding.code = code;
    finding.severity = severity;
    finding.contenders = std::move(contenders);
    lock.findings.push_back(std::move(finding));
}

void addFinding(LockSnapshot &lock, FindingCode code, Wording message, std::vector<QByteArray> contenders)
{
    addFinding(lock, code, kindOf(code).severity, std::move(message), std::move(contenders));
}

} // namespace lockscope::inspect
