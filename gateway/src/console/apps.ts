// The console's section for apps: what signs a partner's members in.
import type {
  AppAnswer,
  AppInput,
  AppRefusal,
  ManagedApp,
} from '@partner-loyalty/runtime/manage/apps.ts';
import { codeBlock } from '../pages/frame.ts';
import { type Html, html } from '../pages/html.ts';
import { noticeBox } from '../sign-in/cards.ts';
import type { Manage } from './manage.ts';
import { action, badge, disclosure, empty, facts, field, utc } from './parts.ts';
import { ConsoleError, type Section } from './section.ts';

const PATH = '/console/apps';
const GUIDES = html`<a href="/docs/guides/sign-in-web">Sign-in on the web</a>,
<a href="/docs/guides/sign-in-mobile">sign-in in mobile apps</a>`;

const REFUSALS: Readonly<Record<Exclude<AppRefusal['refused'], 'invalid'>, string>> = {
  unknown: 'There is no such app any more.',
  tooMany: 'You have as many apps as a partner may have. Remove one first.',
  public: 'The app is public: it has no secret.',
  firstParty: 'Only the operator of this service can change a first-party app. Ask there.',
  noPartner: 'Apps are not set up for you yet. Ask the operator of this service.',
};
const ARGUMENTS = {
  name: 'The name',
  redirectUris: 'Each redirect URI',
  origins: 'Each origin',
};

export function createAppsSection({ apps: manage }: Pick<Manage, 'apps'>): Section {
  return {
    name: 'apps',
    title: 'Apps',
    async show(visit) {
      const { apps } = done(await manage(visit, 'list', {}));
      return listPage(apps, visit.staff.role === 'admin');
    },
    async submit(visit, form) {
      const clientId = field(form, 'app');
      switch (form.get('action')) {
        case 'create':
          return readyPage(done(await manage(visit, 'create', appIn(form))), true);
        case 'rotate':
          return readyPage(done(await manage(visit, 'rotate', { clientId })), false);
        case 'remove':
          done(await manage(visit, 'remove', { clientId }));
          return undefined;
        default:
          throw new ConsoleError('Use one of the buttons on this page.');
      }
    },
  };
}

function done<Answer extends AppAnswer<'list' | 'create' | 'rotate' | 'remove'>>(
  answer: Answer,
): Exclude<Answer, AppRefusal> {
  if (!('refused' in answer)) return answer as Exclude<Answer, AppRefusal>;
  throw new ConsoleError(
    answer.refused === 'invalid'
      ? `${ARGUMENTS[answer.argument]} ${answer.fault}.`
      : REFUSALS[answer.refused],
  );
}

function appIn(form: URLSearchParams): AppInput<'create'> {
  const lines = (name: string) => field(form, name).split(/\s+/).filter(Boolean);
  const origins = lines('origins');
  return {
    name: field(form, 'name'),
    redirectUris: lines('redirects'),
    ...(origins.length > 0 && { origins }),
    isConfidential: form.get('kind') === 'confidential',
  };
}

function listPage(apps: ManagedApp[], isAdmin: boolean): Html {
  const items = apps.map((app) => {
    const { name, kind, isFirstParty, clientId, redirectUris, origins, createdAt } = app;
    return html`<li><div class="line"><h2>${name}</h2>
${badge('idle', kind === 'public' ? 'Public' : 'Confidential')}
${isFirstParty ? badge('good', 'First-party') : ''}</div>
${facts([
  ['Client ID', html`<code>${clientId}</code>`],
  ['Redirect URIs', listOf(redirectUris)],
  ['Origins', origins.length === 0 ? 'None' : listOf(origins)],
  ['Created', utc(createdAt)],
])}
${isAdmin && !isFirstParty ? changes(app) : ''}</li>`;
  });
  const none = empty(
    'No apps yet',
    isAdmin
      ? 'Register your web site or mobile app to let members sign in there, with any library for OpenID Connect.'
      : 'An admin among your staff can register one here.',
  );
  return html`<p class="soft">Members sign in to your apps with OpenID Connect, and agree to each once.
${GUIDES}.</p>
${apps.length === 0 ? none : html`<ul class="cases">${items}</ul>`}
${isAdmin ? disclosure('Register an app', creation(), apps.length === 0) : ''}`;
}

function listOf(values: string[]): Html {
  return html`<ul class="plain-list">${values.map((value) => html`<li><code>${value}</code></li>`)}</ul>`;
}

function changes({ clientId, name, kind }: ManagedApp): Html {
  const of = { app: clientId };
  const rotating = html`<p>You see the new secret of ${name} once. For 24 hours, the former one works too.</p>`;
  const removing = html`<p>Members can no longer sign in to ${name}, and its tokens are refused within 5
seconds. There is no undoing it.</p>`;
  return html`${
    kind === 'public'
      ? ''
      : disclosure(
          'New secret',
          action(PATH, ['rotate', 'Create a new secret', 'main'], of, rotating),
        )
  }
${disclosure('Remove', action(PATH, ['remove', 'Remove this app', 'danger'], of, removing))}`;
}

function creation(): Html {
  const fields = html`<label for="name">Name, as members see it</label>
<input id="name" name="name" maxlength="100" autocomplete="off" required>
<fieldset><legend>Where it runs</legend>
<label><input type="radio" name="kind" value="public" checked> In a browser or on a device (public):
it has no secret</label>
<label><input type="radio" name="kind" value="confidential"> On a server of yours (confidential): it
keeps a secret</label>
</fieldset>
<label for="redirects">Redirect URIs, one on each line</label>
<textarea id="redirects" name="redirects" rows="3" spellcheck="false" aria-describedby="redirect-hint"
 required></textarea>
<p class="soft" id="redirect-hint">Sign-ins lead back there, and they have to match exactly: https, or a
scheme such as com.example.app:/callback.</p>
<label for="origins">Origins of its pages, one on each line (optional)</label>
<textarea id="origins" name="origins" rows="2" spellcheck="false" aria-describedby="origin-hint"></textarea>
<p class="soft" id="origin-hint">Such as https://app.example.com. Left empty, they are those of the https
redirect URIs.</p>`;
  return action(PATH, ['create', 'Register app', 'main'], {}, fields);
}

/** A secret is on this page alone. */
function readyPage(
  { app, secret }: { app: ManagedApp; secret?: string | undefined },
  isNew: boolean,
): Html {
  const text = isNew ? `${app.name} is registered.` : `${app.name} has a new secret.`;
  const saving = html`<p>Save its secret now: it is not shown again.</p>${codeBlock('Secret', secret ?? '')}`;
  return html`${noticeBox(text, false)}
<p>Its client ID is <code>${app.clientId}</code>. ${GUIDES}.</p>
${secret === undefined ? '' : saving}
<p><a href="${PATH}">${secret === undefined ? 'Back to the apps' : 'I have saved it: back to the apps'}</a></p>`;
}
