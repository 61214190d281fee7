// SPDX-License-Identifier: Apache-2.0
#include "ui/parts/environment.h"

#include "core/base/text.h"
#include "core/base/transportoptions.h"
#include "ui/theme/theme.h"

#include <QCoreApplication>
#include <QEvent>
#include <QLabel>
#include <QStyle>

namespace lockscope::ui {

namespace {

Environment markOf(const ConnectionBook &book, const ConnectionStatus &status)
{
    if (status.production)
        return {u"PROD"_s, true};
    if (book.sandbox().contains(status.name))
        return {u"sandbox"_s, false};
    if (book.isDevelopment(status.name))
        return {u"DEV"_s, false};
    return {status.state == ConnectionStatus::State::Connected ? u"unmarked"_s : QString(), false};
}

} // namespace

Environment environmentOf(const ConnectionBook &book, const ConnectionStatus &status)
{
    const auto mark = markOf(book, status);
    if (transportWarning(status.uri).isEmpty())
        return mark;
    return {mark.production ? mark.word + u" · TLS UNVERIFIED"_s : u"TLS UNVERIFIED"_s, true};
}

void showEnvironment(QLabel &tag, const ConnectionBook &book, const ConnectionName &name)
{
    const auto *status = book.find(name);
    const auto environment = status ? environmentOf(book, *status) : Environment{};
    const QString look = environment.production ? u"tag-production"_s : u"tag"_s;
    if (tag.property("look") != look) {
        tag.setProperty("look", look);
        tag.style()->unpolish(&tag);
        tag.style()->polish(&tag);
        QEvent changed(QEvent::StyleChange); // or a frame does not learn of its new padding
        QCoreApplication::sendEvent(&tag, &changed);
    }
    const QString shown = label(name.bytes(), 40);
    tag.setText(environment.word.isEmpty() ? shown : environment.word + u" · "_s + shown);
}

QColor colourOf(ConnectionColour colour)
{
    const Tokens &tokens = Theme::tokens();
    switch (colour) {
    case ConnectionColour::None: return {};
    case ConnectionColour::Red: return tokens.critical;
    case ConnectionColour::Orange: return tokens.warning;
    case ConnectionColour::Yellow: return tokens.wait;
    case ConnectionColour::Green: return tokens.ok;
    case ConnectionColour::Teal: return tokens.hold;
    case ConnectionColour::Blue: return tokens.accent;
    }
    return {};
}

} // namespace lockscope::ui
