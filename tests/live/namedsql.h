// SPDX-License-Identifier: Apache-2.0
// A connection to MariaDB that calls itself something (program_name), as Qt's cannot: through the C client's library,
// which Qt's driver brings along.
#pragma once

#include <QByteArray>
#include <QLibrary>

#include <thread>

namespace lockscope::testing {

class NamedSql {
public:
    NamedSql(quint16 port, const QByteArray &program) : m_library(QStringLiteral("mariadb"), 3)
    {
        if (!m_library.load())
            return;
        constexpr int addAttribute = 33; // MYSQL_OPT_CONNECT_ATTR_ADD
        m_sql = call<void *(*)(void *)>("mysql_init")(nullptr);
        call<int (*)(void *, int, const void *, const void *)>("mysql_options4")(m_sql, addAttribute, "program_name",
                                                                                 program.constData());
        using Connect = void *(*)(void *, const char *, const char *, const char *, const char *, unsigned,
                                  const char *, unsigned long);
        m_isConnected = call<Connect>("mysql_real_connect")(m_sql, "127.0.0.1", "root", "", "shop", port, nullptr, 0);
    }
    NamedSql(const NamedSql &) = delete;
    NamedSql &operator=(const NamedSql &) = delete;
    ~NamedSql()
    {
        wait();
        if (m_sql)
            call<void (*)(void *)>("mysql_close")(m_sql);
    }

    [[nodiscard]] bool isConnected() const { return m_isConnected; }
    bool run(const QByteArray &statement)
    {
        if (call<int (*)(void *, const char *)>("mysql_query")(m_sql, statement.constData()) != 0)
            return false;
        if (auto *rows = call<void *(*)(void *)>("mysql_store_result")(m_sql))
            call<void (*)(void *)>("mysql_free_result")(rows);
        return true;
    }
    // For a statement that blocks.
    void begin(const QByteArray &statement)
    {
        m_thread = std::thread([this, statement] { run(statement); });
    }
    void wait()
    {
        if (m_thread.joinable())
            m_thread.join();
    }

private:
    template <class Function>
    Function call(const char *name)
    {
        return reinterpret_cast<Function>(m_library.resolve(name));
    }

    QLibrary m_library;
    void *m_sql = nullptr;
    bool m_isConnected = false;
    std::thread m_thread;
};

} // namespace lockscope::testing
