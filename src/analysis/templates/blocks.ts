/** Matches the blocks of a template: `{% if %}…{% endif %}`, `{{#each}}…{{/each}}`, `*|IF:A|*…*|END:IF|*`. */

import { type BrokenTag, excerpt, MAX_BROKEN, MAX_TAGS, type MergeTag } from './syntax.ts';

export interface Block {
  open: MergeTag;
  /** `else` and `elsif`, in order. */
  middles: MergeTag[];
  close: MergeTag;
}

interface Step {
  role: 'open' | 'middle' | 'close';
  /** The block; null closes or divides any block of the same language. */
  name: string | null;
  language: string;
  /** Whether the block must be closed. Some words start a block in one engine and stand alone in another. */
  isRequired: boolean;
  /** How its end is written. */
  end: string;
}

interface OpenBlock {
  tag: MergeTag;
  step: Step;
  middles: MergeTag[];
}

/** Bounds the work on hostile templates. What follows is not known, so nothing is missing. */
const MAX_STEPS = 20_000;

/** The blocks that are complete, and the tags that open or close a block without their counterpart. */
export function matchBlocks(tags: MergeTag[]): { blocks: Block[]; broken: BrokenTag[] } {
  const stack: OpenBlock[] = [];
  const blocks: Block[] = [];
  const broken: BrokenTag[] = [];
  let steps = 0;
  const report = ({ start, text }: MergeTag, problem: string) => {
    if (broken.length < MAX_BROKEN) broken.push({ start, text: excerpt(text), problem });
  };
  const unclosed = ({ tag, step }: OpenBlock) => {
    if (step.isRequired) report(tag, `is not closed with ${step.end}`);
  };
  for (const tag of tags)
    for (const step of stepsOf(tag)) {
      steps += 1;
      if (steps > MAX_STEPS) return { blocks, broken };
      if (step.role === 'open') {
        stack.push({ tag, step, middles: [] });
        continue;
      }
      const at = stack.findLastIndex((one) => belongs(step, one.step));
      if (step.role === 'middle') {
        // Inside a required block, a word that may also stand alone has no branches.
        const divided = stack.findLast((one) => belongs(step, one.step) && one.step.isRequired);
        const block = divided ?? stack[at];
        if (block) block.middles.push(tag);
        else report(tag, 'is not inside a block');
      } else if (at < 0) {
        report(tag, 'closes a block that is not open');
      } else {
        // What is still open inside was not closed, or is closed too late.
        for (const inner of stack.splice(at + 1)) unclosed(inner);
        const { tag: open, middles } = stack.pop()!;
        blocks.push({ open, middles, close: tag });
      }
    }
  if (tags.length < MAX_TAGS) stack.forEach(unclosed);
  return { blocks, broken };
}

const belongs = (step: Step, open: Step): boolean =>
  step.language === open.language &&
  (step.role === 'middle' || step.name === null || step.name === open.name);

function stepsOf({ family, kind, content }: MergeTag): Step[] {
  if (family === 'statement') return statementSteps(content);
  if (family === 'braces') return bracesSteps(content);
  if (family === 'bars') return barsSteps(content);
  if (family === 'server') return kind === 'control' ? serverSteps(content) : [];
  return family === 'percent' && kind === 'control' ? ampscriptSteps(content) : [];
}

/** They start a block in Liquid, Jinja, Twig, Django and HubL alike. */
const STATEMENT_BLOCKS = new Set(
  'if unless for case comment raw verbatim macro autoescape capture tablerow ifchanged ifequal ifnotequal blocktrans blocktranslate spaceless filter call paginate foreach switch'.split(
    ' ',
  ),
);

function statementSteps(content: string): Step[] {
  const [, word = ''] = /^[-+~]?\s*(\w+)/.exec(content) ?? [];
  const [, ended] = /^end_?(\w*)$/.exec(word) ?? [];
  const step = { language: 'statement', end: `{% end${word} %}` };
  if (ended !== undefined)
    return [{ ...step, role: 'close', name: ended === '' ? null : ended, isRequired: false }];
  if (/^(?:else|elsif|elif|elseif|when|empty)$/.test(word))
    return [{ ...step, role: 'middle', name: null, isRequired: false }];
  return [{ ...step, role: 'open', name: word, isRequired: STATEMENT_BLOCKS.has(word) }];
}

