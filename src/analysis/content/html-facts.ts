/** The HTML of a message gone through once, for all checks that look at it. */

import type { Context } from '../check.ts';
import { scanHtml } from './html-scan.ts';

export interface HtmlLink {
  /** The address as written, entities decoded, white space at its ends taken off. */
  href: string;
  /** What a reader sees of it: the text between its tags, or the alt text of an image in it; white space collapsed. */
  text: string;
  tag: 'a' | 'area';
  /** What else names it: its `title` and `aria-label`, and the alt text of its images; at most 900 characters. */
  label: string;
  /** The text that a reader sees before it, at most 120 characters, and after it, at most 60. */
  before: string;
  after: string;
}

export interface HtmlImage {
  /** As written; `cid:…`, `data:…` (cut to 100 characters) and remote ones. */
  src: string;
  /** null where the attribute is missing; an empty one says "decoration". */
  alt: string | null;
  /** Pixels as its attributes or its style say; null where they do not. */
  width: number | null;
  height: number | null;
  /** Not shown: display:none, or inside of what is hidden. */
  hidden: boolean;
  /** The link that it is in; null where it is in none of those in `links`. */
  link: HtmlLink | null;
}

export interface HiddenText {
  text: string;
  /** `display:none`, `font-size:0`, `same colour as the background`, … */
  how: string;
  /** It comes before all visible text: what a mail program shows as a preview. */
  preheader: boolean;
}

export interface HtmlFacts {
  /** There is more HTML, or more work in it, than is looked at: what is not found here may lie beyond. */
  truncated: boolean;
  /** What a reader sees, white space collapsed, without hidden text. */
  text: string;
  links: HtmlLink[];
  images: HtmlImage[];
  /** Distinct addresses of images shown behind others, by attribute or `style`; lower case, at most 200 characters each. */
  backgrounds: string[];
  hidden: HiddenText[];
  /** Elements and attributes that run or load something: `script`, `form`, `onclick`, `meta refresh`, … with how often. */
  active: Record<string, number>;
  /** Tags that were never closed or closed in the wrong order so that it changes what is shown: sentences. */
  structure: string[];
  /** What every element and attribute name (`table`, `a[target]`) came how often. */
  elements: Record<string, number>;
  attributes: Record<string, number>;
  /** The contents of `style` elements, joined. */
  styleSheet: string;
  /** Distinct `style` attributes, at most 1,000. */
  inlineStyles: string[];
}

/** A fact: ask for it by `context.fact(htmlFacts)`. Null where the message has no HTML. */
export function htmlFacts({ message }: Context): HtmlFacts | null {
  return message.html === null ? null : scanHtml(message.html);
}
