/** Whether a domain can move to a stricter DMARC policy, and which mail would be affected. */

import { OWN_KINDS, type SourceKind } from './kind.ts';
import {
  type DmarcPolicy,
  type PolicyStep,
  type PolicyTag,
  type PublishedPolicy,
  policyOf,
  recordWith,
  stepOf,
} from './policy-step.ts';

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
  /** A known service that nobody has classified. */
  isService: boolean;
  /** Of the last 14 days. */
  recent: MessageCounts;
}

export interface AdviceInput extends Omit<PublishedPolicy, 'sendsNothing'> {
  /** Its DNS declares that it sends and receives no mail. */
  isParked: boolean;
  /** Failing messages of addresses that have not been looked up yet. */
  unnamed: number;
  /** The days with reports, such as `2026-11-21`. */
  days: string[];
  reporters: number;
  sources: AdvisedSource[];
  /** The same with only the messages that the next step affects. Default `sources`. */
  affected?: AdvisedSource[];
}

export interface Advice {
  state: AdviceState;
  current: DmarcPolicy | null;
  /** The tag that the next step changes. */
  tag: PolicyTag | null;
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

/** The next step, on which it depends whose mail is affected. */
export function nextStep(input: Omit<AdviceInput, 'affected'>): PolicyStep | null {
  return stepOf({ ...input, sendsNothing: sendsNothing(input) });
}

/** Whatever DNS declares, a domain sends mail if messages pass, or if someone marked a source as its own. */
const sendsNothing = ({ isParked, sources }: Pick<AdviceInput, 'isParked' | 'sources'>): boolean =>
  isParked && !sources.some((source) => source.passed > 0 || isOwn(source));

export function adviseOn(input: AdviceInput): Advice {
  const { days, reporters, sources, affected = sources, unnamed, record } = input;
  const isSilent = sendsNothing(input);
  const published = { ...input, sendsNothing: isSilent };
  const step = stepOf(published);
  const messages = sources.reduce((sum, source) => sum + source.messages, 0);
  const failing = affected.filter(blocks);
  const insufficient =
    record === undefined
      ? ['The DMARC record could not be looked up yet.']
      : isSilent
        ? []
        : [
            // Sources that are not identified yet can only add failing mail.
            ...(failing.length === 0 ? unnamedText(unnamed, messages) : []),
            ...insufficientData({ days, reporters, messages, sources }),
          ];
  const state = stateOf(record, step, insufficient, failing);
  const isOpen = step !== null && state !== 'not_published';
  const missing = [
    ...(isOpen || record === undefined ? insufficient : []),
    ...failing.map(failureOf),
  ];
  return {
    state,
    current: policyOf(record),
    tag: step?.tag ?? null,
    next: step?.next ?? null,
    ready: state === 'ready',
    missing: state === 'not_published' ? [] : missing,
    since: days[0] ?? null,
    coveredDays: days.length,
    messages,
    reporters,
    summary: summaryOf(state, { step, failing, sources, affected, messages, isSilent }),
    wouldBeRejected: isOpen && !isSilent ? lostTo(affected) : [],
    record: step === null ? null : recordWith(published, step),
  };
}

const unnamedText = (unnamed: number, messages: number): string[] =>
  unnamed > (messages + unnamed) * UNNAMED_SHARE
    ? [`The service is still identifying who sent ${counted(unnamed, 'failing message')}.`]
    : [];

function insufficientData({
  days,
  reporters,
  messages,
  sources,
}: Pick<AdviceInput, 'days' | 'reporters' | 'sources'> & { messages: number }): string[] {
  return [
    ...(days.length < MIN_DAYS
      ? [`Reports cover ${counted(days.length, 'day')}; ${MIN_DAYS} are needed.`]
      : []),
    ...(reporters < MIN_REPORTERS
      ? [`${counted(reporters, 'reporter')} sent reports; ${MIN_REPORTERS} are needed.`]
      : []),
    ...(messages < MIN_MESSAGES
      ? [`The reports count ${counted(messages, 'message')}; ${MIN_MESSAGES} are needed.`]
      : []),
    ...(messages > 0 && !sources.some(isOwn) ? [NONE_OWN] : []),
  ];
}

const NONE_OWN =
  'None of the senders is known to be yours. Mark the ones that are. If the domain sends no mail, publish a null MX record and v=spf1 -all.';

const fails = ({ messages, passed }: MessageCounts): boolean => passed < messages * PASSING_SHARE;

/** Only what belongs to the domain can block. Otherwise, a stranger could keep a domain from a stricter policy. */
function isOwn({ kind }: AdvisedSource): boolean {
  return OWN_KINDS.includes(kind);
}

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
const lostTo = (sources: AdvisedSource[]) =>
  sources
    .filter((source) => source.kind !== 'spoof' && source.passed < source.messages)
    .filter((source) => !isRepaired(source))
    .map((source) => ({ ...source, failed: source.messages - source.passed }))
    .toSorted((a, b) => b.failed - a.failed);

function stateOf(
  record: string | null | undefined,
  step: PolicyStep | null,
  insufficient: string[],
  failing: AdvisedSource[],
): AdviceState {
  if (record === undefined) return 'not_enough_data';
  if (record === null) return 'not_published';
  if (step === null) return 'done';
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
  step: PolicyStep | null;
  /** Own sources with failing mail that the step affects. */
  failing: AdvisedSource[];
  sources: AdvisedSource[];
  affected: AdvisedSource[];
  messages: number;
  /** The domain sends nothing. */
  isSilent: boolean;
}

const SILENT = 'The domain sends no mail: its DNS says so, and no reported message passes DMARC.';

function summaryOf(state: AdviceState, findings: Findings): string {
  const { step, failing, sources, affected, messages, isSilent } = findings;
  if (state === 'done') return doneText(findings);
  if (step === null) return 'The DMARC record could not be looked up yet.';
  const { tag, next, limits, subdomains } = step;
  const goal = `${tag}=${next}${limits.length > 0 ? ` without ${limits.join(' and ')}` : ''}`;
  if (isSilent)
    return state === 'not_published'
      ? `${SILENT} Publish a DMARC record with p=reject, which rejects only forged mail.`
      : `${SILENT} You can change the policy to p=reject at once, which rejects only forged mail.`;
  const happens = `would ${next === 'reject' ? 'be rejected' : 'go to spam'}`;
  const unknown = unknownText(affected, happens);
  const kept = subdomains === null ? '' : ` Subdomains stay at sp=${subdomains}.`;
  switch (state) {
    case 'not_published':
      return 'Publish a DMARC record that requests reports. It changes nothing for your mail.';
    case 'not_enough_data':
      return `There is not enough report data yet to recommend ${goal}.${nonePassedText(sources, messages)}`;
    case 'not_ready':
      return `Not ready for ${goal}: failing mail from ${namesOf(failing)} ${happens}.${unknown}${kept}`;
    case 'ready':
      return `You can change the policy${step.scope === 'subdomains' ? ' of subdomains' : ''} to ${goal}. ${ownText(findings)}${kept}${unknown}${unusedText(affected)}${forwardedText(affected, messages)}`;
  }
}

const nonePassedText = (sources: AdvisedSource[], messages: number): string =>
  messages > 0 && sources.every(({ passed }) => passed === 0)
    ? ' No reported message passed DMARC, so none is known to be yours.'
    : '';

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
  const lost = lostTo(sources).filter(({ kind }) => kind === 'unknown');
  if (lost.length === 0) return '';
  const failed = lost.reduce((sum, source) => sum + source.failed, 0);
  const verb = failed === 1 ? happens.replace(/^are /, 'is ') : happens;
  return ` ${counted(failed, 'failing message')} from ${namesOf(lost)} ${verb}: confirm whether ${lost.length === 1 ? 'this source is' : 'these sources are'} yours.`;
}

