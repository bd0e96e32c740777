/** `spf_record`: whether the whole SPF record is valid, regardless of the sending server. */

import { recordsOf } from '../../net/dns/resolver.ts';
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
import { aliasChain } from '../dns/alias.ts';
import { repeatedZone } from '../dns/appended-zone.ts';
import { fromDomain } from '../dns/names.ts';
import { isFromWildcard } from '../dns/wildcard.ts';
import { knownOwner } from '../sending-services/ownership.ts';
import {
  firstRecordFix,
  type KeptSender,
  keepSender,
  mailboxHost,
  similarTextFix,
} from '../sending-services/spf-steps.ts';
import { evaluateSpf, spfIdentity, spfResult } from '../spf/evaluate.ts';
import { type ExaminedSpf, examineSpf, isUsable } from '../spf/examine.ts';
import { isPrivateNetwork } from '../spf/networks.ts';
import type { SpfProblem } from '../spf/problem.ts';
import { findSpfProblems, MAX_LOOKUPS } from '../spf/problems.ts';
import {
  allowsSenders,
  isSpfRecord,
  parseSpfTerms,
  spfFix,
  withAllReached,
  withDefaultSenders,
  withInclude,
  withoutRepeated,
  withoutTerms,
  withoutUnreached,
  withSoftFail,
  withTermReplaced,
} from '../spf/record.ts';
import { readSpf, resemblesSpf } from '../spf/repair.ts';
import { costOf, type SpfNode, type SpfTree, walkSpf, withPublished } from '../spf/tree.ts';

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
    damaged: 'shown',
    lookups: 'shown',
    void_lookups: 'shown',
    octets: 'shown',
    unanswered: 'shown',
    open: 'shown',
    tree: { domain: 'shown', via: 'shown', state: 'shown', record: 'shown', includes: 'as-parent' },
  },
  about: (context) => spfIdentity(context).domain ?? fromDomain(context),
  async run(context: Context): Promise<Finding> {
    if (context.offline) return offline(NOT_CHECKED);
    const { identity, text, domain } = spfIdentity(context);
    if (identity === 'mailfrom' && text === null) return evaluateFromDomain(context);
    if (domain === null) return skipped(NOT_CHECKED, 'The message has no sender domain.');
    const finding = await ofAliasOwner(await evaluateSpfRecord(domain, context), domain, context);
    // `spf` reports a missing record and a permerror. Without a client address, SPF does not run, and
    // they are reported here.
    const { result } = await context.fact(spfResult);
    return result === 'permerror' || result === 'none'
      ? { ...finding, dependsOn: ['spf'] }
      : finding;
  },
};

/** A weak record at an alias is that of the service to which the alias leads, such as for a return path. */
async function ofAliasOwner(finding: Finding, domain: string, context: Context): Promise<Finding> {
  if (finding.status !== 'warn') return finding;
  const target = (await aliasChain(domain, context.resolver)).at(-1);
  return target !== undefined && knownOwner(target) !== null
    ? { ...finding, about: target }
    : finding;
}

/**
 * For an unknown MAIL FROM, which may be at another domain than From. Problems of the From domain's
 * record are reported; a missing record proves nothing.
 */
