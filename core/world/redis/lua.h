// SPDX-License-Identifier: Apache-2.0
// The Lua that runs a simulated Redis' scripts: the very files that the real one is sent, in an embedded
// Lua 5.1 that sees what Redis shows a script, and no more.
//
// One per server; compiled once per text. World's thread only.
#pragma once

#include "core/redis/connection.h"

#include <functional>
#include <memory>
#include <map>

struct lua_State;

namespace lockscope::world {

class ScriptEngine {
public:
    // Runs one command of a script.
    using Call = std::function<redis::Value(const redis::Command &)>;

    explicit ScriptEngine(Call call);
    ~ScriptEngine();
    ScriptEngine(const ScriptEngine &) = delete;
    ScriptEngine &operator=(const ScriptEngine &) = delete;

    // Compiles it; the SHA-1 of the text in hex, or an Error value as Redis words it.
    [[nodiscard]] redis::Value load(const QByteArray &text);
    [[nodiscard]] bool knows(const QByteArray &sha) const { return m_known.contains(sha); }
    void forgetAll();
    // A script that it knows. What it returned, as Redis would reply it.
    [[nodiscard]] redis::Value run(const QByteArray &sha, const QByteArrayList &keys, const QByteArrayList &args);

    // For what the scripts call.
    [[nodiscard]] redis::Value call(const redis::Command &command) const { return m_call(command); }
    // False when the script has used up what a script may take.
    [[nodiscard]] bool mayGoOn() { return --m_slicesLeft > 0; }

private:
    void open();
    [[nodiscard]] redis::Value failure(const QByteArray &sha);

    Call m_call;
    lua_State *m_lua = nullptr;        // made with the first script
    int m_explain = 0;                 // what makes a table of an error: its number in the registry
    std::map<QByteArray, int> m_known; // by SHA-1, the same of each function
    int m_slicesLeft = 0;
};

} // namespace lockscope::world
