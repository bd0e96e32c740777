/** Turns errors into problem documents (RFC 9457). */

import { AppError, ERROR_STATUS, type ErrorCode, type ParamError } from '../lib/errors.ts';
import { ERROR_TYPES } from './error-types.ts';
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

/** For an error that is logged: the client gets no details. */
export const internalError = () =>
  new AppError('internal_error', 'Something went wrong. The details are in the server log.');

export function problemOf(
  error: Pick<AppError, 'code' | 'detail' | 'params'>,
  requestId: string,
): Problem {
  const { code, detail, params } = error;
  return {
    object: 'error',
    type: `/errors/${code}`,
    title: ERROR_TYPES[code].title,
    status: ERROR_STATUS[code],
    detail,
    code,
    request_id: requestId,
    ...(params.length > 0 ? { errors: params } : {}),
  };
}

/** `fields` are the common header fields of responses. */
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
