/** Whether a domain can move to a stricter DMARC policy, and which mail would be affected. */

import {
  isTestMode,
  parseDmarcTags,
  percentOf,
  repairedRecord,
  withoutTag,
  withTag,
} from '../../analysis/dmarc/record.ts';
import { OWN_KINDS, type SourceKind } from './kind.ts';

export const POLICIES = ['none', 'quarantine', 'reject'] as const;
export type DmarcPolicy = (typeof POLICIES)[number];

/**
 * `not_published`: there is no DMARC record. `not_enough_data`: reports do not cover enough. `not_ready`: own mail would be rejected or go to spam.
 * `ready`: the next step is safe. `done`: there is no next step.
 */
export const ADVICE_STATES = [
  'not_published',
  'not_enough_data',
  'not_ready',
  'ready',
  'done',
] as const;
export type AdviceState = (typeof ADVICE_STATES)[number];

export interface MessageCounts {
  messages: number;
  passed: number;
}

export interface AdvisedSource extends MessageCounts {
  id: string;
  name: string;
  kind: SourceKind;
  /** Of the last 14 days. */
  recent: MessageCounts;
}

export interface AdviceInput {
  /** The DMARC record of the domain; null if it has none, undefined if it could not be looked up yet. */
  record: string | null | undefined;
  /** The record with the address for reports, and the policy that applies now. A page must not propose two different ones. */
  proposal: string;
  /** Messages of addresses that have not been looked up yet. */
  unnamed: number;
  /** The days with reports, such as `2026-11-21`. */
  days: string[];
  reporters: number;
  sources: AdvisedSource[];
}

export interface Advice {
  state: AdviceState;
  current: DmarcPolicy | null;
  next: DmarcPolicy | null;
  ready: boolean;
  /** The first day with reports. */
  since: string | null;
  coveredDays: number;
  messages: number;
  reporters: number;
  /** In one or two sentences. */
  summary: string;
  /** Sources of the domain whose failing messages a stricter policy would affect, those with the most first. */
  wouldBeRejected: (AdvisedSource & { failed: number })[];
  /** What has to happen first, a sentence each. */
  missing: string[];
  /** The value to publish at `_dmarc`; null if there is no next step. */
  record: string | null;
}

export const MIN_DAYS = 14;
const MIN_REPORTERS = 3;
const MIN_MESSAGES = 100;
/** Of one of the domain’s servers or sending services. */
const PASSING_SHARE = 0.99;
/** Below this, it does not change the advice. */
const UNNAMED_SHARE = 0.01;

const COUNT = new Intl.NumberFormat('en-GB');
const counted = (count: number, noun: string): string =>
  `${COUNT.format(count)} ${noun}${count === 1 ? '' : 's'}`;

export function adviseOn(input: AdviceInput): Advice {
  const { days, reporters, sources, unnamed, record } = input;
  const limits = limitsOf(record ?? null);
  const next = nextOf(input, limits);
  const messages = sources.reduce((sum, source) => sum + source.messages, 0);
  const insufficient =
    record === undefined
      ? ['The DMARC record could not be looked up yet.']
      : insufficientData({ days, reporters, messages, unnamed });
  const failing = sources.filter(blocks);
  const state = stateOf(record, next, insufficient, failing);
  const missing = [...(state === 'done' ? [] : insufficient), ...failing.map(failureOf)];
  const isStep = next !== null && state !== 'not_published';
  return {
    state,
    current: policyOf(record ?? null),
    next,
    ready: state === 'ready',
    missing: state === 'not_published' ? [] : missing,
    since: days[0] ?? null,
    coveredDays: days.length,
    messages,
    reporters,
    summary: summaryOf(state, { next, limits, failing, sources, messages }),
    wouldBeRejected: isStep ? affected(sources) : [],
    record: next === null ? null : recordWith(input, next),
  };
}

function policyOf(record: string | null): DmarcPolicy | null {
  const policy = record === null ? null : parseDmarcTags(record).tags.get('p')?.toLowerCase();
  return POLICIES.find((one) => one === policy) ?? null;
}

