/** What to publish for the problems of an SPF record: a record that keeps the sender at hand passing. */

import type { Resolver } from '../../net/resolver.ts';
import type { Context, Fix } from '../check.ts';
import {
  mergedRecord,
  spfFix,
  withAddress,
  withoutTerms,
  withSoftFail,
  withSomebody,
} from './spf-fix.ts';
import type { SpfProblem } from './spf-problem.ts';
import type { SpfNode } from './spf-tree.ts';
import { evaluateSpf, spfResult } from './verify-spf.ts';

/** All that is to be done, with the record to publish where it can be written for the user. */
export async function proposeSpf(
  root: SpfNode,
  problems: SpfProblem[],
  context: Context,
): Promise<Fix> {
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
