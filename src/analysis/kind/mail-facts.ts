/** What the signs of the kind read: the words of a message, its links and its layout, all bounded. */

import type { Context } from '../check.ts';
import { type HtmlFacts, htmlFacts, isTiny } from '../html/facts.ts';
import { type MessageLink, messageLinks } from '../links/links.ts';
import {
  clearlyMentionsUnsubscribe,
  isMailUnsubscribeLink,
  listUnsubscribeUrls,
  unsubscribeLinks,
} from '../links/unsubscribe.ts';
import { withoutComments } from '../mime/mail-date.ts';
import { fields, type Message } from '../mime/message.ts';
import { type SenderPart, senderPart } from '../quotes/sender-part.ts';
import { countWords, plainWords } from '../text.ts';
import { isLanguageKnown } from './language.ts';
import { findPhrases, joinTexts, type SearchedText, searchedText } from './phrase-search.ts';
import { DISCOUNT_WORDS } from './phrases.ts';

export interface MailFacts {
  message: Message;
  /** Without quoted and forwarded messages, like all other facts. */
  own: SenderPart;
  subject: SearchedText;
  body: SearchedText;
  subjectAndBody: SearchedText;
  /** The texts of links; without HTML, the whole text. */
  buttons: SearchedText;
  /** The first lines of the text. */
  opening: SearchedText;
  /** Whether its language is one with phrases; null if it has too few words to tell. */
  isLanguageKnown: boolean | null;
  /** The values of Precedence and Auto-Submitted, in lower case without comments; empty if missing. */
  precedence: string;
  autoSubmitted: string;
  hasUnsubscribeLink: boolean;
  hasUnsubscribeWords: boolean;
  offersPercentage: boolean;
  /** The number of prices. */
  prices: number;
  /** The first query parameter that campaign tools add; null if there is none. */
  campaignParameter: string | null;
  clickTracking: boolean;
  productLinks: number;
  /** The number of social networks that it links to. */
  socialNetworks: number;
  links: number;
  images: number;
  words: number;
  /** At most a few words, and an image that is a link or large. */
  isImageOnly: boolean;
  /** HTML with a layout: tables for it, headings, or several images. */
  hasLayout: boolean;
}

/** Whether the message has a field of that name. */
export const hasField = ({ message }: Pick<MailFacts, 'message'>, name: string): boolean =>
  fields(message, name).length > 0;

// An offer is near the top and a footer at the end: the middle of a very long text shows nothing new.
const MAX_HEAD = 40_000;
const MAX_TAIL = 10_000;
const MAX_SUBJECT = 1000;
/** What a reader sees first. */
const MAX_OPENING = 400;
const MAX_BUTTONS = 20_000;
const MAX_ALT = 5000;
const MAX_PREHEADER = 500;
const MAX_FIELD = 200;

const excerpt = (text: string): string =>
  text.length <= MAX_HEAD + MAX_TAIL ? text : `${text.slice(0, MAX_HEAD)} ${text.slice(-MAX_TAIL)}`;

/** A fact: call `context.fact(mailFacts)`. */
export function mailFacts(context: Context): MailFacts {
  const { message } = context;
  const html = context.fact(htmlFacts);
  const links = context.fact(messageLinks);
  const shownLinks = html === null ? links : links.filter(({ source }) => source === 'html');
  const own = context.fact(senderPart);
  const visible = html?.text ?? own.text ?? '';
  const text = excerpt(`${preheaderOf(html)} ${visible} ${altTexts(html)}`);
  const rawSubject = own.subject.slice(0, MAX_SUBJECT);
  const subject = searchedText(plainWords(rawSubject, MAX_SUBJECT));
  const body = searchedText(plainWords(text, text.length));
  const urls = shownLinks.flatMap(({ url }) => (url === null ? [] : [url]));
  const prose = `${rawSubject}\n${text}`;
  return {
    message,
    own,
    subject,
    body,
    subjectAndBody: joinTexts(subject, body),
    opening: searchedText(plainWords(visible.slice(0, MAX_OPENING), MAX_OPENING)),
    isLanguageKnown: isLanguageKnown(`${rawSubject} ${visible.slice(0, MAX_HEAD)}`),
    buttons: html === null ? body : buttonsOf(shownLinks),
    precedence: wordOf(message, 'precedence'),
    autoSubmitted: wordOf(message, 'auto-submitted'),
    hasUnsubscribeLink: context
      .fact(unsubscribeLinks)
      .some((link) => isMailUnsubscribeLink(link, context.fact(listUnsubscribeUrls))),
    // In a conversation, they are a request.
    hasUnsubscribeWords:
      own.relation === null && clearlyMentionsUnsubscribe(visible.slice(-MAX_FOOTER)),
    offersPercentage: offersPercentage(prose),
    prices: countPrices(prose),
    campaignParameter: firstCampaignParameter(urls),
    clickTracking: [...new Set(urls.map(({ hostname }) => hostname))].some(isClickTracker),
    productLinks: new Set(urls.filter(isProductLink).map(({ host, pathname }) => host + pathname))
      .size,
    socialNetworks: countNetworks(shownLinks),
    links: shownLinks.length,
    ...layoutOf(html, visible, (context.template?.tags.length ?? 0) === 0),
  };
}