/** The tags with which receivers apply less than the policy says, as published; p=none cannot be limited. */
function limitsOf(record: string | null): string[] {
  if (record === null || (policyOf(record) ?? 'none') === 'none') return [];
  const { tags } = parseDmarcTags(record);
  const percent = percentOf(tags);
  return [...(isTestMode(tags) ? ['t=y'] : []), ...(percent < 100 ? [`pct=${percent}`] : [])];
}

/** One step, never two. If the policy is limited, the policy without limits is the next step. */
function nextOf({ record, proposal }: AdviceInput, limits: string[]): DmarcPolicy | null {
  if (record === undefined) return null;
  if (record === null) return policyOf(proposal) ?? 'none';
  const current = policyOf(record) ?? 'none';
  if (limits.length > 0) return current;
  return POLICIES[POLICIES.indexOf(current) + 1] ?? null;
}

/** Without test mode and `pct`, with which receivers would apply less than the record says. */
function recordWith({ record, proposal }: AdviceInput, next: DmarcPolicy): string {
  if (record == null) return proposal;
  return withTag(withoutTag(withoutTag(repairedRecord(proposal), 't'), 'pct'), 'p', next);
}

function insufficientData({
  days,
  reporters,
  messages,
  unnamed,
}: Pick<AdviceInput, 'days' | 'reporters' | 'unnamed'> & { messages: number }): string[] {
  return [
    ...(unnamed > (messages + unnamed) * UNNAMED_SHARE
      ? [`The service is still identifying who sent ${counted(unnamed, 'message')}.`]
      : []),
    ...(days.length < MIN_DAYS
      ? [`Reports cover ${counted(days.length, 'day')}; ${MIN_DAYS} are needed.`]
      : []),
    ...(reporters < MIN_REPORTERS
      ? [`${counted(reporters, 'reporter')} sent reports; ${MIN_REPORTERS} are needed.`]
      : []),
    ...(messages < MIN_MESSAGES
      ? [`The reports count ${counted(messages, 'message')}; ${MIN_MESSAGES} are needed.`]
      : []),
  ];
}

const fails = ({ messages, passed }: MessageCounts): boolean => passed < messages * PASSING_SHARE;

/** Only what belongs to the domain can block. Otherwise, a stranger could keep a domain from a stricter policy. */
const isOwn = ({ kind }: AdvisedSource): boolean => OWN_KINDS.includes(kind);

/** Earlier messages failed, and those of the last two weeks pass. */
const isRepaired = (source: AdvisedSource): boolean =>
  (isOwn(source) || source.kind === 'unknown') &&
  fails(source) &&
  source.recent.messages > 0 &&
  !fails(source.recent);

/** A misconfigured one that was not used for two weeks does not. */
function blocks(source: AdvisedSource): boolean {
  if (!isOwn(source) || !fails(source) || isRepaired(source)) return false;
  return source.recent.messages > 0 || source.kind === 'own' || source.kind === 'service';
}

function failureOf({ name, kind, messages, passed }: AdvisedSource): string {
  const failure = `${name}: ${COUNT.format(messages - passed)} of ${counted(messages, 'message')} fail DMARC.`;
  switch (kind) {
    case 'own':
    case 'service':
      return `${failure} Find out why these messages fail first.`;
    default:
      return `${failure} Set up aligned DKIM or SPF for it first.`;
  }
}

/** Spoofed messages are what the policy is for. */
const affected = (sources: AdvisedSource[]) =>
  sources
    .filter((source) => source.kind !== 'spoof' && source.passed < source.messages)
    .filter((source) => !isRepaired(source))
    .map((source) => ({ ...source, failed: source.messages - source.passed }))
    .toSorted((a, b) => b.failed - a.failed);

