// SPDX-License-Identifier: Apache-2.0
#include "core/history/recording.h"

#include "core/inspect/findings.h"

#include <QDataStream>

namespace lockscope::history {

using std::chrono::milliseconds;

// The fields of what is recorded, in their order in a file: changing this is a new version of the format
// (recording.h). What came with a later version is marked with it (since<>): older files do not have it.
// Enumerations are numbers here, but what grows (codes of findings, backends) is words.
template <class T>
struct Fields;

// A field that files have from this version on.
template <int Version, class T>
struct Since {
    T &value;
};
template <int Version, class T>
Since<Version, T> since(T &value)
{
    return {value};
}

#define LOCKSCOPE_FIELDS(Type, ...)                                                                                  \
    template <>                                                                                                      \
    struct Fields<Type> {                                                                                            \
        template <class Archive, class Value>                                                                        \
        static void each(Archive &archive, Value &v)                                                                 \
        {                                                                                                            \
            archive(__VA_ARGS__);                                                                                    \
        }                                                                                                            \
    };

// A finding whose code is a word: the next version may have others.
struct WrittenFinding {
    QByteArray code;
    inspect::Severity severity{};
    QString message;
    std::vector<QByteArray> contenders;
    std::vector<inspect::TimeInMessage> moments;
};

// An identity of any backend: the fields of all of them, each of which has some.
struct WrittenIdentity {
    QByteArray path;
    qint64 number = 0; // czxid, create_revision
    quint64 owner = 0; // ephemeralOwner, lease
    qint32 version = 0;
    QByteArray text;
    std::optional<qint64> expiryMs;
    bool comesAgain = false;
    QByteArray second; // counterpart, stamp
};

namespace {

WrittenIdentity flat(const inspect::Identity &of)
{
    const auto &node = of.znode();
    const auto &key = of.redis();
    return {.path = node.path,
            .number = of.creation(),
            .owner = node.owner != 0 ? node.owner : static_cast<quint64>(of.etcd().lease),
            .version = node.version,
            .text = of.text(),
            .expiryMs = key.expiryMs,
            .comesAgain = key.comesAgain,
            .second = key.counterpart.isNull() ? of.row().stamp : key.counterpart};
}

// One that says nothing is none, as a waiter's may be.
template <class Of>
inspect::Identity unlessEmpty(const Of &of)
{
    return of == Of() ? inspect::Identity() : inspect::Identity(of);
}

inspect::Identity identityFrom(const WrittenIdentity &is, BackendKind backend)
{
    switch (backend) {
    case BackendKind::ZooKeeper:
        return unlessEmpty(
            inspect::ZnodeIdentity{.path = is.path, .czxid = is.number, .owner = is.owner, .version = is.version});
    case BackendKind::Redis: {
        // Of a value that is empty, and one that is not there, only the first is a hold's.
        const inspect::RedisIdentity key{
            .value = is.text, .counterpart = is.second, .expiryMs = is.expiryMs, .comesAgain = is.comesAgain};
        return is.text.isNull() ? unlessEmpty(key) : key;
    }
    case BackendKind::Etcd:
        return unlessEmpty(inspect::EtcdIdentity{
            .key = is.text, .createRevision = is.number, .lease = static_cast<qint64>(is.owner)});
    case BackendKind::MariaDb:
    case BackendKind::PostgreSql: break;
    }
    // Only a row says when it was locked.
    return is.second.isNull() ? unlessEmpty(inspect::SqlIdentity{is.text})
                              : unlessEmpty(inspect::RowIdentity{.lockedBy = is.text, .stamp = is.second});
}

// The last one there is: a higher number is none.
constexpr Overloaded lastOf{
    [](inspect::Confidence) { return inspect::Confidence::High; },
    [](inspect::LockState) { return inspect::LockState::Contended; },
    [](inspect::Role) { return inspect::Role::Waiter; },
    [](inspect::Mode) { return inspect::Mode::Permit; },
    [](inspect::Evidence) { return inspect::Evidence::Inferred; },
    [](inspect::Severity) { return inspect::Severity::Critical; },
    [](inspect::ChangeKind) { return inspect::ChangeKind::Removed; },
};

constexpr auto streamVersion = QDataStream::Qt_6_4;
// Moments from 10,000 years ago to those to come: differences of them are numbers, too.
constexpr qint64 farthestMs = 253'402'300'799'999;

template <class>
inline constexpr bool isSysTime = false;
template <class D>
inline constexpr bool isSysTime<std::chrono::sys_time<D>> = true;

class Encoder {
public:
    explicit Encoder(QDataStream &out) : m_out(out) {}
    template <class... T>
    void operator()(const T &...values)
    {
        (put(values), ...);
    }

private:
    template <class T>
    void put(const T &value)
    {
        if constexpr (std::is_same_v<T, BackendKind>)
            m_out << infoOf(value).word.toUtf8();
        else if constexpr (std::is_enum_v<T>)
            m_out << static_cast<quint8>(value);
        else if constexpr (std::is_same_v<T, milliseconds>)
            m_out << static_cast<qint64>(std::clamp<qint64>(value.count(), -farthestMs, farthestMs));
        else if constexpr (isSysTime<T>)
            put(milliseconds(value.time_since_epoch()));
        else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, QByteArray> || std::is_same_v<T, QString>)
            m_out << value;
        else
            Fields<T>::each(*this, value);
    }
    template <class Tag>
    void put(const StrongBytes<Tag> &value)
    {
        m_out << value.bytes();
    }
    template <class T>
    void put(const std::optional<T> &value)
    {
        m_out << value.has_value();
        if (value)
            put(*value);
    }
    template <class T>
    void put(const std::vector<T> &values)
    {
        putAll(values);
    }
    template <class T>
    void put(const QList<T> &values)
    {
        putAll(values);
    }
    void putAll(const auto &values)
    {
        m_out << static_cast<quint32>(values.size());
        for (const auto &value : values)
            put(value);
    }
    template <int Version, class T>
    void put(const Since<Version, T> &field)
    {
        put(field.value); // what is written is of the newest version
    }
    void put(const inspect::Identity &identity) { put(flat(identity)); }
    void put(const inspect::Finding &finding)
    {
        put(WrittenFinding{inspect::kindOf(finding.code).name, finding.severity, finding.message, finding.contenders,
                           finding.moments});
    }

