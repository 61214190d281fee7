// SPDX-License-Identifier: Apache-2.0
#include "core/rules/tokenform.h"

#include "core/rules/userrules.h"

#include <QFile>

// Resources of a static library have to be asked for, and from outside of any namespace.
static void initRuleResources()
{
    Q_INIT_RESOURCE(lockscope_core);
}

namespace lockscope::recipes {

const std::vector<TokenForm> &builtInTokenForms()
{
    static const auto forms = [] {
        initRuleResources();
        QFile file(QStringLiteral(":/lockscope/rules/token-forms.json"));
        if (!file.open(QIODevice::ReadOnly))
            qFatal("the forms of tokens are not in the resources");
        auto read = readRuleFile(file.readAll(), QString());
        if (!read.problems.empty())
            qFatal("%s", qPrintable(read.problems.front().text()));
        return std::move(read.tokens);
    }();
    return forms;
}

} // namespace lockscope::recipes
