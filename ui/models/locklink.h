// SPDX-License-Identifier: Apache-2.0
// lockscope://open?connection=NAME&lock=NAME: a lock as a link, for a ticket or a chat. It names a connection that
// whoever opens it must know already, holds no address, and asks for nothing but to be shown.
#pragma once

#include "core/workspace/values.h"

namespace lockscope::ui {

[[nodiscard]] QString linkOf(const inspect::LockName &lock);
// Anybody may have written it: BadInput for whatever is not exactly of that form.
[[nodiscard]] Result<inspect::LockName> readLink(const QString &link);
// "herd" of lockscope://lesson/herd; empty where the link is of no lesson.
[[nodiscard]] QByteArray lessonOfLink(const QString &link);

} // namespace lockscope::ui
