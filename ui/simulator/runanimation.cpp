// SPDX-License-Identifier: Apache-2.0
// Source: PNG Specification (Third Edition), chunks acTL, fcTL and fdAT: after the still picture, each frame is the
// rectangle that changed, in the same compression. A program that knows no animation shows the still picture.
#include "ui/simulator/runanimation.h"

#include "ui/simulator/simulatorwords.h"

#include <QDataStream>

#include <zlib.h>

#include <algorithm>

namespace lockscope::ui {

namespace {

Error noAnimation(const QString &why)
{
    return Error{ErrorCode::Server, Simulator::tr("the animation cannot be made: %1").arg(why)};
}

// Rows without a filter: on flat areas of few colors, filters save nothing.
QByteArray compressedPixels(const QImage &image)
{
    const QImage rgb = image.convertToFormat(QImage::Format_RGB888);
    QByteArray rows;
    rows.reserve(rgb.sizeInBytes() + rgb.height());
    for (int y = 0; y < rgb.height(); ++y)
        rows.append('\0').append(reinterpret_cast<const char *>(rgb.constScanLine(y)), qsizetype{3} * rgb.width());
    constexpr qsizetype lengthOfQt = 4; // in front of what zlib writes
    return qCompress(rows).sliced(lengthOfQt);
}

// The smallest rectangle with all pixels that differ in two images of one size.
QRect changedArea(const QImage &before, const QImage &after)
{
    QRect area;
    for (int y = 0; y < after.height(); ++y) {
        const auto *from = reinterpret_cast<const QRgb *>(before.constScanLine(y));
        const auto *to = reinterpret_cast<const QRgb *>(after.constScanLine(y));
        const auto left = std::mismatch(to, to + after.width(), from).first - to;
        if (left == after.width())
            continue;
        auto right = after.width() - 1;
        while (to[right] == from[right])
            --right;
        area |= QRect(QPoint(static_cast<int>(left), y), QPoint(right, y));
    }
    return area;
}

class AnimatedPng {
public:
    explicit AnimatedPng(const QImage &still) : m_still(compressedPixels(still)), m_size(still.size()) {}

    // A frame that changes nothing prolongs the one before it.
    void add(const QImage &image, std::chrono::milliseconds shownFor)
    {
        const QRect area = m_last.isNull() ? image.rect() : changedArea(m_last, image);
        if (!area.isEmpty())
            m_frames.push_back({area, compressedPixels(image.copy(area)), {}});
        m_frames.back().shownFor += shownFor;
        m_last = image;
    }

    [[nodiscard]] QByteArray bytes() const
    {
        constexpr quint8 bitsPerChannel = 8;
        constexpr quint8 trueColor = 2;
        constexpr quint16 perSecond = 1000;
        constexpr quint32 playsForever = 0;
        const quint8 none = 0; // no interlacing, no other method, no disposal, no blending
        QByteArray png = QByteArrayLiteral("\x89PNG\r\n\x1a\n");
        append(png, "IHDR", m_size.width(), m_size.height(), bitsPerChannel, trueColor, none, none, none);
        append(png, "acTL", static_cast<quint32>(m_frames.size()), playsForever);
        append(png, "IDAT", m_still);
        quint32 number = 0;
        for (const auto &frame : m_frames) {
            append(png, "fcTL", number++, frame.area.width(), frame.area.height(), frame.area.x(), frame.area.y(),
                   static_cast<quint16>(frame.shownFor.count()), perSecond, none, none);
            append(png, "fdAT", number++, frame.pixels);
        }
        append(png, "IEND");
        return png;
    }

private:
    struct Frame {
        QRect area;
        QByteArray pixels;
        std::chrono::milliseconds shownFor;
    };

    static void write(QDataStream &to, const QByteArray &bytes)
    {
        to.writeRawData(bytes.constData(), static_cast<int>(bytes.size()));
    }
    template <typename Number>
    static void write(QDataStream &to, Number number)
    {
        to << number;
    }

    template <typename... Fields>
    static void append(QByteArray &png, const char *type, const Fields &...fields)
    {
        QByteArray chunk(type);
        QDataStream to(&chunk, QIODevice::Append);
        (write(to, fields), ...);
        QDataStream whole(&png, QIODevice::Append);
        whole << static_cast<quint32>(chunk.size() - qsizetype{4});
        write(whole, chunk);
        whole << static_cast<quint32>(
            crc32(0, reinterpret_cast<const Bytef *>(chunk.constData()), static_cast<uInt>(chunk.size())));
    }

    QByteArray m_still;
    QSize m_size;
    QImage m_last;
    std::vector<Frame> m_frames;
};

} // namespace

Result<QByteArray> animated(const std::vector<RunPicture> &runs, const Tokens &tokens, const AnimationPace &pace)
{
    Moment end{};
    auto whole = runs;
    for (const auto &picture : whole)
        end = std::max(end, picture.run->end());
    for (auto &picture : whole) {
        picture.frame.from = {};
        picture.frame.to = std::max(end, Moment(1));
        picture.frame.scrolled = 0;
    }
    const auto last = picturesAt(whole, end);
    const auto still = imageOf(last, tokens, last, 1);
    if (still.isNull())
        return noAnimation(Simulator::tr("no memory for a picture of that size"));
    AnimatedPng png(still);
    for (int i = 0; i < pace.frames; ++i) {
        const auto at = end * i / std::max(1, pace.frames - 1);
        const auto image = imageOf(picturesAt(whole, at), tokens, last, 1);
        if (image.isNull())
            return noAnimation(Simulator::tr("no memory for a picture of that size"));
        // All frames have the size of the still picture, also if the size of the text changes meanwhile.
        png.add(image.copy(still.rect()), i + 1 < pace.frames ? pace.each : pace.lastFor);
    }
    return png.bytes();
}

} // namespace lockscope::ui
