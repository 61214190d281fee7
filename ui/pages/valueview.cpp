// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/valueview.h"

#include "core/base/text.h"
#include "ui/parts/parts.h"

#include <QJsonDocument>
#include <QScrollBar>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

// A list nested a thousand deep would become a gigabyte of indentation.
constexpr qsizetype mostGrowth = 8;
constexpr qsizetype smallJson = 64 * 1024;

bool isPlain(char c)
{
    return (c >= 0x20 && c < 0x7f) || c == '\t';
}

// Tabs and line ends are harmless; everything else that escaped() touches is not.
QString escapedLine(const QByteArray &line)
{
    QString text;
    const auto parts = line.split('\t');
    for (qsizetype i = 0; i < parts.size(); ++i)
        text += (i > 0 ? u"\t"_s : QString()) + escaped(parts[i]);
    return text;
}

bool needsEscapes(const QByteArray &bytes)
{
    if (std::all_of(bytes.begin(), bytes.end(), [](char c) { return isPlain(c) || c == '\n'; }))
        return false;
    QByteArray rest = bytes;
    // A backslash alone is no reason to double it.
    for (const char harmless : {'\n', '\t', '\\'})
        rest.replace(harmless, ' ');
    return escaped(rest).contains(u'\\');
}

void appendBroken(QString &out, const QString &line, bool &isBroken)
{
    for (qsizetype at = 0; at == 0 || at < line.size();) {
        qsizetype count = std::min(longestLine, line.size() - at);
        if (at + count < line.size() && line[at + count].isLowSurrogate())
            --count;
        if (at > 0)
            out += u'\n';
        out += QStringView(line).mid(at, count);
        at += std::max<qsizetype>(count, 1);
    }
    isBroken |= line.size() > longestLine;
}

} // namespace

ReadableText readableText(const QByteArray &bytes)
{
    ReadableText result;
    QByteArray unixLines = bytes;
    unixLines.replace("\r\n", "\n");
    result.isEscaped = needsEscapes(unixLines);
    const auto lines = unixLines.split('\n');
    for (qsizetype i = 0; i < lines.size(); ++i) {
        if (i > 0)
            result.text += u'\n';
        const QString line = result.isEscaped ? escapedLine(lines[i]) : QString::fromUtf8(lines[i]);
        appendBroken(result.text, line, result.isBroken);
    }
    return result;
}

std::optional<QString> prettyJson(const QByteArray &bytes)
{
    if (QJsonDocument::fromJson(bytes).isNull())
        return std::nullopt;
    QByteArray out;
    out.reserve(bytes.size() * 2);
    int depth = 0;
    bool isInString = false;
    const auto newLine = [&] { out += '\n' + QByteArray(2 * depth, ' '); };
    const auto nextSolid = [&](qsizetype at) {
        while (at < bytes.size() && QByteArrayView(" \t\r\n").contains(bytes[at]))
            ++at;
        return at;
    };
    for (qsizetype at = 0; at < bytes.size(); ++at) {
        const char c = bytes[at];
        if (out.size() > mostGrowth * bytes.size() + smallJson)
            return std::nullopt;
        if (isInString) {
            out += c;
            if (c == '\\')
                out += bytes[++at];
            isInString = c != '"';
            continue;
        }
        switch (c) {
        case ' ':
        case '\t':
        case '\r':
        case '\n': break;
        case '{':
        case '[': {
            out += c;
            const auto next = nextSolid(at + 1);
            if (bytes[next] == '}' || bytes[next] == ']') {
                out += bytes[next];
                at = next;
                break;
            }
            ++depth;
            newLine();
            break;
        }
        case '}':
        case ']':
            --depth;
            newLine();
            out += c;
            break;
        case ',':
            out += c;
            newLine();
            break;
        case ':': out += ": "; break;
        default: out += c; isInString = c == '"';
        }
    }
    return readableText(out).text;
}

QString hexDump(const QByteArray &bytes)
{
    constexpr qsizetype perLine = 16;
    static constexpr char digits[] = "0123456789abcdef";
    QByteArray out;
    out.reserve(bytes.size() / perLine * 79 + 80);
    for (qsizetype at = 0; at < bytes.size(); at += perLine) {
        if (at > 0)
            out += '\n';
        out += QByteArray::number(at, 16).rightJustified(8, '0') + ' ';
        const auto count = std::min(perLine, bytes.size() - at);
        for (qsizetype i = 0; i < perLine; ++i) {
            if (i % 8 == 0)
                out += ' ';
            const auto byte = i < count ? static_cast<uchar>(bytes[at + i]) : uchar(0);
            out += i < count ? digits[byte >> 4] : ' ';
            out += i < count ? digits[byte & 15] : ' ';
            out += ' ';
        }
        out += " |";
        for (qsizetype i = 0; i < count; ++i)
            out += bytes[at + i] != '\t' && isPlain(bytes[at + i]) ? bytes[at + i] : '.';
        out += '|';
    }
    return QString::fromLatin1(out);
}

