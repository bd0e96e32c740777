/** What in an SPF record, or in one that it includes, lets everyone through. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import { allNodes, recordOf, type SpfProblem } from './spf-problem.ts';
import type { SpfTerm } from './spf-terms.ts';
import type { SpfNode } from './spf-tree.ts';

/** `+all`, and what is the same by another name: a prefix length of 0. */
export function openProblems(root: SpfNode): SpfProblem[] {
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
