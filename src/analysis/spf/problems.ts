/** Finds the problems of an SPF record and of the records that it includes, worst first. */

import { ownedDomain } from '../../lib/domain-names.ts';
import { isServiceSpf } from '../sending-services/services.ts';
import { coveredShare, coversAlmostAll, isLargeNetwork } from './networks.ts';
import type { SpfProblem } from './problem.ts';
import {
  isMistakenModifier,
  parseSpfTerms,
  repeatedTerms,
  type SpfTerm,
  slipOf,
  unreachedTerms,
} from './record.ts';
import { spfDamage } from './repair.ts';
import { allNodes, costOf, type SpfNode, type SpfTree } from './tree.ts';

export const MAX_LOOKUPS = 10;
const MAX_VOID_LOOKUPS = 2;
/** RFC 7208 §3.4: records up to this size fit into a DNS response over UDP. */
const MAX_BYTES = 450;

/**
 * The problems of the SPF record of a domain, as it was meant: `tree` is that of the record that `published` means, which
 * is the same if it is read as it was meant.
 */
export function findSpfProblems(tree: SpfTree, published = tree): SpfProblem[] {
  const nodes = allNodes(tree.root);
  const written = [published.root, ...nodes.slice(1)];
  const problems = [
    ...damageProblems(published.root),
    ...written.filter((node) => !isMistyped(node, tree)).flatMap(structureProblems),
    ...mistypedProblems(tree),
    ...written.flatMap(syntaxProblems),
    ...limitProblems(tree),
    ...openRecordProblems(tree),
    ...unreachedProblems(tree.root),
    ...largeNetworkProblems(tree.root),
    ...repeatedVersionProblems(written),
    ...mistakenModifierProblems(written),
    ...ptrProblems(nodes, tree.root),
    ...endProblems(tree.root),
    ...sizeProblems(tree.root),
  ];
  return problems.sort((a, b) => (a.level === b.level ? 0 : a.level === 'fail' ? -1 : 1));
}

/** TXT records that a person reads as SPF, and no verifier (§4.5). */
function damageProblems({ domain, records, damaged }: SpfNode): SpfProblem[] {
  const count = records.length + damaged.length;
  const which = count === 1 ? 'The' : damaged.length === 1 ? 'One' : 'Each';
  return damaged
    .toSorted()
    .slice(0, 1)
    .map((text) => ({
      // Beside a record that is read, its senders fail, but the others pass.
      level: records.length === 1 ? ('warn' as const) : ('fail' as const),
      isSyntax: true as const,
      text:
        count === 1
          ? `The SPF record of ${domain} ${spfDamage(text)}, so no receiver reads it.`
          : `${which} of the ${count} SPF records of ${domain} ${spfDamage(text)}, so no receiver reads it.`,
      fix:
        count === 1
          ? 'Begin the record with v=spf1 and a space, and separate its terms with spaces.'
          : 'Merge them into one record and delete the others.',
    }));
}

/** Several records, an include without a record, or a loop: `permerror` (§4.5, §5.2, §6.1). */
function structureProblems(node: SpfNode): SpfProblem[] {
  const { domain, via, state } = node;
  if (state === 'several')
    return [
      {
        level: 'fail',
        text: `${domain} has ${node.records.length} SPF records; only one is allowed.`,
        fix: 'Merge them into one record and delete the others.',
        ...(via === null && { isSyntax: true as const }),
      },
    ];
  // Such a name is a slip, which is reported as one.
  if (state === 'missing' && via !== null && !/[:,]/.test(domain))
    return [
      {
        level: 'fail',
        text: `"${via}" refers to ${domain}, which has no SPF record.`,
        fix: `Remove "${via}", or correct its domain.`,
        ...(node.path.length === 2 && { change: { kind: 'remove' as const, terms: [via] } }),
      },
    ];
  if (state === 'loop')
    return [
      {
        level: 'fail',
        text: `"${via}" refers back to ${domain}, which creates a loop.`,
        fix: `Remove "${via}" from the record of ${node.path.at(-2)}.`,
        ...(node.path.length === 2 && { change: { kind: 'remove' as const, terms: [via!] } }),
      },
    ];
  return [];
}

const isMistyped = ({ via, path }: SpfNode, { mistyped }: SpfTree): boolean =>
  path.length === 2 && mistyped.some(({ term }) => term === via);

