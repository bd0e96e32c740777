/** What each error code means and what to do about it: for problem documents, `/errors/<code>`, and the API reference. */

import type { ErrorCode } from '../lib/errors.ts';

export interface ErrorType {
  /** The title of problem documents. */
  title: string;
  /** Full sentences, with `code` in backticks. */
  meaning: string;
  action: string;
}

export const ERROR_TYPES: Record<ErrorCode, ErrorType> = {
  malformed_json: {
    title: 'Malformed JSON',
    meaning: "The request body isn't valid JSON.",
    action: 'Send one JSON object in UTF-8. `detail` says what is wrong with it.',
  },
  malformed_request: {
    title: 'Malformed request',
    meaning: "The request can't be read.",
    action: 'Send a complete, valid HTTP request. `detail` says what is wrong with it.',
  },
  unexpected_body: {
    title: 'Unexpected request body',
    meaning: 'The operation has no parameters in the request body, but the request has a body.',
    action:
      'Remove the body. An empty JSON object is accepted too. If you meant to send parameters, look up the operation in the API reference.',
  },
  invalid_cursor: {
    title: 'Invalid cursor',
    meaning:
      "`starting_after` or `ending_before` isn't the ID of an object in this list. The object may have been deleted.",
    action:
      'Send the ID of another object of the last page, or start again at the first page. `errors` names the parameter.',
  },
  unauthenticated: {
    title: 'Authentication required',
    meaning: 'The credentials are missing, invalid, expired or revoked.',
    action:
      'Send a valid API key as `Authorization: Bearer <key>`, or sign in again in your browser.',
  },
  forbidden: {
    title: 'Forbidden',
    meaning:
      "The caller isn't allowed to do this. `detail` gives the reason, such as the required role.",
    action: 'Use credentials with the required role, or ask an admin of your team.',
  },
  live_mode_required: {
    title: 'Live mode required',
    meaning:
      'The request was sent with a test-mode key, but it changes an object that has no test mode.',
    action: 'Use a live API key (`dlv_live_…`), or sign in.',
  },
  not_found: {
    title: 'Not found',
    meaning: "The path or object doesn't exist.",
    action: 'Check the URL and the ID. A key finds only objects of its own mode, live or test.',
  },
  method_not_allowed: {
    title: 'Method not allowed',
    meaning: "The path doesn't support this method. `Allow` lists the supported ones.",
    action: 'Use one of the methods in the `Allow` header.',
  },
  conflict: {
    title: 'Conflict',
    meaning:
      'The request conflicts with the current state of the object. `detail` gives the reason.',
    action: 'Get the object, resolve the conflict, then try again.',
  },
  idempotency_in_progress: {
    title: 'Request in progress',
    meaning: 'The first request with this idempotency key is still running.',
    action: 'Wait for the number of seconds in `Retry-After`, then send the same request again.',
  },
  gone: {
    title: 'No longer available',
    meaning: 'The link or invitation was used, replaced, or revoked, or has expired.',
    action: 'Ask for a new link or invitation.',
  },
  precondition_failed: {
    title: 'Precondition failed',
    meaning: 'The object has changed since you read it.',
    action: 'Get the object, apply your change to it, and send its new `ETag` as `If-Match`.',
  },
  body_too_large: {
    title: 'Request body too large',
    meaning: 'The request body is too large.',
    action: 'Send a smaller body. `detail` gives the limit.',
  },
  unsupported_media_type: {
    title: 'Unsupported content type',
    meaning: "The operation doesn't accept this content type.",
    action: 'Send the content type that `detail` names.',
  },
  validation_failed: {
    title: 'Invalid parameters',
    meaning: 'One or more parameters are invalid. `errors` lists them.',
    action: 'Correct each parameter in `errors`, then send the request again.',
  },
  idempotency_mismatch: {
    title: 'Idempotency key reused',
    meaning: 'The idempotency key was used for a different request.',
    action: 'Use a new `Idempotency-Key` for each request, and the same one only for retries.',
  },
  rate_limited: {
    title: 'Too many requests',
    meaning: 'You sent too many requests. `Retry-After` gives the number of seconds to wait.',
    action: 'Wait for the number of seconds in `Retry-After`, then try again.',
  },
  internal_error: {
    title: 'Internal error',
    meaning: 'An unexpected error occurred. Look up the `request_id` in the server log.',
    action: 'Try again later. If the error remains, send the `request_id` to your administrator.',
  },
  unavailable: {
    title: 'Temporarily unavailable',
    meaning: 'The service is temporarily unavailable. Try again later.',
    action: 'Wait for the number of seconds in `Retry-After`, or for a few seconds without it.',
  },
};
