// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/browsetarget.h"

#include "core/base/backendkind.h"
#include "core/base/text.h"

namespace lockscope::ctl {

using namespace Qt::StringLiterals;

Result<BrowseTarget> readTarget(CommandContext &context, BackendKind backend, const QString &otherwise)
{
    const auto &wanted = infoOf(backend).title;
    const auto word = context.word(0).isEmpty() ? otherwise : context.word(0);
    const auto raw = unescaped(word);
    if (!raw)
        return Error{ErrorCode::BadInput, u"\"%1\" holds a broken \\ escape (write \\\\ or \\xHH)"_s.arg(word)};
    // A colon may belong to a key: only the name of a connection before it makes it a separator.
    const auto colon = raw->indexOf(':');
    if (auto *link = colon > 0 ? context.workspace.find(ConnectionName(raw->left(colon))) : nullptr) {
        if (backendOf(link->spec().scheme) != backend)
            return Error{ErrorCode::BadInput, u"connection %1 is no %2"_s.arg(escaped(raw->left(colon)), wanted)};
        return BrowseTarget{link->spec().name, nameAsStored(backend, raw->mid(colon + 1))};
    }
    std::vector<Link *> fitting;
    for (auto *link : context.workspace.links()) {
        if (backendOf(link->spec().scheme) == backend)
            fitting.push_back(link);
    }
    if (fitting.size() == 1)
        return BrowseTarget{fitting.front()->spec().name, nameAsStored(backend, *raw)};
    return Error{
        ErrorCode::BadInput,
        fitting.empty()
            ? u"there is no %1 connection; give one with --connect"_s.arg(wanted)
            : u"there are %1 %2 connections; say which: CONNECTION:%3"_s.arg(fitting.size()).arg(wanted, word)};
}

} // namespace lockscope::ctl
