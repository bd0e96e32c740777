/** What a form sends, and what is said where it cannot be taken. */

import * as v from 'valibot';
import { AppError } from '../lib/errors.ts';

const MAX_BYTES = 16 * 1024;

/** For routes that take a form (URL Standard §5). */
export const FORM = { type: 'application/x-www-form-urlencoded', maxBytes: () => MAX_BYTES };

/** What a page says that it was led to by a form; what else an address carries never comes so far. */
export const PageQuery = v.strictObject({ done: v.optional(v.string()) });

/** A field as it was sent; empty where it is missing. */
export function readForm(raw: Uint8Array): (name: string) => string {
  const fields = new URLSearchParams(new TextDecoder().decode(raw));
  return (name) => fields.get(name) ?? '';
}

/** What is wrong with each field, in a sentence. */
export type Wrong = Record<string, string | undefined>;

export const anyWrong = (wrong: Wrong): boolean => Object.values(wrong).some(Boolean);

/** A fault of `AppError` as a sentence for a field: "must be …" becomes "It must be …". */
export const asSentence = (message: string): string => `It ${message}.`;

/** Calls `work`; an AppError of one of these codes is given back, everything else is thrown on. */
export async function refused<T>(
  codes: AppError['code'][],
  work: () => Promise<T>,
): Promise<{ done: T; error: null } | { done: null; error: AppError }> {
  try {
    return { done: await work(), error: null };
  } catch (error) {
    if (error instanceof AppError && codes.includes(error.code)) return { done: null, error };
    throw error;
  }
}
