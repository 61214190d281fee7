// What nearly every command reads, read once; see core/precompiled.h.
#pragma once

#include "core/precompiled.h"

#include "app/lockscopectl/command.h"
#include "app/lockscopectl/output.h"