/** Targets with the domain at their end. Without a record there, the whole record is an error (§5.2). */
function mistypedProblems({ mistyped, root }: SpfTree): SpfProblem[] {
  return mistyped.map(({ mistake, term, target, meant }) => {
    const isMissing = root.children.some(({ via, state }) => via === term && state === 'missing');
    const level = isMissing ? 'fail' : 'warn';
    return meant === null
      ? {
          level,
          text: `Your SPF record contains "${term}", which has no SPF record. Your domain seems to be appended to ${target}.`,
          fix: `If ${target} was meant, write that instead of "${term}". It could not be looked up, so no record is proposed here.`,
        }
      : {
          level,
          text:
            mistake === 'appended'
              ? `Your SPF record contains "${term}", so it does not allow those servers: your domain was appended to ${target}.`
              : `Your SPF record contains "${term}", which has no SPF record: ${target} is misspelt.`,
          fix: `Write "${meant}" instead of "${term}".`,
          change: { kind: 'replace', term, by: meant },
        };
  });
}

function syntaxProblems(node: SpfNode): SpfProblem[] {
  const isSplit = ({ text, fault }: SpfTerm) => fault !== null && /^[^:]+:$/.test(text);
  return node.terms
    .map((term) => ({ ...term, fault: term.fault ?? slipOf(term) }))
    .flatMap((term, index, terms) => {
      if (term.fault === null || (index > 0 && isSplit(terms[index - 1]!))) return [];
      const text = term.text.slice(0, 100);
      const next = isSplit(term) && terms[index + 1]?.fault !== null && terms[index + 1];
      return [
        {
          level: 'fail' as const,
          ...(node.via === null && { isSyntax: true as const }),
          ...(next
            ? {
                text: `${describeRecord(node)} has a space after "${text}", so its value does not belong to it.`,
                fix: `Write "${text}${next.text.slice(0, 100)}" without a space in the record of ${node.domain}.`,
              }
            : {
                text: `${describeRecord(node)} contains "${text}", which ${term.fault}.`,
                fix: `Fix or remove "${text}" in the record of ${node.domain}.`,
              }),
        },
      ];
    });
}

function limitProblems(tree: SpfTree): SpfProblem[] {
  const problems: SpfProblem[] = tree.oversizedMx.map((term) => ({
    level: 'fail',
    text: `"${term}" resolves to more than 10 mail servers; the limit is 10.`,
    fix: 'List the IP addresses with ip4: and ip6: instead of mx.',
  }));
  if (tree.lookups > MAX_LOOKUPS) {
    const repeated = repeatedTerms(tree.root.terms);
    const isEnough =
      tree.lookups - costOfRepeated(tree.root) <= MAX_LOOKUPS &&
      allNodes(tree.root).every(({ state }) => state !== 'unfollowed');
    problems.push({
      level: 'fail',
      isLimit: true,
      text: `Your SPF record needs ${tree.lookups} DNS lookups; the limit is ${MAX_LOOKUPS}.`,
      fix:
        repeated.length > 0 && isEnough
          ? `Write each of these terms only once, because each repetition counts: ${repeated.slice(0, 10).join(', ')}.`
          : 'Remove includes of services you no longer use, and replace a and mx with ip4: and ip6:.',
      ...(repeated.length > 0 && isEnough && { change: { kind: 'without_repeated' as const } }),
    });
  }
  const ownSuffix = ` (${tree.root.domain})`;
  // Those with a mistyped name are corrected.
  const voids = tree.voidLookups.filter(
    (label) => !tree.mistyped.some(({ term }) => label === `${term}${ownSuffix}`),
  );
  if (voids.length > MAX_VOID_LOOKUPS) {
    const isOwn = (label: string) => label.endsWith(ownSuffix);
    const withoutSuffix = (label: string) =>
      isOwn(label) ? label.slice(0, -ownSuffix.length) : label;
    const terms = voids.filter(isOwn).map(withoutSuffix);
    problems.push({
      level: 'warn',
      text: `Your SPF record refers to ${voids.length} names that do not exist; the limit is ${MAX_VOID_LOOKUPS}.`,
      fix: `Remove the terms that do not resolve: ${voids.map(withoutSuffix).join(', ')}.`,
      ...(terms.length > 0 && { change: { kind: 'remove' as const, terms } }),
    });
  }
  return problems;
}

/** The lookups that would be left out if each term of the record were there only once. */
function costOfRepeated({ terms, children }: SpfNode): number {
  const seen = new Set<string>();
  const again = (text: string) => seen.size === seen.add(text.toLowerCase()).size;
  const included = children.filter(({ via }) => again(via!)).map(costOf);
  const hosts = terms.filter(({ name }) => name === 'a' || name === 'mx');
  return [...included, ...hosts.filter(({ text }) => again(text)).map(() => 1)].reduce(
    (sum, cost) => sum + cost,
    0,
  );
}

