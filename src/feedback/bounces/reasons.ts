/** Why a message bounced, according to the reply or its code, and the class of the bounce. */

import type { BounceClass } from '../reading/report.ts';

interface Reason {
  /** The class of a permanent failure. */
  class: BounceClass;
  /** Subject and detail of the matching status code (RFC 3463). */
  code: string;
}

const REASONS = {
  policy: { class: 'policy', code: '7.0' },
  unknown_mailbox: { class: 'hard', code: '1.1' },
  disabled: { class: 'hard', code: '2.1' },
  moved: { class: 'hard', code: '1.6' },
  unknown_domain: { class: 'hard', code: '1.2' },
  no_mail: { class: 'hard', code: '1.10' },
  too_large: { class: 'hard', code: '3.4' },
  loop: { class: 'hard', code: '4.6' },
  content: { class: 'hard', code: '6.0' },
  protocol: { class: 'hard', code: '5.0' },
  server: { class: 'hard', code: '3.0' },
  full_mailbox: { class: 'soft', code: '2.2' },
  rate: { class: 'soft', code: '4.5' },
  greylisting: { class: 'soft', code: '7.0' },
  expired: { class: 'soft', code: '4.7' },
  network: { class: 'soft', code: '4.0' },
  unknown: { class: 'unknown', code: '0.0' },
} as const satisfies Record<string, Reason>;

export type BounceReason = keyof typeof REASONS;
export const BOUNCE_REASONS = Object.keys(REASONS) as BounceReason[];

export const codeOfReason = (reason: BounceReason): string => REASONS[reason].code;

/** By subject and detail (RFC 3463), else by subject. Subjects 0 and 3 alone give no reason. */
const BY_CODE: Record<string, BounceReason> = {
  '1': 'unknown_mailbox',
  '1.2': 'unknown_domain',
  '1.6': 'moved',
  '1.7': 'policy',
  '1.8': 'policy',
  '1.10': 'no_mail',
  '2.1': 'disabled',
  '2.2': 'full_mailbox',
  '2.3': 'too_large',
  '2.4': 'unknown_mailbox',
  '3.1': 'server',
  '3.2': 'server',
  '3.3': 'content',
  '3.4': 'too_large',
  '3.5': 'server',
  '4': 'network',
  '4.4': 'unknown_domain',
  '4.6': 'loop',
  '4.7': 'expired',
  '5': 'protocol',
  '5.0': 'unknown',
  '6': 'content',
  '7': 'policy',
};

/** The reason that an enhanced status code alone gives. */
export function reasonOfCode(status: string | null): BounceReason {
  const code = status?.slice(2) ?? '';
  return BY_CODE[code] ?? BY_CODE[code.split('.')[0]!] ?? 'unknown';
}

/** A temporary failure is soft, unless the server rejects the message by policy. */
export function classOfReason(reason: BounceReason, temporary: boolean): BounceClass {
  const { class: permanent } = REASONS[reason];
  return temporary && permanent !== 'policy' ? 'soft' : permanent;
}
