/** Names in several scripts: labels that mix those whose letters look alike (UTS 39 §5.1). */

import { domainToUnicode } from 'node:url';

const ALIKE: [name: string, letter: RegExp][] = [
  ['Latin', /\p{Script=Latin}/u],
  ['Cyrillic', /\p{Script=Cyrillic}/u],
  ['Greek', /\p{Script=Greek}/u],
  ['Armenian', /\p{Script=Armenian}/u],
  ['Cherokee', /\p{Script=Cherokee}/u],
];

/** Cyrillic letters that no reader tells from Latin ones. */
const LOOKALIKE = /^[асԁеһіјӏорԛѕԝху\d-]+$/u;

export interface LabelScripts {
  /** The label as it is read. */
  label: string;
  /** More than one: the scripts that are mixed. One: it looks like a Latin word and is none. */
  scripts: string[];
}

/** The first label of the host (in A-labels) that may be taken for another; null where there is none. */
export function deceptiveLabel(host: string): LabelScripts | null {
  if (!host.includes('xn--')) return null;
  const labels = domainToUnicode(host).split('.');
  for (const label of labels) {
    const scripts = ALIKE.filter(([, letter]) => letter.test(label)).map(([name]) => name);
    if (scripts.length > 1) return { label, scripts };
    // Below a Cyrillic ending a Cyrillic name is what a reader expects.
    const latinEnding = /^[a-z]+$/.test(labels.at(-1)!);
    if (scripts[0] === 'Cyrillic' && latinEnding && LOOKALIKE.test(label))
      return { label, scripts };
  }
  return null;
}
