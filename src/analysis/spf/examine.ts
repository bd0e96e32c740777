/** Examines the SPF record of a domain as it was meant, for the checks of messages and of domains. */

import { domainToUnicode } from 'node:url';
import type { Resolver } from '../../net/dns/resolver.ts';
import type { SpfProblem } from './problem.ts';
import { findSpfProblems } from './problems.ts';
import { allowsSenders } from './record.ts';
import { readSpf } from './repair.ts';
import { type SpfTree, walkSpf, withPublished } from './tree.ts';

export interface ExaminedSpf {
  /** The tree as verifiers see it. */
  published: SpfTree;
  /** The tree of the record that was meant; that of `published` if it is not certain. */
  tree: SpfTree;
  /** Everything at the name that looks like SPF, whether it is read or not. */
  texts: string[];
  /** The record that was meant; null if there is none, or if it is not certain. */
  record: string | null;
  /** Terms whose meaning is not certain. */
  unreadable: string[];
  /** Worst first. Empty if there is no record. */
  problems: SpfProblem[];
}

/** The problems of a repaired record count too: those of terms that nobody has read until now. */
export async function examineSpf(domain: string, resolver: Resolver): Promise<ExaminedSpf> {
  const published = await walkSpf(domain, resolver);
  const { records, damaged } = published.root;
  const texts = [...records, ...damaged];
  const none = { published, tree: published, texts, record: null, unreadable: [], problems: [] };
  // Without a record, the reader decides what that means.
  if (texts.length === 0) return none;
  const { record, unreadable } = readSpf(texts);
  const found = findSpfProblems(published);
  if (record === null || !found.some(({ isSyntax }) => isSyntax))
    return { ...none, record, unreadable, problems: found };
  const tree = await walkSpf(domain, withPublished(domain, record, resolver));
  const unclear = unclearNames(tree, texts);
  if (unclear.length > 0) return { ...none, unreadable: unclear, problems: found };
  return { published, tree, texts, record, unreadable, problems: findSpfProblems(tree, published) };
}

/** Whether the record works at the domain, lists senders, and passes only what it lists. */
export async function isUsable(
  domain: string,
  value: string,
  resolver: Resolver,
): Promise<boolean> {
  if (!allowsSenders(value)) return false;
  const tree = await walkSpf(domain, withPublished(domain, value, resolver));
  return findSpfProblems(tree).every(({ level }) => level === 'warn');
}

/** Terms whose name was read as an international one, though nothing answers there: another letter may have been meant. */
function unclearNames({ root, voidLookups, failedLookups }: SpfTree, texts: string[]): string[] {
  const written = texts.join(' ').toLowerCase();
  return root.terms.flatMap(({ text, target }) => {
    if (!/(?:^|\.)xn--/.test(target ?? '') || written.includes(target!)) return [];
    const isMissing = [...voidLookups, ...failedLookups].includes(`${text} (${root.domain})`);
    const child = root.children.find(({ via }) => via === text);
    return isMissing || (child && child.state !== 'read')
      ? [text.replace(target!, domainToUnicode(target!))]
      : [];
  });
}
