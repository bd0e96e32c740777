/** Every kind of name server, in the order in which forms and the API show them. */

import type { ServerKind } from '../server.ts';
import { cloudflare } from './cloudflare.ts';
import { rfc2136 } from './rfc2136.ts';

export const SERVER_KINDS = { rfc2136, cloudflare } satisfies Record<string, ServerKind>;

export type ServerKindId = keyof typeof SERVER_KINDS;

export const SERVER_KIND_IDS = Object.keys(SERVER_KINDS) as ServerKindId[];

/** The database takes any text: a newer version of the program may have stored another one. */
export const isKnownServerKind = (id: string): id is ServerKindId =>
  Object.hasOwn(SERVER_KINDS, id);
