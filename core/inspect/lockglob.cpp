// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/lockglob.h"

#include "core/base/text.h"

#include <fnmatch.h>

namespace lockscope::inspect {

bool matchesGlob(const LockName &lock, const QString &glob)
{
    const auto pattern = glob.toUtf8();
    return ::fnmatch(pattern.constData(), escaped(lock.text()).toUtf8().constData(), 0) == 0
           || ::fnmatch(pattern.constData(), escaped(lock.name).toUtf8().constData(), 0) == 0;
}

} // namespace lockscope::inspect