function wordOf(message: Message, name: string): string {
  const value = fields(message, name)[0]?.value.slice(0, MAX_FIELD) ?? '';
  return withoutComments(value).trim().toLowerCase();
}

/** The part of the text in which `clearlyMentionsUnsubscribe` looks. */
const MAX_FOOTER = 2000;

const preheaderOf = (html: HtmlFacts | null): string =>
  html?.hidden.find(({ preheader }) => preheader)?.text.slice(0, MAX_PREHEADER) ?? '';

const altTexts = (html: HtmlFacts | null): string =>
  (html?.images ?? [])
    .filter(({ hidden }) => !hidden)
    .map(({ alt }) => alt?.slice(0, 300) ?? '')
    .join(' ')
    .slice(0, MAX_ALT);

function buttonsOf(links: MessageLink[]): SearchedText {
  const texts = links.map(
    ({ text, label }) => `${text?.slice(0, 200) ?? ''} ${label.slice(0, 200)}`,
  );
  return searchedText(plainWords(texts.join(' | ').slice(0, MAX_BUTTONS), MAX_BUTTONS));
}

// Layout and images.

const MAX_IMAGE_ONLY_WORDS = 25;
const MIN_LARGE_WIDTH = 300;
const MIN_LAYOUT_IMAGES = 3;

/** People rarely use them in an email program. */
const LAYOUT_ELEMENTS = ['table', 'h1', 'h2', 'h3', 'button', 'center'];

function layoutOf(
  html: HtmlFacts | null,
  visible: string,
  isWhole: boolean,
): Pick<MailFacts, 'images' | 'words' | 'isImageOnly' | 'hasLayout'> {
  const words = countWords(visible.slice(0, MAX_HEAD));
  const shown = (html?.images ?? []).filter((image) => !image.hidden && !isTiny(image));
  const hasMainImage = shown.some(
    ({ link, width }) => link !== null || width === null || width >= MIN_LARGE_WIDTH,
  );
  return {
    images: shown.length,
    words,
    isImageOnly: isWhole && words <= MAX_IMAGE_ONLY_WORDS && hasMainImage,
    hasLayout:
      LAYOUT_ELEMENTS.some((name) => (html?.elements[name] ?? 0) > 0) ||
      shown.length >= MIN_LAYOUT_IMAGES,
  };
}

// Percentages and prices. Every pattern has a fixed length, so that the time is linear.

const PERCENTAGE = /\d{1,2}\s?[%％]|[1-9](?:\.\d)?\s?折/gu;
const MAX_PERCENTAGES = 50;
const NEAR = 30;

/** Whether a percentage stands next to a word for a discount; a tax rate does not. */
function offersPercentage(text: string): boolean {
  let count = 0;
  for (const { 0: found, index } of text.matchAll(PERCENTAGE)) {
    count += 1;
    if (count > MAX_PERCENTAGES) return false;
    if (found.endsWith('折')) return true;
    // "-50 %" needs no word.
    if (/(?:^|\s)[-–−]\s?$/.test(text.slice(Math.max(0, index - 3), index))) return true;
    const near = text.slice(Math.max(0, index - NEAR), index + found.length + NEAR);
    if (findPhrases(DISCOUNT_WORDS, searchedText(plainWords(near, near.length)), 1).length > 0)
      return true;
  }
  return false;
}

const PRICE =
  /[€$£¥￥]\s?\d|(?:USD|EUR|GBP|CHF|PLN|BRL|R\$)\s?\d|\d[.,]\d\d\s?(?:€|zł|USD|EUR|GBP|CHF|PLN)|\d\s?[円元€]/g;
