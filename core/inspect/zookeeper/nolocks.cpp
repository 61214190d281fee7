// SPDX-License-Identifier: Apache-2.0
// Trees of well-known systems that look like locks and are none.
#include "core/inspect/zookeeper/layouts.h"
#include "core/inspect/zookeeper/names.h"

#include <QByteArrayList>

namespace lockscope::inspect {

namespace {

bool isBelow(const ZPath &directory, const char *folder)
{
    const QByteArray path = directory.bytes() + '/';
    return path.contains(QByteArray("/") + folder + '/');
}

// Numbered names that are messages, log entries or short-lived markers.
bool isMessage(const QByteArray &base)
{
    static const QByteArrayList bases{
        "config_change_",
        "isr_change_",
        "log_dir_event_",
        "acl_changes_",
        "token_change_", // Kafka
        "log-",
        "queue-",
        "abandonable_lock-", // ClickHouse
        "qn-",               // DistributedQueue
    };
    return bases.contains(base);
}

} // namespace

bool isNoLockDirectory(const ZPath &directory)
{
    const QByteArray name = directory.name().bytes();
    const QByteArray parent = directory.parent().name().bytes();
    const bool kafka =
        (name == "ids" && (parent == "brokers" || isBelow(directory, "consumers"))) || isBelow(directory, "owners");
    const bool hbase = parent == "hbase" && (name == "rs" || name == "backup-masters" || name == "draining");
    const bool solr = name == "live_nodes" || isBelow(directory, "leaders");
    const bool clickHouse = isBelow(directory, "block_numbers") || name == "mutations";
    const bool zookeeper = directory.bytes() == "/zookeeper" || directory.bytes().startsWith("/zookeeper/");
    // kazoo's LockingQueue: who has taken which entry.
    return kafka || hbase || solr || clickHouse || zookeeper || name == "taken";
}

bool isNoLock(const ZPath &directory, const NodeName &name)
{
    const QByteArray &bytes = name.bytes();
    if (bytes == "is_active" || bytes == "ready" || bytes == "leader_ack" || bytes.contains("__party__"))
        return true;
    // Solr keeps the elected one's address beside the election queue.
    if (bytes == "leader" && isBelow(directory, "overseer_elect"))
        return true;
    if (isUuid36(bytes)) // Curator's double barrier
        return true;
    const auto sequence = recipes::readSequence(name);
    return sequence && (isMessage(sequence->prefix) || sequence->prefix.startsWith("entry-"));
}

} // namespace lockscope::inspect
