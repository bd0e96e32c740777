/** What a person reads in a source file: texts, comments, titles of tests, and names. */

import {
  type BindingPattern,
  type Expression,
  type JSXChild,
  type ParamPattern,
  parseSync,
  Visitor,
} from 'oxc-parser';

export interface Found {
  line: number;
  text: string;
}

export interface SourceWords {
  /** Strings, templates and JSX of at least two words; what is filled in stands in braces. */
  texts: Found[];
  comments: Found[];
  /** Titles of tests, which are among the texts too. */
  titles: Found[];
  /** Declared names: variables, parameters, functions, types and members. */
  names: Found[];
}

/** Two words in a row: anything shorter is a key, a label or a fragment. */
const IS_TEXT = /\p{L}{2,}[,:;]? (?:\{[^}]*\}|\p{L}|\d|["'(])/u;

/** Statements, style sheets, markup, addresses and patterns are not read as sentences. */
const IS_CODE =
  /^\s*(?:<|[.#@]\w|SELECT |INSERT |UPDATE |DELETE |CREATE |WITH |PRAGMA |BEGIN |ALTER |DROP |v=|\(\()|[;{]\s*[a-z-]+:\s*[^;]+;|\(\?[:=!<]/;

/** Many words without a sentence: a list that is split, such as names of elements. */
const IS_LIST = /^[^\p{Lu}.:,;?!]{80,}$|^(?:[\p{Lu}\d-]+ ){5}/u;

const CODE_TAGS = new Set(['sql', 'css']);

/** Attributes of JSX that a person reads. */
const READ_ATTRIBUTES = new Set(['title', 'alt', 'label', 'aria-label', 'placeholder', 'hint']);

/** Reads one file; `path` tells TypeScript from TSX. Throws where the file does not parse. */
export function readSource(path: string, source: string): SourceWords {
  const { program, comments, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]!.message}`);
  const lineAt = lineFinder(source);
  const found: SourceWords = { texts: [], comments: [], titles: [], names: [] };
  /** Starts of strings that belong to a larger text or are no text at all. */
  const skipped = new Set<number>();

  const addText = (start: number, text: string) => {
    const plain = text.replace(/\s+/g, ' ').trim();
    if (IS_TEXT.test(plain) && !IS_CODE.test(text) && !IS_LIST.test(plain))
      found.texts.push({ line: lineAt(start), text: plain });
  };
  const addName = ({ start, name }: Name) => {
    found.names.push({ line: lineAt(start), text: name });
  };
  const addKey = (key: object) => {
    if ('name' in key) addName(key as Name);
  };

  new Visitor({
    ImportDeclaration: ({ source }) => void skipped.add(source.start),
    ExportNamedDeclaration: ({ source }) => void (source && skipped.add(source.start)),
    ExportAllDeclaration: ({ source }) => void skipped.add(source.start),
    TSLiteralType: ({ literal }) => void skipped.add(literal.start),
    TaggedTemplateExpression({ tag, quasi }) {
      if (tag.type === 'Identifier' && CODE_TAGS.has(tag.name)) skipped.add(quasi.start);
    },
    JSXAttribute({ name, value }) {
      const attribute = name.type === 'JSXIdentifier' ? name.name : '';
      if (value && !READ_ATTRIBUTES.has(attribute)) skipped.add(value.start);
    },
    JSXElement(node) {
      const text = jsxText(node.children, skipped);
      if (!skipped.has(node.start)) addText(node.start, text);
    },
    JSXFragment(node) {
      const text = jsxText(node.children, skipped);
      if (!skipped.has(node.start)) addText(node.start, text);
    },
    CallExpression({ callee, arguments: [title] }) {
      if (callee.type !== 'Identifier' || !/^(?:test|it|describe)$/.test(callee.name)) return;
      if (title?.type === 'Literal')
        found.titles.push({ line: lineAt(title.start), text: `${title.value}` });
      if (title?.type === 'TemplateLiteral')
        found.titles.push({
          line: lineAt(title.start),
          text: title.quasis.map(({ value }) => value.raw).join('{…}'),
        });
    },
    Literal({ start, value }) {
      if (typeof value === 'string' && !skipped.has(start)) addText(start, value);
    },
    TemplateLiteral({ start, quasis, expressions }) {
      if (skipped.has(start)) return;
      const text = quasis.map(
        ({ value }, i) =>
          `${value.cooked ?? value.raw}${i < expressions.length ? placeholder(expressions[i]!) : ''}`,
      );
      addText(start, text.join(''));
    },
    VariableDeclarator: ({ id }) => namesIn(id).forEach(addName),
    FunctionDeclaration: ({ id, params }) => {
      if (id) addName(id);
      for (const one of params) namesIn(one).forEach(addName);
    },
    FunctionExpression: ({ params }) => params.flatMap(namesIn).forEach(addName),
    ArrowFunctionExpression: ({ params }) => params.flatMap(namesIn).forEach(addName),
    ClassDeclaration: ({ id }) => void (id && addName(id)),
    MethodDefinition: ({ key }) => addKey(key),
    PropertyDefinition: ({ key }) => addKey(key),
    TSInterfaceDeclaration: ({ id }) => addName(id),
    TSTypeAliasDeclaration: ({ id }) => addName(id),
    TSPropertySignature: ({ key }) => addKey(key),
    TSMethodSignature: ({ key }) => addKey(key),
  }).visit(program);

  found.comments = joinedComments(source, comments).map(({ start, text }) => ({
    line: lineAt(start),
    text,
  }));
  return found;
}

/** The source without its comments and without the titles of its tests. */
export function codeOf(path: string, source: string): string {
  const { comments } = parseSync(path, source);
  return [...comments]
    .reduceRight((code, { start, end }) => code.slice(0, start) + code.slice(end), source)
    .replace(/\b(?:test|it|describe)\(\s*(?:'[^'\n]*'|`[^`]*`|"[^"\n]*")/g, '');
}

/** A name for what is filled in: of `row.name` and of `nameOf(row)` its last word. */
function placeholder(node: Expression): string {
  if (node.type === 'Identifier') return `{${node.name}}`;
  if (node.type === 'MemberExpression' && node.property.type === 'Identifier')
    return `{${node.property.name}}`;
  if (node.type === 'CallExpression') return placeholder(node.callee);
  return '{…}';
}

/** What an element says with the elements inside it; these are not read again. */
function jsxText(children: readonly JSXChild[], skipped: Set<number>): string {
  const says = children.some((child) => child.type === 'JSXText' && /\p{L}/u.test(child.value));
  if (!says) return '';
  return children
    .map((child) => {
      if (child.type === 'JSXText') return child.value;
      if (child.type === 'JSXExpressionContainer') {
        const { expression } = child;
        if (expression.type !== 'Literal') return placeholder(expression as Expression);
        skipped.add(expression.start);
        return String(expression.value);
      }
      if (child.type !== 'JSXElement') return '{…}';
      skipped.add(child.start);
      return jsxText(child.children, skipped) || '{…}';
    })
    .join('');
}

interface Name {
  start: number;
  name: string;
}

/** The names that a pattern binds. */
function namesIn(pattern: BindingPattern | ParamPattern | null): Name[] {
  switch (pattern?.type) {
    case 'Identifier':
      return [pattern];
    case 'ObjectPattern':
      return pattern.properties.flatMap((one) =>
        namesIn(one.type === 'RestElement' ? one.argument : one.value),
      );
    case 'ArrayPattern':
      return pattern.elements.flatMap((one) => namesIn(one as BindingPattern | null));
    case 'AssignmentPattern':
      return namesIn(pattern.left);
    case 'RestElement':
      return namesIn(pattern.argument);
    case 'TSParameterProperty':
      return namesIn(pattern.parameter);
    default:
      return [];
  }
}

/** Comments as texts; lines of `//` that follow each other are one. */
function joinedComments(
  source: string,
  comments: readonly { type: string; value: string; start: number; end: number }[],
): { start: number; text: string }[] {
  const joined: { start: number; end: number; text: string; isLine: boolean }[] = [];
  for (const { type, value, start, end } of comments) {
    const isLine = type === 'Line';
    const text = paragraphs(value.replace(/^[ \t]*\*+ ?/gm, ''));
    const last = joined.at(-1);
    if (isLine && last?.isLine && /^\s*$/.test(source.slice(last.end, start))) {
      last.text += ` ${text}`;
      last.end = end;
    } else joined.push({ start, end, text, isLine });
  }
  return joined;
}

/** The text with each paragraph and each item of a list in a line of its own. */
function paragraphs(text: string): string {
  return text
    .split(/\n\s*(?=\n|[-*] )/)
    .map((paragraph) => paragraph.replace(/\s+/g, ' ').trim())
    .join('\n\n')
    .trim();
}

function lineFinder(source: string): (offset: number) => number {
  const starts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return (offset) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}
