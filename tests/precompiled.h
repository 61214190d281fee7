// SPDX-License-Identifier: Apache-2.0
// What nearly every test reads, read once. Only speeds up the build: each file includes what it uses
// (check with -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON).
#pragma once

#include "core/base/precompiled.h"

#include "core/async/qtloop.h"
#include "core/async/scope.h"
#include "core/rules/catalogue.h"
#include "core/redis/client.h"
#include "core/sandbox/server.h"
#include "core/zookeeper/client.h"

#include <QElapsedTimer>
#include <QTest>
