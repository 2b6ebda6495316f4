import { useQuery } from '@tanstack/react-query';
import { request as creation } from 'request:createToken';
import { request as revocation } from 'request:revokeToken';
import { request as rotation } from 'request:rotateToken';
import { defineAction } from '../../actions/action.js';
import { slipway } from '../../api/client.js';
import type { Token } from '../../api/items.js';
import { whoQuery } from '../../api/who.js';
import { ownerText } from '../../ui/text/owner-text.js';
import { CREATE_TOKEN, ROTATE_TOKEN } from './token-layout.js';

const secretOf = ({ name, token }: { name: string; token: string | null }) => ({
  title: `Token ${name}`,
  name: 'token',
  value: token,
  text: 'Slipway stores only its hash. Keep the token in a safe place, such as a secret store.',
});

export const CREATE = defineAction<'createToken'>()({
  request: creation,
  verb: 'Create',
  button: 'Create token',
  title: () => 'New token',
  description: 'A token cannot have more scopes than you have.',
  layout: () => CREATE_TOKEN,
  value: () => ({ scopes: ['viewer'] }),
  cli: { words: 'tokens create', args: ['name'] },
  run: (_, body) => slipway.tokens.create(body),
  secret: secretOf,
});

const isActive = ({ state }: Token) => state === 'active';

export const TOKEN_ACTIONS = [
  defineAction<'rotateToken'>()<Token>({
    request: rotation,
    verb: 'Rotate',
    isFor: (token) => isActive(token) && token.replaced_by === null,
    title: ({ name }) => `Rotate token ${name}`,
    description: 'A new token with the same name, scopes and owner replaces it. Both work until the overlap ends.',
    layout: () => ROTATE_TOKEN,
    cli: { words: 'tokens rotate', flags: { overlap_seconds: '--overlap' } },
    run: ({ id }, body) => slipway.tokens.rotate(id, body),
    secret: secretOf,
  }),
  defineAction<'revokeToken'>()<Token>({
    request: revocation,
    verb: 'Revoke',
    isFor: isActive,
    isDangerous: true,
    title: ({ name }) => `Revoke token ${name}?`,
    effect: (token) => <Revocation token={token} />,
    cli: { words: 'tokens revoke', end: '--yes' },
    run: ({ id }) => slipway.tokens.revoke(id),
    done: ({ name }) => `Token ${name} revoked`,
  }),
];

function Revocation({ token: { id, owner } }: { token: Token }) {
  const { data: who } = useQuery(whoQuery);
  return (
    <>
      <p>The next request with this token of {ownerText(owner)} is rejected. You cannot undo this.</p>
      {id === who?.actor.id && (
        <p className="rounded-md bg-warn-soft p-3 text-warn">
          You are signed in with this token. Revoking it also ends your own session.
        </p>
      )}
    </>
  );
}
