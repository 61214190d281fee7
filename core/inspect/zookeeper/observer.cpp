// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/observer.h"

#include "core/inspect/zookeeper/observerprivate.h"

namespace lockscope::inspect {

ZooKeeperObserver::Private::Private(zk::Session &s, zk::EvidenceSource &e, ConnectionName name, QByteArray root,
                                    ObserverOptions o, ObserverSink &to)
    : session(s), source(e), loop(s.loop()), connection(std::move(name)), chroot(std::move(root)), options(o), sink(to),
      connected(loop), first(loop), scope(loop)
{
}

ZooKeeperObserver::ZooKeeperObserver(zk::Session &session, zk::EvidenceSource &source, ConnectionName connection,
                                     QByteArray chroot, ObserverOptions options, ObserverSink &sink)
    : d(std::make_unique<Private>(session, source, std::move(connection), std::move(chroot), options, sink))
{
}

ZooKeeperObserver::~ZooKeeperObserver() = default;

void ZooKeeperObserver::start()
{
    d->states = d->session.onState([p = d.get()](zk::SessionState state) {
        if (state == zk::SessionState::Connecting) {
            p->wasBroken = true;
        } else if (state == zk::SessionState::Connected) {
            p->connectedAt = p->loop.wallNow();
            p->connected.complete(true);
            p->connectionBack();
        }
    });
    if (d->session.state() == zk::SessionState::Connected)
        d->connected.complete(true);
    d->scope.launch(d->find());
}

void ZooKeeperObserver::setPaused(bool paused)
{
    d->isPaused = paused;
}

OneShot<bool> ZooKeeperObserver::firstPicture() const
{
    return d->first;
}

Task<Result<LockPicture>> ZooKeeperObserver::readNow(QByteArray name, Deadline deadline)
{
    return d->readNow(std::move(name), deadline);
}

std::vector<LockPicture> ZooKeeperObserver::pictures() const
{
    return d->store.all();
}

std::vector<SessionPicture> ZooKeeperObserver::sessions() const
{
    return d->sessions;
}

std::vector<Coverage> ZooKeeperObserver::coverage() const
{
    return d->coverage;
}

} // namespace lockscope::inspect
