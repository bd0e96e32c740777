/** A person who uses a page with the keyboard alone. */

import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

export interface Keyboard {
  /** Presses Tab until the control with this name has the focus. Every control on the way must show its focus. */
  tabTo(name: string): Promise<void>;
  /** Follows a link or presses a button, and waits for the next page; or opens a fold. */
  press(name: string): Promise<void>;
  /** Replaces the text of a field. */
  fill(name: string, text: string): Promise<void>;
  /** Chooses the option of a list that begins with this text. */
  choose(name: string, option: string): Promise<void>;
  /** Checks or clears a box. */
  toggle(name: string): Promise<void>;
}

const MAX_TABS = 150;

interface Focus {
  name: string;
  element: string;
  /** The link of a row, whose name includes what stands below it. */
  isRow: boolean;
  isVisible: boolean;
}

/** Runs in the page. The name is that of a screen reader, roughly: its label, else its text. */
function readFocus(): Focus {
  const element = document.activeElement as HTMLInputElement;
  const style = getComputedStyle(element);
  const { width, height } = element.getBoundingClientRect();
  const text = (element.labels?.[0] ?? element).textContent ?? '';
  return {
    name: element.getAttribute('aria-label') ?? text.replace(/\s+/g, ' ').trim(),
    element: element === document.body ? 'body' : element.outerHTML.slice(0, 120),
    isRow: element.matches('.row-link'),
    isVisible:
      element.matches(':focus-visible') &&
      style.outlineStyle !== 'none' &&
      Number.parseFloat(style.outlineWidth) >= 2 &&
      width > 0 &&
      height > 0,
  };
}

/** Runs in the page. Links to a place on the same page and folds don't open one. */
function opensPage(): boolean {
  const element = document.activeElement as HTMLAnchorElement;
  if (element.matches('button[type=submit]')) return true;
  return element.matches('a[href]') && element.href.split('#')[0] !== location.href.split('#')[0];
}

export function keyboardOf(page: Page): Keyboard {
  const { keyboard } = page;
  const tabTo = async (name: string): Promise<void> => {
    const passed: string[] = [];
    for (let presses = 0; presses < MAX_TABS; presses++) {
      await keyboard.press('Tab');
      const focus = await page.evaluate(readFocus);
      if (focus.element !== 'body')
        assert.ok(focus.isVisible, `no visible focus: ${focus.element}`);
      if (focus.name === name || (focus.isRow && focus.name.startsWith(name))) return;
      passed.push(focus.name);
    }
    assert.fail(`Tab never reaches “${name}”, but ${[...new Set(passed)].join(', ')}`);
  };
  return {
    tabTo,
    async press(name) {
      await tabTo(name);
      const leadsOn = await page.evaluate(opensPage);
      if (leadsOn) await Promise.all([page.waitForEvent('load'), keyboard.press('Enter')]);
      else await keyboard.press('Enter');
    },
    async fill(name, text) {
      await tabTo(name);
      await keyboard.press('Control+A');
      await keyboard.type(text);
    },
    async choose(name, option) {
      await tabTo(name);
      await keyboard.type(option);
      await keyboard.press('Enter');
    },
    async toggle(name) {
      await tabTo(name);
      await keyboard.press('Space');
    },
  };
}
