/** Errors that a client causes: the code determines the HTTP status, the detail is for users. */

export const ERROR_STATUS = {
  malformed_json: 400,
  malformed_request: 400,
  unexpected_body: 400,
  invalid_cursor: 400,
  unauthenticated: 401,
  forbidden: 403,
  live_mode_required: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  idempotency_in_progress: 409,
  gone: 410,
  precondition_failed: 412,
  body_too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
  idempotency_mismatch: 422,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** One invalid field of a request. `param` is a path such as `metadata.key` or `limit`. */
export interface ParamError {
  param: string;
  code: string;
  message: string;
}

/**
 * An error that the client can fix. Any other thrown error is a bug: the response is
 * `internal_error` and does not contain its message.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly params: ParamError[];
  readonly headers: Record<string, string>;

  constructor(
    code: ErrorCode,
    detail: string,
    params: ParamError[] = [],
    headers: Record<string, string> = {},
  ) {
    super(detail);
    this.code = code;
    this.detail = detail;
    this.params = params;
    this.headers = headers;
  }
}

const MAX_NAMED = 10;
const MAX_ERRORS = 50;

/** `validation_failed` for invalid parameters; `errors` must not be empty. */
export function invalidParams(errors: ParamError[]): AppError {
  const names = [...new Set(errors.map(({ param }) => param || 'request body'))];
  const detail =
    names.length === 1
      ? detailOf(names[0]!, errors[0]!)
      : `Invalid parameters: ${names.slice(0, MAX_NAMED).join(', ')}.`;
  return new AppError('validation_failed', detail, errors.slice(0, MAX_ERRORS));
}

function detailOf(name: string, { code, message }: ParamError): string {
  if (code === 'required') return `Missing required parameter: ${name}.`;
  if (code === 'unknown_field') return `Unknown parameter: ${name}.`;
  return `Invalid ${name}: ${message}.`;
}

/** The message of any thrown value, for logs and for results that state an external failure. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Throws `validation_failed` if a list has invalid values; each gets `message`, such as "no such domain". */
export function rejectInvalidItems(
  field: string,
  values: string[],
  isInvalid: (value: string) => boolean,
  message: string,
): void {
  const errors = values.flatMap((value, i) =>
    isInvalid(value) ? [{ param: `${field}.${i}`, code: 'invalid', message }] : [],
  );
  if (errors.length === 0) return;
  throw invalidParams(errors);
}
