/** What is wrong with an SPF record and all that it includes, worst first. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import type { SpfTerm } from './record.ts';
import type { SpfNode, SpfTree } from './tree.ts';

export const MAX_LOOKUPS = 10;
const MAX_VOIDS = 2;
/** RFC 7208 §3.4: below it, an answer by UDP fits whatever else is in it. */
const MAX_OCTETS = 450;

export function spfProblems(tree: SpfTree): SpfProblem[] {
  const nodes = allNodes(tree.root);
  const problems = [
    ...nodes.flatMap(structureProblems),
    ...nodes.flatMap(syntaxProblems),
    ...limitProblems(tree),
    ...openProblems(tree.root),
    ...ptrProblems(nodes),
    ...endProblems(tree.root),
    ...sizeProblems(tree.root),
  ];
  return problems.sort((a, b) => (a.level === b.level ? 0 : a.level === 'fail' ? -1 : 1));
}

/** More records than one, an include of nothing, or a circle: `permerror` (§4.5, §5.2, §6.1). */
function structureProblems(node: SpfNode): SpfProblem[] {
  const { domain, via, state } = node;
  if (state === 'several')
    return [
      {
        level: 'fail',
        text: `${domain} has ${node.records.length} SPF records; only one is allowed.`,
        fix: 'Merge them into one record and delete the others.',
      },
    ];
  if (state === 'missing' && via !== null)
    return [
      {
        level: 'fail',
        text: `"${via}" leads to ${domain}, which has no SPF record.`,
        fix: `Remove "${via}", or correct the name in it.`,
      },
    ];
  if (state === 'loop')
    return [
      {
        level: 'fail',
        text: `"${via}" leads back to ${domain}, so the record never ends.`,
        fix: `Remove "${via}" from the record of ${node.path.at(-2)}.`,
      },
    ];
  return [];
}

function syntaxProblems(node: SpfNode): SpfProblem[] {
  return node.terms
    .filter((term) => term.fault !== null)
    .map((term) => ({
      level: 'fail' as const,
      text: `${recordOf(node)} holds "${term.text.slice(0, 100)}", which ${term.fault}.`,
      fix: `Correct or remove "${term.text.slice(0, 100)}" in the record of ${node.domain}.`,
    }));
}

function limitProblems(tree: SpfTree): SpfProblem[] {
  const problems: SpfProblem[] = tree.crowded.map((term) => ({
    level: 'fail',
    text: `"${term}" stands for more than ten mail servers, which is the limit.`,
    fix: 'Name the addresses with ip4: and ip6: instead of mx.',
  }));
  if (tree.lookups > MAX_LOOKUPS)
    problems.push({
      level: 'fail',
      text: `Your SPF record needs ${tree.lookups} DNS lookups; ${MAX_LOOKUPS} are allowed.`,
      fix: 'Remove includes of services you no longer use, and replace a and mx by ip4: and ip6:.',
    });
  if (tree.voids.length > MAX_VOIDS)
    problems.push({
      level: 'warn',
      text: `Your SPF record asks for ${tree.voids.length} names that do not exist; ${MAX_VOIDS} are allowed.`,
      fix: `Remove what leads nowhere: ${tree.voids.join(', ')}.`,
    });
  return problems;
}

function ptrProblems(nodes: SpfNode[]): SpfProblem[] {
  const found = nodes.filter((node) =>
    node.terms.some((term) => term.name === 'ptr' && !term.modifier && term.fault === null),
  );
  return found.map((node) => ({
    level: 'warn',
    text: `${recordOf(node)} uses ptr, which is slow and which some receivers ignore.`,
    fix: 'Replace ptr by the addresses or networks that you send from (ip4:, ip6:).',
  }));
}

/** The qualifier of the `all` that ends the record, redirects followed; null where there is none. */
function endOf(node: SpfNode): string | null {
  const all = node.terms.find((term) => term.name === 'all' && !term.modifier);
  if (all) return all.qualifier;
  const redirect = node.terms.find((term) => term.name === 'redirect' && term.modifier);
  if (!redirect) return null;
  const target = node.children.find((child) => child.via === redirect.text);
  // A target that is not known, or has a finding of its own, is given the benefit of the doubt.
  return target?.state === 'read' ? endOf(target) : '~';
}

