// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/locks.h"

#include "core/base/text.h"
#include "core/inspect/json.h"

#include <QJsonDocument>

namespace lockscope::fuzz {

using namespace inspect;

void mustBeHarmless(const QString &text, std::string_view what)
{
    must(harmless(text, static_cast<int>(text.size()) * 4 + 16) == text, what);
}

void useLock(const LockSnapshot &lock)
{
    mustBeHarmless(lock.why, "why it is a lock is harmless text");
    mustBeHarmless(answerSentence(lock, lock.observed), "the answer is harmless text");
    for (const auto &finding : lock.findings) {
        mustBeHarmless(finding.message, "a finding is harmless text");
        for (const auto &moment : finding.moments)
            must(moment.at >= 0 && moment.length >= 0 && moment.at + moment.length <= finding.message.size(),
                 "a moment stands in its message");
    }
    for (const auto &contender : lock.contenders) {
        if (contender.endpoint)
            mustBeHarmless(*contender.endpoint, "an endpoint is harmless text");
        (void)lock.nextAfter(contender.id);
    }
    must(!QJsonDocument(toJson(lock)).toJson().isEmpty(), "a lock can be told as JSON");
}

void useSession(const SessionSnapshot &session)
{
    mustBeHarmless(session.session, "a session's name is harmless text");
    mustBeHarmless(session.endpoint.value_or(QString()), "an endpoint is harmless text");
    mustBeHarmless(session.client.value_or(QString()), "a client's name is harmless text");
    must(!toJson(session).isEmpty(), "a session can be told as JSON");
}

} // namespace lockscope::fuzz
