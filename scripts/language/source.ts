/** What a person reads in a source file: texts, comments, titles of tests, and names. */

import { parse } from '@babel/parser';

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

const CODE_TAGS = new Set(['sql', 'css', 'shell']);

/** Attributes of JSX that a person reads. */
const READ_ATTRIBUTES = new Set(['title', 'alt', 'label', 'aria-label', 'placeholder', 'hint']);

/** A node of the syntax tree, in the ESTree format. */
interface Node {
  type: string;
  start: number;
  end: number;
  [property: string]: unknown;
}

interface Comment {
  type: 'CommentBlock' | 'CommentLine';
  value: string;
  start: number;
  end: number;
}

/** Throws a SyntaxError if the file cannot be parsed. */
function parseSource(path: string, source: string): { program: Node; comments: Comment[] } {
  const jsx = path.endsWith('x') ? ['jsx' as const] : [];
  const plugins = ['typescript' as const, 'estree' as const, 'explicitResourceManagement' as const];
  const { program, comments } = parse(source, {
    sourceType: 'module',
    plugins: [...plugins, ...jsx],
  });
  return { program: program as unknown as Node, comments: (comments ?? []) as Comment[] };
}

/** Calls `onNode` for a node, then for the nodes in it. */
function walk(node: Node, onNode: (node: Node) => void): void {
  onNode(node);
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value])
      if (isNode(child)) walk(child, onNode);
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

const nodesIn = (value: unknown): Node[] => (Array.isArray(value) ? value : [value]).filter(isNode);

/** Reads one file; its name tells TypeScript from TSX. Throws a SyntaxError if it cannot be parsed. */
export function readSource(path: string, source: string): SourceWords {
  const { program, comments } = parseSource(path, source);
  const lineAt = lineFinder(source);
  const found: SourceWords = { texts: [], comments: [], titles: [], names: [] };
  /** Starts of strings that belong to a larger text or are not texts. */
  const skipped = new Set<number>();

  const addText = (start: number, text: string) => {
    const plain = text.replace(/\s+/g, ' ').trim();
    if (IS_TEXT.test(plain) && !IS_CODE.test(text) && !IS_LIST.test(plain))
      found.texts.push({ line: lineAt(start), text: plain });
  };
  const skip = (value: unknown) => {
    for (const { start } of nodesIn(value)) skipped.add(start);
  };

  walk(program, (node) => {
    for (const name of declaredIn(node))
      found.names.push({ line: lineAt(name.start), text: String(name.name) });
    switch (node.type) {
      case 'ImportDeclaration':
      case 'ExportNamedDeclaration':
      case 'ExportAllDeclaration':
        skip(node.source);
        break;
      case 'TSLiteralType':
        skip(node.literal);
        break;
      case 'TaggedTemplateExpression':
        if (CODE_TAGS.has(nameOf(node.tag))) skip(node.quasi);
        break;
      case 'JSXAttribute':
        if (!READ_ATTRIBUTES.has(nameOf(node.name))) skip(node.value);
        break;
      case 'JSXElement':
      case 'JSXFragment': {
        const text = jsxText(nodesIn(node.children), skipped);
        if (!skipped.has(node.start)) addText(node.start, text);
        break;
      }
      case 'CallExpression': {
        const [title] = nodesIn(node.arguments);
        if (title && /^(?:test|it|describe)$/.test(nameOf(node.callee)) && isString(title))
          found.titles.push({ line: lineAt(title.start), text: stringText(title) });
        break;
      }
      case 'Literal':
      case 'TemplateLiteral':
        if (isString(node) && !skipped.has(node.start)) addText(node.start, stringText(node));
    }
  });

  found.comments = joinedComments(source, comments).map(({ start, text }) => ({
    line: lineAt(start),
    text,
  }));
  return found;
}

