// SPDX-License-Identifier: Apache-2.0
// The values that the window shows, and the calls that need no server: all it includes of the core, with base and
// backend.h. Nothing here leads to a port, to a recipe's code or to the loops.
#pragma once

#include "core/connections/connectionstore.h"
#include "core/contention/recording.h"
#include "core/contention/guarantees.h"
#include "core/contention/simulation.h"
#include "core/inspect/coverage.h"
#include "core/inspect/json.h"
#include "core/lessons/lessons.h"
#include "core/operate/audit.h"
#include "core/operate/editplan.h"
#include "core/operate/precheck.h"
#include "core/rehearse/rehearsal.h"
#include "core/workspace/account.h"
#include "core/workspace/mutes.h"
#include "core/workspace/past.h"
#include "core/workspace/settingsfile.h"
