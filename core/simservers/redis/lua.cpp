// SPDX-License-Identifier: Apache-2.0
#include "core/simservers/redis/execution.h"

#include <lua.hpp>

#include <QCryptographicHash>
#include <QHash>

#include <cmath>

namespace lockscope::sim {

using redis::Value;

// Between what Redis replies and what Lua has, by the rules of Redis' own scripting.

// Pushes one value: an integer as a number, nil as false, a status or an error as a table.
void pushReply(lua_State *lua, const redis::Value &reply);
// Pushes {err = …}; `text` begins with "-CODE ", or is given the code ERR.
void pushError(lua_State *lua, const QByteArray &text);
void pushTexts(lua_State *lua, const QByteArrayList &texts);
// Takes the value on top of the stack: numbers lose their fraction, a list ends at its first nil.
[[nodiscard]] redis::Value takeReply(lua_State *lua);
// An argument of redis.call; empty when it is neither string nor number.
[[nodiscard]] std::optional<QByteArray> textAt(lua_State *lua, int index);

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

// Lua ends a function in trouble by longjmp: none of these may have an object with a destructor alive when it
// calls lua_error or luaL_error.
namespace {

// Lua looks at its instructions in slices of this many.
constexpr int slice = 10'000;
constexpr int slicesPerScript = 5'000;
// Servers of one run after the other are sent the same few scripts.
QByteArray shaOf(const QByteArray &text)
{
    constexpr qsizetype most = 200;
    thread_local QHash<QByteArray, QByteArray> known;
    const auto at = known.constFind(text);
    if (at != known.constEnd())
        return *at;
    if (known.size() >= most)
        known.clear();
    return *known.insert(text, QCryptographicHash::hash(text, QCryptographicHash::Sha1).toHex());
}

// Its address is the engine's key in Lua's registry.
char engineKey = 0;

ScriptEngine &engineOf(lua_State *lua)
{
    lua_pushlightuserdata(lua, &engineKey);
    lua_rawget(lua, LUA_REGISTRYINDEX);
    auto *engine = static_cast<ScriptEngine *>(lua_touserdata(lua, -1));
    lua_pop(lua, 1);
    return *engine;
}

// Leaves the reply or the error on the stack; true when it is an error.
bool callRedis(lua_State *lua)
{
    redis::Command command;
    const int count = lua_gettop(lua);
    if (count == 0) {
        pushError(lua, "Please specify at least one argument for this redis lib call");
        return true;
    }
    for (int i = 1; i <= count; ++i) {
        const auto text = textAt(lua, i);
        if (!text) {
            pushError(lua, "Lua redis lib command arguments must be strings or integers");
            return true;
        }
        command << *text;
    }
    const auto reply = engineOf(lua).call(command);
    pushReply(lua, reply);
    return reply.isError();
}

int redisCall(lua_State *lua)
{
    return callRedis(lua) ? lua_error(lua) : 1;
}

int redisPcall(lua_State *lua)
{
    callRedis(lua);
    return 1;
}

bool isOneText(lua_State *lua)
{
    return lua_gettop(lua) == 1 && lua_type(lua, 1) == LUA_TSTRING;
}

int errorReply(lua_State *lua)
{
    if (!isOneText(lua)) {
        pushError(lua, "wrong number or type of arguments");
        return 1;
    }
    const auto text = *textAt(lua, 1);
    pushError(lua, text.startsWith('-') ? text : '-' + text);
    return 1;
}

int statusReply(lua_State *lua)
{
    if (isOneText(lua))
        pushReply(lua, replies::status(*textAt(lua, 1)));
    else
        pushError(lua, "wrong number or type of arguments");
    return 1;
}

int sha1Hex(lua_State *lua)
{
    if (lua_gettop(lua) != 1) {
        pushError(lua, "wrong number of arguments");
        return lua_error(lua);
    }
    pushReply(lua,
              replies::bulk(
                  QCryptographicHash::hash(textAt(lua, 1).value_or(QByteArray()), QCryptographicHash::Sha1).toHex()));
    return 1;
}

// Effects are replicated anyway since Redis 5.
int replicateCommands(lua_State *lua)
{
    lua_pushboolean(lua, 1);
    return 1;
}

int logNothing(lua_State *)
{
    return 0;
}

// As Lua's own, but of an error table only the words are left.
int plainPcall(lua_State *lua)
{
    luaL_checkany(lua, 1);
    const int failed = lua_pcall(lua, lua_gettop(lua) - 1, LUA_MULTRET, 0);
    if (failed != 0 && lua_istable(lua, -1)) {
        lua_getfield(lua, -1, "err");
        if (lua_isstring(lua, -1) != 0)
            lua_replace(lua, -2);
        else
            lua_pop(lua, 1);
    }
    lua_pushboolean(lua, failed == 0 ? 1 : 0);
    lua_insert(lua, 1);
    return lua_gettop(lua);
}

int globalOf(lua_State *lua)
{
    lua_pushvalue(lua, 2);
    lua_rawget(lua, LUA_GLOBALSINDEX);
    if (lua_isnil(lua, -1) && lua_isstring(lua, 2))
        return luaL_error(lua, "Script attempted to access nonexistent global variable '%s'", lua_tostring(lua, 2));
    return 1;
}

int refuseToWrite(lua_State *lua)
{
    return luaL_error(lua, "Attempt to modify a readonly table");
}

// Makes a table of any error, with the place where it happened.
int explainError(lua_State *lua)
{
    if (!lua_istable(lua, 1)) {
        const auto *words = lua_tostring(lua, 1);
        lua_newtable(lua);
        lua_pushfstring(lua, "ERR %s", words ? words : "unknown error");
        lua_setfield(lua, -2, "err");
        lua_replace(lua, 1);
    }
    lua_Debug place{};
    for (int level = 1; level <= 2 && lua_getstack(lua, level, &place) != 0; ++level) {
        lua_getinfo(lua, "Sl", &place);
        if (*place.what == 'C')
            continue;
        lua_pushstring(lua, place.source);
        lua_setfield(lua, 1, "source");
        lua_pushinteger(lua, place.currentline);
        lua_setfield(lua, 1, "line");
        break;
    }
    lua_settop(lua, 1);
    return 1;
}

void countInstructions(lua_State *lua, lua_Debug *)
{
    if (engineOf(lua).mayGoOn())
        return;
    // From here on at every instruction, so that no pcall in the script keeps it alive.
    lua_sethook(lua, countInstructions, LUA_MASKCOUNT, 1);
    luaL_error(lua, "Script ran for too long");
}

void openLibraries(lua_State *lua)
{
    const luaL_Reg libraries[]{{"", luaopen_base},
                               {LUA_TABLIBNAME, luaopen_table},
                               {LUA_STRLIBNAME, luaopen_string},
                               {LUA_MATHLIBNAME, luaopen_math}};
    for (const auto &library : libraries) {
        lua_pushcfunction(lua, library.func);
        lua_pushstring(lua, library.name);
        lua_call(lua, 1, 0);
    }
    // Ways out, and the C library's randomness, which all threads share.
    for (const auto *name :
         {"dofile", "loadfile", "print", "require", "module", "newproxy", "collectgarbage", "_G"}) {
        lua_pushnil(lua);
        lua_setglobal(lua, name);
    }
    lua_getglobal(lua, LUA_MATHLIBNAME);
    for (const auto *name : {"random", "randomseed"}) {
        lua_pushnil(lua);
        lua_setfield(lua, -2, name);
    }
    lua_pop(lua, 1);
    lua_register(lua, "pcall", plainPcall);
    const luaL_Reg functions[]{{"call", redisCall},         {"pcall", redisPcall},
                               {"error_reply", errorReply}, {"status_reply", statusReply},
                               {"sha1hex", sha1Hex},        {"replicate_commands", replicateCommands},
                               {"log", logNothing},         {nullptr, nullptr}};
    luaL_register(lua, "redis", functions);
    lua_pop(lua, 1);
}

// The global table that a script sees: ours, which it can read and not write.
void pushEnvironment(lua_State *lua)
{
    if (luaL_newmetatable(lua, "lockscope.globals") != 0) {
        lua_pushcfunction(lua, globalOf);
        lua_setfield(lua, -2, "__index");
        lua_pushcfunction(lua, refuseToWrite);
        lua_setfield(lua, -2, "__newindex");
        lua_pushboolean(lua, 0);
        lua_setfield(lua, -2, "__metatable");
    }
    lua_newtable(lua);
    lua_insert(lua, -2);
    lua_setmetatable(lua, -2);
}

} // namespace

ScriptEngine::ScriptEngine(Call call) : m_call(std::move(call)) {}

ScriptEngine::~ScriptEngine()
{
    if (m_lua)
        lua_close(m_lua);
}

void ScriptEngine::open()
{
    if (m_lua)
        return;
    m_lua = luaL_newstate();
    if (!m_lua)
        qFatal("out of memory for Lua");
    lua_pushlightuserdata(m_lua, &engineKey);
    lua_pushlightuserdata(m_lua, this);
    lua_rawset(m_lua, LUA_REGISTRYINDEX);
    lua_pushcfunction(m_lua, explainError);
    m_explain = luaL_ref(m_lua, LUA_REGISTRYINDEX);
    openLibraries(m_lua);
}

Value ScriptEngine::load(const QByteArray &text)
{
    const auto sha = shaOf(text);
    if (m_known.contains(sha))
        return replies::bulk(sha);
    open();
    if (luaL_loadbuffer(m_lua, text.constData(), static_cast<size_t>(text.size()), "@user_script") != 0) {
        const auto why = "ERR Error compiling script (new function): " + textAt(m_lua, -1).value_or(QByteArray());
        lua_settop(m_lua, 0);
        return replies::error(why);
    }
    pushEnvironment(m_lua);
    lua_setfenv(m_lua, -2);
    m_known.emplace(sha, luaL_ref(m_lua, LUA_REGISTRYINDEX));
    return replies::bulk(sha);
}

void ScriptEngine::forgetAll()
{
    for (const auto &[sha, number] : m_known)
        luaL_unref(m_lua, LUA_REGISTRYINDEX, number);
    m_known.clear();
}

Value ScriptEngine::run(const QByteArray &sha, const QByteArrayList &keys, const QByteArrayList &args)
{
    pushTexts(m_lua, keys);
    lua_setglobal(m_lua, "KEYS");
    pushTexts(m_lua, args);
    lua_setglobal(m_lua, "ARGV");
    m_slicesLeft = slicesPerScript;
    lua_sethook(m_lua, countInstructions, LUA_MASKCOUNT, slice);
    lua_rawgeti(m_lua, LUA_REGISTRYINDEX, m_explain);
    lua_rawgeti(m_lua, LUA_REGISTRYINDEX, m_known.at(sha));
    auto result = lua_pcall(m_lua, 0, 1, 1) == 0 ? takeReply(m_lua) : failure(sha);
    lua_settop(m_lua, 0);
    return result;
}

// Of the error table on top of the stack.
Value ScriptEngine::failure(const QByteArray &sha)
{
    if (!lua_istable(m_lua, -1))
        return replies::error("ERR Error running script " + sha + ", "
                              + textAt(m_lua, -1).value_or("execution failure"));
    const auto field = [this](const char *name) {
        lua_getfield(m_lua, -1, name);
        const auto text = textAt(m_lua, -1).value_or(QByteArray());
        lua_pop(m_lua, 1);
        return text;
    };
    const auto source = field("source");
    auto words = field("err");
    if (!source.isEmpty())
        words += " script: " + sha + ", on " + source + ':' + field("line") + '.';
    return replies::error(words);
}

} // namespace lockscope::sim
