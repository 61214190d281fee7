// SPDX-License-Identifier: Apache-2.0
// The Backend of a running program: a Workspace on an I/O thread of its own, its news batched to at
// most one delivery per frame, and never more than one on the way.
//
// Lives in the GUI thread; destroying it stops the I/O thread after closing what is open.
#pragma once

#include "core/workspace/backend.h"
#include "core/workspace/past.h"

#include <QThread>

namespace lockscope {

class IoController;

class LiveBackend : public Backend {
    Q_OBJECT
public:
    // Without `recorder` nothing is recorded.
    explicit LiveBackend(WorkspaceOptions options, std::optional<history::FlightOptions> recorder = {},
                         QObject *parent = nullptr);
    ~LiveBackend() override;

    [[nodiscard]] std::vector<inspect::ClientLabel> clientLabels() const override { return m_labels; }
    [[nodiscard]] Past *past() override { return m_past.get(); }
    void post(PostedQuery query) override
    {
        std::visit([this](auto &asked) { start(std::move(asked)); }, query);
    }
    void execute(Command command) override;

private:
    friend class IoController;
    // Runs `work` on the I/O thread.
    void onIoThread(std::function<void(IoController &)> work);
    // Wraps a callback so that it is called in the GUI thread while `context` lives.
    template <class T>
    std::function<void(T)> deliveredTo(const QPointer<QObject> &context, std::function<void(T)> callback);
    template <class Q>
    void start(Posted<Q> asked);

    std::unique_ptr<Past> m_past; // reads what the I/O side records
    std::vector<inspect::ClientLabel> m_labels;
    QThread m_thread;
    const QString m_auditPath;
    Workers m_rehearsals{2};      // they wait for nobody, and compute for a while
    Workers m_readers{2};         // of files
    IoController *m_io = nullptr; // lives and dies in m_thread
};

} // namespace lockscope
