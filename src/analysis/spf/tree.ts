/** Walks the whole tree of an SPF record: every include and redirect, whatever the sender. */

import type { DnsAnswer, RecordType, Resolver } from '../../net/dns/resolver.ts';
import { appendedTerms, type MistypedTerm, misspeltIncludes } from './mistyped.ts';
import { isSpfRecord, parseSpfTerms, type SpfTerm } from './record.ts';
import { resemblesSpf } from './repair.ts';

/** The walk stops at three times the limit of RFC 7208. */
const MAX_FOLLOWED_LOOKUPS = 30;

export interface SpfNode {
  domain: string;
  /** The term that refers to this node; null for the sender's own record. */
  via: string | null;
  /** Every qualifier on the path is `+`, so a pass of this node is a pass of the root. */
  passing: boolean;
  /** The domains from the root to this node. */
  path: string[];
  /** The SPF records of the domain; exactly one is valid. */
  records: string[];
  /** Further TXT records of the domain that look like SPF, but that no verifier reads. */
  damaged: string[];
  /** The effective terms: those after `all` are ignored (RFC 7208 §5.1). */
  terms: SpfTerm[];
  /** `missing`: no SPF record. `loop`: already in `path`. `unfollowed`: beyond the limit. */
  state: 'read' | 'missing' | 'several' | 'loop' | 'unfollowed' | 'unknown';
  children: SpfNode[];
}

export interface SpfTree {
  root: SpfNode;
  /** Terms that cause DNS lookups: include, a, mx, ptr, exists, redirect (§4.6.4). */
  lookups: number;
  /** Terms whose lookup returns no records: `a:old.example.com (example.com)`. */
  voidLookups: string[];
  /** `exists` terms whose one name, without a macro, resolves, in the same format: they pass all senders. */
  constantExists: string[];
  /** `mx` terms with more than ten hosts (§4.6.4), in the same format. */
  oversizedMx: string[];
  /** Terms whose lookup failed, in the same format. */
  failedLookups: string[];
  /** Terms of the sender's own record. */
  mistyped: MistypedTerm[];
}

/**
 * Looks up each level in parallel, so that the tree does not depend on the order of responses. A
 * target with macros counts as a lookup, but is not followed, because it depends on the message. An `a`
 * term is void only if it has neither IPv4 nor IPv6 addresses.
 */
export async function walkSpf(domain: string, resolver: Resolver): Promise<SpfTree> {
  const root = newNode(domain, null, true, []);
  const tree: SpfTree = {
    root,
    lookups: 0,
    voidLookups: [],
    constantExists: [],
    oversizedMx: [],
    failedLookups: [],
    mistyped: [],
  };
  for (let level = [root]; level.length > 0; ) {
    const answers = await Promise.all(level.map((node) => resolver(node.domain, 'TXT')));
    level.forEach((node, index) => {
      readNode(node, answers[index]!, tree);
    });
    await lookUpHosts(level, resolver, tree);
    level = level.flatMap((node) => addChildren(node, tree));
  }
  const appended = await appendedTerms(root.terms, domain, resolver);
  const misspelt = await misspeltIncludes(root, resolver);
  const isNew = ({ term }: MistypedTerm) => appended.every((one) => one.term !== term);
  tree.mistyped = [...appended, ...misspelt.filter(isNew)];
  return tree;
}

function newNode(domain: string, via: string | null, passing: boolean, parents: string[]): SpfNode {
  const path = [...parents, domain];
  const state = parents.includes(domain) ? 'loop' : 'unknown';
  return { domain, via, passing, path, records: [], damaged: [], terms: [], state, children: [] };
}

function readNode(node: SpfNode, answer: DnsAnswer, tree: SpfTree): void {
  if (answer.status === 'error') {
    tree.failedLookups.push(labelOf(node));
    return;
  }
  const texts = answer.status === 'found' ? answer.records : [];
  node.records = texts.filter(isSpfRecord);
  node.damaged = texts.filter((text) => !isSpfRecord(text) && resemblesSpf(text));
  if (answer.status !== 'found' && node.via !== null) tree.voidLookups.push(labelOf(node));
  node.state = node.records.length === 0 ? 'missing' : node.records.length > 1 ? 'several' : 'read';
  if (node.state !== 'read') return;
  const terms = parseSpfTerms(node.records[0]!);
  const all = terms.findIndex((term) => term.name === 'all' && !term.isModifier);
  // Mechanisms after `all` and any redirect are ignored (§5.1, §6.1), but must be well formed.
  node.terms = terms.filter(
    (term, index) =>
      term.fault !== null ||
      all < 0 ||
      (index <= all && !(term.isModifier && term.name === 'redirect')),
  );
}