/** The source without its comments and without the titles of its tests. */
export function codeOf(path: string, source: string): string {
  const { comments } = parseSource(path, source);
  return comments
    .reduceRight((code, { start, end }) => code.slice(0, start) + code.slice(end), source)
    .replace(/\b(?:test|it|describe)\(\s*(?:'[^'\n]*'|`[^`]*`|"[^"\n]*")/g, '');
}

const isString = (node: Node): boolean =>
  node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string');

/** The text of a string or template; an expression is shown as a placeholder. */
function stringText(node: Node): string {
  if (node.type === 'Literal') return String(node.value);
  const expressions = nodesIn(node.expressions);
  return nodesIn(node.quasis)
    .map((quasi, i) => {
      const { cooked } = quasi.value as { cooked: string | null };
      return `${cooked ?? ''}${expressions[i] ? placeholder(expressions[i]) : ''}`;
    })
    .join('');
}

/** The name of an identifier; empty for any other node. */
const nameOf = (value: unknown): string => {
  const [node] = nodesIn(value);
  return node && /^(?:JSX)?Identifier$/.test(node.type) ? String(node.name) : '';
};

/** The placeholder of an expression: of `row.name` and of `nameOf(row)` the last word. */
function placeholder(node: Node): string {
  if (node.type === 'Identifier') return `{${node.name}}`;
  if (node.type === 'MemberExpression' && nameOf(node.property))
    return `{${nameOf(node.property)}}`;
  if (node.type === 'CallExpression') return placeholder(node.callee as Node);
  return '{…}';
}

/** The text of an element together with the elements in it, which are not read again. */
function jsxText(children: Node[], skipped: Set<number>): string {
  const hasText = children.some(
    ({ type, value }) => type === 'JSXText' && /\p{L}/u.test(`${value}`),
  );
  if (!hasText) return '';
  return children
    .map((child) => {
      if (child.type === 'JSXText') return child.value;
      if (child.type === 'JSXExpressionContainer') {
        const expression = child.expression as Node;
        if (expression.type !== 'Literal') return placeholder(expression);
        skipped.add(expression.start);
        return expression.value;
      }
      if (child.type !== 'JSXElement') return '{…}';
      skipped.add(child.start);
      return jsxText(nodesIn(child.children), skipped) || '{…}';
    })
    .join('');
}

/** The identifiers that a node declares: variables, parameters, functions, types and members. */
function declaredIn(node: Node): Node[] {
  switch (node.type) {
    case 'VariableDeclarator':
      return namesIn(node.id);
    case 'FunctionDeclaration':
      return [...namesIn(node.id), ...nodesIn(node.params).flatMap(namesIn)];
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return nodesIn(node.params).flatMap(namesIn);
    case 'ClassDeclaration':
    case 'TSInterfaceDeclaration':
    case 'TSTypeAliasDeclaration':
      return namesIn(node.id);
    case 'MethodDefinition':
    case 'PropertyDefinition':
    case 'TSPropertySignature':
    case 'TSMethodSignature':
      return namesIn(node.key);
    default:
      return [];
  }
}

/** The identifiers that a pattern binds. */
function namesIn(pattern: unknown): Node[] {
  const [node] = nodesIn(pattern);
  switch (node?.type) {
    case 'Identifier':
      return [node];
    case 'ObjectPattern':
      return nodesIn(node.properties).flatMap(({ value, argument }) => namesIn(value ?? argument));
    case 'ArrayPattern':
      return nodesIn(node.elements).flatMap(namesIn);
    case 'AssignmentPattern':
      return namesIn(node.left);
    case 'RestElement':
      return namesIn(node.argument);
    case 'TSParameterProperty':
      return namesIn(node.parameter);
    default:
      return [];
  }
}

/** Comments as texts; lines of `//` that follow each other are one. */
function joinedComments(source: string, comments: Comment[]): { start: number; text: string }[] {
  const joined: { start: number; end: number; text: string; isLine: boolean }[] = [];
  for (const { type, value, start, end } of comments) {
    const isLine = type === 'CommentLine';
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