function stateOf(
  record: string | null | undefined,
  next: DmarcPolicy | null,
  insufficient: string[],
  failing: AdvisedSource[],
): AdviceState {
  if (record === undefined) return 'not_enough_data';
  if (record === null) return 'not_published';
  if (next === null) return 'done';
  if (insufficient.length > 0) return 'not_enough_data';
  return failing.length > 0 ? 'not_ready' : 'ready';
}

function doneText({ failing, sources }: Findings): string {
  const policy = 'The policy is p=reject, the strictest one.';
  const unknown = unknownText(sources, 'are rejected');
  if (failing.length > 0)
    return `${policy} Failing mail from ${namesOf(failing)} is rejected.${unknown}`;
  return `${policy}${unknown || ' There is nothing to change.'}`;
}

interface Findings {
  next: DmarcPolicy | null;
  /** See `limitsOf`. */
  limits: string[];
  failing: AdvisedSource[];
  sources: AdvisedSource[];
  messages: number;
}

function summaryOf(state: AdviceState, findings: Findings): string {
  const { next, limits, failing, sources, messages } = findings;
  const isRejected = next === 'reject';
  const unknown = unknownText(sources, `would ${isRejected ? 'be rejected' : 'go to spam'}`);
  const goal = `p=${next}${limits.length > 0 ? ` without ${limits.join(' and ')}` : ''}`;
  switch (state) {
    case 'not_published':
      return 'Publish a DMARC record that requests reports. It changes nothing for your mail.';
    case 'done':
      return doneText(findings);
    case 'not_enough_data':
      return next === null
        ? 'The DMARC record could not be looked up yet.'
        : `There is not enough report data yet to recommend ${goal}.`;
    case 'not_ready':
      return `Not ready for ${goal}: failing mail from ${namesOf(failing)} would ${isRejected ? 'be rejected' : 'go to spam'}.${unknown}`;
    case 'ready':
      return `You can change the policy to ${goal}. ${ownText(sources)}${unknown}${forwardedText(sources, messages)}`;
  }
}

const LIST = new Intl.ListFormat('en-GB');
const MAX_NAMES = 3;

function listed(names: string[]): string {
  const rest = names.length - MAX_NAMES;
  return LIST.format([
    ...names.slice(0, MAX_NAMES),
    ...(rest > 0 ? [`${rest} more ${rest === 1 ? 'source' : 'sources'}`] : []),
  ]);
}

const namesOf = (sources: AdvisedSource[]): string => listed(sources.map(({ name }) => name));

/** Only the owner knows whether these messages matter. */
function unknownText(sources: AdvisedSource[], happens: string): string {
  const lost = affected(sources).filter(({ kind }) => kind === 'unknown');
  if (lost.length === 0) return '';
  const failed = lost.reduce((sum, source) => sum + source.failed, 0);
  const verb = failed === 1 ? happens.replace(/^are /, 'is ') : happens;
  return ` ${counted(failed, 'failing message')} from ${namesOf(lost)} ${verb}: confirm whether ${lost.length === 1 ? 'this source is' : 'these sources are'} yours.`;
}

/** Failing senders that were not seen for two weeks may come back; repaired ones pass only since then. */
function ownText(sources: AdvisedSource[]): string {
  const silent = sources.filter(
    (source) => source.kind === 'misconfigured' && source.recent.messages === 0,
  );
  const recent = `All your sources that sent mail in the last ${MIN_DAYS} days pass DMARC.`;
  if (silent.length === 0)
    return sources.some(isRepaired) ? recent : 'All your sources pass DMARC.';
  return `${recent} Check ${namesOf(silent)} first if you still use ${silent.length === 1 ? 'it' : 'them'}: earlier messages failed.`;
}

/** No record can fix it, so the owner must know. */
function forwardedText(sources: AdvisedSource[], messages: number): string {
  const lost = sources
    .filter(({ kind }) => kind === 'forwarder')
    .reduce((sum, source) => sum + source.messages - source.passed, 0);
  if (lost === 0) return '';
  const share = Math.max(0.1, Math.round((lost / messages) * 1000) / 10);
  return ` ${share}% of all messages fail because they were forwarded. DNS records alone can’t fix this.`;
}