    QDataStream &m_out;
};

class Decoder {
public:
    Decoder(QDataStream &in, int version) : m_in(in), m_version(version) {}
    template <class... T>
    void operator()(T &&...values)
    {
        (get(values), ...);
    }
    [[nodiscard]] const QString &why() const { return m_why; }
    // Those of the findings read since, by their codes.
    [[nodiscard]] std::vector<QByteArray> takeUnknown() { return std::exchange(m_unknown, {}); }
    [[nodiscard]] bool isGood() const { return m_why.isEmpty(); }
    void fail(const QString &why)
    {
        if (m_why.isEmpty())
            m_why = why;
    }

private:
    template <class T>
    void take(T &value)
    {
        if (!isGood())
            return;
        m_in >> value;
        if (m_in.status() != QDataStream::Ok)
            fail(u"it ends too early"_s);
    }
    template <class T>
    void get(T &value)
    {
        if constexpr (std::is_same_v<T, BackendKind>) {
            getBackend(value);
        } else if constexpr (std::is_enum_v<T>) {
            quint8 number = 0;
            take(number);
            if (number > static_cast<quint8>(lastOf(T{})))
                return fail(u"the number %1 is not valid there"_s.arg(number));
            value = static_cast<T>(number);
        } else if constexpr (std::is_same_v<T, milliseconds>) {
            qint64 count = 0;
            take(count);
            if (count < -farthestMs || count > farthestMs)
                return fail(u"a time is invalid"_s);
            value = milliseconds(count);
        } else if constexpr (isSysTime<T>) {
            milliseconds since{};
            get(since);
            value = T(since);
        } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, QByteArray> || std::is_same_v<T, QString>) {
            take(value);
        } else {
            Fields<T>::each(*this, value);
        }
    }
    template <class Tag>
    void get(StrongBytes<Tag> &value)
    {
        QByteArray bytes;
        take(bytes);
        value = StrongBytes<Tag>(bytes);
    }
    template <class T>
    void get(std::optional<T> &value)
    {
        bool is = false;
        take(is);
        value.reset();
        if (is && isGood())
            get(value.emplace());
    }
    template <int Version, class T>
    void get(Since<Version, T> &field)
    {
        if (m_version >= Version)
            get(field.value);
    }
    // Each element takes a byte at least.
    [[nodiscard]] quint32 getCount()
    {
        quint32 count = 0;
        take(count);
        if (!isGood() || static_cast<qint64>(count) <= m_in.device()->bytesAvailable())
            return isGood() ? count : 0;
        fail(u"a list is longer than what is left"_s);
        return 0;
    }
    template <class T>
    void get(std::vector<T> &values)
    {
        getAll(values);
    }
    template <class T>
    void get(QList<T> &values)
    {
        getAll(values);
    }
    void getAll(auto &values)
    {
        values.clear();
        for (auto count = getCount(); count > 0 && isGood(); --count)
            get(values.emplace_back());
    }
    void get(std::vector<inspect::Finding> &findings)
    {
        findings.clear();
        for (auto count = getCount(); count > 0 && isGood(); --count) {
            WrittenFinding written;
            get(written);
            const auto kinds = inspect::findingKinds();
            const auto kind =
                std::ranges::find_if(kinds, [&written](const auto &one) { return written.code == one.name; });
            if (kind == kinds.end())
                m_unknown.push_back(written.code);
            else
                findings.push_back(
                    {kind->code, written.severity, written.message, written.contenders, written.moments});
        }
    }
    void get(inspect::Identity &identity)
    {
        WrittenIdentity written;
        get(written);
        identity = identityFrom(written, m_backend);
    }
    void getBackend(BackendKind &kind)
    {
        QByteArray word;
        take(word);
        const auto &all = allBackends();
        const auto at =
            std::ranges::find_if(all, [&word](const auto &one) { return one.word == QString::fromUtf8(word); });
        if (at == all.end())
            return fail(u"a backend is unknown to this version"_s);
        kind = m_backend = at->kind;
    }

