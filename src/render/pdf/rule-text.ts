/** A public rule by its name, with its address written out and open to a click. */

import type { Reference } from '../../analysis/check.ts';
import { COLOR } from './look.ts';
import type { Span } from './pieces.ts';
import { shown } from './shown-text.ts';

export function ruleText({ name, url }: Reference): Span[] {
  const address = shown(url, 300);
  const opens = /^https?:\/\/[\x21-\x7e]+$/.test(address);
  return [
    { text: `${shown(name, 160)}  ` },
    { text: address, color: COLOR.accent, ...(opens ? { link: address } : {}) },
  ];
}
