/** Walks the whole tree of an SPF record: every include and redirect, whichever sender would match. */

import type { DnsAnswer, RecordType, Resolver } from '../../net/dns/resolver.ts';
import { isSpfRecord, parseSpfTerms, type SpfTerm } from './record.ts';

/** Beyond this many lookups the tree is not followed: it is three times over the limit already. */
const MAX_FOLLOWED = 30;

export interface SpfNode {
  domain: string;
  /** The term that led here; null for the sender's own record. */
  via: string | null;
  /** Whether every qualifier on the way here is `+`: what passes here passes there. */
  passing: boolean;
  /** The domains on the way here, this one included. */
  path: string[];
  /** The SPF records of the domain: one, unless something is wrong. */
  records: string[];
  /** The terms that count: those after `all` never do (RFC 7208 §5.1). */
  terms: SpfTerm[];
  /** `missing`: no SPF record; `loop`: already on the way here; `unfollowed`: beyond the limit. */
  state: 'read' | 'missing' | 'several' | 'loop' | 'unfollowed' | 'unknown';
  children: SpfNode[];
}

export interface SpfTree {
  root: SpfNode;
  /** Terms that make receivers ask the DNS: include, a, mx, ptr, exists, redirect (§4.6.4). */
  lookups: number;
  /** Terms whose answer is empty: `a:old.example.com (example.com)`. */
  voids: string[];
  /** `mx` terms with more than ten hosts (§4.6.4), written likewise. */
  crowded: string[];
  /** What the DNS did not answer, written likewise: nothing is said about it. */
  unknown: string[];
}

/**
 * Level by level, each level's questions side by side, so that the same answers make the same tree.
 * Targets that hold macros count as a lookup but are not followed: they differ by message.
 * `a` and `mx` are void only where neither IPv4 nor IPv6 has an answer.
 */
export async function walkSpf(domain: string, resolver: Resolver): Promise<SpfTree> {
  const root = newNode(domain, null, true, []);
  const tree: SpfTree = { root, lookups: 0, voids: [], crowded: [], unknown: [] };
  for (let level = [root]; level.length > 0; ) {
    const answers = await Promise.all(level.map((node) => resolver(node.domain, 'TXT')));
    level.forEach((node, index) => {
      readNode(node, answers[index]!, tree);
    });
    await lookUpHosts(level, resolver, tree);
    level = level.flatMap((node) => grow(node, tree));
  }
  return tree;
}

function newNode(domain: string, via: string | null, passing: boolean, above: string[]): SpfNode {
  const path = [...above, domain];
  const state = above.includes(domain) ? 'loop' : 'unknown';
  return { domain, via, passing, path, records: [], terms: [], state, children: [] };
}

function readNode(node: SpfNode, answer: DnsAnswer, tree: SpfTree): void {
  if (answer.status === 'error') {
    tree.unknown.push(labelOf(node));
    return;
  }
  node.records = answer.status === 'found' ? answer.records.filter(isSpfRecord) : [];
  if (answer.status !== 'found' && node.via !== null) tree.voids.push(labelOf(node));
  node.state = node.records.length === 0 ? 'missing' : node.records.length > 1 ? 'several' : 'read';
  if (node.state !== 'read') return;
  const terms = parseSpfTerms(node.records[0]!);
  const all = terms.findIndex((term) => term.name === 'all' && !term.modifier);
  // `all` decides: mechanisms behind it and any redirect count for nothing (§5.1, §6.1), yet must be
  // well formed.
  node.terms = terms.filter(
    (term, index) =>
      term.fault !== null ||
      all < 0 ||
      (index <= all && !(term.modifier && term.name === 'redirect')),
  );
}

const labelOf = (node: SpfNode): string =>
  node.via === null ? node.domain : `${node.via} (${node.path.at(-2)})`;

const LOOKUP_TERMS = new Set(['include', 'a', 'mx', 'ptr', 'exists', 'redirect']);

const countsAsLookup = (term: SpfTerm): boolean =>
  term.fault === null &&
  LOOKUP_TERMS.has(term.name) &&
  (term.name === 'redirect') === term.modifier;

const targetOf = (term: SpfTerm, node: SpfNode): string =>
  (term.target ?? node.domain).toLowerCase().replace(/\.$/, '');

/** The children of a node; all its lookups are counted, in the order in which they are written. */
function grow(node: SpfNode, tree: SpfTree): SpfNode[] {
  for (const term of node.terms.filter(countsAsLookup)) {
    tree.lookups += 1;
    if ((term.name !== 'include' && term.name !== 'redirect') || term.target?.includes('%'))
      continue;
    const passing = node.passing && term.qualifier === '+';
    const child = newNode(targetOf(term, node), term.text, passing, node.path);
    if (tree.lookups > MAX_FOLLOWED && child.state !== 'loop') child.state = 'unfollowed';
    node.children.push(child);
  }
  return node.children.filter((child) => child.state === 'unknown');
}

async function lookUpHosts(level: SpfNode[], resolver: Resolver, tree: SpfTree): Promise<void> {
  const asked = level.flatMap((node) =>
    node.terms
      .filter((term) => countsAsLookup(term) && ['a', 'mx', 'exists'].includes(term.name))
      .filter((term) => !term.target?.includes('%'))
      .map((term) => ({ term, node })),
  );
  const answers = await Promise.all(
    asked.slice(0, MAX_FOLLOWED).map(({ term, node }) => {
      const name = targetOf(term, node);
      return askFirst(resolver, name, term.name === 'mx' ? ['MX'] : HOST_TYPES[term.name]!);
    }),
  );
  answers.forEach((answer, index) => {
    const { term, node } = asked[index]!;
    const label = `${term.text} (${node.domain})`;
    if (answer.status === 'error') tree.unknown.push(label);
    else if (answer.status !== 'found') tree.voids.push(label);
    else if (term.name === 'mx' && answer.records.length > 10) tree.crowded.push(label);
  });
}

const HOST_TYPES: Record<string, RecordType[]> = { a: ['A', 'AAAA'], exists: ['A'] };

/** What was found for the first type that has anything; else an error where there was one. */
async function askFirst(resolver: Resolver, name: string, types: RecordType[]): Promise<DnsAnswer> {
  const answers = await Promise.all(types.map((type) => resolver(name, type)));
  return (
    answers.find(({ status }) => status === 'found') ??
    answers.find(({ status }) => status === 'error') ??
    answers[0]!
  );
}
