// SPDX-License-Identifier: Apache-2.0
#include "ui/models/keynode.h"

#include "core/base/duration.h"
#include "core/base/text.h"
#include "ui/theme/text.h"

namespace lockscope::ui {

using std::chrono::milliseconds;

namespace {

std::optional<milliseconds> keyTimeLeft(std::optional<milliseconds> ttl, KeyNode::Moment seen, KeyNode::Moment now)
{
    // Servers say -1 for a key that never expires.
    if (!ttl || ttl->count() == -1)
        return std::nullopt;
    return *ttl - std::chrono::duration_cast<milliseconds>(now - seen);
}

} // namespace

std::optional<milliseconds> KeyNode::left(Moment now) const
{
    return isFolder ? std::nullopt : keyTimeLeft(ttl, seen, now);
}

QString KeyNode::ttlText(std::optional<milliseconds> ttl, Moment seen, Moment now)
{
    const auto rest = keyTimeLeft(ttl, seen, now);
    if (!rest)
        return u"∞ no TTL"_s;
    if (*rest <= 0ms)
        return u"due"_s; // by the last look: it may have been renewed since
    // Tenths that only change when the screen does say nothing.
    return formatDuration(*rest < keyExpiresSoon ? *rest : std::chrono::floor<std::chrono::seconds>(*rest));
}

QString KeyNode::cell(int column, Moment now) const
{
    switch (column) {
    case Name: return nameText(segment) + (isFolder ? u":"_s : QString());
    case Type:
        if (isFolder)
            return keys == 1 ? u"1 key"_s : u"%1 keys"_s.arg(countText(keys));
        return label(type, 40);
    case Ttl: return isFolder || type.isEmpty() ? QString() : ttlText(ttl, seen, now);
    case Bytes: return bytes ? countText(*bytes) : QString();
    default: return {};
    }
}

} // namespace lockscope::ui