async function evaluateFromDomain(context: Context): Promise<Finding> {
  const domain = fromDomain(context);
  if (domain === null) return skipped(NOT_CHECKED, 'The message has no sender domain.');
  const { root } = await walkSpf(domain, context.resolver);
  if (root.state === 'missing' && root.damaged.length === 0)
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
  const examined = await examineSpf(domain, context.resolver);
  const { tree, problems } = examined;
  if (tree.root.state === 'missing' && examined.texts.length === 0) {
    const misplaced = await misplacedRecord(domain, context);
    if (misplaced) return misplaced;
    const similar = await similarTextFix(domain, context);
    return fail({
      title: similar
        ? `${domain} has no valid SPF record, but a TXT record that looks like one.`
        : `${domain} has no SPF record.`,
      detail: 'Without one, mailbox providers do not know which servers may send for your domain.',
      fix: similar ?? (await firstRecordFix(context, domain)),
    });
  }
  const evidence = {
    ...evidenceOf(examined),
    ...(problems.some(({ isOpen }) => isOpen) && { open: true }),
  };
  const worst = problems[0];
  if (worst) {
    const finding = {
      title: worst.text,
      detail: detailOf(worst, problems, tree),
      fix: await proposeSpf(domain, examined, context),
      evidence,
    };
    return worst.level === 'fail' ? fail(finding) : warn(finding);
  }
  if (tree.failedLookups.length > 0)
    return unknown(
      'Could not check the whole SPF record.',
      `DNS lookups failed for ${tree.failedLookups.join(', ')}. This does not affect your score.`,
      evidence,
    );
  return pass(
    'Your SPF record is valid.',
    `It needs ${tree.lookups} of the ${MAX_LOOKUPS} allowed DNS lookups, and allows only the servers that it lists.${budgetNote(tree)}${privateNote(tree)}`,
    evidence,
  );
}

/** For a record at a name that has the domain twice; null if there is none. */
async function misplacedRecord(domain: string, { resolver }: Context): Promise<Finding | null> {
  const repeated = await repeatedZone(domain, domain, resemblesSpf, resolver);
  if (!repeated || (await isFromWildcard(repeated.name, 'TXT', resolver))) return null;
  const { record: value } = readSpf(repeated.texts);
  const isSafe = value !== null && (await isUsable(domain, value, resolver));
  return fail({
    title: `The SPF record of ${domain} is published at the wrong name.`,
    detail: `The record is at ${repeated.name}, where nobody looks for it: your DNS panel appends the domain to each name.`,
    fix: {
      text: `Move the record to ${domain}: enter its name without what the panel appends, or @ if nothing is left.`,
      ...(isSafe && { record: { type: 'TXT', name: domain, value } }),
    },
    reference: rfc(1035, '5.1'),
  });
}

/** With more lookups used, the next include breaks the record. */
const NEARLY_ALL_LOOKUPS = 8;

/** What each term costs, once the limit is near; empty before that. */
function budgetNote({ lookups, root }: SpfTree): string {
  if (lookups < NEARLY_ALL_LOOKUPS) return '';
  const costs = root.children
    .filter(({ via }) => via !== null)
    .map((child) => `${child.via} ${costOf(child)}`);
  const list = costs.length > 0 ? ` Lookups by term: ${costs.slice(0, 10).join(', ')}.` : '';
  return ` With more than ${MAX_LOOKUPS}, the record stops working.${list}`;
}

/** Terms without effect; empty if there are none. */
function privateNote({ root }: SpfTree): string {
  const [first, ...others] = root.terms.filter(isPrivateNetwork).map(({ text }) => text);
  if (first === undefined) return '';
  const terms = others.length > 0 ? `"${first}" and ${others.length} more have` : `"${first}" has`;
  return ` ${terms} no effect: mail from a private network reaches others from a public address.`;
}

function detailOf(worst: SpfProblem, problems: SpfProblem[], tree: SpfTree): string {
  const lead = worst.isOpen
    ? 'Forged mail passes SPF as if it were yours, and DMARC with it.'
    : worst.level === 'fail'
      ? 'Mailbox providers that encounter this problem cannot use the record.'
      : 'The record works, but not as well as it could.';
  const others = problems.slice(1, 6).map(({ text }) => text);
  const otherProblems = others.length > 0 ? ` Other problems: ${others.join(' ')}` : '';
  const failures =
    tree.failedLookups.length > 0
      ? ` DNS lookups failed for ${tree.failedLookups.join(', ')}.`
      : '';
  return `${lead}${otherProblems}${failures}${privateNote(tree)}`;
}

