/** Devices and appliances that send mail by themselves: printers, scanners, storage, cameras, routers. */

import type { Context } from '../check.ts';
import { fieldValue } from '../mime/message.ts';
import devices from './devices.json' with { type: 'json' };

/** An entry of `devices.json`. `scripts/data.ts` checks them. */
export interface DeviceEntry {
  kind: string;
  /** The maker or product; missing for any other. */
  maker?: string;
  /** Regular expressions for HELO, X-Mailer, the sender’s name or the subject. */
  patterns: string[];
}

const DEVICES = (devices as DeviceEntry[]).map(({ kind, maker, patterns }) => ({
  name: maker === undefined ? kind : `${maker} ${kind}`,
  pattern: new RegExp(patterns.join('|'), 'i'),
}));

const MAX_FIELD = 200;

/** A fact: the device that shows its name in HELO, the program field, From or the subject; null if none does. */
export function device({ message, envelope }: Context): string | null {
  const sender = message.from[0];
  const texts = [
    envelope.helo ?? '',
    fieldValue(message, 'x-mailer') ?? fieldValue(message, 'user-agent') ?? '',
    sender?.name ?? '',
    sender?.address.split('@')[0] ?? '',
    message.subject ?? '',
  ].map((text) => text.slice(0, MAX_FIELD));
  return DEVICES.find(({ pattern }) => texts.some((text) => pattern.test(text)))?.name ?? null;
}
