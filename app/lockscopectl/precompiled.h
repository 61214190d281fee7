// SPDX-License-Identifier: Apache-2.0
// What nearly every command reads, read once; see core/base/precompiled.h.
#pragma once

#include "core/base/precompiled.h"

#include "app/lockscopectl/command.h"
#include "app/lockscopectl/output.h"