/** After a careless merge. Verifiers ignore it as an unknown modifier (§6). */
function repeatedVersionProblems(nodes: SpfNode[]): SpfProblem[] {
  return nodes.flatMap((node) => {
    // After `all` too, because the terms that follow it are those of another record.
    const terms = node.state === 'read' ? parseSpfTerms(node.records[0]!) : [];
    const repeated = terms.find(({ name, isModifier }) => isModifier && name === 'v');
    if (!repeated || repeated.fault !== null) return [];
    const text = repeated.text.slice(0, 100);
    return [
      {
        level: 'warn' as const,
        ...(node.via === null && { isSyntax: true as const }),
        text: `${describeRecord(node)} contains a second "${text}", which mailbox providers ignore.`,
        fix: `Remove the second "${text}" from the record of ${node.domain}. Check that no term was lost when records were merged.`,
      },
    ];
  });
}

function mistakenModifierProblems(nodes: SpfNode[]): SpfProblem[] {
  return nodes.flatMap((node) =>
    node.terms.filter(isMistakenModifier).map((term) => {
      const text = term.text.slice(0, 100);
      return {
        level: 'warn' as const,
        ...(node.via === null && { isSyntax: true as const }),
        text: `${describeRecord(node)} contains "${text}", which mailbox providers ignore.`,
        fix: `In the record of ${node.domain}, write "${text.replace('=', ':')}" with a colon instead.`,
      };
    }),
  );
}

/** In the records of the owner only: nobody else can change those of a provider, which all of its customers include. */
function ptrProblems(nodes: SpfNode[], root: SpfNode): SpfProblem[] {
  const nodesWithPtr = nodes.filter((node) =>
    node.terms.some((term) => term.name === 'ptr' && !term.isModifier && term.fault === null),
  );
  const own = nodesWithPtr.filter((node) => node.via === null || hasSameOwner(node, root));
  return own.map((node) => ({
    level: 'warn',
    text: `${describeRecord(node)} uses ptr, which is slow and which some mailbox providers ignore.`,
    fix: 'Replace ptr with the IP addresses or networks that you send from (ip4:, ip6:).',
    ...(node.via === null && { change: { kind: 'without_ptr' as const } }),
  }));
}

/** The qualifier of the final `all`, including that of redirects; null if there is none. */
function endOf(node: SpfNode): string | null {
  const all = node.terms.find((term) => term.name === 'all' && !term.isModifier);
  if (all) return all.qualifier;
  const redirect = node.terms.find((term) => term.name === 'redirect' && term.isModifier);
  if (!redirect) return null;
  const target = node.children.find((child) => child.via === redirect.text);
  // Assume `~all` for a target that is unknown or has its own problem.
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
        ? 'Your SPF record ends with ?all, so it does not restrict other senders.'
        : 'Your SPF record does not end with an all term, so it does not restrict other senders.',
      fix: 'End the record with ~all or -all.',
      change: { kind: 'close', node: root },
    },
  ];
}

function sizeProblems(root: SpfNode): SpfProblem[] {
  const bytes = Buffer.byteLength(root.records[0] ?? '');
  if (root.state !== 'read' || bytes <= MAX_BYTES) return [];
  return [
    {
      level: 'warn',
      text: `Your SPF record has ${bytes} bytes; more than ${MAX_BYTES} may not fit into one DNS response over UDP.`,
      fix: 'Shorten the record, or move parts of it to a separate record and include that one.',
    },
  ];
}

const describeRecord = (node: SpfNode): string =>
  node.via === null ? 'Your SPF record' : `The SPF record of ${node.domain}, which yours includes,`;

/** Terms that let anyone pass: `+all`, a huge network such as `ip4:0.0.0.0/0`, or `exists` with one name that resolves. */
function openRecordProblems(tree: SpfTree): SpfProblem[] {
  const { root } = tree;
  const includedProblems = root.children.flatMap((child) =>
    allNodes(child).flatMap((node) => openTermProblems(node, child.via, tree)),
  );
  const problems = [...openTermProblems(root, null, tree), ...includedProblems];
  return problems.length > 0 ? problems : piecesProblem(root);
}

/** Networks that together cover the Internet, though none of them does alone. */
function piecesProblem(root: SpfNode): SpfProblem[] {
  const covered = coveredShare(allNodes(root));
  if (!covered) return [];
  return [
    {
      level: 'fail',
      isOpen: true,
      text: `Your SPF record lets anyone send as you: its networks cover ${Math.round(covered.share * 100)}% of all ${covered.family} addresses.`,
      fix: 'Replace the networks with those that you send from.',
    },
  ];
}

