// A real headless Chromium for tests, the one on PATH; start.ts installs Debian's where it is missing and may be.
import type { Browser } from 'playwright-core';
import { findCommand } from './debian.ts';

// A browser that calls nobody but the pages that it is told to open.
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
];

/** The path of a Chromium, or undefined where PATH has none. */
export function findBrowser(): string | undefined {
  return findCommand('chromium') ?? findCommand('chromium-browser') ?? findCommand('google-chrome');
}

/** Starts it. Rejects where the machine has none. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === undefined)
    throw new Error('this test needs Chromium: install it so that chromium is on PATH');
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath, args: QUIET });
}
