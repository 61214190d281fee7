// SPDX-License-Identifier: Apache-2.0
// Source: libwebp's container API, WebPAnimEncoder (src/webp/mux.h): a frame is added with the moment at which it
// begins, and a last call without one says when it ends.
#include "ui/simulator/runanimation.h"

#include "ui/simulator/simulatorwords.h"

#include <webp/encode.h>
#include <webp/mux.h>

#include <algorithm>
#include <memory>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

using Encoder = std::unique_ptr<WebPAnimEncoder, decltype(&WebPAnimEncoderDelete)>;

Error noAnimation(const QString &why)
{
    return Error{ErrorCode::Server, Simulator::tr("the animation cannot be made: %1").arg(why)};
}

// What is drawn in few colours stays sharp, and small, without loss.
bool add(WebPAnimEncoder &encoder, const QImage &image, int atMs)
{
    WebPConfig config;
    WebPPicture picture;
    if (!WebPConfigInit(&config) || !WebPConfigLosslessPreset(&config, 2) || !WebPPictureInit(&picture))
        return false;
    picture.use_argb = 1;
    picture.width = image.width();
    picture.height = image.height();
    const bool isAdded = WebPPictureImportBGRX(&picture, image.constBits(), static_cast<int>(image.bytesPerLine()))
                         && WebPAnimEncoderAdd(&encoder, &picture, atMs, &config);
    WebPPictureFree(&picture);
    return isAdded;
}

Result<QByteArray> assembled(WebPAnimEncoder &encoder)
{
    WebPData data;
    WebPDataInit(&data);
    if (!WebPAnimEncoderAssemble(&encoder, &data))
        return noAnimation(QString::fromUtf8(WebPAnimEncoderGetError(&encoder)));
    const QByteArray bytes(reinterpret_cast<const char *>(data.bytes), static_cast<qsizetype>(data.size));
    WebPDataClear(&data);
    return bytes;
}

} // namespace

Result<QByteArray> animated(const std::vector<RunPicture> &runs, const Tokens &tokens, const AnimationPace &pace)
{
    Moment end{};
    auto whole = runs;
    for (const auto &one : whole)
        end = std::max(end, one.run->end());
    for (auto &one : whole) {
        one.frame.from = {};
        one.frame.to = std::max(end, Moment(1));
        one.frame.scrolled = 0;
    }
    const auto legendOf = picturesAt(whole, end);
    WebPAnimEncoderOptions options;
    if (!WebPAnimEncoderOptionsInit(&options))
        return noAnimation(Simulator::tr("another version of libwebp"));
    options.minimize_size = 0;
    Encoder encoder(nullptr, &WebPAnimEncoderDelete);
    for (int i = 0; i < pace.frames; ++i) {
        const auto at = end * i / std::max(1, pace.frames - 1);
        const auto image = imageOf(picturesAt(whole, at), tokens, legendOf, 1);
        if (image.isNull())
            return noAnimation(Simulator::tr("no memory for a picture of that size"));
        if (!encoder)
            encoder.reset(WebPAnimEncoderNew(image.width(), image.height(), &options));
        if (!encoder || !add(*encoder, image, static_cast<int>(pace.each.count()) * i))
            return noAnimation(encoder ? QString::fromUtf8(WebPAnimEncoderGetError(encoder.get()))
                                       : Simulator::tr("no memory for a picture of that size"));
    }
    const auto ends = pace.each * (pace.frames - 1) + pace.lastFor;
    if (!encoder || !WebPAnimEncoderAdd(encoder.get(), nullptr, static_cast<int>(ends.count()), nullptr))
        return noAnimation(Simulator::tr("there is nothing to show"));
    return assembled(*encoder);
}

} // namespace lockscope::ui
