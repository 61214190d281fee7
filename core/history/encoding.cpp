// SPDX-License-Identifier: Apache-2.0
#include "core/history/encoding.h"

#include "core/history/fields.h"
#include "core/inspect/findings.h"

#include <QDataStream>

#include <algorithm>

namespace lockscope::history {

using namespace Qt::StringLiterals;
using std::chrono::milliseconds;

namespace {

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
                return fail(u"the number %1 stands for nothing there"_s.arg(number));
            value = static_cast<T>(number);
        } else if constexpr (std::is_same_v<T, milliseconds>) {
            qint64 count = 0;
            take(count);
            if (count < -farthestMs || count > farthestMs)
                return fail(u"a moment is none"_s);
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
    void getBackend(BackendKind &kind)
    {
        QByteArray word;
        take(word);
        const auto &all = allBackends();
        const auto at =
            std::ranges::find_if(all, [&word](const auto &one) { return one.word == QString::fromUtf8(word); });
        if (at == all.end())
            return fail(u"a backend is unknown to this version"_s);
        kind = at->kind;
    }

    QDataStream &m_in;
    QString m_why;
    int m_version;
    std::vector<QByteArray> m_unknown;
};

using What = decltype(Change::what);

template <std::size_t Index = 0>
void getWhat(Decoder &in, What &what, quint8 index)
{
    if constexpr (Index < std::variant_size_v<What>) {
        if (index == Index)
            return in(what.emplace<Index>());
        getWhat<Index + 1>(in, what, index);
    } else {
        in.fail(u"a kind of change is unknown"_s);
    }
}

} // namespace

void encode(const Change &change, QByteArray &to)
{
    QDataStream stream(&to, QIODevice::WriteOnly | QIODevice::Append);
    stream.setVersion(streamVersion);
    Encoder out(stream);
    out(static_cast<quint8>(change.what.index()), change.at);
    std::visit([&out](const auto &what) { out(what); }, change.what);
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
