// SPDX-License-Identifier: Apache-2.0
#include "core/world/redis/luavalues.h"

#include "core/world/redis/reply.h"

#include <lua.hpp>

#include <cmath>

namespace lockscope::world {

using redis::Value;
using ValueKind = redis::Value::Kind;

namespace {

void pushText(lua_State *lua, const QByteArray &text)
{
    lua_pushlstring(lua, text.constData(), static_cast<size_t>(text.size()));
}

void pushField(lua_State *lua, const char *field, const QByteArray &text)
{
    lua_newtable(lua);
    pushText(lua, text);
    lua_setfield(lua, -2, field);
}

// A text in a field of the table on top of the stack.
std::optional<QByteArray> fieldOf(lua_State *lua, const char *field)
{
    lua_getfield(lua, -1, field);
    std::optional<QByteArray> text;
    if (lua_type(lua, -1) == LUA_TSTRING)
        text = textAt(lua, -1);
    lua_pop(lua, 1);
    return text;
}

qint64 truncated(double number)
{
    constexpr double beyond = 9223372036854775808.0; // 2^63
    if (std::isnan(number) || number >= beyond || number < -beyond)
        return std::numeric_limits<qint64>::min();
    return static_cast<qint64>(number);
}

Value takeTable(lua_State *lua)
{
    if (auto text = fieldOf(lua, "err"))
        return replies::error(*text);
    if (auto text = fieldOf(lua, "ok"))
        return replies::status(*text);
    std::vector<Value> items;
    for (int i = 1;; ++i) {
        lua_rawgeti(lua, -1, i);
        if (lua_isnil(lua, -1)) {
            lua_pop(lua, 1);
            return replies::array(std::move(items));
        }
        items.push_back(takeReply(lua));
    }
}

} // namespace

void pushReply(lua_State *lua, const Value &reply)
{
    switch (reply.kind) {
    case ValueKind::Nil: lua_pushboolean(lua, 0); return;
    case ValueKind::Status: pushField(lua, "ok", reply.text); return;
    case ValueKind::Error: pushError(lua, '-' + reply.text); return;
    case ValueKind::Integer: lua_pushnumber(lua, static_cast<lua_Number>(reply.integer)); return;
    case ValueKind::Bulk: pushText(lua, reply.text); return;
    case ValueKind::Array:
        lua_createtable(lua, static_cast<int>(reply.items.size()), 0);
        int place = 0;
        for (const auto &item : reply.items) {
            pushReply(lua, item);
            lua_rawseti(lua, -2, ++place);
        }
        return;
    }
}

void pushError(lua_State *lua, const QByteArray &text)
{
    const auto hasCode = text.startsWith('-') && text.contains(' ');
    const auto words = text.startsWith('-') ? text.mid(1) : text;
    pushField(lua, "err", hasCode ? words : "ERR " + words);
}

void pushTexts(lua_State *lua, const QByteArrayList &texts)
{
    lua_createtable(lua, static_cast<int>(texts.size()), 0);
    int place = 0;
    for (const auto &text : texts) {
        pushText(lua, text);
        lua_rawseti(lua, -2, ++place);
    }
}

Value takeReply(lua_State *lua)
{
    auto value = replies::nil();
    // Deeper than any reply is meant to be: a table that holds itself.
    if (lua_checkstack(lua, 4) == 0) {
        lua_pop(lua, 1);
        return replies::error("ERR reached lua stack limit");
    }
    switch (lua_type(lua, -1)) {
    case LUA_TSTRING: value = replies::bulk(*textAt(lua, -1)); break;
    case LUA_TNUMBER: value = replies::integer(truncated(lua_tonumber(lua, -1))); break;
    case LUA_TBOOLEAN:
        if (lua_toboolean(lua, -1) != 0)
            value = replies::integer(1);
        break;
    case LUA_TTABLE: value = takeTable(lua); break;
    default: break;
    }
    lua_pop(lua, 1);
    return value;
}

std::optional<QByteArray> textAt(lua_State *lua, int index)
{
    // Not by Lua's own conversion: it would keep 14 digits of a time in milliseconds.
    if (lua_type(lua, index) == LUA_TNUMBER)
        return redisText(lua_tonumber(lua, index));
    if (lua_type(lua, index) != LUA_TSTRING)
        return std::nullopt;
    size_t size = 0;
    const char *bytes = lua_tolstring(lua, index, &size);
    return QByteArray(bytes, static_cast<qsizetype>(size));
}

} // namespace lockscope::world