const MAX_PRICES = 100;

function countPrices(text: string): number {
  let count = 0;
  for (const _ of text.matchAll(PRICE)) {
    count += 1;
    if (count >= MAX_PRICES) break;
  }
  return count;
}

// Links.

/** Query parameters by which campaign tools recognize a visit. Those of any tool begin with `utm_`. */
const CAMPAIGN_PARAMETERS = new Set(
  [
    'utm_campaign utm_source utm_medium utm_content utm_term mc_cid mc_eid _hsenc _hsmi mkt_tok',
    'ck_subscriber_id _ke _kx vero_id elqtrackid elqtrack sc_campaign pk_campaign mtm_campaign',
    'at_campaign dm_i trk_contact trk_msg ml_subscriber ml_subscriber_hash wickedid cm_mmc s_cid',
    'bbeml rb_clickid hsctatracking __s emci emdi iterable_campaign bxid cmpid campaignid campaign_id',
  ]
    .join(' ')
    .split(' '),
);
const MAX_QUERY = 2000;

function firstCampaignParameter(urls: URL[]): string | null {
  for (const url of urls) {
    const name = campaignParameter(url);
    if (name !== null) return name;
  }
  return null;
}

function campaignParameter({ search }: URL): string | null {
  if (search === '') return null;
  const names = search
    .slice(1, MAX_QUERY)
    .split('&')
    .map((pair) => pair.split('=', 1)[0]!.toLowerCase());
  return names.find((name) => CAMPAIGN_PARAMETERS.has(name)) ?? null;
}

/** Domains that count clicks for sending services, with their subdomains. */
const CLICK_TRACKERS = new Set(
  [
    'list-manage.com list-manage1.com list-manage2.com mailchi.mp mandrillapp.com awstrack.me',
    'hubspotlinks.com hubspotemail.net hs-sites.com klclick.com klclick1.com klclick2.com klclick3.com',
    'rs6.net createsend.com createsend1.com createsend4.com cmail19.com cmail20.com mjt.lu',
    'sendibt2.com sendibt3.com sendibm1.com sendibm2.com sendibm3.com exct.net mkt.com mktoweb.com',
    'customeriomail.com activehosted.com acemlna.com acemlnb.com acemlnc.com convertkit-mail.com',
    'convertkit-mail2.com ck.page beehiiv.com substack.com crsend.com emarsys.net mlsend.com',
    'mailerlite.com getresponse.com infusionsoft.com keap-link001.com aweber.com sailthru.com',
    'dmtrk.net pardot.com eloqua.com responsys.net bronto.com sparkpostmail.com smore.com',
    'mailjet.com sg-links.com ctctcdn.com icontact.com moosend.com omnisend.com drip.com',
    'getdrip.com sendgrid.net vrmail.com attn.tv yotpo.com',
  ]
    .join(' ')
    .split(' '),
);
/** The first label of a host of the sender that counts clicks: `click.example.com`. */
const TRACKING_LABEL = /^(?:clicks?|clk|trk|track|tracking|ablink|ct|url\d{2,6}|lnks?|etrack)\./;

function isClickTracker(hostname: string): boolean {
  if (TRACKING_LABEL.test(hostname)) return true;
  const labels = hostname.split('.');
  return labels.some((_, index) => CLICK_TRACKERS.has(labels.slice(index).join('.')));
}

const PRODUCT_PATH =
  /\/(?:products?|shop|store|item|items|dp|collections?|catalog|category|sale|deals?|offers?|artikel|produkte?|angebote?|produits?|boutique|offres?|productos?|tienda|ofertas?|prodotti|prodotto|offerte|producten|aanbiedingen|produtos?|loja|produkty|sklep)\//;

const isProductLink = ({ pathname }: URL): boolean =>
  PRODUCT_PATH.test(`${pathname.slice(0, MAX_QUERY).toLowerCase()}/`);

const NETWORKS = new Set(
  [
    'facebook.com instagram.com twitter.com x.com linkedin.com youtube.com tiktok.com pinterest.com',
    'threads.net weibo.com vk.com line.me',
  ]
    .join(' ')
    .split(' '),
);

function countNetworks(links: MessageLink[]): number {
  const found = new Set<string>();
  for (const { domain } of links) if (domain !== null && NETWORKS.has(domain)) found.add(domain);
  return found.size;
}
