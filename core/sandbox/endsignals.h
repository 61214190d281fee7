// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM and SIGHUP as a Qt signal, so that a program can leave its event loop and clean up.
// The same signal a second time ends the program at once, as if nobody had caught it.
#pragma once

#include <QObject>

class QSocketNotifier;

namespace lockscope::sandbox {

// At most one at a time, in the main thread.
class EndSignals : public QObject {
    Q_OBJECT
public:
    explicit EndSignals(QObject *parent = nullptr);
    ~EndSignals() override;

signals:
    void asked(int signalNumber);

private:
    void read();

    QSocketNotifier *m_notifier = nullptr;
};

} // namespace lockscope::sandbox
