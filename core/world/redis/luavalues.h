// SPDX-License-Identifier: Apache-2.0
// Between what Redis replies and what Lua has, by the rules of Redis' own scripting.
#pragma once

#include "core/redis/connection.h"

struct lua_State;

namespace lockscope::world {

// Pushes one value: an integer as a number, nil as false, a status or an error as a table.
void pushReply(lua_State *lua, const redis::Value &reply);
// Pushes {err = …}; `text` begins with "-CODE ", or is given the code ERR.
void pushError(lua_State *lua, const QByteArray &text);
void pushTexts(lua_State *lua, const QByteArrayList &texts);
// Takes the value on top of the stack: numbers lose their fraction, a list ends at its first nil.
[[nodiscard]] redis::Value takeReply(lua_State *lua);
// An argument of redis.call; empty when it is neither string nor number.
[[nodiscard]] std::optional<QByteArray> textAt(lua_State *lua, int index);

} // namespace lockscope::world
