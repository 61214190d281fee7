// SPDX-License-Identifier: Apache-2.0
#include "app/lockscope/options.h"

#include "core/base/text.h"
#include "core/history/flightrecorder.h"
#include "core/workspace/rulefolder.h"
#include "ui/pages/page.h"

#include <QDir>
#include <QFileInfo>
#include <QLocalSocket>

namespace lockscope::app {

namespace {

Error bad(const QString &why)
{
    return Error{ErrorCode::BadInput, why};
}

Result<QSize> readSize(const QString &text)
{
    static const QRegularExpression form(u"^([0-9]{2,5})x([0-9]{2,5})$"_s);
    const auto match = form.match(text);
    if (!match.hasMatch())
        return bad(u"--size %1 is not of the form 1440x900"_s.arg(text));
    return QSize(match.captured(1).toInt(), match.captured(2).toInt());
}

Result<QString> readPage(const QString &page)
{
    const QStringList here = ui::pageIds();
    if (here.contains(page))
        return page;
    return bad(u"unknown page %1; pages: %2"_s.arg(page, here.join(u", "_s)));
}

Result<inspect::LockName> readLock(const QString &text)
{
    const auto raw = unescaped(text);
    const auto colon = raw ? raw->indexOf(':') : -1;
    if (colon <= 0)
        return bad(u"--lock %1 is not CONNECTION:NAME"_s.arg(text));
    return inspect::LockName{ConnectionName(raw->left(colon)), raw->mid(colon + 1)};
}

// "0.5", "2": seconds.
Result<std::chrono::milliseconds> readSeconds(const QString &text)
{
    bool isNumber = false;
    const double seconds = text.toDouble(&isNumber);
    if (!isNumber || seconds < 0 || seconds > 3600)
        return bad(u"--after %1 must be a number of seconds between 0 and 3600"_s.arg(text));
    return std::chrono::milliseconds(static_cast<long long>(seconds * 1000));
}

Result<void> readLook(const Arguments &arguments, WindowOptions &options)
{
    if (arguments.has(u"size"_s)) {
        TRY(const auto &size, readSize(arguments.value(u"size"_s)));
        options.size = size;
    }
    if (arguments.has(u"scale"_s)) {
        options.scalePercent = arguments.value(u"scale"_s).toInt();
        if (options.scalePercent < 50 || options.scalePercent > 400)
            return bad(u"--scale takes a percentage from 50 to 400"_s);
    }
    options.theme = arguments.value(u"theme"_s);
    if (arguments.has(u"theme"_s) && !QStringList{u"auto"_s, u"light"_s, u"dark"_s}.contains(options.theme))
        return bad(u"--theme is auto, light or dark, not %1"_s.arg(options.theme));
    options.language = lessons::languageByName(arguments.value(u"language"_s).toUtf8());
    if (arguments.has(u"language"_s) && !options.language)
        return bad(u"--language is en, zh_CN or ru, not %1"_s.arg(arguments.value(u"language"_s)));
    return {};
}

constexpr qint64 longestMessage = 8192;
constexpr int patienceMs = 1000;
const QByteArray thanks = "shown\n";

bool isUsersAlone(const QString &folder)
{
    const QFileInfo info(folder);
    const auto others = QFile::ReadGroup | QFile::WriteGroup | QFile::ExeGroup | QFile::ReadOther | QFile::WriteOther
                        | QFile::ExeOther;
    return info.isDir() && info.ownerId() == ::getuid() && !(info.permissions() & others);
}

} // namespace

const std::vector<OptionSpec> &windowOptions()
{
    static const std::vector<OptionSpec> all = [] {
        auto options = sharedOptions();
        std::erase_if(options, [](const OptionSpec &option) { return option.name == "color"_L1; }); // of terminals
        auto pages = ui::pageIds();
        const QString last = pages.takeLast();
        options.push_back({u"demo"_s, {}, u"fill the sandbox with live locks"_s});
        options.push_back({u"lock"_s, u"LOCK"_s, u"open on that lock (CONNECTION:NAME)"_s});
        options.push_back({u"page"_s, u"NAME"_s, u"open on %1 or %2"_s.arg(pages.join(u", "_s), last)});
        options.push_back({u"lesson"_s, u"ID"_s, u"open that lesson (lockscopectl lesson lists them)"_s});
        options.push_back({u"replay"_s, u"FILE"_s, u"show a recording (lockscopectl record) instead of servers"_s});
        options.push_back({u"at"_s, u"TIME"_s,
                           u"as of then: 2026-03-01T10:00:00Z, 10:00:00 of its last day, -5m before its end"_s});
        options.push_back({u"size"_s, u"WxH"_s, u"the window's size, for example 1440x900"_s});
        options.push_back({u"scale"_s, u"PERCENT"_s, u"scale everything"_s});
        options.push_back({u"theme"_s, u"NAME"_s, u"auto, light or dark, whatever the settings say"_s});
        options.push_back({u"language"_s, u"CODE"_s,
                           u"en, zh_CN or ru: of the pages Lessons and Simulator; all else is in English"_s});
        options.push_back(
            {u"screenshot"_s, u"FILE"_s, u"save the page as PNG once its first picture is complete; leave"_s});
        options.push_back({u"after"_s, u"SECONDS"_s, u"save it after that time at the latest (15)"_s});
        options.push_back({u"print-paths"_s, {}, u"print where settings, rules, records and recordings are"_s});
        return options;
    }();
    return all;
}

Result<WindowOptions> readWindowOptions(const Arguments &arguments)
{
    WindowOptions options;
    const bool isLink = arguments.words.size() == 1 && arguments.words.first().startsWith(u"lockscope:"_s);
    if (isLink)
        options.link = arguments.words.first();
    else if (!arguments.words.isEmpty())
        return bad(
            u"lockscope takes options only, not \"%1\"; lockscopectl has commands"_s.arg(arguments.words.first()));
    TRY(auto &connections, readConnections(arguments, environmentValue, findConnection));
    options.connections = std::move(connections);
    options.demo = arguments.has(u"demo"_s);
    if (arguments.has(u"lock"_s)) {
        TRY(auto &lock, readLock(arguments.value(u"lock"_s)));
        options.lock = std::move(lock);
    }
    options.replay = arguments.value(u"replay"_s);
    if (arguments.has(u"page"_s) || !options.replay.isEmpty()) {
        TRY(auto &page, readPage(arguments.value(u"page"_s, u"locks"_s)));
        options.page = page;
    }
    options.lesson = arguments.value(u"lesson"_s).toUtf8();
    options.rules = arguments.options.value(u"rules"_s);
    options.at = arguments.value(u"at"_s);
    if (!options.at.isEmpty() && options.replay.isEmpty())
        return bad(u"--at requires --replay FILE"_s);
    TRY_VOID(readLook(arguments, options));
    options.screenshot = arguments.value(u"screenshot"_s);
    if (arguments.has(u"after"_s)) {
        TRY(auto &after, readSeconds(arguments.value(u"after"_s)));
        options.after = after;
    }
    return options;
}

QString windowHelp()
{
    return u"lockscope: the locks of %1, seen as locks\n\n"
           "  lockscope [--connect [NAME=]URI]… [OPTION]… [LINK]\n\n"
           "Without --connect nothing is connected: the first page has the saved connections. LINK is\n"
           "lockscope://open?connection=NAME&lock=NAME: the window that is open shows that lock, where it has a\n"
           "connection of that name. lockscope://lesson/ID opens a lesson.\n\nOptions\n%2\n"
           "lockscopectl help connections lists the URIs of the servers.\n"
           "lockscopectl is the same for terminals. Inside the window, ? shows the keys.\n"_s.arg(
               titlesOfBackends(), optionsHelp(windowOptions()));
}

QString windowPaths()
{
    const std::initializer_list<std::pair<const char *, QString>> paths{
        {"settings", QSettings().fileName()},
        {"connections", ConnectionStore::defaultFile()},
        {"recent", settingsPath(u"recent.json"_s)},
        {"passwords", SecretFile::defaultPath()}, // without a keychain
        {"labels", clientLabelFile()},
        {"mutes", muteFile()},
        {"thresholds", thresholdFile()},
        {"rules", ruleFolder()},
        {"lessons", lessons::lessonFolders().last()},
        {"audit", operate::AuditFile().path()},
        {"recordings", history::recordersFolder()}};
    QString text;
    for (const auto &[name, path] : paths)
        text += QString::fromLatin1(name).leftJustified(13) + path + u'\n';
    return text;
}

Handover::Handover(QString folder, QObject *parent) : QObject(parent), m_folder(std::move(folder))
{
    connect(&m_server, &QLocalServer::newConnection, this, &Handover::accept);
}

QString Handover::runtimeFolder()
{
    const QString runtime = qEnvironmentVariable("XDG_RUNTIME_DIR");
    return runtime.startsWith(u'/') && isUsersAlone(runtime) ? runtime + u"/lockscope"_s : QString();
}

bool Handover::give(const QString &link) const
{
    if (m_folder.isEmpty() || !isUsersAlone(m_folder))
        return false;
    QLocalSocket socket;
    socket.connectToServer(path());
    if (!socket.waitForConnected(patienceMs))
        return false;
    socket.write(link.toUtf8() + '\n');
    while (socket.bytesAvailable() < thanks.size() && socket.waitForReadyRead(patienceMs)) {
    }
    return socket.readAll() == thanks;
}

bool Handover::listen()
{
    if (m_folder.isEmpty())
        return false;
    if (!QFileInfo::exists(m_folder)
        && !QDir().mkdir(m_folder, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner))
        return false;
    if (!isUsersAlone(m_folder))
        return false;
    QLocalSocket other;
    other.connectToServer(path());
    if (other.waitForConnected(patienceMs))
        return false; // that window takes them
    QLocalServer::removeServer(path());
    m_server.setSocketOptions(QLocalServer::UserAccessOption);
    return m_server.listen(path());
}

void Handover::accept()
{
    while (auto *socket = m_server.nextPendingConnection()) {
        socket->setReadBufferSize(longestMessage);
        connect(socket, &QLocalSocket::disconnected, socket, &QObject::deleteLater);
        QTimer::singleShot(patienceMs, socket, &QObject::deleteLater); // whoever says nothing
        const auto read = [this, socket] {
            if (!socket->canReadLine()) {
                if (socket->bytesAvailable() >= longestMessage)
                    socket->abort();
                return;
            }
            const QString link = QString::fromUtf8(socket->readLine(longestMessage)).trimmed();
            socket->write(thanks);
            socket->flush();
            socket->disconnectFromServer();
            emit taken(link);
        };
        connect(socket, &QLocalSocket::readyRead, this, read);
        if (socket->canReadLine())
            read();
    }
}

} // namespace lockscope::app

#include "moc_options.cpp"
