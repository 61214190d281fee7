// SPDX-License-Identifier: Apache-2.0
// What releases and edits will do, and why they were refused, for people: resources/words/operate.json, by name.
#pragma once

#include "core/operate/editplan.h"
#include "core/operate/forcereleaseplan.h"

namespace lockscope::operate {

// The "text" of that name, with the values in the places of %1 to %9.
[[nodiscard]] QString sentence(const char *name, const QStringList &values = {});
// All else of that name, with the values: texts are set, lists are added to.
void addTexts(ForceReleasePlan &plan, const char *name, const QStringList &values = {});
void addTexts(EditPreview &preview, const char *name, const QStringList &values = {});
// Where it is not sure that the entries are a lock.
void warnOfConfidence(ForceReleasePlan &plan);

} // namespace lockscope::operate
