// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/connectionlook.h"

#include "core/base/text.h"
#include "core/base/transportoptions.h"
#include "ui/parts/environment.h"

#include <QCoreApplication>

namespace lockscope::ui {

namespace {

struct LookText {
    Q_DECLARE_TR_FUNCTIONS(ConnectionLook)
};

QString latencyText(std::chrono::microseconds latency)
{
    const auto us = latency.count();
    if (us < 100'000)
        return u"%1 ms"_s.arg(static_cast<double>(us) / 1000.0, 0, 'f', us < 10'000 ? 1 : 0);
    return u"%1 ms"_s.arg(us / 1000);
}

void showState(ConnectionLook &look, const ConnectionStatus &status)
{
    using State = ConnectionStatus::State;
    if (status.state == State::Connected) {
        look.latency = status.latency ? latencyText(*status.latency) : QString();
        return;
    }
    look.shape = PillShape::Ring;
    look.tone = Tone::Critical;
    if (status.state == State::Connecting) {
        look.tone = Tone::Wait;
        look.state = LookText::tr("connecting");
    } else if (!status.isRecorded) {
        look.tone = Tone::Free; // of the time that is shown, which is past
        look.state = LookText::tr("not recorded");
    } else {
        look.shape = PillShape::Cross;
        look.state = status.state == State::Broken ? LookText::tr("broken") : LookText::tr("refused");
    }
}

} // namespace

QString writesText(bool isReadOnly, qint64 sent)
{
    const QString count = sent == 1 ? LookText::tr("1 write sent") : LookText::tr("%1 writes sent").arg(sent);
    return (isReadOnly ? LookText::tr("read-only") : LookText::tr("writes allowed")) + u" · "_s + count;
}

ConnectionLook lookOf(const ConnectionBook &book, const ConnectionStatus &status)
{
    ConnectionLook look;
    showState(look, status);
    const auto environment = environmentOf(book, status);
    look.tag = environment.word;
    look.isProduction = status.production;
    look.tagLook = status.production        ? TagLook::Production
                   : environment.production ? TagLook::Warning // its server was not verified
                                            : TagLook::Plain;
    if (const auto kind = backendOf(status.scheme))
        look.kind = infoOf(*kind).title;
    look.writes = writesText(status.readOnly, status.writesSent);
    QStringList tip{label(status.uri.toUtf8(), 300)};
    if (const auto warning = transportWarning(status.uri); !warning.isEmpty())
        tip << warning;
    if (!status.message.isEmpty())
        tip << label(status.message.toUtf8(), 300);
    tip << look.writes;
    look.tip = tip.join(u'\n');
    return look;
}

} // namespace lockscope::ui
