// SPDX-License-Identifier: Apache-2.0
// A Backend that a test plays: it notes every call, answers as the test says, and tells what the
// test tells it. Answers come through the event loop, as the live one's do; with holdAnswers they
// wait until deliverAnswers().
#pragma once

#include <version>

#include "core/workspace/backend.h"
#include "tests/support/fakedata.h"

#include <any>
#include <deque>
#include <map>
#include <typeindex>

namespace lockscope::testing {

class FakeBackend : public Backend {
    Q_OBJECT
public:
    explicit FakeBackend(QObject *parent = nullptr) : Backend(parent) {}

    // Every call in order, as text: "listZnodes zk /locks", "release 3", "setReadOnly zk false".
    QStringList calls;
    [[nodiscard]] bool wasCalled(const QString &call) const { return calls.contains(call); }

    // The script that answers a query: on<ReadKey>() = [](const ReadKey &query) { … }. Without a script, the answer
    // is the error "not scripted".
    template <class Q>
    using Script = std::function<Result<typename Q::Answer>(const Q &)>;
    template <class Q>
    [[nodiscard]] Script<Q> &on()
    {
        return kept<Script<Q>>();
    }
    // The last query or command of this type.
    template <class T>
    [[nodiscard]] const std::optional<T> &last()
    {
        return kept<std::optional<T>>();
    }

    // The runs that were asked for and not answered yet, by number; answerRun() answers one.
    std::map<quint64, Posted<PlayOnServers>> runs;
    void answerRun(quint64 id, Result<contention::Recording> result);

    // What was recorded; null: nothing is.
    Past *recorded = nullptr;
    [[nodiscard]] Past *past() override { return recorded; }
    std::vector<inspect::ClientLabel> labels;
    [[nodiscard]] std::vector<inspect::ClientLabel> clientLabels() const override { return labels; }

    bool holdAnswers = false;
    void deliverAnswers();
    [[nodiscard]] qsizetype waitingAnswers() const { return static_cast<qsizetype>(m_held.size()); }

    // What the live backend would tell.
    void tell(const Batch &batch) { emit updated(batch); }
    void notifyLocks(const std::vector<inspect::SnapshotChange> &changes) { tell(newest({.locks = changes})); }
    void notifyConnection(const ConnectionStatus &status) { emit updated({.connections = {status}}); }
    void notifyHold(const Hold &hold) { emit holdChanged(hold); }
    void notifyRun(quint64 id, const RealRunProgress &progress) { emit runProgressed(id, progress); }
    void notifyZnodesChanged(const ConnectionName &name, const ZPath &path) { emit znodesChanged(name, path); }

    void post(PostedQuery query) override;
    void execute(Command command) override;

private:
    template <class T>
    T &kept()
    {
        auto &value = m_kept[typeid(T)];
        if (!value.has_value())
            value = T();
        return std::any_cast<T &>(value);
    }
    template <class T>
    void note(const T &request);
    template <class Q>
    void take(Posted<Q> asked);
    template <class Q>
    Result<typename Q::Answer> answerOf(const Q &query);

    std::map<std::type_index, std::any> m_kept; // scripts and last requests, by their type
    std::deque<std::pair<QPointer<QObject>, std::function<void()>>> m_held;
};

} // namespace lockscope::testing
