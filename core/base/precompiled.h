// SPDX-License-Identifier: Apache-2.0
// What nearly every file of the core reads, read once. Only speeds up the build: each file includes
// what it uses, or a header that does (check with -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON).
#pragma once

#include <version>

#include <algorithm>
#include <chrono>
#include <coroutine>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <variant>
#include <vector>

#include <QByteArray>
#include <QByteArrayList>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonObject>
#include <QObject>
#include <QString>
#include <QThread>
#include <QTimer>
#include <QUrl>