const labelOf = (node: SpfNode): string =>
  node.via === null ? node.domain : `${node.via} (${node.path.at(-2)})`;

const LOOKUP_TERMS = new Set(['include', 'a', 'mx', 'ptr', 'exists', 'redirect']);

const countsAsLookup = (term: SpfTerm): boolean =>
  term.fault === null &&
  LOOKUP_TERMS.has(term.name) &&
  (term.name === 'redirect') === term.isModifier;

const targetOf = (term: SpfTerm, node: SpfNode): string =>
  (term.target ?? node.domain).toLowerCase().replace(/\.$/, '');

/** Counts the lookups of a node and returns the children to follow, in the order of the record. */
function addChildren(node: SpfNode, tree: SpfTree): SpfNode[] {
  for (const term of node.terms.filter(countsAsLookup)) {
    tree.lookups += 1;
    if ((term.name !== 'include' && term.name !== 'redirect') || term.target?.includes('%'))
      continue;
    const passing = node.passing && term.qualifier === '+';
    const child = newNode(targetOf(term, node), term.text, passing, node.path);
    if (tree.lookups > MAX_FOLLOWED_LOOKUPS && child.state !== 'loop') child.state = 'unfollowed';
    node.children.push(child);
  }
  return node.children.filter((child) => child.state === 'unknown');
}

async function lookUpHosts(level: SpfNode[], resolver: Resolver, tree: SpfTree): Promise<void> {
  const hostTerms = level.flatMap((node) =>
    node.terms
      .filter((term) => countsAsLookup(term) && ['a', 'mx', 'exists'].includes(term.name))
      .filter((term) => !term.target?.includes('%'))
      .map((term) => ({ term, node })),
  );
  const answers = await Promise.all(
    hostTerms.slice(0, MAX_FOLLOWED_LOOKUPS).map(({ term, node }) => {
      const name = targetOf(term, node);
      return lookUpFirst(resolver, name, term.name === 'mx' ? ['MX'] : HOST_TYPES[term.name]!);
    }),
  );
  answers.forEach((answer, index) => {
    const { term, node } = hostTerms[index]!;
    const label = `${term.text} (${node.domain})`;
    if (answer.status === 'error') tree.failedLookups.push(label);
    else if (answer.status !== 'found') tree.voidLookups.push(label);
    else if (term.name === 'exists') tree.constantExists.push(label);
    else if (term.name === 'mx' && answer.records.length > 10) tree.oversizedMx.push(label);
  });
}

const HOST_TYPES: Record<string, RecordType[]> = { a: ['A', 'AAAA'], exists: ['A'] };

/** The answer for the first type with records; else an error if there is one. */
async function lookUpFirst(
  resolver: Resolver,
  name: string,
  types: RecordType[],
): Promise<DnsAnswer> {
  const answers = await Promise.all(types.map((type) => resolver(name, type)));
  return (
    answers.find(({ status }) => status === 'found') ??
    answers.find(({ status }) => status === 'error') ??
    answers[0]!
  );
}

/** A resolver that answers as if the record were published, to try out what a fix proposes. */
export function withPublished(domain: string, value: string, resolver: Resolver): Resolver {
  return (name, type) =>
    type === 'TXT' && name.toLowerCase() === domain
      ? Promise.resolve({ status: 'found', records: [value], ttl: 0, authenticated: false })
      : resolver(name, type);
}

/** The node, and all below it. */
export const allNodes = (node: SpfNode): SpfNode[] => [node, ...node.children.flatMap(allNodes)];

/** The lookup of the term itself, and of those in the record that it names. */
export const costOf = (node: SpfNode): number =>
  1 +
  node.terms.filter((term) => !term.isModifier && countsAsLookup(term)).length +
  node.children.reduce((sum, child) => sum + costOf(child) - 1, 0);
