// The pages of signing in: in two languages, with no script but ours.
import { createHash } from 'node:crypto';
import { messageText, signInCard } from '@partner-loyalty/runtime/pages/cards.ts';
import { type Texts, textsIn } from '@partner-loyalty/runtime/pages/language.ts';
import { cardHeaders } from '@partner-loyalty/runtime/pages/layout.ts';
import { consentPage, signOutPage } from './render.ts';

const APP = 'https://app.example';
const consent = { partnerName: 'Inn', appName: '<b>App', scopes: ['openid'], host: 'h' };
const invalid = { name: 'address', problem: 'invalid', typed: '"<b>' } as const;

const PAGES: [string, (texts: Texts) => string, RegExp][] = [
  ['address', (texts) => signInCard(invalid, '/sign-in', texts), /type="email"/],
  [
    'code',
    (texts) => signInCard({ name: 'code', address: '<i>@x' }, '/x', texts),
    /"one-time-code"/,
  ],
  ['elsewhere', (texts) => signInCard({ name: 'elsewhere' }, '', texts), /Code|code/],
  ['consent', (texts) => consentPage('/x', consent, texts), />(Agree|Zustimmen)</],
  ['sign out', (texts) => signOutPage('/x', '"<b>', texts), />(Sign out|Abmelden)</],
  ['message', (texts) => messageText(texts, 'expired'), /start over|von vorn/],
];

test.each(PAGES)('%s: in the language of the reader, with no script but ours', (_, make, has) => {
  const policy = cardHeaders([])['content-security-policy'];
  const [english, german] = ['en', 'de'].map((language) => make(textsIn(language)));
  expect(english).not.toBe(german);
  for (const [text = '', language] of [
    [english, 'en'],
    [german, 'de'],
  ]) {
    expect(text).toContain(`<html lang="${language}">`);
    expect(text).toMatch(has);
    const scripts = [...text.matchAll(/<script>(.*?)<\/script>/gs)].map(
      ([, script = '']) => script,
    );
    expect(scripts).toHaveLength(text.includes('<form') ? 1 : 0);
    for (const script of scripts)
      expect(policy).toContain(
        `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}';`,
      );
    expect(text.replace(/<script>.*?<\/script>/s, '')).not.toMatch(
      /<script|<b>|<i>|src=|undefined|\{\}/,
    );
  }
  expect(policy).toMatch(/default-src 'none'.*form-action 'self'/);
});

test('after its time, the page for the code speaks of no address', () => {
  const card = { name: 'code', address: '', problem: 'expired' } as const;
  const text = signInCard(card, '/sign-in', textsIn('en'));
  expect(text).toContain('This code has expired');
  expect(text).not.toContain('belongs to a member');
});

test('forms may lead to the app, and a policy cannot be widened by what an app registers', () => {
  const formOrigins = [APP, 'com.example.app:', 'https://x; script-src *', "'unsafe-inline'"];
  const policy = cardHeaders(formOrigins)['content-security-policy'];
  expect(policy).toContain(`; form-action 'self' ${APP} com.example.app:; base-uri`);
  expect(policy).not.toMatch(/script-src (?!'sha256-[^' ]+';)|unsafe/);
});
