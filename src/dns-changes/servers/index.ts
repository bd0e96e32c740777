/** Every kind of name server, in the order in which forms and the API show them. */

import type { ServerKind } from '../server.ts';
import { cloudflare } from './cloudflare.ts';
import { command } from './command.ts';
import { desec } from './desec.ts';
import { hetzner } from './hetzner.ts';
import { powerdns } from './powerdns.ts';
import { rfc2136 } from './rfc2136.ts';
import { route53 } from './route53.ts';
import { webhook } from './webhook.ts';

const KINDS = { rfc2136, cloudflare, route53, hetzner, desec, powerdns, webhook, command };

export type ServerKindId = keyof typeof KINDS;

export const SERVER_KINDS: Record<ServerKindId, ServerKind> = KINDS;

/** Those that admins can add. */
export const SERVER_KIND_IDS = (Object.keys(SERVER_KINDS) as ServerKindId[]).filter(
  (id) => !SERVER_KINDS[id].isConfigured,
);

/** The database takes any text: a newer version of the program may have stored another one. */
export const isKnownServerKind = (id: string): id is ServerKindId =>
  Object.hasOwn(SERVER_KINDS, id);
