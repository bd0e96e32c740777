/** Problem documents (RFC 9457): the one place where an error becomes an answer. */

import { type AppError, ERROR_STATUS, type ErrorCode, type ParamError } from '../lib/errors.ts';
import type { HeaderFields } from './response.ts';

export const PROBLEM_TYPE = 'application/problem+json';

export interface Problem {
  object: 'error';
  type: string;
  title: string;
  status: number;
  detail: string;
  code: ErrorCode;
  request_id: string;
  errors?: ParamError[];
}

const TITLES: Record<ErrorCode, string> = {
  malformed_json: 'The body is not JSON',
  malformed_request: 'The request cannot be read',
  unauthenticated: 'No valid credentials',
  forbidden: 'Not allowed',
  not_found: 'Not found',
  method_not_allowed: 'Method not allowed',
  conflict: 'Conflict',
  idempotency_in_progress: 'The same request is still running',
  gone: 'No longer there',
  precondition_failed: 'The object has changed',
  body_too_large: 'The body is too large',
  unsupported_media_type: 'Unsupported content type',
  validation_failed: 'Some values are wrong',
  idempotency_mismatch: 'The key was used for another request',
  rate_limited: 'Too many requests',
  internal_error: 'Internal error',
  unavailable: 'Not available',
};

/** The document of an error, for this request. */
export function problemOf(
  error: Pick<AppError, 'code' | 'detail' | 'params'>,
  requestId: string,
): Problem {
  const { code, detail, params } = error;
  return {
    object: 'error',
    type: `/errors/${code}`,
    title: TITLES[code],
    status: ERROR_STATUS[code],
    detail,
    code,
    request_id: requestId,
    ...(params.length > 0 ? { errors: params } : {}),
  };
}

/** `fields` are those of every answer. */
export function problemResponse(
  error: AppError,
  requestId: string,
  fields: HeaderFields,
): Response {
  const problem = problemOf(error, requestId);
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: {
      ...fields,
      'content-type': PROBLEM_TYPE,
      'x-request-id': requestId,
      'cache-control': 'no-store',
      ...error.headers,
    },
  });
}
