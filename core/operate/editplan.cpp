// SPDX-License-Identifier: Apache-2.0
#include "core/operate/editplan.h"

#include "core/base/text.h"
#include "core/operate/precheck.h"
#include "core/operate/forcereleaseplan.h"

#include <QCryptographicHash>
#include <QJsonArray>

#include <set>
#include <span>

namespace lockscope::operate {

using inspect::LockSnapshot;
using inspect::Role;

namespace {

constexpr qsizetype mostValueInAudit = 64 * 1024;

struct PermissionLetter {
    int bit;
    QChar letter;
};
constexpr std::array permissions{PermissionLetter{zk::perms::create, u'c'}, PermissionLetter{zk::perms::remove, u'd'},
                                 PermissionLetter{zk::perms::read, u'r'}, PermissionLetter{zk::perms::write, u'w'},
                                 PermissionLetter{zk::perms::admin, u'a'}};

bool isAtOrUnder(const QByteArray &path, const QByteArray &folder)
{
    return path == folder || folder == "/" || path.startsWith(folder + '/');
}

// Where the edit puts nodes that are not there.
std::set<QByteArray> foldersOfNew(const EditRequest &request)
{
    std::set<QByteArray> folders;
    if (request.kind == EditKind::ZnodeCreate)
        folders.insert(ZPath(request.name).parent().bytes());
    if (request.kind == EditKind::ZnodeRestore) {
        for (const auto &copy : request.copies)
            folders.insert(copy.path.parent().bytes());
    }
    return folders;
}

// What the edit takes away or changes: of znodes also the nodes of contenders, which lie in a lock's directory.
bool reachesInto(const EditRequest &request, const std::set<QByteArray> &madeIn, const LockSnapshot &lock)
{
    const auto &name = request.name;
    if (lock.lock.connection != request.connection)
        return false;
    const bool isTree = isOfZnodes(request.kind);
    const auto isMeant = [&](const QByteArray &entry) {
        return entry == name || (isTree && request.kind == EditKind::ZnodeDelete && isAtOrUnder(entry, name));
    };
    if (isMeant(lock.lock.name) || std::ranges::any_of(lock.companions, isMeant))
        return true;
    if (!isTree)
        return request.kind == EditKind::KeyRename && lock.lock.name == request.value;
    // A node more in a queue's directory is somebody more in the queue; a semaphore's queues lie deeper.
    if (madeIn.contains(lock.lock.name))
        return true;
    return std::ranges::any_of(lock.contenders, [&](const auto &one) {
        const auto &path = one.guard.znode().path;
        return isMeant(path) || (!madeIn.empty() && !path.isEmpty() && madeIn.contains(ZPath(path).parent().bytes()));
    });
}

QJsonObject valueJson(const QByteArray &value)
{
    QJsonObject json{{u"bytes"_s, value.size()}, {u"text"_s, escaped(value.left(mostValueInAudit))}};
    if (value.size() > mostValueInAudit)
        json["sha256"_L1] = QString::fromLatin1(QCryptographicHash::hash(value, QCryptographicHash::Sha256).toHex());
    return json;
}

QJsonArray namesJson(const std::vector<ZnodeCopy> &copies)
{
    constexpr std::size_t mostNames = 1000;
    return mapped<QJsonArray>(std::span(copies).first(std::min(copies.size(), mostNames)),
                              [](const auto &copy) { return escaped(copy.path.bytes()); });
}

// A hash can be guessed from: the record keeps whose it is, as a server does that hides it.
QJsonArray aclJson(const zk::Acls &acls)
{
    QJsonArray array;
    for (auto acl : acls) {
        if (acl.scheme == "digest" && acl.id.contains(':'))
            acl.id = acl.id.left(acl.id.indexOf(':')) + ":x";
        array.append(aclText(acl));
    }
    return array;
}

} // namespace

bool isOfZnodes(EditKind kind)
{
    return kind <= EditKind::ZnodeRestore;
}

QString editWord(EditKind kind)
{
    static const QStringList words{u"znode-create"_s,  u"znode-set"_s,   u"znode-delete"_s, u"znode-acl"_s,
                                   u"znode-restore"_s, u"key-set"_s,     u"key-expire"_s,   u"key-rename"_s,
                                   u"key-delete"_s,    u"key-restore"_s, u"field-set"_s,    u"field-delete"_s};
    return words[static_cast<qsizetype>(kind)];
}

QString TouchedLock::text() const
{
    const auto held = holders.isEmpty() ? u"no client holds it"_s : u"held by "_s + holders.join(u", "_s);
    const auto waiting = waiters == 0 ? QString() : waiters == 1 ? u"; 1 waiter"_s : u"; %1 waiters"_s.arg(waiters);
    return u"%1 (%2): %3"_s.arg(label(lock.text(), 120), recipe, held) + waiting;
}

bool EditPlan::touchesHeld() const
{
    return std::ranges::any_of(locks, [](const auto &one) { return !one.holders.isEmpty(); });
}

EditPreview previewOf(const EditPlan &plan)
{
    auto preview = isOfZnodes(plan.request.kind) ? previewOfZnodeEdit(plan) : previewOfKeyEdit(plan);
    if (plan.touchesHeld())
        preview.warnings.prepend(sentence("edit-touches-held"));
    if (!plan.locksKnown)
        addTexts(preview, "edit-locks-unknown");
    return preview;
}

std::optional<Error> editError(const EditPlan &plan)
{
    const auto &request = plan.request;
    if (request.value.size() > largestEdit)
        return Error{ErrorCode::TooLarge,
                     u"%1 bytes exceed the limit of an edit (1 MiB)"_s.arg(request.value.size())};
    return isOfZnodes(request.kind) ? znodeEditError(plan) : keyEditError(plan);
}

QString differenceFor(const EditRequest &request, const EditState &was, const EditState &now)
{
    if (was.exists != now.exists)
        return now.exists ? u"it now exists"_s : u"it no longer exists"_s;
    if (!was.exists)
        return {};
    return isOfZnodes(request.kind) ? differenceOfZnodes(request, was, now) : differenceOfKeys(request, was, now);
}

std::vector<TouchedLock> touchedLocks(const EditRequest &request, const std::vector<LockSnapshot> &locks)
{
    constexpr qsizetype mostNamed = 20;
    const auto madeIn = foldersOfNew(request);
    std::vector<TouchedLock> touched;
    for (const auto &lock : locks) {
        if (!reachesInto(request, madeIn, lock))
            continue;
        TouchedLock one{lock.lock, QString::fromUtf8(lock.recipe), {}, lock.waiterCount()};
        one.observed = lock.observed;
        for (const auto &contender : lock.contenders) {
            if (holdsAnew(lock, contender, one.lastTaken.value_or(inspect::ServerTime())))
                one.lastTaken = contender.heldSince;
            if (contender.role != Role::Holder || one.holders.size() >= mostNamed)
                continue;
            const auto id = label(contender.id, 80);
            one.holders << (contender.endpoint ? u"%1 at %2"_s.arg(id, label(contender.endpoint->toUtf8(), 80)) : id);
            one.endTellsHolds =
                one.endTellsHolds || (lock.lock == request.subject() && leaseEndOf(lock, contender).has_value());
            one.comesAgain = one.comesAgain || contender.guard.redis().comesAgain || contender.guard.redis().expiryMs;
        }
        touched.push_back(std::move(one));
    }
    return touched;
}

QString permissionLetters(int perms)
{
    QString text;
    for (const auto &[bit, letter] : permissions)
        text += (perms & bit) != 0 ? letter : QChar(u'-');
    return text;
}

QString aclText(const zk::Acl &acl)
{
    return u"%1 %2:%3"_s.arg(permissionLetters(acl.perms), escaped(acl.scheme), escaped(acl.id));
}

Result<zk::Acls> parseAcls(const QString &text)
{
    zk::Acls acls;
    for (const auto &line : text.split(u'\n', Qt::SkipEmptyParts)) {
        const auto words = line.trimmed().split(u' ', Qt::SkipEmptyParts);
        if (words.isEmpty())
            continue;
        const auto colon = words.value(1).indexOf(u':');
        const auto scheme = unescaped(words.value(1).left(colon));
        const auto id = unescaped(words.value(1).mid(colon + 1));
        zk::Acl acl{0, scheme.value_or(QByteArray()), id.value_or(QByteArray())};
        bool areLetters = !words.first().isEmpty();
        for (const auto letter : words.first()) {
            const auto *known = std::ranges::find(permissions, letter, &PermissionLetter::letter);
            areLetters = areLetters && (known != permissions.end() || letter == u'-');
            acl.perms |= known != permissions.end() ? known->bit : 0;
        }
        if (words.size() != 2 || colon <= 0 || !scheme || !id || !areLetters)
            return Error{ErrorCode::BadInput, sentence("acl-entry-form")};
        // Without a hash it would be a password in the clear, which nobody could ever log in with.
        if (acl.scheme == "digest" && QByteArray::fromBase64(acl.id.mid(acl.id.indexOf(':') + 1)).size() != 20)
            return Error{ErrorCode::BadInput, sentence("acl-digest-form")};
        acls.push_back(std::move(acl));
    }
    if (acls.empty())
        return Error{ErrorCode::BadInput, sentence("acl-empty")};
    return acls;
}

QByteArray digestId(const QByteArray &user, const QByteArray &password)
{
    const auto hash = QCryptographicHash::hash(user + ':' + password, QCryptographicHash::Sha1);
    return user + ':' + hash.toBase64();
}

bool mayBeChangedAgain(const zk::Acls &acls)
{
    return std::ranges::any_of(acls, [](const zk::Acl &acl) { return (acl.perms & zk::perms::admin) != 0; });
}

bool isMasked(const zk::Acls &acls)
{
    return std::ranges::any_of(acls,
                               [](const zk::Acl &acl) { return acl.scheme == "digest" && acl.id.endsWith(":x"); });
}

QJsonObject wantedJson(const EditRequest &request)
{
    QJsonObject json;
    switch (request.kind) {
    case EditKind::ZnodeCreate:
        json["sequential"_L1] = request.isSequential;
        json["ephemeral"_L1] = request.isEphemeral;
        if (request.ttl)
            json["ttlMs"_L1] = static_cast<qint64>(request.ttl->count());
        json["acl"_L1] = aclJson(request.acls);
        json["value"_L1] = valueJson(request.value);
        break;
    case EditKind::ZnodeSet:
    case EditKind::KeySet: json["value"_L1] = valueJson(request.value); break;
    case EditKind::ZnodeAcl: json["acl"_L1] = aclJson(request.acls); break;
    case EditKind::ZnodeRestore:
        json["nodes"_L1] = namesJson(request.copies);
        json["nodeCount"_L1] = static_cast<qint64>(request.copies.size());
        break;
    case EditKind::KeyExpire:
        json["ttlMs"_L1] = request.ttl ? QJsonValue(static_cast<qint64>(request.ttl->count())) : QJsonValue();
        if (request.expiryMs)
            json["expiresAtMs"_L1] = *request.expiryMs;
        break;
    case EditKind::KeyRename: json["name"_L1] = escaped(request.value); break;
    case EditKind::KeyRestore:
        json["value"_L1] = valueJson(request.value);
        json["isDump"_L1] = true;
        if (request.expiryMs)
            json["expiresAtMs"_L1] = *request.expiryMs;
        break;
    case EditKind::FieldSet:
        json["field"_L1] = escaped(request.field);
        json["value"_L1] = valueJson(request.value);
        break;
    case EditKind::FieldDelete:
        json["field"_L1] = escaped(request.field);
        json["exists"_L1] = false;
        break;
    case EditKind::ZnodeDelete:
    case EditKind::KeyDelete: json["exists"_L1] = false; break;
    }
    return json;
}

QJsonObject toJson(const EditRequest &request, const EditState &state)
{
    QJsonObject json{{u"name"_s, escaped(request.name)}, {u"exists"_s, state.exists}};
    if (!state.exists)
        return json;
    if (isOfZnodes(request.kind)) {
        json["czxid"_L1] = QString::number(state.stat.czxid);
        json["version"_L1] = state.stat.version;
        json["aversion"_L1] = state.stat.aversion;
        json["ephemeralOwner"_L1] =
            state.stat.ephemeralOwner.isNone() ? QJsonValue() : QJsonValue(state.stat.ephemeralOwner.text());
        json["acl"_L1] = aclJson(state.acls);
        if (!state.below.empty()) {
            json["below"_L1] = namesJson(state.below);
            json["nodesBelow"_L1] = static_cast<qint64>(state.below.size());
        }
    } else {
        json["type"_L1] = label(state.type, 40);
        json["ttlMs"_L1] = state.ttl ? QJsonValue(static_cast<qint64>(state.ttl->count())) : QJsonValue();
        json["items"_L1] = state.items;
        if (!request.field.isEmpty())
            json["field"_L1] = state.hasField ? QJsonValue(escaped(request.field)) : QJsonValue();
    }
    const bool isString = state.type == "string" || !request.field.isEmpty() || isOfZnodes(request.kind);
    json["value"_L1] = valueJson(isString ? state.value : state.dump);
    if (!isString)
        json["isDump"_L1] = true;
    return json;
}

} // namespace lockscope::operate