/** Outside of a sending service, no owner has that many mail servers. */
function largeNetworkProblems(root: SpfNode): SpfProblem[] {
  const problemsOf = (node: SpfNode, via: string | null): SpfProblem[] => {
    if (!node.passing || isServiceSpf(node.domain)) return [];
    const own = node.terms
      .filter((term) => term.qualifier === '+' && term.fault === null && !term.isModifier)
      .filter((term) => isLargeNetwork(term) && !coversAlmostAll(term))
      .map((term) => ({
        level: 'warn' as const,
        text: `${describeRecord(node)} allows a large network: "${term.text}".`,
        fix:
          via === null || hasSameOwner(node, root)
            ? `Replace "${term.text}" in the record of ${node.domain.slice(0, 100)} with the servers that you send from. Anyone else in that network can send as you.`
            : `Ask the owner of ${node.domain.slice(0, 100)} which of its servers send for you, and list those instead of "${via.slice(0, 100)}". Anyone else in the network can send as you.`,
      }));
    return [...own, ...node.children.flatMap((child) => problemsOf(child, via ?? child.via))];
  };
  return problemsOf(root, null);
}

/** Verifiers stop at `all` (§5.1), and ignore `redirect` beside it (§6.1), whatever the owner expects. */
function unreachedProblems(root: SpfNode): SpfProblem[] {
  if (root.state !== 'read') return [];
  const terms = parseSpfTerms(root.records[0]!);
  const hasAll = terms.some(({ name, isModifier }) => name === 'all' && !isModifier);
  const redirect = terms.find(
    ({ name, isModifier }) => hasAll && name === 'redirect' && isModifier,
  );
  const [first] = unreachedTerms(terms).filter(
    ({ fault, name }) => fault === null && name !== 'all',
  );
  const problems: SpfProblem[] = [];
  if (first)
    problems.push({
      level: 'warn',
      text: `Your SPF record contains "${first.text.slice(0, 100)}" after its all term, where nobody reads it.`,
      fix: 'Move the all term to the end of the record. Remove the terms after it that you do not need.',
      change: { kind: 'reach' },
    });
  if (redirect && redirect.fault === null)
    problems.push({
      level: 'warn',
      text: `Your SPF record contains "${redirect.text.slice(0, 100)}" beside an all term, so it is ignored.`,
      fix: `Write "include:${(redirect.target ?? '').slice(0, 100)}" before the all term instead, or remove it if you do not need it.`,
      change: { kind: 'reach' },
    });
  return problems;
}

/** `via`: the term of the sender's own record that leads to the node. */
function openTermProblems(
  node: SpfNode,
  via: string | null,
  { root, constantExists }: SpfTree,
): SpfProblem[] {
  if (!node.passing) return [];
  return node.terms
    .filter((term) => term.qualifier === '+' && term.fault === null && !term.isModifier)
    .filter(
      (term) =>
        term.name === 'all' ||
        coversAlmostAll(term) ||
        constantExists.includes(`${term.text} (${node.domain})`),
    )
    .map((term) => ({
      level: 'fail' as const,
      isOpen: true,
      text: `${describeRecord(node)} lets anyone send as you: it contains "${term.text}".`,
      ...proposeRestriction(node, term, via, root),
    }));
}

function proposeRestriction(
  node: SpfNode,
  term: SpfTerm,
  via: string | null,
  root: SpfNode,
): Pick<SpfProblem, 'fix' | 'change'> {
  const domain = node.domain.slice(0, 100);
  if (via !== null && !hasSameOwner(node, root))
    return {
      fix: `In your record, replace "${via.slice(0, 100)}" with the servers that you send from, or ask the owner of ${domain} to restrict that record.`,
      change: { kind: 'remove', terms: [via] },
    };
  if (term.name !== 'all' && via === null && hasOtherSender(node, term))
    return {
      fix: `Remove "${term.text}". First make sure that the record of ${domain} has every server and service that sends for you.`,
      change: { kind: 'remove', terms: [term.text] },
    };
  if (term.name !== 'all')
    return {
      fix: `Replace "${term.text}" in the record of ${domain} with the networks that you send from.`,
    };
  return {
    fix: `Add every server and service that sends for you to the record of ${domain}. Then end that record with ~all, so that other senders no longer pass.`,
    change: { kind: 'close', node },
  };
}

/** Whether the record allows any senders without the term. */
const hasOtherSender = ({ terms }: SpfNode, term: SpfTerm): boolean =>
  terms.some(
    (other) =>
      other !== term && !other.isModifier && other.qualifier === '+' && !coversAlmostAll(other),
  );

function hasSameOwner({ domain }: SpfNode, root: SpfNode): boolean {
  const owner = ownedDomain(root.domain);
  return domain === root.domain || (owner !== null && owner === ownedDomain(domain));
}
