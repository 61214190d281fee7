// SPDX-License-Identifier: Apache-2.0
// An edit of what a server stores, as values: a znode or a key made, changed, taken away. What it is to be, what was
// there when it was looked at, and in words what will be sent under which guard. Pure; edit.h does it.
#pragma once

#include "core/base/result.h"
#include "core/inspect/snapshot.h"

#include <QJsonObject>

namespace lockscope::operate {

enum class EditKind : quint8 {
    ZnodeCreate,
    ZnodeSet,
    ZnodeDelete, // with all that is below it
    ZnodeAcl,
    ZnodeRestore, // what was deleted: the copies
    KeySet,       // of a key that is not there: makes it
    KeyExpire,    // with no time to live: it stays
    KeyRename,
    KeyDelete,
    KeyRestore, // what was deleted: the dump
    FieldSet,   // of a hash
    FieldDelete,
};
constexpr qsizetype largestEdit = 1024 * 1024; // what is longer is not edited, since not all of it is shown
constexpr std::size_t mostDeleted = 10'000;    // znodes, by one edit

[[nodiscard]] bool isOfZnodes(EditKind kind);
// "znode-set": the action of the audit record.
[[nodiscard]] QString editWord(EditKind kind);

// A znode as it was.
struct ZnodeCopy {
    ZPath path;
    zk::Stat stat;
    std::optional<QByteArray> data; // empty: not read
    zk::Acls acls;
    friend bool operator==(const ZnodeCopy &, const ZnodeCopy &) = default;
};

// What stands under a name.
struct EditState {
    bool exists = false;
    QByteArray value; // a znode's data, a string, the field of a hash; the first MiB
    bool isWhole = true;
    // Of a znode:
    zk::Stat stat;
    zk::Acls acls;
    std::vector<ZnodeCopy> below; // of one to be deleted: what goes with it, parents first
    // Of a key:
    QByteArray type;
    std::optional<std::chrono::milliseconds> ttl; // left of its time; empty: it has none
    std::optional<qint64> expiryMs;               // since 1970, where the server says it to the millisecond
    qint64 items = 0;                             // bytes of a string, else what it is made of
    QByteArray dump;                              // the server's own form of it; empty of one too large
    bool hasField = false;
};

struct EditRequest {
    EditKind kind = EditKind::ZnodeSet;
    ConnectionName connection;
    QByteArray name; // path or key
    QString server;  // the connection's URI when it was looked at; empty: not yet

    QByteArray value;                             // the new one; of a rename the new name
    QByteArray field;                             // of a hash
    bool isSequential = false;                    // ZnodeCreate: the server adds a number
    bool isEphemeral = false;                     // ZnodeCreate: of our own session, and gone with it
    zk::Acls acls;                                // ZnodeCreate, ZnodeAcl
    std::optional<std::chrono::milliseconds> ttl; // KeyExpire; ZnodeCreate: a node that the server takes away
    std::vector<ZnodeCopy> copies;                // ZnodeRestore: parents first
    std::optional<qint64> expiryMs;               // KeyRestore, KeyExpire taken back: when its time ends
    // An edit taken back: what has to be there still is what that edit left.
    std::optional<EditState> expected;

    [[nodiscard]] inspect::LockName subject() const { return {connection, name}; }
};

// A lock that the edit reaches into.
struct TouchedLock {
    inspect::LockName lock;
    QString recipe;
    QStringList holders; // who and where, for people
    int waiters = 0;
    bool comesAgain = false;    // its holders write the same value
    bool endTellsHolds = false; // who takes it again has the same id; when its key ends tells one hold from the next
    inspect::ServerTime observed{};
    std::optional<inspect::ServerTime> lastTaken{}; // of a lock whose holder may take it again by the same id
    [[nodiscard]] QString text() const;
    friend bool operator==(const TouchedLock &, const TouchedLock &) = default;
};

struct EditPlan {
    EditRequest request;
    EditState before; // as it was looked at
    std::vector<TouchedLock> locks;
    bool locksKnown = true;            // false: the connection's locks are not all seen (yet)
    bool areLocksAccepted = false;     // somebody read their names; without it nothing under a held lock is touched
    std::optional<qint64> leaseEnds{}; // of a lock of which that tells: as of the last look

    [[nodiscard]] bool touchesHeld() const;
    [[nodiscard]] bool endTellsHolds() const { return std::ranges::any_of(locks, &TouchedLock::endTellsHolds); }
};

struct EditPreview {
    QStringList commands; // exactly what will be sent, for people
    QString guard;
    bool exact = true; // false: a gap remains between the last look and the act
    QStringList warnings;
    QString undo; // how it can be taken back, or why not
};
// Of the plan as its request is now. Any thread.
[[nodiscard]] EditPreview previewOf(const EditPlan &plan);
// Why the request cannot be; nothing when it can, as far as is known without a server.
[[nodiscard]] std::optional<Error> editError(const EditPlan &plan);
// What differs between two looks at what the edit is guarded by; empty: nothing.
[[nodiscard]] QString differenceFor(const EditRequest &request, const EditState &was, const EditState &now);

struct EditOutcome {
    bool done = false; // all of it
    QString message;   // one sentence for a person
    std::optional<EditState> after;
    std::optional<EditRequest> undo;
};

// Of an edit whose answer was lost: what is to be read to find out, and what that look says. Nothing where it is not
// what was to be, or would look the same without the edit.
[[nodiscard]] EditRequest lookAfterLost(const EditRequest &request);
[[nodiscard]] std::optional<EditOutcome> foundDone(const EditPlan &plan, const EditState &now);

// Of the locks seen there, those the edit reaches into.
[[nodiscard]] std::vector<TouchedLock> touchedLocks(const EditRequest &request,
                                                    const std::vector<inspect::LockSnapshot> &locks);

// "cdrwa"; and an entry as "cdrwa digest:ops:hash=".
[[nodiscard]] QString permissionLetters(int perms);
[[nodiscard]] QString aclText(const zk::Acl &acl);
// Lines of that form.
[[nodiscard]] Result<zk::Acls> parseAcls(const QString &text);
// The id ZooKeeper keeps of a user with a password: the password itself goes nowhere.
[[nodiscard]] QByteArray digestId(const QByteArray &user, const QByteArray &password);
// Whether the server hid a part of it from us, so that writing it again would be another.
[[nodiscard]] bool isMasked(const zk::Acls &acls);
// Somebody but a superuser has the right to.
[[nodiscard]] bool mayBeChangedAgain(const zk::Acls &acls);

// For the audit record: values to 64 KiB.
[[nodiscard]] QJsonObject toJson(const EditRequest &request, const EditState &state);
// What it is to be, under the same limits; of an ACL no hash.
[[nodiscard]] QJsonObject wantedJson(const EditRequest &request);

// Each of its own kind, in its own file.
[[nodiscard]] EditPreview previewOfZnodeEdit(const EditPlan &plan);
[[nodiscard]] EditPreview previewOfKeyEdit(const EditPlan &plan);
[[nodiscard]] std::optional<Error> znodeEditError(const EditPlan &plan);
[[nodiscard]] std::optional<Error> keyEditError(const EditPlan &plan);
[[nodiscard]] QString differenceOfZnodes(const EditRequest &request, const EditState &was, const EditState &now);
[[nodiscard]] QString differenceOfKeys(const EditRequest &request, const EditState &was, const EditState &now);

} // namespace lockscope::operate
