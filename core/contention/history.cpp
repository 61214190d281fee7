// SPDX-License-Identifier: Apache-2.0
#include "core/contention/history.h"

#include "core/base/text.h"

#include <QJsonArray>

namespace lockscope::contention {

using namespace Qt::StringLiterals;

namespace {

constexpr int mostServers = 16;

QJsonValue orNull(const std::optional<Moment> &moment)
{
    return moment ? QJsonValue(qint64(moment->count())) : QJsonValue();
}

std::optional<Moment> momentOrNone(const QJsonValue &value)
{
    return value.isDouble() ? std::optional(Moment(value.toInteger())) : std::nullopt;
}

QByteArray textOf(const QJsonValue &value)
{
    return unescaped(value.toString()).value_or(QByteArray());
}

} // namespace

QJsonObject History::toJson() const
{
    QJsonArray changed, sent;
    for (const auto &change : changes)
        changed.append(QJsonArray{qint64(change.at.count()), change.line.server, escaped(change.line.name),
                                  change.isGone ? QJsonValue() : QJsonValue(escaped(change.line.text)),
                                  orNull(change.line.ends)});
    for (const auto &message : messages)
        sent.append(QJsonArray{qint64(message.at.count()), orNull(message.arrives), message.contender, message.server,
                               message.toServer});
    return {{u"servers"_s, servers}, {u"changes"_s, changed}, {u"messages"_s, sent}, {u"until"_s, orNull(until)}};
}

Result<History> History::fromJson(const QJsonObject &object, int contenders)
{
    History history;
    if (object.isEmpty())
        return history;
    history.isKept = true;
    history.servers = object.value(u"servers"_s).toInt();
    history.until = momentOrNone(object.value(u"until"_s));
    bool isRight = history.servers > 0 && history.servers <= mostServers;
    Moment last{};
    const auto happens = [&](Moment at, int server) {
        isRight = isRight && at >= last && server >= 0 && server < history.servers;
        last = at;
    };
    for (const auto &value : object.value(u"changes"_s).toArray()) {
        const auto array = value.toArray();
        ServerChange change{
            Moment(array.at(0).toInteger()),
            {array.at(1).toInt(-1), textOf(array.at(2)), textOf(array.at(3)), momentOrNone(array.at(4))},
            array.at(3).isNull()};
        happens(change.at, change.line.server);
        history.changes.push_back(std::move(change));
    }
    last = {};
    for (const auto &value : object.value(u"messages"_s).toArray()) {
        const auto array = value.toArray();
        const SentMessage message{Moment(array.at(0).toInteger()), momentOrNone(array.at(1)), array.at(2).toInt(-1),
                                  array.at(3).toInt(-1), array.at(4).toBool()};
        happens(message.at, message.server);
        isRight = isRight && message.contender >= 0 && message.contender < contenders;
        history.messages.push_back(message);
    }
    if (!isRight)
        return Error{ErrorCode::BadInput, u"what its servers had cannot be read"_s};
    return history;
}

} // namespace lockscope::contention
