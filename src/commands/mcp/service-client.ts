/** Calls operations of a running service over HTTPS, as tools in the service call them in process. */

import * as v from 'valibot';
import type { Invocation, ResultOf, Route } from '../../http/route.ts';
import type { ToolCall } from '../../http/tool.ts';
import { AppError, ERROR_STATUS, type ErrorCode } from '../../lib/errors.ts';
import { meOperations } from '../../team/me.ts';

export interface ServiceTarget {
  /** Without a slash at the end. */
  base: string;
  key: string;
}

/** More than any operation with a JSON response returns. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
/** The longest operation waits 50 s, and a domain whose servers are slow takes about as long. */
export const TIMEOUT_MS = 90_000;
/** Assistants wait for the list of tools before they start. */
const CLIENT_TIMEOUT_MS = 5_000;

/** The calls end with the signal, or after a time limit. They reject with an AppError. */
export function createServiceInvoke(
  target: ServiceTarget,
  signal: AbortSignal,
): ToolCall['invoke'] {
  return async <T extends Route>(route: T, invocation: Invocation<T> = {}) => {
    const { response, text } = await send(target, route, invocation, signal);
    const json = parsedJson(text);
    if (!response.ok) throw problemOf(target, response, json);
    const result = route.response && v.safeParse(route.response, json);
    if (!result?.success) throw notOurs(target, response);
    return result.output as ResultOf<T>;
  };
}

/** The role and the mode of the key. */
export async function readClient(target: ServiceTarget) {
  const invoke = createServiceInvoke(target, AbortSignal.timeout(CLIENT_TIMEOUT_MS));
  const { role, livemode, tags } = await invoke(meOperations.get);
  return { role, livemode, tags };
}

async function send<T extends Route>(
  { base, key }: ServiceTarget,
  route: T,
  { params = {}, query = {}, body, raw, headers = {} }: Invocation<T>,
  signal: AbortSignal,
): Promise<{ response: Response; text: string }> {
  const path = route.path.replace(/:(\w+)/g, (_, name) => encodeURIComponent(params[name]!));
  const given = Object.entries(query as Record<string, string | undefined>);
  const search = new URLSearchParams(
    given.filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  const type = route.body ? 'application/json' : route.consumes?.type;
  try {
    const response = await fetch(`${base}${path}${search.size > 0 ? `?${search}` : ''}`, {
      method: route.method,
      headers: {
        ...headers,
        ...(type ? { 'content-type': type } : {}),
        authorization: `Bearer ${key}`,
        accept: 'application/json',
      },
      ...(route.body ? { body: JSON.stringify(body ?? {}) } : raw ? { body: raw as never } : {}),
      // A redirect to another host would lose the key, and one to HTTPS has sent it in the clear.
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    return { response, text: await readText(response) };
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (signal.aborted) throw new AppError('unavailable', 'The call was cancelled.');
    const { cause } = error as { cause?: { code?: string } };
    const reason = cause?.code ?? (error as Error).name;
    throw new AppError('unavailable', `Can’t reach ${new URL(base).origin} (${reason}).`);
  }
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > MAX_RESPONSE_BYTES)
      throw new AppError(
        'internal_error',
        `The response is larger than ${MAX_RESPONSE_BYTES} bytes.`,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const Problem = v.object({
  object: v.literal('error'),
  code: v.string(),
  detail: v.string(),
  errors: v.optional(
    v.array(v.object({ param: v.string(), code: v.string(), message: v.string() })),
    [],
  ),
});

function problemOf(target: ServiceTarget, response: Response, json: unknown): AppError {
  const problem = v.safeParse(Problem, json);
  if (!problem.success) return notOurs(target, response);
  const { code, detail, errors } = problem.output;
  const known = Object.hasOwn(ERROR_STATUS, code) ? (code as ErrorCode) : 'internal_error';
  return new AppError(known, detail, errors);
}

/** Proxies respond with pages of their own while the service is away. */
function notOurs({ base }: ServiceTarget, response: Response): AppError {
  const { status } = response;
  const { origin } = new URL(base);
  const location = response.headers.get('location');
  const advice =
    location !== null && URL.canParse(location, base)
      ? ` It leads to ${new URL(location, base).origin}: set DELIVERABILITY_URL to the final URL.`
      : status >= 500
        ? ''
        : ' Check DELIVERABILITY_URL, and that the service and this program have the same version.';
  return new AppError(
    status >= 500 ? 'unavailable' : 'internal_error',
    `${origin} returned HTTP ${status}, but not the expected response.${advice}`,
  );
}
