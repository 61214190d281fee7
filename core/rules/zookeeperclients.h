// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/rules/catalogue.h"

namespace lockscope::recipes {

[[nodiscard]] std::vector<RecipeInfo> zooKeeperClientRecipes();

} // namespace lockscope::recipes
