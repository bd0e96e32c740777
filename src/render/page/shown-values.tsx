/** Single values from outside, made readable and harmless: text on one line, times, sizes, results. */

import type { JSX } from 'preact';
import { formatDuration, formatSize } from '../../lib/durations.ts';
import { printable } from '../../lib/log.ts';
import { State, type Tone } from './icons.tsx';

/** At most `max` characters on one line; what turns or hides text becomes a dot. */
export function oneLine(text: string, max = 1000): string {
  const cut = text.length > max ? `${text.slice(0, max)}…` : text;
  return printable(cut.replace(/\s+/g, ' ').trim());
}

/** The same with its spaces as they are: for what is to be copied. */
export function exactly(text: string, max = 4000): string {
  return printable(text.length > max ? `${text.slice(0, max)}…` : text);
}

/** The same of text with lines. */
export const linesOf = (text: string): string =>
  text
    .split(/\r\n|[\n\r]/)
    .map((line) => printable(line.replaceAll('\t', '    ')))
    .join('\n');

/** A name, an address, a record: to be read letter by letter. */
export function Code({ text, max }: { text: string; max?: number }) {
  return <code>{exactly(text, max)}</code>;
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

export const isIsoTime = (text: string): boolean =>
  ISO_TIME.test(text) && !Number.isNaN(Date.parse(text));

const TIME = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'UTC',
  dateStyle: 'medium',
  timeStyle: 'medium',
});

/** `21 Nov 2026, 10:00:05 UTC`; text that is no time stays as it is. */
export function Time({ iso }: { iso: string }) {
  if (!isIsoTime(iso)) return <>{oneLine(iso, 40)}</>;
  return <time dateTime={iso}>{`${TIME.format(new Date(iso))} UTC`}</time>;
}

export const formatCount = (count: number): string => count.toLocaleString('en');

/** `64,210 octets (63 KiB)`. */
export function formatOctets(octets: number): string {
  return octets < 1024
    ? `${formatCount(octets)} octets`
    : `${formatCount(octets)} octets (${formatSize(octets)})`;
}

export function formatSeconds(seconds: number): string {
  const length = formatDuration(Math.abs(seconds) * 1000);
  return seconds < 0 ? `−${length}` : length;
}

const RESULT_TONES: Record<string, Tone> = {
  pass: 'pass',
  temperror: 'unknown',
  none: 'fail',
  fail: 'fail',
  softfail: 'fail',
  neutral: 'fail',
  policy: 'fail',
  permerror: 'fail',
};

/** A result in the words of RFC 8601; null is "not asked". */
export function AuthState({ result, badge }: { result: string | null; badge?: boolean }) {
  const tone = result !== null && Object.hasOwn(RESULT_TONES, result) && RESULT_TONES[result];
  return (
    <State
      tone={tone || 'unknown'}
      word={result === null ? 'not asked' : oneLine(result, 20)}
      badge={badge}
    />
  );
}

export const isAuthResult = (text: string): boolean => Object.hasOwn(RESULT_TONES, text);

/** `link_status` → `Link status`, `client_ip` → `Client IP`. */
export function humanKey(key: string): string {
  const words = oneLine(key, 60).split(/[_ ]+/);
  const named = words.map((word) => {
    const upper = word.toUpperCase();
    if (PLURAL_NAMES.has(upper)) return `${upper.slice(0, -1)}s`;
    return NAMES.has(upper) ? upper : word;
  });
  const text = named.join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const NAMES = new Set(
  'ARC BIMI CSS DKIM DMARC DNS DNSSEC ESMTP HELO HTML HTTP HTTPS ID IP MIME MTA MX NUL PTR SPF SVG TLS TTL URI URL UTF'.split(
    ' ',
  ),
);
const PLURAL_NAMES = new Set('IDS IPS URIS URLS'.split(' '));

/** A box with one text of ours or theirs to copy; the button is there only where it works. */
export function Copyable({ text, label }: { text: string; label: string }): JSX.Element {
  return (
    <span class="copyable">
      <code>{text}</code>
      <button
        type="button"
        class="button copy needs-script"
        data-action="copy"
        aria-label={`Copy ${label}`}
      >
        <span aria-live="polite">Copy</span>
      </button>
    </span>
  );
}
