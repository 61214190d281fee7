// SPDX-License-Identifier: Apache-2.0
#include "core/connections/connectionstore.h"

#include <QTimer>

#include <algorithm>

namespace lockscope {

Result<ConnectionSpec> specOf(const SavedConnection &saved, const QString &password)
{
    auto spec = parseConnection(saved.name.isEmpty() ? saved.uri : saved.name + u'=' + saved.uri);
    if (!spec)
        return spec.error();
    spec->user = saved.user;
    spec->password = password;
    spec->production = saved.production;
    spec->readOnly = saved.readOnly || saved.production;
    return spec;
}

const SavedConnection *savedFor(const ConnectionStore &store, const ConnectionSpec &spec)
{
    const auto fits = [&](const SavedConnection &saved) {
        return saved.name.toUtf8() == spec.name.bytes() && saved.uri == uriOf(spec);
    };
    const auto found = std::find_if(store.all().begin(), store.all().end(), fits);
    return found == store.all().end() ? nullptr : &*found;
}

void fillInPassword(ConnectionStore &store, ConnectionSpec spec, std::chrono::milliseconds atMost, QObject *context,
                    std::function<void(ConnectionSpec)> ready)
{
    const auto *saved = savedFor(store, spec);
    if (saved) {
        spec.production = spec.production || saved->production;
        spec.readOnly = spec.readOnly || saved->readOnly || saved->production;
    }
    const bool isKept =
        saved && saved->hasPassword && store.canKeepPasswords() && (spec.user.isEmpty() || spec.user == saved->user);
    if (!isKept || !spec.password.isEmpty()) {
        ready(std::move(spec));
        return;
    }
    // Whoever is first answers; the other one finds nothing to do.
    const auto once = std::make_shared<std::function<void(ConnectionSpec)>>(std::move(ready));
    const auto answer = [once](const ConnectionSpec &filled) {
        if (const auto call = std::exchange(*once, {}))
            call(filled);
    };
    auto filled = spec;
    filled.user = saved->user;
    store.readPassword(saved->id, context, [answer, spec, filled](std::optional<QString> secret) mutable {
        if (secret)
            filled.password = *secret;
        answer(secret ? filled : spec);
    });
    QTimer::singleShot(atMost, context, [answer, spec] { answer(spec); });
}

} // namespace lockscope
