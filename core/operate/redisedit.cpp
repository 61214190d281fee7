// SPDX-License-Identifier: Apache-2.0
#include "core/operate/redis.h"

#include "core/base/text.h"
#include "core/operate/precheck.h"
#include "core/redis/client.h"

namespace lockscope::operate {

namespace {

using redis::Value;

bool isOfField(EditKind kind)
{
    return kind == EditKind::FieldSet || kind == EditKind::FieldDelete;
}

// What the script compares the key with, and what it then does.
struct KeyGuard {
    QByteArray type;
    QByteArray how;
    QByteArray value{};
    QByteArray hasTtl{};
    QByteArray expiry{};
};

KeyGuard guardOf(const EditPlan &plan)
{
    const auto &before = plan.before;
    const auto kind = plan.request.kind;
    if (!before.exists)
        return {.type = "none", .how = "nothing"};
    KeyGuard guard{.type = before.type, .how = "items", .value = QByteArray::number(before.items)};
    if (isOfField(kind)) {
        guard.how = before.hasField ? "field" : "nofield";
        guard.value = before.hasField ? before.value : QByteArray();
    } else if (before.type == "string" && before.isWhole) {
        guard.how = "value";
        guard.value = before.value;
    } else if (!before.dump.isEmpty()) {
        guard.how = "dump";
        guard.value = before.dump;
    }
    if (!isOfField(kind))
        guard.hasTtl = before.ttl ? "1" : "0";
    // A value that every holder writes alike: only the moment at which it ends tells one from the next.
    const bool comesAgain = std::ranges::any_of(plan.locks, &TouchedLock::comesAgain);
    // Taken back, a time to live must be the one that the edit gave, not somebody's since.
    const bool isTimeBack = kind == EditKind::KeyExpire && plan.request.expected.has_value();
    if ((comesAgain || isTimeBack) && before.expiryMs)
        guard.expiry = QByteArray::number(*before.expiryMs);
    return guard;
}

QByteArrayList actOf(const EditRequest &request)
{
    const auto moment = request.expiryMs ? QByteArray::number(*request.expiryMs) : QByteArray();
    switch (request.kind) {
    case EditKind::KeySet: return {"set", request.value};
    case EditKind::KeyExpire:
        if (request.expiryMs)
            return {"expireat", moment};
        return request.ttl ? QByteArrayList{"expire", QByteArray::number(request.ttl->count())}
                           : QByteArrayList{"persist"};
    case EditKind::KeyRename: return {"rename"};
    case EditKind::KeyDelete: return {"delete"};
    case EditKind::KeyRestore: return {"restore", request.value, moment};
    case EditKind::FieldSet: return {"hset", request.field, request.value};
    case EditKind::FieldDelete: return {"hdel", request.field};
    default: return {};
    }
}

// As redis-cli reads it: "a \"b\"".
QString inQuotes(const QByteArray &bytes)
{
    return u'"' + label(bytes, 60).replace(u'"', u"\\\""_s) + u'"';
}

// The command of the script, for people.
QString actText(const EditPlan &plan)
{
    const auto &request = plan.request;
    const auto key = label(request.name);
    const auto value = inQuotes(request.value);
    switch (request.kind) {
    case EditKind::KeySet:
        return plan.before.ttl ? sentence("set-with-expiry", {key, value}) : u"SET %1 %2"_s.arg(key, value);
    case EditKind::KeyExpire:
        if (request.expiryMs)
            return u"PEXPIREAT %1 %2"_s.arg(key, QString::number(*request.expiryMs));
        return request.ttl ? u"PEXPIRE %1 %2"_s.arg(key, QString::number(request.ttl->count()))
                           : u"PERSIST %1"_s.arg(key);
    case EditKind::KeyRename: return u"RENAMENX %1 %2"_s.arg(key, label(request.value));
    case EditKind::KeyDelete: return u"DEL %1"_s.arg(key);
    case EditKind::KeyRestore:
        return (request.expiryMs ? u"RESTORE %1 0 (%2), PEXPIREAT (previous expiry)"_s : u"RESTORE %1 0 (%2)"_s)
            .arg(key, amountOf(request.value.size(), "byte"_L1, "bytes"_L1));
    case EditKind::FieldSet:
        return plan.before.hasField ? sentence("hset-with-expiry", {key, inQuotes(request.field), value})
                                    : u"HSET %1 %2 %3"_s.arg(key, inQuotes(request.field), value);
    case EditKind::FieldDelete: return u"HDEL %1 %2"_s.arg(key, inQuotes(request.field));
    default: return {};
    }
}

QString guardWords(const EditPlan &plan, const KeyGuard &guard)
{
    if (guard.type == "none")
        return sentence("key-guarded-as-missing");
    const auto type = label(guard.type, 40);
    QString what = u"with "_s + amountOf(plan.before.items, "item"_L1, "items"_L1);
    if (guard.how == "value")
        what = u"and hold "_s + inQuotes(guard.value);
    else if (guard.how == "dump")
        what = u"with its current content, byte for byte"_s;
    else if (guard.how == "field")
        what = u"whose field holds "_s + inQuotes(guard.value);
    else if (guard.how == "nofield")
        what = u"without that field"_s;
    return sentence(!guard.expiry.isEmpty() ? "key-guarded-by-end"
                    : guard.hasTtl == "1"   ? "key-guarded-with-ttl"
                    : guard.hasTtl == "0"   ? "key-guarded-without-ttl"
                                            : "key-guarded",
                    {type, what, QString::fromLatin1(guard.expiry)});
}

QString undoWords(const EditPlan &plan)
{
    const auto &before = plan.before;
    const bool isMomentKnown = !before.ttl || before.expiryMs;
    const bool isLastField = plan.request.kind == EditKind::FieldDelete && before.items == 1;
    switch (isLastField ? EditKind::KeyDelete : plan.request.kind) {
    case EditKind::KeySet: return before.exists ? sentence("undo-set-key") : u"delete it again, if it is unchanged"_s;
    case EditKind::KeyExpire:
        return !before.ttl     ? u"remove its TTL again"_s
               : isMomentKnown ? u"restore its previous expiry time"_s
                               : sentence("undo-without-exact-time");
    case EditKind::KeyRename: return u"rename it back"_s;
    case EditKind::KeyDelete:
        return sentence(before.dump.isEmpty() ? "undo-too-large"
                        : isMomentKnown       ? "undo-delete-key"
                                              : "undo-without-exact-time");
    case EditKind::KeyRestore: return u"delete it again"_s;
    case EditKind::FieldDelete: return sentence("undo-delete-field");
    default: return sentence(before.hasField ? "undo-set-field" : "undo-make-field");
    }
}

std::optional<std::chrono::milliseconds> timeOf(const Value &ttl)
{
    return ttl.kind == Value::Kind::Integer && ttl.integer >= 0
               ? std::optional(std::chrono::milliseconds(ttl.integer))
               : std::nullopt;
}

redis::Command countCommand(const QByteArray &type, const QByteArray &key)
{
    static const std::map<QByteArray, QByteArray> commands{{"string", "STRLEN"}, {"hash", "HLEN"},
                                                           {"list", "LLEN"},     {"set", "SCARD"},
                                                           {"zset", "ZCARD"},    {"stream", "XLEN"}};
    const auto at = commands.find(type);
    return at == commands.end() ? redis::Command{"EXISTS", key} : redis::Command{at->second, key};
}

// Each part's own error (a server too old, an ACL) leaves that part unknown.
void takeValues(EditState &state, const EditRequest &request, const std::vector<Value> &values, bool isSmall)
{
    const auto text = [&](std::size_t at) { return values[at].isError() ? QByteArray() : values[at].text; };
    state.items = values[0].kind == Value::Kind::Integer ? values[0].integer : 0;
    std::size_t next = 1;
    if (isSmall) {
        state.dump = text(next++);
        if (state.dump.size() > largestEdit)
            state.dump.clear();
    }
    if (state.type == "string") {
        state.value = text(next);
        state.isWhole = state.items <= largestEdit && state.value.size() == state.items;
    } else if (state.type == "hash" && !request.field.isEmpty()) {
        state.hasField = values[next].kind == Value::Kind::Bulk;
        state.value = text(next).left(largestEdit);
        state.isWhole = text(next).size() <= largestEdit;
    }
}

Error otherThanItWas(const EditPlan &plan, const QByteArray &said)
{
    const auto key = label(plan.request.name);
    if (said == "taken")
        return {ErrorCode::NodeExists,
                u"nothing was renamed: key %1 already exists"_s.arg(label(plan.request.value))};
    if (said == "past")
        return {ErrorCode::Refused, sentence("key-past", {key})};
    const auto what = said == "gone"    ? u"it no longer exists"_s
                      : said == "there" ? u"it now exists"_s
                      : said == "type"  ? u"its type has changed"_s
                      : said == "ttl"   ? u"its TTL has changed"_s
                      : said == "lease" ? leaseWrittenAnewText()
                                        : u"its content has changed"_s;
    return {ErrorCode::Refused, sentence("differs-from-preview", {key, what})};
}

Task<Result<EditSent>> noZnodesHere()
{
    co_return Error{ErrorCode::Unsupported, u"nothing was sent: a Redis has keys, not znodes"_s};
}

Task<Result<EditSent>> sendKeyEdit(EditPlan plan, redis::Connection *connection, Deadline deadline)
{
    const auto guard = guardOf(plan);
    QByteArrayList keys{plan.request.name};
    if (plan.request.kind == EditKind::KeyRename)
        keys << plan.request.value;
    QByteArrayList args{guard.type, guard.how, guard.value, guard.hasTtl, guard.expiry};
    args += actOf(plan.request);
    while (args.size() < 8)
        args << QByteArray();
    if (plan.leaseEnds)
        args << QByteArray::number(*plan.leaseEnds);
    const auto script = redis::loadScript("edit-key");
    CO_TRY(const auto &said, co_await connection->script(script, keys, args, deadline));
    if (said.text != "done")
        co_return otherThanItWas(plan, said.text);
    co_return EditSent();
}

} // namespace

EditPreview previewOfKeyEdit(const EditPlan &plan)
{
    const auto &request = plan.request;
    const auto guard = guardOf(plan);
    EditPreview preview;
    preview.commands << u"EVALSHA edit-key %1 %2 …"_s.arg(request.kind == EditKind::KeyRename ? u"2"_s : u"1"_s,
                                                          label(request.name))
                     << u"in the script, if nothing has changed: %1"_s.arg(actText(plan));
    preview.guard =
        guardWords(plan, guard) + (plan.endTellsHolds() && plan.before.expiryMs ? leaseGuardText() : QString());
    preview.undo = undoWords(plan);
    if (guard.how == "items")
        addTexts(preview, "key-too-large-to-compare");
    if (std::ranges::any_of(plan.locks, &TouchedLock::comesAgain) && guard.expiry.isEmpty())
        addTexts(preview, "key-may-be-another");
    if (request.kind == EditKind::KeyExpire && !request.ttl && !request.expiryMs)
        addTexts(preview, "key-stays");
    if (request.kind == EditKind::FieldDelete && plan.before.items == 1)
        addTexts(preview, "last-field");
    return preview;
}

std::optional<Error> keyEditError(const EditPlan &plan)
{
    const auto &request = plan.request;
    const auto &before = plan.before;
    const auto key = label(request.name);
    const auto bad = [](const QString &why) { return Error{ErrorCode::BadInput, why}; };
    if (request.name.isEmpty())
        return bad(u"a key needs a name"_s);
    if (request.kind == EditKind::KeyRestore && before.exists)
        return Error{ErrorCode::NodeExists, u"key %1 already exists"_s.arg(key)};
    if (request.kind != EditKind::KeySet && request.kind != EditKind::KeyRestore && !before.exists)
        return Error{ErrorCode::NoNode, u"key %1 does not exist"_s.arg(key)};
    switch (request.kind) {
    case EditKind::KeySet:
        if (before.exists && before.type != "string")
            return bad(sentence("key-not-editable", {key, label(before.type, 40)}));
        if (before.exists && !before.isWhole)
            return Error{ErrorCode::TooLarge, u"%1 cannot be edited: it is larger than 1 MiB"_s.arg(key)};
        if (before.exists && before.value == request.value)
            return bad(u"nothing was changed yet"_s);
        return std::nullopt;
    case EditKind::KeyExpire:
        if (request.ttl && request.ttl->count() <= 0)
            return bad(sentence("ttl-not-positive"));
        if (!request.ttl && !request.expiryMs && !before.ttl)
            return bad(u"it already has no TTL"_s);
        if (request.expiryMs
            && std::chrono::milliseconds(*request.expiryMs) <= std::chrono::system_clock::now().time_since_epoch())
            return bad(u"its previous expiry time has passed"_s);
        return std::nullopt;
    case EditKind::KeyRename:
        if (request.value.isEmpty() || request.value == request.name)
            return bad(u"enter another name"_s);
        return std::nullopt;
    case EditKind::KeyRestore:
        if (request.expiryMs
            && std::chrono::milliseconds(*request.expiryMs) <= std::chrono::system_clock::now().time_since_epoch())
            return bad(sentence("key-expires-at-once"));
        return std::nullopt;
    case EditKind::FieldSet:
    case EditKind::FieldDelete:
        if (before.type != "hash")
            return bad(u"%1 is a %2, and has no fields"_s.arg(key, label(before.type, 40)));
        if (request.field.isEmpty())
            return bad(u"a field needs a name"_s);
        if (!before.isWhole)
            return Error{ErrorCode::TooLarge, u"the field cannot be edited: it is larger than 1 MiB"_s};
        if (request.kind == EditKind::FieldDelete && !before.hasField)
            return bad(u"the field does not exist"_s);
        if (request.kind == EditKind::FieldSet && before.hasField && before.value == request.value)
            return bad(u"nothing was changed yet"_s);
        return std::nullopt;
    default: return std::nullopt;
    }
}

QString differenceOfKeys(const EditRequest &request, const EditState &was, const EditState &now)
{
    if (was.type != now.type)
        return u"it is now a %1"_s.arg(label(now.type, 40));
    if (isOfField(request.kind))
        return was.hasField == now.hasField && was.value == now.value ? QString()
                                                                      : u"the value of the field has changed"_s;
    if (was.items != now.items || was.value != now.value || was.dump != now.dump)
        return u"its content has changed"_s;
    if (was.ttl.has_value() != now.ttl.has_value())
        return now.ttl ? u"it now has a TTL"_s : u"it no longer has a TTL"_s;
    return {};
}

Task<Result<EditState>> readForEdit(EditRequest request, redis::Connection *connection, Deadline deadline)
{
    const auto &key = request.name;
    EditState state;
    const std::vector<redis::Command> facts{
        {"TYPE", key}, {"PTTL", key}, {"PEXPIRETIME", key}, {"MEMORY", "USAGE", key, "SAMPLES", "5"}};
    CO_TRY(const auto &said, co_await connection->pipeline(facts, deadline));
    const auto &type = said[0];
    if (type.isError())
        co_return Error{ErrorCode::NoPermission, u"%1: %2"_s.arg(label(key), label(type.text))};
    if (type.text == "none")
        co_return state;
    state.exists = true;
    state.type = type.text;
    state.ttl = timeOf(said[1]);
    if (const auto &moment = said[2]; moment.kind == Value::Kind::Integer && moment.integer >= 0)
        state.expiryMs = moment.integer;
    const auto &memory = said[3];
    constexpr qint64 inMemory = 4; // times as large as when it is written down
    const bool isSmall = memory.kind == Value::Kind::Integer && memory.integer <= inMemory * largestEdit;
    std::vector<redis::Command> values{countCommand(state.type, key)};
    if (isSmall)
        values.push_back({"DUMP", key});
    if (state.type == "string")
        values.push_back({"GETRANGE", key, "0", QByteArray::number(largestEdit - 1)});
    else if (state.type == "hash" && !request.field.isEmpty())
        values.push_back({"HGET", key, request.field});
    CO_TRY(const auto &read, co_await connection->pipeline(std::move(values), deadline));
    takeValues(state, request, read, isSmall);
    co_return state;
}

Task<Result<EditSent>> sendEdit(EditPlan plan, redis::Connection *connection, Deadline deadline)
{
    return isOfZnodes(plan.request.kind) ? noZnodesHere() : sendKeyEdit(std::move(plan), connection, deadline);
}

} // namespace lockscope::operate
