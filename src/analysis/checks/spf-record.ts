/** `spf_record`: whether the whole SPF record is valid, regardless of the sending server. */

import type { Resolver } from '../../net/dns/resolver.ts';
import {
  type Check,
  type Context,
  type Finding,
  type Fix,
  fail,
  type Json,
  offline,
  pass,
  rfc,
  skipped,
  unknown,
  warn,
} from '../check.ts';
import { fromDomain } from '../dns/names.ts';
import { evaluateSpf, spfIdentity, spfResult } from '../spf/evaluate.ts';
import { findSpfProblems, MAX_LOOKUPS, type SpfProblem } from '../spf/problems.ts';
import {
  mergeRecords,
  spfFix,
  withAddress,
  withDefaultSenders,
  withoutTerms,
  withSoftFail,
} from '../spf/record.ts';
import { type SpfNode, type SpfTree, walkSpf } from '../spf/tree.ts';

const NOT_CHECKED = 'The SPF record was not checked.';

export const spfRecord: Check = {
  id: 'spf_record',
  category: 'authentication',
  points: 3,
  label: 'SPF record',
  issueTitle: 'The SPF record is missing or has problems',
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
    if (context.offline) return offline(NOT_CHECKED);
    const { identity, text, domain } = spfIdentity(context);
    if (identity === 'mailfrom' && text === null) return evaluateFromDomain(context);
    if (domain === null) return skipped(NOT_CHECKED, 'The message has no sender domain.');
    const finding = await evaluateSpfRecord(domain, context);
    // `spf` reports a missing record and a permerror. Without a client address, SPF does not run, and
    // they are reported here.
    const { result } = await context.fact(spfResult);
    return result === 'permerror' || result === 'none'
      ? { ...finding, dependsOn: ['spf'] }
      : finding;
  },
};

/**
 * For an unknown MAIL FROM, which may be at another domain than From. Problems of the From domain's
 * record are reported; that it has no record proves nothing.
 */
async function evaluateFromDomain(context: Context): Promise<Finding> {
  const domain = fromDomain(context);
  if (domain === null) return skipped(NOT_CHECKED, 'The message has no sender domain.');
  const { root } = await walkSpf(domain, context.resolver);
  if (root.state === 'missing')
    return skipped(
      NOT_CHECKED,
      `The envelope sender (MAIL FROM) is unknown, and the From domain ${domain} has no SPF record.`,
    );
  return evaluateSpfRecord(domain, context);
}

/**
 * The finding on a domain's SPF record, for a message or a domain alone. `fail`: mailbox providers
 * can't use the record, or it passes all senders. `warn`: it doesn't work everywhere, or is too weak.
 * Known problems are reported even if lookups in a part of the tree failed.
 */
export async function evaluateSpfRecord(domain: string, context: Context): Promise<Finding> {
  const tree = await walkSpf(domain, context.resolver);
  const { root } = tree;
  if (root.state === 'missing')
    return fail({
      title: `${domain} has no SPF record.`,
      detail: 'Without one, mailbox providers do not know which servers may send for your domain.',
      fix: spfFix(
        'Publish a record that lists the servers that send for your domain. This one lists its mail servers.',
        domain,
        'v=spf1 mx ~all',
      ),
    });
  const evidence = evidenceOf(tree);
  const problems = findSpfProblems(tree);
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
  if (tree.failedLookups.length > 0)
    return unknown(
      'Could not check the whole SPF record.',
      `DNS lookups failed for ${tree.failedLookups.join(', ')}. This does not affect your score.`,
      evidence,
    );
  return pass(
    'Your SPF record is valid.',
    `It needs ${tree.lookups} of the ${MAX_LOOKUPS} allowed DNS lookups, and allows only the servers that it lists.`,
    evidence,
  );
}

function detailOf(worst: SpfProblem, problems: SpfProblem[], tree: SpfTree): string {
  const lead =
    worst.level === 'fail'
      ? 'Mailbox providers that encounter this problem cannot use the record.'
      : 'The record works, but not as well as it could.';
  const others = problems.slice(1, 6).map(({ text }) => text);
  const also = others.length > 0 ? ` Other problems: ${others.join(' ')}` : '';
  const gaps =
    tree.failedLookups.length > 0
      ? ` DNS lookups failed for ${tree.failedLookups.join(', ')}.`
      : '';
  return `${lead}${also}${gaps}`;
}

function evidenceOf(tree: SpfTree): NonNullable<Finding['evidence']> {
  return {
    domain: tree.root.domain,
    records: tree.root.records,
    lookups: tree.lookups,
    void_lookups: tree.voidLookups,
    octets: Buffer.byteLength(tree.root.records[0] ?? ''),
    ...(tree.failedLookups.length > 0 && { unanswered: tree.failedLookups }),
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

/** All changes to make, with the record to publish if it can be written automatically. */
async function proposeSpf(root: SpfNode, problems: SpfProblem[], context: Context): Promise<Fix> {
  const text = [...new Set(problems.map(({ fix }) => fix))].slice(0, 6).join(' ');
  if (root.state === 'several')
    return spfFix(text, root.domain, withDefaultSenders(mergeRecords(root.records)));
  const record = root.records[0];
  if (record === undefined || root.terms.some(({ fault }) => fault !== null)) return { text };
  const better = changed(record, problems);
  if (better !== record) {
    const { value, note } = await keepPassing(root.domain, better, context);
    return spfFix(`${text}${note}`, root.domain, withDefaultSenders(value));
  }
  // The record that passes everyone is an included one of the same owner.
  const other = problems.find(({ change }) => change?.kind === 'close' && change.node !== root);
  if (other?.change?.kind !== 'close') return { text };
  const { domain, records } = other.change.node;
  const { value, note } = await keepPassing(domain, withSoftFail(records[0] ?? ''), context);
  return withDefaultSenders(value) === value ? spfFix(`${text}${note}`, domain, value) : { text };
}

function changed(record: string, problems: SpfProblem[]): string {
  const changes = problems.flatMap(({ change }) => change ?? []);
  const unwanted = changes.flatMap((change) => (change.kind === 'remove' ? change.term : []));
  const closes = changes.some((change) => change.kind === 'close' && change.node.via === null);
  const rest = unwanted.length > 0 ? withoutTerms(record, unwanted) : record;
  return closes ? withSoftFail(rest) : rest;
}

/**
 * A message that passes now must also pass with the proposed record. If it would not, its client is
 * added to the record, and `note` says so.
 */
async function keepPassing(
  domain: string,
  value: string,
  context: Context,
): Promise<{ value: string; note: string }> {
  const current = await context.fact(spfResult);
  if (current.result !== 'pass' || current.clientIp === null) return { value, note: '' };
  const resolver = withPublished(domain, value, context.resolver);
  const proposed = await evaluateSpf(current, current.clientIp, context.envelope.helo, resolver);
  if (proposed.result === 'pass') return { value, note: '' };
  return {
    value: withAddress(value, current.clientIp),
    note: ` The record shown also allows ${current.clientIp}, which sent this message.`,
  };
}

/** A resolver that answers as if the record were published. */
function withPublished(domain: string, value: string, resolver: Resolver): Resolver {
  return (name, type) =>
    type === 'TXT' && name.toLowerCase() === domain
      ? Promise.resolve({ status: 'found', records: [value], ttl: 0, authenticated: false })
      : resolver(name, type);
}
