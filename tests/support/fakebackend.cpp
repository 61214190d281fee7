// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fakebackend.h"

#include "core/base/text.h"

namespace lockscope::testing {

using namespace Qt::StringLiterals;

namespace {

QString text(const auto &part)
{
    if constexpr (requires { part.bytes(); })
        return escaped(part.bytes());
    else if constexpr (requires { part.text(); })
        return escaped(part.text());
    else if constexpr (requires { escaped(part); })
        return escaped(part);
    else if constexpr (requires { QString::number(part); })
        return QString::number(part);
    else
        return part;
}

QString text(bool part)
{
    return part ? u"true"_s : u"false"_s;
}

QString text(const std::vector<ZPath> &paths)
{
    QStringList list;
    for (const auto &path : paths)
        list << text(path);
    return list.join(u' ');
}

QString call(const QString &name, const auto &...parts)
{
    return QStringList{name, text(parts)...}.join(u' ');
}

const Overloaded callOf{
    [](const auto &) { return QString(); }, // no test asks for the others
    [](const ListZnodes &asked) { return call(u"listZnodes"_s, asked.connection, asked.path); },
    [](const ReadZnode &asked) { return call(u"readZnode"_s, asked.connection, asked.path); },
    [](const ScanKeys &asked) { return call(u"scanKeys"_s, asked.connection, asked.pattern, asked.cursor); },
    [](const ReadKey &asked) { return call(u"readKey"_s, asked.connection, asked.key); },
    [](const ReadSession &asked) { return call(u"readSession"_s, asked.connection, asked.session); },
    [](const TryConnection &asked) { return call(u"tryConnection"_s, asked.spec.displayUri()); },
    [](const PlanRelease &asked) {
        return asked.way == operate::ReleaseAction::Release
                   ? call(u"planForceRelease"_s, asked.lock, asked.contender)
                   : call(u"planWay"_s, asked.lock, asked.contender, static_cast<int>(asked.way));
    },
    [](const Rehearse &asked) { return call(u"rehearse"_s, asked.plan.before.lock, asked.plan.holder); },
    [](const ForceRelease &asked) { return call(u"forceRelease"_s, asked.plan.before.lock, asked.plan.holder); },
    [](const PlanEdit &asked) {
        return call(u"planEdit"_s, operate::editWord(asked.request.kind), asked.request.subject());
    },
    [](const ApplyEdit &asked) {
        return call(u"applyEdit"_s, operate::editWord(asked.plan.request.kind), asked.plan.request.subject());
    },
    [](const PlayOnServers &asked) {
        const auto &scenario = asked.options.scenario;
        return call(u"playOnServers"_s, asked.options.connection, scenario.recipe, scenario.contenders);
    },
    [](const Connect &asked) { return call(u"connectTo"_s, asked.spec.name); },
    [](const Disconnect &asked) { return call(u"disconnectFrom"_s, asked.connection); },
    [](const Reconnect &asked) { return call(u"retry"_s, asked.connection); },
    [](const SetReadOnly &asked) { return call(u"setReadOnly"_s, asked.connection, asked.readOnly); },
    [](const SetThresholds &) { return u"setThresholds"_s; },
    [](const WatchZnodes &asked) { return call(u"watchZnodes"_s, asked.connection, asked.paths); },
    [](const AcquireLock &asked) { return call(u"acquire"_s, asked.request.lock, asked.request.recipe); },
    [](const ReleaseHold &asked) { return call(u"release"_s, asked.hold); },
    [](const CancelRun &asked) { return call(u"cancelRun"_s, asked.run); },
};

} // namespace

void FakeBackend::deliverAnswers()
{
    auto held = std::exchange(m_held, {});
    for (auto &[context, deliver] : held) {
        if (context)
            deliver();
    }
}

template <class T>
void FakeBackend::note(const T &request)
{
    if (const auto call = callOf(request); !call.isEmpty())
        calls << call;
    kept<std::optional<T>>() = request;
}

template <class Q>
Result<typename Q::Answer> FakeBackend::answerOf(const Q &query)
{
    if (const auto &script = on<Q>())
        return script(query);
    if constexpr (std::is_same_v<Q, Rehearse>)
        return rehearse::rehearse(query.plan); // needs no server
    else
        return Error{ErrorCode::Server, u"not scripted: "_s + callOf(query)};
}

void FakeBackend::post(PostedQuery query)
{
    std::visit([this](auto &asked) { take(std::move(asked)); }, query);
}

template <class Q>
void FakeBackend::take(Posted<Q> asked)
{
    note(asked.query);
    if constexpr (std::is_same_v<Q, PlayOnServers>) {
        runs.emplace(asked.query.run, std::move(asked));
        return;
    }
    const auto context = asked.context;
    auto deliver = [this, asked = std::move(asked)] {
        if constexpr (std::is_same_v<Q, BulkRelease>) {
            if (asked.query.progressed)
                asked.query.progressed(1);
        }
        asked.answer(answerOf(asked.query));
    };
    if (holdAnswers)
        m_held.emplace_back(context, std::move(deliver));
    else
        QMetaObject::invokeMethod(context, std::move(deliver), Qt::QueuedConnection);
}

void FakeBackend::execute(Command command)
{
    std::visit([this](const auto &given) { note(given); }, command);
    if (const auto *changed = std::get_if<SetClientLabels>(&command))
        labels = changed->labels;
}

void FakeBackend::answerRun(quint64 id, Result<contention::Recording> result)
{
    const auto run = runs.extract(id);
    if (const auto &asked = run.mapped(); asked.context)
        asked.answer(std::move(result));
}

} // namespace lockscope::testing

#include "moc_fakebackend.cpp"
