/** What a route does with an `Idempotency-Key`: whose it is, what makes two requests the same, who is answered again. */

import type { App } from '../app.ts';
import { sha256 } from '../lib/crypto.ts';
import type { AppError } from '../lib/errors.ts';
import type { Actor } from './actor.ts';
import {
  answeredBefore,
  answerOnce,
  idempotencyKey,
  type KeptAnswer,
  requestHash,
  takesIdempotencyKey,
} from './idempotency.ts';
import { readBodyOf } from './parse.ts';
import type { AnyCall, Route } from './route.ts';
import type { Visit } from './visit.ts';

/** What the handler answers, or what it answered when the same `Idempotency-Key` came before. */
export async function answerOf(
  route: Route,
  visit: Visit,
  call: AnyCall,
  present: (value: unknown) => KeptAnswer,
): Promise<KeptAnswer> {
  const key = takesIdempotencyKey(route) ? idempotencyKey(call.headers) : null;
  if (key === null) return present(await route.handle(call));
  const hash = await hashOf(route, visit, call);
  const once = { caller: callerOf(route, call), key, hash };
  const { answer, replayed } = await answerOnce(call.app, once, async (store) => {
    let kept: KeptAnswer | undefined;
    call.keep = async (tx, early) => {
      kept = present(early);
      await store(tx, kept);
    };
    const late = await route.handle(call);
    return kept ?? present(late);
  });
  return replayed ? markReplayed(visit, answer) : answer;
}

/**
 * For one whose role is too low now: what the same request was answered when it was not, as that
 * answer may have been lost. Throws the refusal for whatever else is asked, and leaves no trace of it.
 */
export async function answerAgain(
  app: App,
  route: Route,
  visit: Visit,
  { actor, refusal }: { actor: Actor; refusal: AppError },
): Promise<KeptAnswer> {
  const key = visit.request.headers.get('idempotency-key');
  if (key === null || !takesIdempotencyKey(route)) throw refusal;
  const used = { caller: idOf(actor), key };
  const answer = await answeredBefore(app, used, async () => {
    const body = readBodyOf(app, route, visit.request).catch(() => {
      throw refusal;
    });
    return hashOf(route, visit, { actor, ...(await body) });
  });
  if (!answer) throw refusal;
  return markReplayed(visit, answer);
}

function markReplayed({ fields }: Visit, answer: KeptAnswer): KeptAnswer {
  fields['idempotent-replayed'] = 'true';
  return answer;
}

interface Asked {
  /** Null on a public route. */
  actor: Actor | null;
  body: unknown;
  raw: Uint8Array;
}

function callerOf({ linkToken }: Route, { actor, body }: Asked): string {
  return linkToken ? `link:${sha256(linkToken(body))}` : idOf(actor!);
}

const idOf = ({ keyId, sessionId }: Actor): string => (keyId ?? sessionId)!;

function hashOf(
  { operation }: Route,
  { pathname, search }: Visit,
  { actor, body, raw }: Asked,
): Promise<string> {
  const livemode = actor?.livemode ?? null;
  return requestHash([operation, pathname, search, livemode, body ?? null], raw);
}
