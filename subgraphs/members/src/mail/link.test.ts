// Links in mail: the page stays as it is, with the token added.
import { linkTo, signInPage } from './link.ts';

test.each([
  ['https://inn.example/in', 'https://inn.example/in?token=T'],
  ['https://inn.example', 'https://inn.example/?token=T'],
  ['https://inn.example/in?a=b%20c&d', 'https://inn.example/in?a=b%20c&d&token=T'],
  ['https://inn.example/in?token=theirs&x=1', 'https://inn.example/in?x=1&token=T'],
  ['https://inn.example/in#/sign-in', 'https://inn.example/in?token=T#/sign-in'],
  [signInPage('https://api.example/loyalty'), 'https://api.example/loyalty/sign-in?token=T'],
])('the link to %s is %s', (page, link) => expect(linkTo(page, 'T')).toBe(link));
