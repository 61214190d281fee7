// SPDX-License-Identifier: Apache-2.0
// Other people's clients as child processes, obeying commands on their standard input (see clients/).
#pragma once

#include <QFile>
#include <QProcess>
#include <QTest>

namespace lockscope::interop {

class ForeignClient {
public:
    ForeignClient(const QString &program, const QStringList &arguments)
    {
        m_process.setProcessChannelMode(QProcess::MergedChannels);
        m_process.start(program, arguments);
    }
    // Closing its input ends it; what does not end is killed.
    ~ForeignClient()
    {
        m_process.closeWriteChannel();
        if (!m_process.waitForFinished(10'000)) {
            m_process.kill();
            m_process.waitForFinished(10'000);
        }
    }
    ForeignClient(const ForeignClient &) = delete;
    ForeignClient &operator=(const ForeignClient &) = delete;

    // It is on its way, whether or not events run.
    void tell(const QByteArray &command)
    {
        m_process.write(command + '\n');
        m_process.waitForBytesWritten(30'000);
    }
    // Whether it says so, now or before: a whole line, or its first words.
    bool says(const QByteArray &line)
    {
        return QTest::qWaitFor([&] { return hasSaid(line); }, 30'000);
    }
    bool hasSaid(const QByteArray &line)
    {
        m_said += m_process.readAll();
        const QByteArray text = '\n' + m_said;
        return text.contains('\n' + line + '\n') || text.contains('\n' + line + ' ');
    }
    // What it said of a hold: that word of its line "held NAME …"; empty if there is none.
    QByteArray heldWord(const QByteArray &name, int word)
    {
        for (const auto &line : everythingSaid().split('\n')) {
            if (line.startsWith("held " + name + ' '))
                return line.split(' ').value(word);
        }
        return {};
    }
    [[nodiscard]] qint64 processId() const { return m_process.processId(); }
    // For the message of a failed test.
    QByteArray everythingSaid()
    {
        m_said += m_process.readAll();
        return m_said + m_process.errorString().toUtf8();
    }

private:
    QProcess m_process;
    QByteArray m_said;
};

inline QString clientFile(const QString &name)
{
    return QStringLiteral(INTEROP_CLIENTS "/") + name;
}

// Debian's python3-kazoo and python3-redis belong to its own interpreter; ./test.sh --interop names another
// with the newest ones.
inline QString pythonProgram()
{
    return qEnvironmentVariable("LOCKSCOPE_INTEROP_PYTHON", QStringLiteral("/usr/bin/python3"));
}
inline std::unique_ptr<ForeignClient> pythonClient(const QString &file, const QStringList &arguments)
{
    return std::make_unique<ForeignClient>(pythonProgram(), QStringList{clientFile(file)} + arguments);
}

// For QSKIP, where a release of Debian does not have them: why they cannot be started; empty if they can.
inline QByteArray whyNoPythonClients()
{
    const int status =
        QProcess::execute(pythonProgram(), {QStringLiteral("-c"), QStringLiteral("import kazoo, redis")});
    return status == 0
               ? QByteArray()
               : "kazoo and redis-py are not both installed; Debian's packages are python3-kazoo and python3-redis";
}
inline QByteArray whyNoCurator()
{
    const bool isThere = qEnvironmentVariableIsSet("LOCKSCOPE_INTEROP_JARS")
                         || QFile::exists(QStringLiteral("/usr/share/java/curator-recipes.jar"));
    return isThere ? QByteArray() : "Curator is not installed; Debian's package is libcurator-recipes-java";
}

// A short start, or the speed it reaches when it has run for a while.
enum class JavaSpeed { QuickStart, Full };

// A single source file, compiled as it is started; the jars are Debian's, after those of a folder that
// ./test.sh --interop names. `file` among our clients, or a path.
inline std::unique_ptr<ForeignClient> javaClient(const QString &file, const QStringList &arguments,
                                                 JavaSpeed speed = JavaSpeed::QuickStart)
{
    QStringList jars;
    if (const auto newest = qEnvironmentVariable("LOCKSCOPE_INTEROP_JARS"); !newest.isEmpty())
        jars << newest + QStringLiteral("/*");
    for (const char *jar : {"curator-recipes", "curator-framework", "curator-client", "zookeeper", "zookeeper-jute",
                            "zookeeper-recipes-lock", "slf4j-api", "slf4j-nop", "guava", "failureaccess"})
        jars << QStringLiteral("/usr/share/java/%1.jar").arg(QLatin1String(jar));
    QStringList options{QStringLiteral("-cp"), jars.join(u':'), file.startsWith(u'/') ? file : clientFile(file)};
    if (speed == JavaSpeed::QuickStart)
        options.prepend(QStringLiteral("-XX:TieredStopAtLevel=1"));
    return std::make_unique<ForeignClient>(QStringLiteral("java"), options + arguments);
}

} // namespace lockscope::interop
