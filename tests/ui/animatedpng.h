// SPDX-License-Identifier: Apache-2.0
// Plays an animated PNG of 8-bit RGB without filters, by the PNG Specification (Third Edition): it checks every
// chunk and draws every frame.
#pragma once

#include <QImage>
#include <QtEndian>

#include <cstring>

namespace lockscope::testing {

struct PlayedAnimation {
    QString failure;
    QImage canvas; // after the last frame
    int frames = 0;
    int milliseconds = 0;
};

inline quint32 crcOf(const QByteArray &bytes)
{
    quint32 crc = ~quint32{0};
    for (const char byte : bytes) {
        crc ^= static_cast<quint8>(byte);
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

// Draws the compressed rows of a frame; false if they are not those of its size.
inline bool drawFrame(QImage &canvas, const QRect &area, const QByteArray &compressed)
{
    const qsizetype row = qsizetype{3} * area.width();
    QByteArray packed(4, '\0');
    qToBigEndian(static_cast<quint32>((row + 1) * area.height()), packed.data());
    const QByteArray rows = qUncompress(packed + compressed);
    if (rows.size() != (row + 1) * area.height() || !canvas.rect().contains(area))
        return false;
    for (int y = 0; y < area.height(); ++y)
        std::memcpy(canvas.scanLine(area.y() + y) + qsizetype{3} * area.x(), rows.constData() + y * (row + 1) + 1,
                    static_cast<std::size_t>(row));
    return true;
}

inline PlayedAnimation playAnimation(const QByteArray &png)
{
    PlayedAnimation played;
    QRect area;
    quint32 announced = 0;
    quint32 number = 0;
    qsizetype at = 8; // after the signature
    while (at + 12 <= png.size() && played.failure.isEmpty()) {
        const auto size = qFromBigEndian<qint32>(png.constData() + at);
        if (size < 0 || at + 12 + size > png.size())
            break;
        const QByteArray chunk = png.sliced(at + 4, 4 + size);
        const QByteArray type = chunk.first(4);
        const auto field = [&](int offset) { return qFromBigEndian<qint32>(chunk.constData() + 4 + offset); };
        if (qFromBigEndian<quint32>(png.constData() + at + 8 + size) != crcOf(chunk))
            played.failure = QStringLiteral("wrong checksum of ") + QString::fromLatin1(type);
        if (type == "IHDR")
            played.canvas = QImage(field(0), field(4), QImage::Format_RGB888);
        if (type == "acTL")
            announced = static_cast<quint32>(field(0));
        if ((type == "fcTL" || type == "fdAT") && static_cast<quint32>(field(0)) != number++)
            played.failure = QStringLiteral("wrong sequence number");
        if (type == "fcTL") {
            area = {field(12), field(16), field(4), field(8)};
            played.milliseconds += qFromBigEndian<quint16>(chunk.constData() + 4 + 20);
        }
        if (type == "fdAT" && !drawFrame(played.canvas, area, chunk.sliced(8)))
            played.failure = QStringLiteral("wrong pixels");
        played.frames += type == "fdAT";
        at += 12 + size;
    }
    if (at != png.size() || !png.endsWith(QByteArray::fromHex("49454e44ae426082"))
        || announced != static_cast<quint32>(played.frames))
        played.failure = QStringLiteral("incomplete");
    return played;
}

} // namespace lockscope::testing