/** Failing senders that were not seen for two weeks may come back; fixed ones pass only since then. */
function ownText({ step, sources, affected }: Findings): string {
  const own = affected.filter(isOwn);
  const elsewhere = affected === sources ? [] : sources.filter(blocks);
  if (own.length === 0)
    return `No mail from your own senders would be affected.${rejectedText(elsewhere)}`;
  const silent = own.filter(
    (source) => source.kind === 'misconfigured' && fails(source) && source.recent.messages === 0,
  );
  const part =
    elsewhere.length === 0
      ? ''
      : ` with ${step!.scope === 'domain' ? 'the domain itself' : 'a subdomain'} in From`;
  const recent = `All your sources that sent mail in the last ${MIN_DAYS} days pass DMARC${part}.`;
  const rejected = step!.scope === 'subdomains' ? rejectedText(elsewhere) : '';
  if (silent.length === 0)
    return `${own.some(isRepaired) ? recent : `All your sources pass DMARC${part}.`}${rejected}`;
  return `${recent} Check ${namesOf(silent)} first if you still use ${silent.length === 1 ? 'it' : 'them'}: earlier messages failed.${rejected}`;
}

/** Failing mail that the policy of the domain itself already covers. */
const rejectedText = (failing: AdvisedSource[]): string =>
  failing.length === 0 ? '' : ` Failing mail from ${namesOf(failing)} is not affected.`;

/** If nothing from a service passes, it may never have been set up. Only the owner knows. */
function unusedText(sources: AdvisedSource[]): string {
  const unused = sources.filter(({ kind, isService }) => kind === 'spoof' && isService);
  if (unused.length === 0) return '';
  const [they, one] = unused.length === 1 ? ['it doesn’t', 'it'] : ['they don’t', 'one of them'];
  return ` No messages from ${namesOf(unused)} pass DMARC, so ${they} count as yours. If you use ${one}, mark it as yours first.`;
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
