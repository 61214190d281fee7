// SPDX-License-Identifier: Apache-2.0
// A link that was clicked goes to the window that is open already, by a local socket in the folder that only this
// user can enter ($XDG_RUNTIME_DIR). Nothing but a link is taken, and a link only shows.
#pragma once

#include <QLocalServer>

namespace lockscope::app {

class Handover : public QObject {
    Q_OBJECT
public:
    // `folder`: where the socket lies; the user's runtime folder unless a test says otherwise.
    explicit Handover(QString folder = runtimeFolder(), QObject *parent = nullptr);

    // Empty where there is none that is the user's alone.
    [[nodiscard]] static QString runtimeFolder();
    // Whether a window took it.
    [[nodiscard]] bool give(const QString &link) const;
    // From now on this window takes them, unless another one does.
    bool listen();

signals:
    void taken(const QString &link);

private:
    void accept();
    [[nodiscard]] QString path() const;

    QString m_folder;
    QLocalServer m_server;
};

} // namespace lockscope::app
