// SPDX-License-Identifier: Apache-2.0
#include "core/base/result.h"

#include "core/base/text.h"

namespace lockscope::detail {

static_assert(sizeof(Result<void>) == sizeof(void *));

namespace {

// Every message passes here on its way to a terminal or widget: file names, settings and URIs in it may be hostile.
Error withHarmlessMessage(Error error)
{
    const bool isPlain = std::ranges::all_of(error.message, [](QChar c) { return c >= u' ' && c <= u'~'; });
    if (!isPlain)
        error.message = harmlessLine(error.message);
    return error;
}

} // namespace

KeptError::KeptError(Error error) : m_error(std::make_unique<const Error>(withHarmlessMessage(std::move(error)))) {}

KeptError::KeptError(const KeptError &other)
    : m_error(other.m_error ? std::make_unique<const Error>(*other.m_error) : nullptr)
{
}

} // namespace lockscope::detail