function evidenceOf({ published, tree, texts }: ExaminedSpf): NonNullable<Finding['evidence']> {
  const { damaged } = published.root;
  return {
    domain: tree.root.domain,
    records: texts.slice(0, 10),
    ...(damaged.length > 0 && { damaged: damaged.slice(0, 10) }),
    lookups: tree.lookups,
    void_lookups: tree.voidLookups,
    octets: Buffer.byteLength(texts[0] ?? ''),
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

/** All changes to make, with the record to publish if it can be generated and no longer passes all senders. */
async function proposeSpf(domain: string, examined: ExaminedSpf, context: Context): Promise<Fix> {
  const { record, ...advice } = await proposeChanges(domain, examined, context);
  if (!record) return advice;
  const resolver = withPublished(record.name, record.value, context.resolver);
  const left = findSpfProblems(await walkSpf(record.name, resolver));
  return left.some(({ isOpen }) => isOpen) ? { text: advice.text } : { ...advice, record };
}

async function proposeChanges(
  domain: string,
  { published, tree, texts, record, unreadable, problems }: ExaminedSpf,
  context: Context,
): Promise<Fix> {
  const said = [...new Set(problems.map(({ fix }) => fix))].slice(0, 6).join(' ');
  const text = `${said}${unreadableNote(unreadable, said)}`;
  // Published as shown, the record must work: so none if a part of it cannot be corrected.
  if (record === null || !problems.every(isCorrectable)) return { text };
  const glued = await gluedInclude(problems, context);
  if (glued !== null) return { text: `${text} A space seems to be missing in "${glued}".` };
  const improved = await applyChanges(record, problems, domain, context);
  if (texts.length > 1 || improved !== texts[0]) {
    // A sender that was never read is repaired, but no other one is added.
    const isOne = texts.length === 1 && published.root.state === 'read';
    const kept = isOne
      ? await keepPassing(domain, improved, context)
      : { value: improved, note: '' };
    if (kept === null) return { text };
    if (isOpenEnd(problems) && !allowsSenders(kept.value))
      return namedSendersFix(text, domain, kept, context);
    // What is left would refuse all mail of the domain.
    return allowsSenders(kept.value) || !allowsSenders(record)
      ? keptFix(text, domain, kept)
      : { text: `${text}${NOBODY_LEFT}` };
  }
  // The record that passes all senders is an included record of the same owner.
  const closing = problems.find(
    ({ change }) => change?.kind === 'close' && change.node !== tree.root,
  );
  if (closing?.change?.kind !== 'close') return { text };
  const { domain: owner, records } = closing.change.node;
  const kept = await keepPassing(owner, withSoftFail(records[0] ?? ''), context);
  return kept && allowsSenders(kept.value) ? keptFix(text, owner, kept) : { text };
}

/** An include to take out that would have a record without its last letters: `include:_spf.example.commx`. */
async function gluedInclude(problems: SpfProblem[], { resolver }: Context): Promise<string | null> {
  for (const { change } of problems)
    for (const term of change?.kind === 'remove' ? change.terms : []) {
      const [, target] = /^[+\-?~]?include:(.*\.[a-z]+?)(?:a|mx|ptr|all)$/i.exec(term) ?? [];
      if (target === undefined) continue;
      const texts = recordsOf(await resolver(target.toLowerCase(), 'TXT'));
      if (texts === null || texts.some(isSpfRecord)) return term.slice(0, 100);
    }
  return null;
}

const NOBODY_LEFT =
  ' The record would then allow no server to send. Add the servers and services that send for your domain.';

/** Whether only the end of the record is wrong, so that its own hosts take the place of the others that pass. */
const isOpenEnd = (problems: SpfProblem[]): boolean =>
  problems.some(({ change }) => change?.kind === 'close' && change.node.via === null) &&
  problems.every(({ change, isSyntax }) => !isSyntax && (!change || change.kind === 'close'));

/** For a record that names nobody: who receives the mail of the domain often sends it too. */
async function namedSendersFix(
  text: string,
  domain: string,
  kept: KeptSender,
  context: Context,
): Promise<Fix> {
  const mx = recordsOf(await context.resolver(domain, 'MX'));
  if (mx === null || mx.some((record) => /^\d+\s+\.?$/.test(record))) return { text };
  const host = await mailboxHost(context, domain);
  if (host && host.spf.kind !== 'include') return { text };
  const [include] = host?.spf.kind === 'include' ? host.spf.includes : [];
  const value = include ? withInclude(kept.value, include) : withDefaultSenders(kept.value);
  return keptFix(text, domain, { ...kept, value });
}

/** Which terms stand in the way of a proposal; empty if the advice names them already. */
function unreadableNote(unreadable: string[], said: string): string {
  const unnamed = unreadable.filter((term) => !said.includes(term.slice(0, 100)));
  if (unnamed.length === 0) return '';
  const list = unnamed.slice(0, 5).map((term) => `"${term.slice(0, 100)}"`);
  return ` It is unclear what ${LIST.format(list)} ${unnamed.length === 1 ? 'means' : 'mean'}, so no record is proposed here.`;
}

const LIST = new Intl.ListFormat('en-GB');

const keptFix = (text: string, domain: string, { value, note, caution }: KeptSender): Fix => ({
  ...spfFix(`${text}${note}${caution ? ` ${caution}` : ''}`, domain, value),
  ...(caution && { caution }),
});

/** Whether the proposed record leaves no part that mailbox providers cannot use. */
const isCorrectable = ({ level, change, isSyntax, isOpen }: SpfProblem): boolean =>
  level === 'warn' || change !== undefined || isSyntax === true || isOpen === true;

async function applyChanges(
  record: string,
  problems: SpfProblem[],
  domain: string,
  { resolver }: Context,
): Promise<string> {
  const changes = problems.flatMap(({ change }) => change ?? []);
  const removed = changes.flatMap((change) => (change.kind === 'remove' ? change.terms : []));
  const ptrs = changes.some(({ kind }) => kind === 'without_ptr')
    ? parseSpfTerms(record).filter(({ name, isModifier }) => name === 'ptr' && !isModifier)
    : [];
  const unwanted = [...removed, ...ptrs.map(({ text }) => text)];
  const closesRecord = changes.some(
    (change) => change.kind === 'close' && change.node.via === null,
  );
  const corrected = changes.reduce((text, change) => {
    if (change.kind === 'without_repeated') return withoutRepeated(text);
    return change.kind === 'replace' ? withTermReplaced(text, change.term, change.by) : text;
  }, record);
  const withoutUnwanted = unwanted.length > 0 ? withoutTerms(corrected, unwanted) : corrected;
  const finish = (text: string) => (closesRecord ? withSoftFail(text) : text);
  if (!changes.some(({ kind }) => kind === 'reach')) return finish(withoutUnwanted);
  // Nobody has read these terms until now, so they can have faults of their own.
  const reached = finish(withAllReached(withoutUnwanted));
  const tree = await walkSpf(domain, withPublished(domain, reached, resolver));
  return findSpfProblems(tree).length === 0 ? reached : finish(withoutUnreached(withoutUnwanted));
}

/**
 * A message that passes now, or for which mailbox providers cannot use the record, must pass with the
 * proposed record. If it would not, its sending service or server is added, and `note` says so. Null if
 * that is not possible.
 */
async function keepPassing(
  domain: string,
  value: string,
  context: Context,
): Promise<KeptSender | null> {
  const { result, clientIp, ...identity } = await context.fact(spfResult);
  if ((result !== 'pass' && result !== 'permerror') || clientIp === null)
    return { value, note: '' };
  const resolver = withPublished(domain, value, context.resolver);
  const proposed = await evaluateSpf(identity, clientIp, context.envelope.helo, resolver);
  if (proposed.result === 'pass') return { value, note: '' };
  return keepSender(context, { domain, clientIp }, value);
}
