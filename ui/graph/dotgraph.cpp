// SPDX-License-Identifier: Apache-2.0
#include "ui/graph/dotgraph.h"

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QDir>
#include <QFileInfo>
#include <QProcess>

#include <chrono>

namespace lockscope::ui {

namespace {

// Where it was installed; then where it is built, beside the window and for tests.
Result<QString> layoutProgram()
{
    const QString here = QCoreApplication::applicationDirPath();
    const QString installed = u"" LOCKSCOPE_LAYOUT_FOLDER ""_s;
    for (const auto &place : {installed, u"../graphlayout"_s, u"../../app/graphlayout"_s}) {
        const QFileInfo file(here + u'/' + place + u"/lockscope-graph-layout"_s);
        if (file.isExecutable())
            return file.canonicalFilePath();
    }
    return Error{ErrorCode::Unsupported, u"the program that lays graphs out is not there: %1"_s.arg(QDir::cleanPath(
                                             here + u'/' + installed + u"/lockscope-graph-layout"_s))};
}

bool answersAll(const QList<DotGraph> &graphs, const QList<DotPlaces> &places)
{
    if (places.size() != graphs.size())
        return false;
    for (qsizetype i = 0; i < places.size(); ++i) {
        if (places[i].centres.size() != graphs[i].boxes.size() || places[i].lines.size() != graphs[i].lines.size())
            return false;
    }
    return true;
}

} // namespace

Result<QList<DotPlaces>> layOutByDot(const QList<DotGraph> &graphs, const std::stop_token &stop)
{
    TRY(const auto &program, layoutProgram());
    return layOutBy(program, graphs, stop);
}

Result<QList<DotPlaces>> layOutBy(const QString &program, const QList<DotGraph> &graphs, const std::stop_token &stop)
{
    QProcess process;
    process.start(program, {});
    QByteArray asked;
    QDataStream to(&asked, QIODevice::WriteOnly);
    to.setVersion(dotStreamVersion);
    to << graphs;
    process.write(asked);
    process.closeWriteChannel();
    const QDeadlineTimer end(20s);
    while (process.state() != QProcess::NotRunning && !process.waitForFinished(50)) {
        if (process.state() == QProcess::NotRunning || (!stop.stop_requested() && !end.hasExpired()))
            continue;
        process.kill();
        process.waitForFinished();
        return Error{stop.stop_requested() ? ErrorCode::Cancelled : ErrorCode::TimedOut,
                     u"Graphviz took over 20 s to lay this graph out, and was stopped"_s};
    }
    const bool isStarted = process.error() != QProcess::FailedToStart;
    if (!isStarted || process.exitStatus() != QProcess::NormalExit || process.exitCode() != 0) {
        const auto said = QString::fromUtf8(process.readAllStandardError()).trimmed();
        return Error{ErrorCode::Unsupported, u"Graphviz (%1) could not lay this graph out: %2"_s.arg(
                                                 program, said.isEmpty() ? process.errorString() : said)};
    }
    QDataStream from(process.readAllStandardOutput());
    from.setVersion(dotStreamVersion);
    QList<DotPlaces> places;
    from >> places;
    if (from.status() != QDataStream::Ok || !answersAll(graphs, places))
        return Error{ErrorCode::Unsupported, u"%1 answered something else than what it was asked"_s.arg(program)};
    return places;
}

} // namespace lockscope::ui
