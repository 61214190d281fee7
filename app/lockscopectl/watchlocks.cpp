// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/live.h"
#include "core/base/text.h"
#include "core/inspect/json.h"

namespace lockscope::ctl {

namespace {

bool printChange(const inspect::SnapshotChange &change)
{
    const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
    return printJsonLine(QJsonObject{{u"time"_s, inspect::isoTime(now)},
                                     {u"change"_s, inspect::word(change.kind)},
                                     {u"lock"_s, inspect::toJson(change.lock)}});
}

// Says on stderr what is not seen, each thing at most once a minute: how old it is changes all the time.
class CoverageTeller {
public:
    explicit CoverageTeller(Loop &loop) : m_loop(&loop) {}
    void operator()(const ConnectionName &name, const std::vector<inspect::Coverage> &coverage)
    {
        static const QRegularExpression numbers(u"[0-9]+"_s);
        for (const auto &part : coverage) {
            const auto kind = std::pair(name, QString(part.message).remove(numbers));
            const auto told = m_told.find(kind);
            if (part.complete || (told != m_told.end() && m_loop->now() - told->second < std::chrono::minutes(1)))
                continue;
            m_told[kind] = m_loop->now();
            printError(u"%1: incomplete: %2"_s.arg(escaped(name.bytes()), harmless(part.message)));
        }
    }

private:
    Loop *m_loop;
    std::map<std::pair<ConnectionName, QString>, Instant> m_told;
};

} // namespace

Result<bool> isWatching(const CommandContext &context, const QString &command)
{
    if (context.has(u"watch"_s) && context.pictures.recorded())
        return Error{ErrorCode::BadInput, u"%1: --watch follows servers; a recording is over"_s.arg(command)};
    return context.has(u"watch"_s);
}

// Until interrupted, or until nobody reads our lines any more.
Task<Exit> watchLocks(CommandContext &context, std::function<bool(const inspect::LockName &)> isWatched)
{
    const Completion<Exit> ended(context.loop());
    context.interrupts.setHandler([ended](Interrupt) { ended.complete(Exit::Done); });
    context.sink.onChange([ended, isWatched, labels = context.labels](inspect::SnapshotChange change) {
        addLabels(change.lock, labels);
        if (isWatched(change.lock.lock) && !printChange(change))
            ended.complete(Exit::Done);
    });
    context.sink.onCoverage(CoverageTeller(context.loop()));
    // The sink may have heard of changes before the listener was there.
    const auto connected = co_await connectAll(context);
    if (connected != Exit::Done)
        co_return connected;
    reportBreaks(context);
    const auto status = co_await ended;
    context.sink.onChange({});
    context.sink.onCoverage({});
    co_return status;
}

} // namespace lockscope::ctl