function bracesSteps(content: string): Step[] {
  const code = content.replace(/^[-~]\s*|[-~]$/g, '').trimEnd();
  const [, sign, name] = /^([#/^])\s*[*>]?\s*([^\s|}]*)/.exec(code) ?? [];
  const step = { language: 'braces', end: `{{/${name ?? ''}}}` };
  if (sign === '#') return [{ ...step, role: 'open', name: name!, isRequired: true }];
  if (sign === '/') return [{ ...step, role: 'close', name: name!, isRequired: false }];
  // `{{^}}` alone is the `else` of Handlebars; `{{^name}}` is a section of Mustache.
  if (sign === '^' && name !== '')
    return [{ ...step, role: 'open', name: name!, isRequired: true }];
  if (sign === '^') return [{ ...step, role: 'middle', name: null, isRequired: false }];
  const [word = ''] = /^\w+(?=\s|$)/.exec(code) ?? [];
  if (word === 'else') return [{ ...step, role: 'middle', name: null, isRequired: false }];
  // Of Go.
  const go = { language: 'braces', end: '{{end}}', isRequired: true, name: 'end' };
  if (/^(?:if|range|with|define|block)\s/.test(code)) return [{ ...go, role: 'open' }];
  return code === 'end' ? [{ ...go, role: 'close' }] : [];
}

function barsSteps(content: string): Step[] {
  const [, word = '', rest = ''] = /^\s*(\w+)(?::\s*(\w+))?/.exec(content.toUpperCase()) ?? [];
  const step = { language: 'bars', end: `*|END:${word}|*` };
  if (word === 'END') return [{ ...step, role: 'close', name: kindOfIf(rest), isRequired: false }];
  if (word === 'ELSE' || word === 'ELSEIF')
    return [{ ...step, role: 'middle', name: null, isRequired: false }];
  return /^(?:IF|IFNOT|INTERESTED|FEEDBLOCK|FEEDITEMS|RSSITEMS)$/.test(word)
    ? [{ ...step, role: 'open', name: kindOfIf(word), isRequired: true }]
    : [];
}

const kindOfIf = (word: string): string => (word === 'IFNOT' ? 'IF' : word);

/** `<% if x %>…<% end %>` of Ruby, `<% if (x) { %>…<% } %>` of JavaScript. */
function serverSteps(content: string): Step[] {
  const code = content.replace(/^[-_]|[-_]$/g, '').trim();
  const ruby = { language: 'ruby', end: '<% end %>', name: null, isRequired: true };
  if (/^end\b/.test(code)) return [{ ...ruby, role: 'close' }];
  const script = { language: 'script', end: '<% } %>', name: null, isRequired: true };
  const closes: Step[] = code.startsWith('}') ? [{ ...script, role: 'close' }] : [];
  const opens: Step[] = code.endsWith('{') ? [{ ...script, role: 'open' }] : [];
  if (closes.length + opens.length > 0)
    return closes.length === opens.length ? [{ ...script, role: 'middle' }] : [...closes, ...opens];
  if (/^(?:else|elsif|when)\b/.test(code)) return [{ ...ruby, role: 'middle' }];
  const isRuby = /^(?:if|unless|case|while|until|for)\b(?!.*\bend$)|\bdo(?:\s*\|[^|]*\|)?$/.test(
    code,
  );
  return isRuby ? [{ ...ruby, role: 'open' }] : [];
}

/** A block of AMPscript can have several statements. */
function ampscriptSteps(content: string): Step[] {
  const code = content.replace(/"[^"]*"?|'[^']*'?|\/\*[\s\S]*?(?:\*\/|$)/g, ' ');
  const step = { language: 'ampscript', isRequired: true };
  return [...code.matchAll(/\b(ENDIF|ELSEIF|ELSE|IF|FOR|NEXT)\b/gi)].map(([found]): Step => {
    const word = found.toUpperCase();
    const name = word === 'FOR' || word === 'NEXT' ? 'FOR' : 'IF';
    const end = name === 'FOR' ? '%%[ NEXT ]%%' : '%%[ ENDIF ]%%';
    if (word === 'IF' || word === 'FOR') return { ...step, role: 'open', name, end };
    return { ...step, role: word.startsWith('ELSE') ? 'middle' : 'close', name, end };
  });
}
