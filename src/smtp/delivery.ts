/** Delivers a complete message to the destinations of its recipients. */

import type { Envelope } from '../analysis/check.ts';
import { networkOf } from '../lib/addresses.ts';
import type {
  Destination,
  IncomingMail,
  ReceiveVerdict,
  Recipient,
  Rejection,
} from './destination.ts';
import type { ListenerState } from './listener-state.ts';
import {
  DISK_FULL,
  rejection,
  TOO_MANY_FROM_NETWORK,
  TOO_MUCH_FROM_NETWORK,
  tooLarge,
  withFailureReply,
} from './replies.ts';

/** A recipient that was accepted at RCPT. */
export interface AcceptedRecipient {
  recipient: Recipient;
  destination: Destination;
}

/**
 * Returns the verdicts by destination. Each LMTP recipient has its own reply (RFC 2033 §4.2). SMTP has one for all, so there
 * the limits of all destinations come first, and the first rejection ends the delivery: it is then the only verdict.
 */
export async function deliver(
  state: ListenerState,
  accepted: AcceptedRecipient[],
  { envelope, raw }: { envelope: Envelope; raw: Buffer },
): Promise<Map<Destination, ReceiveVerdict>> {
  const groups = Map.groupBy(accepted, ({ destination }) => destination);
  const verdicts = new Map<Destination, ReceiveVerdict>();
  for (const destination of groups.keys()) {
    const refusal = await checkLimits(state, destination, envelope, raw.byteLength);
    if (!refusal) continue;
    if (!state.lmtp) return new Map([[destination, refusal]]);
    verdicts.set(destination, refusal);
  }
  for (const [destination, group] of groups) {
    if (verdicts.has(destination)) continue;
    // One address can have several forms, such as with and without quotation marks.
    const byAddress = new Map(group.map(({ recipient }) => [keyOf(recipient), recipient]));
    const recipients = [...byAddress.values()] as IncomingMail['recipients'];
    const outcome = await withFailureReply(state, () =>
      destination.receive({ envelope, recipients, raw }),
    );
    const verdict = 'accept' in outcome ? outcome : rejection(outcome);
    if (verdict.accept) state.hooks.accepted?.(destination);
    if (!verdict.accept && !state.lmtp) return new Map([[destination, verdict]]);
    verdicts.set(destination, verdict);
  }
  return verdicts;
}

const keyOf = ({ user, detail }: Recipient): string => JSON.stringify([user, detail]);

async function checkLimits(
  state: ListenerState,
  { maxSize, usesReserve, networkLimit, networkSizeLimit }: Destination,
  { client_ip }: Envelope,
  size: number,
): Promise<Rejection | null> {
  if (size > maxSize) return rejection(tooLarge(maxSize));
  const network = client_ip === null ? 'unknown' : networkOf(client_ip);
  const refusal = await withFailureReply(state, async () => {
    if (!usesReserve && (await state.hooks.hasSpare?.()) === false) return DISK_FULL;
    if (networkLimit && !(await networkLimit.consume(network)).allowed)
      return TOO_MANY_FROM_NETWORK;
    const units = Math.ceil(size / 1024);
    if (networkSizeLimit && !(await networkSizeLimit.consume(network, units)).allowed)
      return TOO_MUCH_FROM_NETWORK;
    return null;
  });
  return refusal && rejection(refusal);
}
