/** What Google and Microsoft publish in the demo. It fits the messages: the newsletter of one sender is not authenticated. */

import { isoTime } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { BAD, DEMO_MAILS, GOOD } from './mails.ts';

const DAYS = 30;
/** Google publishes a day two days later. */
const LATE_DAYS = 2;

/** What Google publishes about a domain. */
export interface GmailFigures {
  /** By day, then by metric and filter. A day without enough mail is missing. */
  days: Map<string, Record<string, number>>;
  /** By requirement. */
  requirements: Record<string, string>;
}

const REQUIREMENTS = [
  'SPF',
  'DKIM',
  'SPF_AND_DKIM',
  'DMARC_POLICY',
  'DMARC_ALIGNMENT',
  'MESSAGE_FORMATTING',
  'DNS_RECORDS',
  'ENCRYPTION',
  'USER_REPORTED_SPAM_RATE',
  'ONE_CLICK_UNSUBSCRIBE',
  'HONOR_UNSUBSCRIBE',
];
const NOT_MET = [
  'SPF',
  'DKIM',
  'SPF_AND_DKIM',
  'DMARC_ALIGNMENT',
  'DNS_RECORDS',
  'USER_REPORTED_SPAM_RATE',
  'ONE_CLICK_UNSUBSCRIBE',
];

const requirements = (notMet: string[]) =>
  Object.fromEntries(
    REQUIREMENTS.map((name) => [name, notMet.includes(name) ? 'NEEDS_WORK' : 'COMPLIANT']),
  );

const reject = (reason: string) =>
  `DELIVERY_ERROR_RATE error_type = "reject" AND error_reason = "${reason}"`;

/** `age`: how many days ago it was. `wave`: from -1 to 1, so that no two days are the same. */
type DayFigures = (age: number, wave: number) => Record<string, number>;

const authentication = (spf: number, dkim: number, dmarc: number) => ({
  'AUTH_SUCCESS_RATE auth_type = "spf"': spf,
  'AUTH_SUCCESS_RATE auth_type = "dkim"': dkim,
  'AUTH_SUCCESS_RATE auth_type = "dmarc"': dmarc,
  'TLS_ENCRYPTION_RATE traffic_direction = "inbound"': 1,
});

const goodDay: DayFigures = (_age, wave) => ({
  ...authentication(0.998, 1, 1),
  SPAM_RATE: 0.0003 + 0.0002 * wave,
  'TLS_ENCRYPTION_MESSAGE_COUNT traffic_direction = "inbound"': 2400 + Math.round(300 * wave),
});

/** How many days ago the newsletter moved to another server. */
export const MOVED_AGE = 14;
/** Of the messages of the bad sender. */
export const passedShare = (age: number): number => (age <= MOVED_AGE ? 0.41 : 0.97);

/** Since the newsletter moved, more people report it. */
const badDay: DayFigures = (age, wave) => {
  const moved = age <= MOVED_AGE;
  const passed = passedShare(age) + 0.02 * wave;
  const rejected = moved ? 0.06 + 0.01 * wave : 0.002;
  return {
    ...authentication(passed, passed, passed),
    SPAM_RATE: (moved ? 0.0045 - 0.0002 * age : 0.0008) + 0.0002 * wave,
    'TLS_ENCRYPTION_MESSAGE_COUNT traffic_direction = "inbound"': 1800 + Math.round(200 * wave),
    'DELIVERY_ERROR_RATE error_type = "reject"': rejected,
    [reject('low_ip_reputation')]: rejected * 0.6,
    [reject('bad_or_missing_ptr_record')]: moved ? rejected * 0.3 : 0,
    [reject('spammy_content')]: rejected * 0.1,
  };
};

/** By domain. `now`: in milliseconds. */
export function gmailFigures(now: number): Map<string, GmailFigures> {
  const daysOf = (figures: DayFigures) =>
    new Map(
      Array.from({ length: DAYS }, (_, i) => i + LATE_DAYS)
        // On some days, too little mail was sent.
        .filter((age) => age % 9 !== 7)
        .map((age) => [dayAgo(now, age), figures(age, Math.sin(age * 2))]),
    );
  return new Map([
    [GOOD, { days: daysOf(goodDay), requirements: requirements([]) }],
    [BAD, { days: daysOf(badDay), requirements: requirements(NOT_MET) }],
  ]);
}

const [GOOD_ADDRESS, BAD_ADDRESS] = DEMO_MAILS.map(({ clientIp }) => clientIp);
/** The server that SPF of the bad sender allows. */
export const OLD_ADDRESS = '198.51.100.1';

/** The lines that SNDS has about a day, and about the state of the addresses if there is no day. */
export function outlookFigures(now: number, day: string | null): string {
  if (day === null)
    return [
      [GOOD_ADDRESS, GOOD_ADDRESS, 'No', ''],
      [OLD_ADDRESS, OLD_ADDRESS, 'No', ''],
      [
        BAD_ADDRESS,
        BAD_ADDRESS,
        'Yes',
        'Blocked due to user complaints or other evidence of spamming',
      ],
    ]
      .map(line)
      .join('');
  const age = Math.floor((now - Date.parse(day)) / DAY_MS);
  if (!(age >= 1 && age <= DAYS)) return '';
  const [year, month, date] = day.split('-').map(Number);
  const sent = 900 + 20 * (age % 7);
  const activity = (address: string | undefined, result: string, complaints: string) => [
    address,
    ...[' 12:00 AM', ' 11:00 PM'].map((time) => `${month}/${date}/${year}${time}`),
    sent,
    sent,
    sent - 12,
    result,
    complaints,
    ...Array(6).fill(''),
  ];
  const lines = [
    activity(GOOD_ADDRESS, 'GREEN', '< 0.1%'),
    activity(OLD_ADDRESS, 'GREEN', '< 0.1%'),
  ];
  if (age <= MOVED_AGE) lines.push(activity(BAD_ADDRESS, age > 9 ? 'YELLOW' : 'RED', '0.9%'));
  return lines.map(line).join('');
}

const line = (cells: unknown[]): string => `${cells.join(',')}\r\n`;

export const dayAgo = (now: number, age: number): string =>
  isoTime(now - age * DAY_MS).slice(0, 10);
