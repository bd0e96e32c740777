/** Runs a check on a message, a zone and an envelope, without the analysis engine or a worker. */

import assert from 'node:assert/strict';
import type {
  AnalysisInput,
  Check,
  Context,
  Envelope,
  Finding,
  Setup,
} from '../../src/analysis/check.ts';
import { createContext, NO_SETUP } from '../../src/analysis/context.ts';
import { parseMessage } from '../../src/analysis/mime/parse-message.ts';
import type { AskDns } from '../../src/net/dns/reply.ts';
import type { Resolver } from '../../src/net/dns/resolver.ts';
import { type Zone, zoneResolver } from '../../src/net/dns/zone.ts';
import type { WebClient } from '../../src/net/http/web.ts';
import { undeclaredKeys } from './public-evidence.ts';

/** When test messages are received: 2026-11-21T10:00:00Z. */
export const RECEIVED_AT = Date.UTC(2026, 10, 21, 10, 0, 0);

export const ENVELOPE: Envelope = {
  mail_from: 'bounce@example.com',
  client_ip: '192.0.2.1',
  helo: 'mail.example.com',
  tls: { used: true, version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384' },
};

export interface CheckInput {
  /** In a string, LF line endings become CRLF; bytes stay unchanged. */
  message: string | Uint8Array;
  zone?: Zone;
  resolver?: Resolver;
  envelope?: Partial<Envelope>;
  receivedAt?: number | null;
  kind?: AnalysisInput['kind'];
  isTemplate?: boolean;
  offline?: boolean;
  web?: WebClient;
  askDns?: AskDns;
  setup?: Partial<Setup>;
}

export async function contextFor(scene: CheckInput): Promise<Context> {
  const raw =
    typeof scene.message === 'string'
      ? Buffer.from(scene.message.replace(/\r?\n/g, '\r\n'), 'utf8')
      : scene.message;
  const input: AnalysisInput = {
    raw,
    envelope: { ...ENVELOPE, ...scene.envelope },
    receivedAt: scene.receivedAt === undefined ? RECEIVED_AT : scene.receivedAt,
    kind: scene.kind ?? 'auto',
    isTemplate: scene.isTemplate,
  };
  const resolver = scene.resolver ?? zoneResolver(scene.zone ?? {});
  return createContext(input, await parseMessage(raw), {
    resolver,
    web: scene.web,
    askDns: scene.askDns,
    setup: { ...NO_SETUP, ...scene.setup },
    offline: scene.offline,
  });
}

/** Fails if the evidence has a key that the check's `publicEvidence` does not declare. */
export async function runCheck(check: Check, scene: CheckInput): Promise<Finding> {
  const finding = await check.run(await contextFor(scene));
  assert.deepEqual(undeclaredKeys(finding.evidence, check), [], `${check.id}: publicEvidence`);
  return finding;
}
