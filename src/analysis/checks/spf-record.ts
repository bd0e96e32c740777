/** The check `spf_record`: is the SPF record sound as a whole, whichever sender it is asked about? */

import type { Resolver } from '../../net/dns/resolver.ts';
import {
  type Check,
  type Context,
  type Finding,
  type Fix,
  fail,
  type Json,
  pass,
  rfc,
  skipped,
  unknown,
  warn,
} from '../check.ts';
import { fromDomain } from '../dns/names.ts';
import { evaluateSpf, spfIdentity, spfResult } from '../spf/evaluate.ts';
import { MAX_LOOKUPS, type SpfProblem, spfProblems } from '../spf/problems.ts';
import {
  mergedRecord,
  spfFix,
  withAddress,
  withoutTerms,
  withSoftFail,
  withSomebody,
} from '../spf/record.ts';
import { type SpfNode, type SpfTree, walkSpf } from '../spf/tree.ts';

const NOTHING = 'There is no SPF record to look at.';

export const spfRecord: Check = {
  id: 'spf_record',
  category: 'authentication',
  points: 3,
  label: 'SPF record',
  issueTitle: 'The SPF record is missing or has faults',
  reference: rfc(7208, '4.6.4'),
  publicEvidence: {
    domain: 'shown',
    records: 'shown',
    lookups: 'shown',
    void_lookups: 'shown',
    octets: 'shown',
    unanswered: 'shown',
    tree: { domain: 'shown', via: 'shown', state: 'shown', record: 'shown', includes: 'as-parent' },
  },
  async run(context: Context): Promise<Finding> {
    if (context.offline)
      return skipped('The SPF record was not looked at.', 'The analysis was made offline.');
    const { identity, text, domain } = spfIdentity(context);
    if (identity === 'mailfrom' && text === null) return judgeFromDomain(context);
    if (domain === null) return skipped(NOTHING, 'The sender has no domain to ask about.');
    const finding = await judgeSpfRecord(domain, context);
    // A record that is missing, or makes SPF a permerror, is told of there: one cause, one finding.
    // Where SPF is not asked, for lack of an address, it is told of here.
    const { result } = await context.fact(spfResult);
    return result === 'permerror' || result === 'none'
      ? { ...finding, dependsOn: ['spf'] }
      : finding;
  },
};

/**
 * MAIL FROM is not known, and may be at another domain than From: what is wrong with the record of
 * that one is told all the same; that it has none says nothing.
 */
async function judgeFromDomain(context: Context): Promise<Finding> {
  const domain = fromDomain(context);
  if (domain === null) return skipped(NOTHING, 'The sender has no domain to ask about.');
  const { root } = await walkSpf(domain, context.resolver);
  if (root.state === 'missing')
    return skipped(
      NOTHING,
      `The envelope sender (MAIL FROM) is not known, and ${domain}, which From names, has none.`,
    );
  return judgeSpfRecord(domain, context);
}

/**
 * The finding on a domain's SPF record, with a message at hand or without one. `fail`: receivers
 * cannot use it, or it lets everyone through. `warn`: it works, but not everywhere, or says too
 * little. A known problem is told even where the DNS left a part of the tree unknown.
 */
export async function judgeSpfRecord(domain: string, context: Context): Promise<Finding> {
  const tree = await walkSpf(domain, context.resolver);
  const { root } = tree;
  if (root.state === 'missing')
    return fail({
      title: `${domain} has no SPF record.`,
      detail: 'Without one receivers cannot tell which servers may send for the domain.',
      fix: spfFix(
        'Publish a record that names the servers that send for the domain; this one names its mail servers.',
        domain,
        'v=spf1 mx ~all',
      ),
    });
  const evidence = evidenceOf(tree);
  const problems = spfProblems(tree);
  const worst = problems[0];
  if (worst) {
    const found = {
      title: worst.text,
      detail: detailOf(worst, problems, tree),
      fix: await proposeSpf(root, problems, context),
      evidence,
    };
    return worst.level === 'fail' ? fail(found) : warn(found);
  }
  if (tree.unknown.length > 0)
    return unknown(
      'The SPF record could not be looked at as a whole.',
      `The DNS did not answer for ${tree.unknown.join(', ')}. This is not counted against you.`,
      evidence,
    );
  return pass(
    'Your SPF record is sound.',
    `It is one valid record, needs ${tree.lookups} of the ${MAX_LOOKUPS} DNS lookups that are allowed, and lets only named servers through.`,
    evidence,
  );
}