    QDataStream &m_in;
    QString m_why;
    int m_version;
    BackendKind m_backend{}; // the last one read: of a lock, it comes before the contenders
    std::vector<QByteArray> m_unknown;
};

template <std::size_t Index = 0>
void getWhat(Decoder &in, Change::What &what, quint8 index)
{
    if constexpr (Index < Change::recordedKinds) {
        if (index == Index)
            return in(what.emplace<Index>());
        getWhat<Index + 1>(in, what, index);
    } else {
        in.fail(u"a kind of change is unknown"_s);
    }
}

} // namespace

LOCKSCOPE_FIELDS(inspect::LockName, v.connection, v.name)
LOCKSCOPE_FIELDS(inspect::WatchEdge, v.target, v.children, v.evidence)
LOCKSCOPE_FIELDS(WrittenIdentity, v.path, v.number, v.owner, v.version, v.text, v.expiryMs, v.comesAgain, v.second)
LOCKSCOPE_FIELDS(inspect::WaitLimit, v.setting, v.longest, v.isOwn)
LOCKSCOPE_FIELDS(inspect::Contender, v.id, v.role, v.mode, v.position, v.session, v.endpoint, v.identity, v.program,
                 v.pid, v.reentry, v.heldSince, v.heldAtMost, v.waitingSince, v.expiresAt, v.watches, v.guard,
                 since<3>(v.limits))
