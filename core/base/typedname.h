// SPDX-License-Identifier: Apache-2.0
// A name as a person typed it, or a shell completed it.
#pragma once

#include "core/base/backendkind.h"

#include <QByteArray>

namespace lockscope {

// As that backend has it: a path without the slashes at its end.
[[nodiscard]] inline QByteArray nameAsStored(BackendKind kind, QByteArray typed)
{
    while (infoOf(kind).namesPaths && typed.size() > 1 && typed.endsWith('/'))
        typed.chop(1);
    return typed;
}

} // namespace lockscope