function endProblems(root: SpfNode): SpfProblem[] {
  if (root.state !== 'read') return [];
  const end = endOf(root);
  if (end !== null && end !== '?') return [];
  return [
    {
      level: 'warn',
      text: end
        ? 'Your SPF record ends in ?all, which says nothing about other senders.'
        : 'Your SPF record has no all at its end, so it says nothing about other senders.',
      fix: 'End the record with ~all or -all.',
      change: { kind: 'close', node: root },
    },
  ];
}

function sizeProblems(root: SpfNode): SpfProblem[] {
  const octets = Buffer.byteLength(root.records[0] ?? '');
  if (root.state !== 'read' || octets <= MAX_OCTETS) return [];
  return [
    {
      level: 'warn',
      text: `Your SPF record has ${octets} octets; more than ${MAX_OCTETS} may not fit into one DNS answer by UDP.`,
      fix: 'Shorten the record, or move parts of it to a record of their own and include that.',
    },
  ];
}

// What one problem of an SPF record is, and the words for whose record it is in.

export interface SpfProblem {
  /** `fail`: receivers cannot use the record, or it lets everyone pass. */
  level: 'fail' | 'warn';
  /** One sentence, with a subject. */
  text: string;
  /** What to change, one sentence. */
  fix: string;
  /** How the text of a record is to be changed for it, where that can be done for the user. */
  change?: SpfChange;
}

type SpfChange =
  /** The record of this node is to end in `~all`. */
  | { kind: 'close'; node: SpfNode }
  /** The sender's own record is to lose this term. */
  | { kind: 'remove'; term: string };

/** A node and all below it. */
function allNodes(node: SpfNode): SpfNode[] {
  return [node, ...node.children.flatMap(allNodes)];
}

/** The subject of a sentence. */
const recordOf = (node: SpfNode): string =>
  node.via === null ? 'Your SPF record' : `The SPF record of ${node.domain}, which yours includes,`;

// What in an SPF record, or in one that it includes, lets everyone through.

/** `+all`, and what is the same by another name: a prefix length of 0. */
function openProblems(root: SpfNode): SpfProblem[] {
  const below = root.children.flatMap((child) =>
    allNodes(child).flatMap((node) => problemsOf(node, child.via, root)),
  );
  return [...problemsOf(root, null, root), ...below];
}

/** `via`: the term of the sender's own record that leads to the node. */
function problemsOf(node: SpfNode, via: string | null, root: SpfNode): SpfProblem[] {
  if (!node.passing) return [];
  return node.terms
    .filter((term) => term.qualifier === '+' && term.fault === null && !term.modifier)
    .filter((term) => term.name === 'all' || opensAlmostAll(term.text))
    .map((term) => ({
      level: 'fail' as const,
      text: `${recordOf(node)} lets everyone send as you: it holds "${term.text}".`,
      ...closing(node, term, via, root),
    }));
}

function closing(
  node: SpfNode,
  term: SpfTerm,
  via: string | null,
  root: SpfNode,
): Pick<SpfProblem, 'fix' | 'change'> {
  const where = node.domain.slice(0, 100);
  if (via !== null && !isOfSameOwner(node, root))
    return {
      fix: `Name the servers that you send from in your record in the place of "${via.slice(0, 100)}", or have the owner of ${where} close theirs.`,
      change: { kind: 'remove', term: via },
    };
  if (term.name !== 'all')
    return {
      fix: `Replace "${term.text}" in the record of ${where} by the networks that you send from.`,
    };
  return {
    fix: `First list every server and service that sends for you and name it in the record of ${where}, then end that record with ~all: what it does not name no longer passes.`,
    change: { kind: 'close', node },
  };
}

function isOfSameOwner({ domain }: SpfNode, root: SpfNode): boolean {
  const owner = organizationalDomain(root.domain);
  return domain === root.domain || (owner !== null && owner === organizationalDomain(domain));
}

/** A network so large that nobody owns it: two halves of the Internet are all of it, too. */
function opensAlmostAll(term: string): boolean {
  const [, length] = /\/(\d{1,3})(?:\/|$)/.exec(term) ?? [];
  return length !== undefined && Number(length) < 8;
}