LOCKSCOPE_FIELDS(inspect::NodeSaid, v.node, v.answered, v.value, v.expiresAt)
LOCKSCOPE_FIELDS(inspect::TimeInMessage, v.at, v.length, v.moment, v.isAhead)
LOCKSCOPE_FIELDS(WrittenFinding, v.code, v.severity, v.message, v.contenders, v.moments)
LOCKSCOPE_FIELDS(inspect::LockSnapshot, v.lock, v.backend, v.recipe, v.client, v.why, v.confidence, v.state,
                 v.contenders, v.waitersKnown, v.findings, v.companions, v.nodes, v.observed, v.serverAhead,
                 v.mayBeOld)
LOCKSCOPE_FIELDS(inspect::SnapshotChange, v.kind, v.lock)
LOCKSCOPE_FIELDS(inspect::SessionSnapshot, v.connection, v.session, v.endpoint, v.client, v.holds, v.waits,
                 v.expiresAt, v.serverAhead, since<3>(v.alsoEnds), since<3>(v.alsoEndsCount))
LOCKSCOPE_FIELDS(inspect::Unexplained, v.count, v.text, v.example, since<6>(v.isWait))
LOCKSCOPE_FIELDS(inspect::HiddenLocks, v.count, v.withFindings, v.worst, v.code, v.example)
LOCKSCOPE_FIELDS(inspect::EndedDeadlock::Party, v.session, v.client, v.statement, v.awaited, v.isRolledBack)
LOCKSCOPE_FIELDS(inspect::EndedDeadlock, v.at, v.isAtLatest, v.count, v.parties, v.unknown)
LOCKSCOPE_FIELDS(inspect::Coverage, v.connection, v.complete, v.message, since<4>(v.unexplained), since<4>(v.hidden),
                 since<7>(v.endedDeadlocks))
LOCKSCOPE_FIELDS(Confirmation, v.connection, v.until)
LOCKSCOPE_FIELDS(SessionsSeen, v.connection, v.sessions)
LOCKSCOPE_FIELDS(CoverageSeen, v.connection, v.coverage)
LOCKSCOPE_FIELDS(LinkState, v.name, v.backend, v.uri, v.server, v.production, v.isConnected, v.isLookedThrough,
                 v.isGone, v.problem)
LOCKSCOPE_FIELDS(Act, v.time, v.actor, v.action, v.lock, v.holder, v.reason, v.phase, v.outcome, v.before, v.after,
                 v.hasReleased)

#undef LOCKSCOPE_FIELDS

void encode(const Change &change, QByteArray &to)
{
    QDataStream stream(&to, QIODevice::WriteOnly | QIODevice::Append);
    stream.setVersion(streamVersion);
    Encoder out(stream);
    out(static_cast<quint8>(change.what.index()), change.at);
    std::visit(
        [&out]<class T>(const T &what) {
            if constexpr (!std::is_same_v<T, inspect::Progress> && !std::is_same_v<T, inspect::Cost>)
                out(what);
        },
        change.what);
}

struct ChangeReader::Private {
    Private(const QByteArray &bytes, int version) : stream(bytes), in(stream, version)
    {
        stream.setVersion(streamVersion);
    }
    QDataStream stream;
    Decoder in;
};

ChangeReader::ChangeReader(const QByteArray &bytes, int version) : d(std::make_unique<Private>(bytes, version)) {}

ChangeReader::~ChangeReader() = default;

bool ChangeReader::atEnd() const
{
    return d->stream.atEnd();
}

qint64 ChangeReader::position() const
{
    return d->stream.device()->pos();
}

Result<Change> ChangeReader::next()
{
    quint8 index = 0;
    Change change;
    d->in(index, change.at);
    getWhat(d->in, change.what, index);
    if (!d->in.isGood())
        return Error{ErrorCode::BadInput, d->in.why()};
    change.unknownFindings = d->in.takeUnknown();
    return change;
}

} // namespace lockscope::history
