/** Reads messages in request bodies. All that are being handled share a limited amount of memory. */

import type { App } from '../app.ts';
import { AppError } from '../lib/errors.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import { createMessageBuffer, type MemoryBudget } from '../lib/message-memory.ts';
import type { RequestContext } from './request-context.ts';

/** Two messages of the default maximum size, and many normal ones beside them. */
export const UPLOAD_MEMORY_BYTES = 64 * 1024 * 1024;

const memoryOf = memoizePerObject(
  ({ config }: App): MemoryBudget => ({
    usedBytes: 0,
    limit: Math.max(UPLOAD_MEMORY_BYTES, config.SMTP_MAX_SIZE),
  }),
);

/**
 * Reads a body of up to `max` bytes. Its memory is released after the response. Throws `body_too_large`,
 * `malformed_request` for an incomplete body, and `unavailable` if the uploads in progress use all memory.
 */
export async function readUpload(
  app: App,
  context: Pick<RequestContext, 'request' | 'afterResponse'>,
  max: number,
): Promise<Uint8Array> {
  const { body, headers } = context.request;
  if (Number(headers.get('content-length') ?? 0) > max) throw bodyTooLarge(max);
  const buffer = createMessageBuffer(max, memoryOf(app));
  context.afterResponse.push(buffer.free);
  try {
    for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
      buffer.add(chunk);
      // Without memory it reads on: many clients miss a response that arrives during their upload.
      if (buffer.exceeded() === 'size') break;
    }
  } catch {
    throw incompleteBody();
  }
  const message = buffer.message();
  if (message) return message;
  throw buffer.exceeded() === 'size' ? bodyTooLarge(max) : tooManyUploads();
}

export const bodyTooLarge = (max: number) =>
  new AppError('body_too_large', `The request body is larger than ${max} bytes.`);

export const incompleteBody = () =>
  new AppError('malformed_request', 'The request body is incomplete. Send it again.');

const tooManyUploads = () =>
  new AppError(
    'unavailable',
    'Too many large messages are being uploaded. Try again in 5 seconds.',
    [],
    { 'retry-after': '5' },
  );
