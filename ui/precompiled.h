// SPDX-License-Identifier: Apache-2.0
// What nearly every file of the window reads, read once; see core/base/precompiled.h.
#pragma once

#include "core/base/precompiled.h"

#include <QAbstractItemModel>
#include <QApplication>
#include <QBoxLayout>
#include <QLabel>
#include <QMainWindow>
#include <QPainter>
#include <QPushButton>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QTreeView>
#include <QWidget>
