/** What is printed of a delivery: a few lines for people, or a line of JSON. */

import { isoTime } from '../lib/clock.ts';
import { printable } from '../lib/log.ts';
import { type Paint, painter, wrap } from '../render/terminal-text.ts';
import { summarizeEvent } from './event-summary.ts';
import type { Receipt } from './receive.ts';

const INDENT = ' '.repeat(10);

/** Ends with an empty line. */
export function receiptText(
  receipt: Receipt,
  { width, color }: { width: number; color: boolean },
): string {
  const paint = painter(color);
  const { at, event } = receipt;
  const head = [
    paint('dim', isoTime(at).slice(11, 19)),
    event === null ? 'no event' : paint('bold', short(event.type)),
    ...(event === null
      ? []
      : [paint('dim', short(event.id)), event.livemode ? 'live' : 'test mode']),
  ].join('  ');
  const summary = event === null ? '' : summarizeEvent(event);
  const lines = [
    head,
    ...(summary === '' ? [] : [wrap(summary, Math.min(width, 100), INDENT)]),
    ...(event === null && receipt.verification === null
      ? []
      : [INDENT + verifiedText(receipt, paint)]),
    ...(receipt.delivery > 1
      ? [INDENT + paint('yellow', `repeat: delivery ${receipt.delivery} of this event`)]
      : []),
    INDENT + answerText(receipt, paint),
  ];
  return `${lines.join('\n')}\n\n`;
}

const short = (text: string): string => printable(text).slice(0, 100);

function verifiedText({ verification }: Receipt, paint: Paint): string {
  if (verification === null) return paint('yellow', '✗ not verified: no --secret given');
  if (!verification.verified) return paint('red', `✗ not verified: ${verification.reason}`);
  return verification.former
    ? `${paint('green', '✓ verified')}, by the former secret: take the new one before it ends`
    : paint('green', '✓ verified');
}

function answerText(receipt: Receipt, paint: Paint): string {
  const { status, fault, forwarded, verification } = receipt;
  const isGood = status >= 200 && status < 300;
  const by = forwarded && fault === null ? ', by your program' : '';
  const isTold = fault === null || verification?.verified === false;
  const why = isTold ? '' : `: ${printable(fault)}`;
  return paint(isGood ? 'green' : 'red', `answered ${status}${by}${why}`);
}

/** `event` is the whole body; `verified` is null where no secret was given. */
export function receiptJson(receipt: Receipt): string {
  const { at, event, json, verification, delivery, status, fault, forwarded } = receipt;
  const printed = {
    received_at: isoTime(at),
    type: event?.type ?? null,
    event_id: event?.id ?? null,
    livemode: event?.livemode ?? null,
    verified: verification?.verified ?? null,
    former_secret: verification?.verified ? verification.former : null,
    fault,
    delivery,
    forwarded,
    answered: status,
    event: json,
  };
  return `${JSON.stringify(printed)}\n`;
}