function detailOf(worst: SpfProblem, problems: SpfProblem[], tree: SpfTree): string {
  const lead =
    worst.level === 'fail'
      ? 'Receivers that come to this cannot rely on the record.'
      : 'The record works, but not as well as it could.';
  const others = problems.slice(1, 6).map(({ text }) => text);
  const rest = others.length > 0 ? ` Besides: ${others.join(' ')}` : '';
  const gaps =
    tree.unknown.length > 0 ? ` The DNS did not answer for ${tree.unknown.join(', ')}.` : '';
  return `${lead}${rest}${gaps}`;
}

function evidenceOf(tree: SpfTree): NonNullable<Finding['evidence']> {
  return {
    domain: tree.root.domain,
    records: tree.root.records,
    lookups: tree.lookups,
    void_lookups: tree.voids,
    octets: Buffer.byteLength(tree.root.records[0] ?? ''),
    ...(tree.unknown.length > 0 && { unanswered: tree.unknown }),
    tree: treeEvidence(tree.root),
  };
}

function treeEvidence(node: SpfNode): { [key: string]: Json } {
  return {
    domain: node.domain,
    ...(node.via && { via: node.via }),
    ...(node.state !== 'read' && { state: node.state }),
    ...(node.records[0] !== undefined && { record: node.records[0].slice(0, 1000) }),
    ...(node.children.length > 0 && { includes: node.children.map(treeEvidence) }),
  };
}

// What to publish for the problems of an SPF record: a record that keeps the sender at hand passing.

/** All that is to be done, with the record to publish where it can be written for the user. */
async function proposeSpf(root: SpfNode, problems: SpfProblem[], context: Context): Promise<Fix> {
  const text = [...new Set(problems.map(({ fix }) => fix))].slice(0, 6).join(' ');
  if (root.state === 'several')
    return spfFix(text, root.domain, withSomebody(mergedRecord(root.records)));
  const record = root.records[0];
  if (record === undefined || root.terms.some(({ fault }) => fault !== null)) return { text };
  const better = changed(record, problems);
  if (better !== record) {
    const { value, note } = await keepPassing(root.domain, better, context);
    return spfFix(`${text}${note}`, root.domain, withSomebody(value));
  }
  // The open record is another one of the same owner.
  const other = problems.find(({ change }) => change?.kind === 'close' && change.node !== root);
  if (other?.change?.kind !== 'close') return { text };
  const { domain, records } = other.change.node;
  const { value, note } = await keepPassing(domain, withSoftFail(records[0] ?? ''), context);
  return withSomebody(value) === value ? spfFix(`${text}${note}`, domain, value) : { text };
}

function changed(record: string, problems: SpfProblem[]): string {
  const changes = problems.flatMap(({ change }) => change ?? []);
  const unwanted = changes.flatMap((change) => (change.kind === 'remove' ? change.term : []));
  const closes = changes.some((change) => change.kind === 'close' && change.node.via === null);
  const rest = unwanted.length > 0 ? withoutTerms(record, unwanted) : record;
  return closes ? withSoftFail(rest) : rest;
}

/**
 * A message that passes now passes by what is proposed, too: where it would not, its client is
 * named there, and `note` says so.
 */
async function keepPassing(
  domain: string,
  value: string,
  context: Context,
): Promise<{ value: string; note: string }> {
  const sent = await context.fact(spfResult);
  if (sent.result !== 'pass' || sent.clientIp === null) return { value, note: '' };
  const resolver = publishing(domain, value, context.resolver);
  const then = await evaluateSpf(sent, sent.clientIp, context.envelope.helo, resolver);
  if (then.result === 'pass') return { value, note: '' };
  return {
    value: withAddress(value, sent.clientIp),
    note: ` The record shown lets ${sent.clientIp} through, from which this message came.`,
  };
}

/** As if the record were published. */
function publishing(domain: string, value: string, resolver: Resolver): Resolver {
  return (name, type) =>
    type === 'TXT' && name.toLowerCase() === domain
      ? Promise.resolve({ status: 'found', records: [value], ttl: 0, authenticated: false })
      : resolver(name, type);
}
