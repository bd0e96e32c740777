/**
 * Fills in how a message was sent, as soon as its file is chosen or its source is pasted. What the member typed stays. The
 * service reads the same values if this script does not run.
 */

import { announce } from './announce.ts';

const FIELDS = ['client_ip', 'helo', 'mail_from'] as const;

interface Receipt {
  summary: string;
  envelope: Record<(typeof FIELDS)[number], string | null>;
}

/** The service reads no more of a header. */
const MAX_HEADER_BYTES = 256 * 1024;

let reading = new AbortController();

/** `source`: the field of the file, or of the pasted text. */
export async function fillInReceipt(source: HTMLInputElement | HTMLTextAreaElement): Promise<void> {
  const form = source.form!;
  const file = source instanceof HTMLInputElement ? source.files?.[0] : new Blob([source.value]);
  reading.abort();
  reading = new AbortController();
  const { signal } = reading;
  const header = await headerOf(file ?? new Blob());
  const receipt = header.size === 0 ? null : await read(form, header, signal);
  if (!signal.aborted) show(form, receipt);
}

/** Up to the empty line. A pasted message often begins with others. */
async function headerOf(file: Blob): Promise<Blob> {
  const start = await file.slice(0, MAX_HEADER_BYTES).arrayBuffer();
  // One character for each byte.
  const text = new TextDecoder('latin1').decode(start);
  const first = text.search(/[^\r\n]/);
  if (first < 0) return new Blob();
  const end = text.slice(first).search(/\r?\n\r?\n/);
  return new Blob([start.slice(first, end < 0 ? undefined : first + end)]);
}

/** null if the service could not read it. It reports the problem when the form is submitted. */
async function read(
  form: HTMLFormElement,
  body: Blob,
  signal: AbortSignal,
): Promise<Receipt | null> {
  try {
    const response = await fetch(form.dataset.receipt!, {
      method: 'POST',
      headers: { 'content-type': 'message/rfc822', accept: 'application/json' },
      body,
      signal,
    });
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

function show(form: HTMLFormElement, receipt: Receipt | null): void {
  const notice = form.querySelector<HTMLElement>('[data-receipt-summary]')!;
  const summary = receipt?.summary ?? '';
  notice.querySelector('p')!.textContent = summary;
  notice.hidden = receipt === null;
  announce(summary);
  for (const name of FIELDS) {
    const field = form.elements.namedItem(name) as HTMLInputElement;
    const value = receipt?.envelope[name] ?? '';
    if (field.value === (field.dataset.read ?? '')) field.value = value;
    field.dataset.read = value;
  }
  const details = form.querySelector('details')!;
  details.open ||= receipt?.envelope.client_ip != null;
}

/** What was read and not changed is the file's own, and the service reads it again. */
export function omitUnchanged(form: HTMLFormElement, data: FormData): void {
  const fields = FIELDS.map((name) => form.elements.namedItem(name) as HTMLInputElement | null);
  // With another address, the HELO name on the page is what the member means, even if it is that of the file.
  if (fields.every((field) => field?.value === field?.dataset.read))
    for (const name of FIELDS) if (data.has(name)) data.set(name, '');
}
