// SPDX-License-Identifier: Apache-2.0
#include "core/operate/forcereleaseplan.h"

#include "core/base/fieldreader.h"
#include "core/base/text.h"

#include <map>

namespace lockscope::operate {

namespace {

// What is not there changes nothing.
struct Texts {
    QString text, act, guard, wakes, who, alsoLost, risk, undo;
    QStringList commands, warnings, alternatives;
    bool isInexact = false, areLossesUnknown = false;
};

Texts readTexts(FieldReader &reader)
{
    Texts texts;
    for (const auto &[field, text] : {std::pair("text", &Texts::text),
                                      {"act", &Texts::act},
                                      {"guard", &Texts::guard},
                                      {"wakes", &Texts::wakes},
                                      {"who", &Texts::who},
                                      {"alsoLost", &Texts::alsoLost},
                                      {"risk", &Texts::risk},
                                      {"undo", &Texts::undo}})
        texts.*text = reader.text(field, QString());
    for (const auto &[field, list] : {std::pair("commands", &Texts::commands),
                                      {"warnings", &Texts::warnings},
                                      {"alternatives", &Texts::alternatives}})
        texts.*list =
            mapped<QStringList>(reader.texts(field), [](const auto &text) { return QString::fromUtf8(text); });
    reader.take("isInexact", texts.isInexact);
    reader.take("areLossesUnknown", texts.areLossesUnknown);
    return texts;
}

const Texts &textsNamed(const char *name)
{
    static const auto all = [] {
        std::map<QString, Texts> read;
        readResourceList(u"words/operate.json"_s, "texts", [&read](FieldReader &reader) {
            const auto key = reader.text("name");
            read[key] = readTexts(reader);
        });
        return read;
    }();
    const auto at = all.find(QString::fromLatin1(name));
    if (at == all.end())
        qFatal("words/operate.json has no \"%s\"", name);
    return at->second;
}

// In one pass: a value may have such places, too.
QString filled(const QString &text, const QStringList &values)
{
    QString full;
    for (qsizetype i = 0; i < text.size(); ++i) {
        const bool isPlace = text[i] == u'%' && i + 1 < text.size() && text[i + 1].isDigit();
        full += isPlace ? values.value(text[++i].digitValue() - 1) : QString(text[i]);
    }
    return full;
}

void addShared(auto &plan, const Texts &texts, const QStringList &values)
{
    for (const auto &command : texts.commands)
        plan.commands << filled(command, values);
    for (const auto &warning : texts.warnings)
        plan.warnings << filled(warning, values);
    plan.exact = plan.exact && !texts.isInexact;
}

} // namespace

QString sentence(const char *name, const QStringList &values)
{
    return filled(textsNamed(name).text, values);
}

void addTexts(ForceReleasePlan &plan, const char *name, const QStringList &values)
{
    const auto &texts = textsNamed(name);
    const auto set = [&](QString &field, const QString &text) {
        if (!text.isEmpty())
            field = filled(text, values);
    };
    set(plan.act, texts.act);
    set(plan.guardText, texts.guard);
    set(plan.wakes, texts.wakes);
    set(plan.who, texts.who);
    set(plan.alsoLost, texts.alsoLost);
    set(plan.risk, texts.risk);
    for (const auto &alternative : texts.alternatives)
        plan.alternatives << filled(alternative, values);
    plan.otherLocksKnown = plan.otherLocksKnown && !texts.areLossesUnknown;
    addShared(plan, texts, values);
}

void addTexts(EditPreview &preview, const char *name, const QStringList &values)
{
    const auto &texts = textsNamed(name);
    if (!texts.guard.isEmpty())
        preview.guard = filled(texts.guard, values);
    if (!texts.undo.isEmpty())
        preview.undo = filled(texts.undo, values);
    addShared(preview, texts, values);
}

void warnOfConfidence(ForceReleasePlan &plan)
{
    if (plan.before.confidence == inspect::Confidence::Low)
        addTexts(plan, "maybe-no-lock", {plan.before.why, infoOf(plan.before.backend).words.entry});
}

} // namespace lockscope::operate