ValueForm bestForm(const QByteArray &bytes)
{
    const QByteArray start = bytes.trimmed().left(1);
    if ((start == "{" || start == "[") && prettyJson(bytes))
        return ValueForm::Json;
    const QByteArray sample = bytes.left(1024);
    const auto odd = std::count_if(sample.begin(), sample.end(), [](char c) {
        return static_cast<uchar>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t';
    });
    const bool isText = QString::fromUtf8(sample).count(QChar::ReplacementCharacter) <= 1;
    return isText && odd * 20 <= sample.size() ? ValueForm::Text : ValueForm::Hex;
}

ValueView::ValueView(QWidget *parent) : QWidget(parent)
{
    m_forms = new QTabBar(this);
    m_forms->setDrawBase(false);
    m_forms->setExpanding(false);
    m_forms->addTab(u"Text"_s);
    m_forms->addTab(u"JSON"_s);
    m_forms->addTab(u"Hex"_s);
    m_size = makeLabel({}, u"small"_s, this);
    m_note = makeLabel({}, u"small"_s, this);
    m_showAll = new QPushButton(u"Show all"_s, this);
    m_showAll->setProperty("look", u"flat"_s);
    m_text = new QPlainTextEdit(this);
    m_text->setReadOnly(true);
    m_text->setFont(monoFont());
    m_text->setLineWrapMode(QPlainTextEdit::WidgetWidth);
    m_text->setWordWrapMode(QTextOption::WrapAnywhere);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_text->setTabChangesFocus(true);
    m_text->setAccessibleName(u"Value"_s);
    m_text->setStyleSheet(u"QPlainTextEdit { border: none; border-radius: 0; padding: 6px 8px; }"_s);
    auto *line = new QFrame(this);
    line->setProperty("look", u"hairline"_s);

    auto *bar = makeRow({.margins = {6, 0, 12, 0}}, {m_forms, Stretch{}, m_note, m_showAll, Gap{8}, m_size});
    makeColumn(this, {.spacing = 0}, {bar, line, m_text});

    connect(m_forms, &QTabBar::currentChanged, this, &ValueView::render);
    connect(m_forms, &QTabBar::tabBarClicked, this, [this] { m_isChosen = true; });
    connect(m_showAll, &QPushButton::clicked, this, [this] {
        m_isAll = true;
        render();
    });
    clear();
}

void ValueView::clear()
{
    setValue({}, 0, false);
    m_size->clear();
    m_note->clear();
}

void ValueView::setForm(ValueForm form)
{
    m_isChosen = true;
    m_forms->setCurrentIndex(static_cast<int>(form));
}

void ValueView::setValue(const QByteArray &value, qint64 whole, bool isSame)
{
    if (isSame && value == m_value && whole == m_whole)
        return;
    m_value = value;
    m_whole = whole;
    m_isAll = m_isAll && isSame;
    const int scrolled = isSame ? m_text->verticalScrollBar()->value() : 0;
    if (!m_isChosen && !isSame) {
        const QSignalBlocker quiet(m_forms);
        m_forms->setCurrentIndex(static_cast<int>(bestForm(value)));
    }
    render();
    m_text->verticalScrollBar()->setValue(scrolled);
}

QString ValueView::textOf(QStringList &notes) const
{
    const QByteArray shown = m_isAll ? m_value : m_value.left(shownAtFirst);
    switch (form()) {
    case ValueForm::Hex: return hexDump(shown);
    case ValueForm::Json:
        if (const auto pretty = prettyJson(m_value))
            return m_isAll ? *pretty : pretty->left(shownAtFirst);
        notes << (m_value.isEmpty() ? u"nothing to read as JSON"_s : u"not JSON, shown as text"_s);
        break;
    case ValueForm::Text: break;
    }
    const auto readable = readableText(shown);
    if (readable.isEscaped)
        notes << u"\\xHH is a byte that is not text"_s;
    if (readable.isBroken)
        notes << u"long lines are broken"_s;
    return readable.text;
}

void ValueView::render()
{
    QStringList notes;
    const bool isHex = form() == ValueForm::Hex;
    m_text->setLineWrapMode(isHex ? QPlainTextEdit::NoWrap : QPlainTextEdit::WidgetWidth); // a dump is in columns
    m_text->setPlainText(textOf(notes));
    m_text->setPlaceholderText(m_whole == 0 ? u"No data: the value is empty."_s : QString());
    const bool isCut = !m_isAll && m_value.size() > shownAtFirst;
    if (isCut)
        notes << u"showing first %1 of %2"_s.arg(sizeText(shownAtFirst), sizeText(m_whole));
    else if (m_whole > m_value.size())
        notes << u"only the first %1 of %2 was read"_s.arg(sizeText(m_value.size()), sizeText(m_whole));
    m_note->setText(notes.join(u" · "_s));
    m_showAll->setText(m_whole > m_value.size() ? u"Show %1"_s.arg(sizeText(m_value.size())) : u"Show all"_s);
    m_showAll->setVisible(isCut);
    m_size->setText(m_whole == 1 ? u"1 byte"_s : u"%1 bytes"_s.arg(countText(m_whole)));
}

} // namespace lockscope::ui

#include "moc_valueview.cpp"
